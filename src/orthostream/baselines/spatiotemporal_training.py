"""The training of DeepSTGDL: for each mini-batch, find codes, then update the weights.

This module can be imported without torch; `DeepSTGDL` checks for torch before it calls anything here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from orthostream._typing import FloatArray
from orthostream.baselines.spatiotemporal_graph import neighbour_means
from orthostream.baselines.spatiotemporal_lasso import lasso
from orthostream.baselines.spatiotemporal_network import Weights, decode, decode_edges, encode, first_weights

with suppress(ImportError):
    import torch

#: Steps of the lasso in a mini-batch; each sample starts from its code of the previous epoch.
_CODING_STEPS = 20

#: Atoms of unit length have much smaller entries than the other weights, and need smaller steps.
_ATOM_RATE = 0.1

#: The first atoms are computed from at most this many latent states.
_FIRST = 2048


@dataclass(frozen=True)
class Settings:
    """The parameters of `DeepSTGDL` that concern training."""

    n_components: int
    window: int
    hidden: int
    penalty: float
    node_weight: float
    edge_weight: float
    n_epochs: int
    batch_size: int
    learning_rate: float


class Training:
    """Weights, atoms and codes during training; `epochs` updates them and yields the mean losses of each epoch.

    Parameters
    ----------
    readings : array of shape (window - 1 + n_times, n_sensors), standardised, in single precision
        The first ``window - 1`` rows are the history of the first window.
    graph : array of shape (n_sensors, n_sensors)
    settings : Settings
    rng : RandomState
        Draws the first weights and the order of the samples; torch's own generator is not used.
    """

    def __init__(self, readings: FloatArray, graph: FloatArray, settings: Settings, rng: np.random.RandomState) -> None:
        self.settings, self.rng = settings, rng
        self.count, self.sensors = len(readings) - settings.window + 1, readings.shape[1]
        self.readings = torch.from_numpy(readings)
        self.graph = torch.from_numpy(graph.astype(np.float32))
        self.means = torch.from_numpy(neighbour_means(graph).astype(np.float32))
        # A sensor is not its own neighbour, so the diagonal has no loss.
        others = 1.0 - np.eye(self.sensors, dtype=np.float32)
        self.pairs = torch.from_numpy(others / max(others.sum(), 1.0))
        weights = first_weights(settings.hidden, rng)
        self.weights: Weights = {name: torch.from_numpy(value) for name, value in weights.items()}
        self.atoms = torch.from_numpy(self._first_atoms())
        self.codes = torch.zeros((self.count, settings.n_components), dtype=torch.float32)

    def epochs(self) -> Iterator[dict[str, float]]:
        """Train, and yield the mean losses after each epoch."""
        settings = self.settings
        for value in (*self.weights.values(), self.atoms):
            value.requires_grad_(True)
        groups = [
            {"params": list(self.weights.values()), "share": 1.0},
            {"params": [self.atoms], "share": _ATOM_RATE},
        ]
        optimiser = torch.optim.Adam(groups, lr=settings.learning_rate)
        steps = settings.n_epochs * math.ceil(self.count / settings.batch_size)
        step = 0
        for _ in range(settings.n_epochs):
            order = self.rng.permutation(self.count)
            totals = dict.fromkeys(("loss", "coding", "node", "edge"), 0.0)
            for start in range(0, self.count, settings.batch_size):
                chosen = torch.from_numpy(order[start : start + settings.batch_size])
                rate = 0.5 * settings.learning_rate * (1.0 + math.cos(math.pi * step / steps))
                for group in optimiser.param_groups:
                    group["lr"] = group["share"] * rate
                with torch.enable_grad():
                    losses = self.losses(chosen)
                    optimiser.zero_grad()
                    losses["loss"].backward()  # type: ignore[no-untyped-call, unused-ignore]
                optimiser.step()
                with torch.no_grad():
                    self.atoms /= self.atoms.norm(dim=0).clamp_min(1e-12)
                for name, value in losses.items():
                    totals[name] += float(value.detach()) * len(chosen) / self.count
                step += 1
            yield totals

    def losses(self, chosen: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the losses of the chosen samples, and keep their codes for the next epoch.

        The codes are constants to the gradient. The decoders see D x but pass their gradient to z, as if D x were z.
        Otherwise only the coding term would train the encoder, and that term is smallest at z = 0.
        """
        settings = self.settings
        windows = self._windows(chosen)
        latents = encode(self.weights, self.means, windows)
        with torch.no_grad():
            codes = lasso(
                latents @ self.atoms,
                self.atoms.T @ self.atoms,
                settings.penalty,
                self.codes[chosen],
                n_iterations=_CODING_STEPS,
            )
            self.codes[chosen] = codes
        approximations = codes @ self.atoms.T
        seen = latents + (approximations - latents).detach()
        coding = ((latents - approximations) ** 2).sum(1) + settings.penalty * codes.abs().sum(1)
        node = ((decode(self.weights, seen, self.sensors) - windows[-1]) ** 2).sum(1).mean()
        edges = (decode_edges(seen, self.sensors) - self.graph) ** 2
        edge = (edges * self.pairs).sum((1, 2)).mean()
        loss = coding.mean() + settings.node_weight * node + settings.edge_weight * edge
        return {"loss": loss, "coding": coding.mean(), "node": node, "edge": edge}

    def learnt(self) -> tuple[dict[str, FloatArray], FloatArray]:
        """Return copies of the weights, and of the atoms as rows."""
        weights = {name: value.detach().numpy().copy() for name, value in self.weights.items()}
        return weights, self.atoms.detach().numpy().T.copy()

    def _windows(self, chosen: torch.Tensor) -> torch.Tensor:
        return torch.stack([self.readings[chosen + lag] for lag in range(self.settings.window)])

    def _first_atoms(self) -> FloatArray:
        """Return the principal directions of the first latent states as columns, then random ones if needed."""
        chosen = torch.from_numpy(self.rng.permutation(self.count)[:_FIRST])
        with torch.no_grad():
            latents = encode(self.weights, self.means, self._windows(chosen)).numpy()
        dimension = latents.shape[1]
        atoms = self.rng.standard_normal((dimension, self.settings.n_components)).astype(np.float32)
        count = min(len(latents), dimension, self.settings.n_components)
        atoms[:, :count] = np.linalg.eigh((latents.T @ latents).astype(float))[1][:, ::-1][:, :count]
        unit: FloatArray = atoms / np.linalg.norm(atoms, axis=0)
        return unit
