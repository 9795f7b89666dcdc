"""The network of DeepSTGDL: an encoder of windows of readings, and decoders of readings and of the graph.

Functions of a dict of weights, so that what is learnt is nothing but arrays. Importable without torch, which
`DeepSTGDL` asks for before anything here is called.
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

#: The first weights of the readings are this small: the cells start out where they are almost linear, and so does the
#: path of the latent state as all sensors rise and fall together, which few atoms then follow; a bent one needs many.
_INPUT_BOUND = 0.2


def first_weights(hidden: int, rng: np.random.RandomState) -> dict[str, FloatArray]:
    """Return weights to start from, the dictionary's aside."""

    def uniform(bound: float, *shape: int) -> FloatArray:
        return rng.uniform(-bound, bound, shape).astype(np.float32)

    bias = np.zeros(4 * hidden, dtype=np.float32)
    bias[hidden : 2 * hidden] = 1.0  # a cell that forgets from the start learns nothing from the start of its window
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
    """Return the latent states of windows: the hidden states of all sensors, side by side.

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
    """Return the readings that latent states stand for, (n_samples, n_sensors); all sensors share the network."""
    values = latents.reshape(len(latents) * n_sensors, -1)
    for layer in range(_LAYERS):
        values = torch.addmm(weights[f"decoder.{layer}.bias"], values, weights[f"decoder.{layer}"])
        if layer < _LAYERS - 1:
            values = torch.relu(values)
    return values.view(len(latents), n_sensors)


def decode_edges(latents: torch.Tensor, n_sensors: int) -> torch.Tensor:
    """Return the graph that each latent state stands for: sigmoids of inner products, (n_samples, sensors, sensors)."""
    nodes = latents.view(len(latents), n_sensors, -1)
    return torch.sigmoid(nodes @ nodes.transpose(1, 2))
