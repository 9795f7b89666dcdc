"""Algorithm 2 as one would write it down: two singular value decompositions a step, and nothing clever."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


class TwoSVDLoop:
    """Algorithm 2 with the paper's weights and l3, for K <= N atoms; the columns of ``d`` are the atoms."""

    def __init__(self, n_features: int, n_components: int) -> None:
        self.d = np.linalg.qr(np.random.default_rng(0).standard_normal((n_features, n_components)))[0]
        self.g = np.zeros((n_features, n_components))
        self.t = 0

    def step(self, y: FloatArray) -> None:
        """Learn from one mini-batch."""
        self.t += 1
        rho, gamma = min(1.0, 4.0 * (self.t + 1) ** -0.5), min(1.0, 2.0 * (self.t + 2) ** -0.75)
        d = self.d
        z = y @ d
        self.g = (1.0 - rho) * self.g - (3.0 * rho / len(y)) * (y.T @ (np.abs(z) * z))
        u, _, vt = np.linalg.svd(-self.g, full_matrices=False)
        u, _, vt = np.linalg.svd((1.0 - gamma) * d + gamma * (u @ vt), full_matrices=False)
        self.d = u @ vt

    def step_with_gaps(self, y: FloatArray) -> None:
        """Learn from one mini-batch with missing readings, filled with the mean of the row as the paper does."""
        gaps = np.isnan(y)
        self.step(np.where(gaps, np.nanmean(y, axis=1, keepdims=True), y) if gaps.any() else y)
