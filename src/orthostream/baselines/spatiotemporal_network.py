"""The network of DeepSTGDL: an encoder of windows of readings, and decoders of readings and of the graph.

All are functions of a dict of weights, so that a fitted estimator holds only arrays. This module can be imported
without torch; `DeepSTGDL` checks for torch before it calls anything here.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from orthostream._typing import FloatArray

with suppress(ImportError):
    import torch

Weights: TypeAlias = "dict[str, torch.Tensor]"

#: The width of the hidden layers of the node decoder.
_WIDTH = 32

#: Layers of the node decoder.
_LAYERS = 4

#: Bound of the first weights of the readings. It is small so that cells start almost linear: when all sensors rise and
#: fall together, the latent state then moves along a line, which few atoms can code.
_INPUT_BOUND = 0.2


def first_weights(hidden: int, rng: np.random.RandomState) -> dict[str, FloatArray]:
    """Return the first weights, without the dictionary."""

    def uniform(bound: float, *shape: int) -> FloatArray:
        return rng.uniform(-bound, bound, shape).astype(np.float32)

    bias = np.zeros(4 * hidden, dtype=np.float32)
    bias[hidden : 2 * hidden] = 1.0  # forget gates start open, so that gradients reach the start of the window
    weights = {
        "encoder.input": uniform(_INPUT_BOUND, 1, 4 * hidden),
        "encoder.hidden": uniform(hidden**-0.5, 2 * hidden, 4 * hidden),
        "encoder.bias": bias,
    }
    sizes = [hidden] + [_WIDTH] * (_LAYERS - 1) + [1]
    for layer, (size, following) in enumerate(pairwise(sizes)):
        bound = math.sqrt(6.0 / size) if following > 1 else size**-0.5
        weights[f"decoder.{layer}"] = uniform(bound, size, following)
        weights[f"decoder.{layer}.bias"] = np.zeros(following, dtype=np.float32)
    return weights


def encode(weights: Weights, means: torch.Tensor, windows: torch.Tensor) -> torch.Tensor:
    """Return the latent states of windows: the hidden states of all sensors, concatenated.

    The four gates of a cell (in, forget, out, candidate) see its reading, its hidden state, and the mean of its
    neighbours' hidden states. All cells share their weights.

    Parameters
    ----------
    weights : dict
    means : tensor of shape (n_sensors, n_sensors)
        See `neighbour_means`.
    windows : tensor of shape (window, n_samples, n_sensors)
    """
    _, samples, sensors = windows.shape
    size = weights["encoder.bias"].shape[0] // 4
    hidden = cell = None
    for readings in windows:
        gates = torch.addcmul(weights["encoder.bias"], readings.reshape(-1, 1), weights["encoder.input"])
        if hidden is not None:
            around = torch.matmul(means, hidden.view(samples, sensors, size)).view(-1, size)
            gates = gates.addmm(torch.cat([hidden, around], dim=1), weights["encoder.hidden"])
        take, keep, show = torch.sigmoid(gates[:, : 3 * size]).chunk(3, dim=1)
        candidate = torch.tanh(gates[:, 3 * size :])
        cell = take * candidate if cell is None else torch.addcmul(take * candidate, keep, cell)
        hidden = show * torch.tanh(cell)
    assert hidden is not None
    return hidden.view(samples, sensors * size)


def decode(weights: Weights, latents: torch.Tensor, n_sensors: int) -> torch.Tensor:
    """Return readings decoded from latent states, (n_samples, n_sensors); all sensors share the network."""
    values = latents.reshape(len(latents) * n_sensors, -1)
    for layer in range(_LAYERS):
        values = torch.addmm(weights[f"decoder.{layer}.bias"], values, weights[f"decoder.{layer}"])
        if layer < _LAYERS - 1:
            values = torch.relu(values)
    return values.view(len(latents), n_sensors)


def decode_edges(latents: torch.Tensor, n_sensors: int) -> torch.Tensor:
    """Return a graph decoded from each latent state: sigmoids of inner products, (n_samples, sensors, sensors)."""
    nodes = latents.view(len(latents), n_sensors, -1)
    return torch.sigmoid(nodes @ nodes.transpose(1, 2))
