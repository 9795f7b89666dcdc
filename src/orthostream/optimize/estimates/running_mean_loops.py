"""The running mean of an lp contrast's gradients for one problem, as loops for a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np


def lp_running_mean(
    block: Any, x: Any, batch: Any, weights: Any, rho: float, gamma: float, p: float, _unused: float
) -> Any:
    """Return the gradient, gamma and the next block; see `RunningMean.update`."""
    factor = -p * rho / max(np.sum(weights), 1e-300)
    z = np.dot(batch, x)
    for i in range(z.shape[0]):
        share = factor * weights[i]
        for j in range(z.shape[1]):
            one = z[i, j]
            size = abs(one) if p == 3.0 else abs(one) ** (p - 2.0)
            z[i, j] = share * size * one
    new = np.dot(batch.T, z).reshape(-1)
    block = block.copy()
    for i in range(new.size):
        block[i] = new[i] + (1.0 - rho) * block[i]
    block[new.size] += 1.0
    return block[: new.size].reshape(x.shape), gamma, block
