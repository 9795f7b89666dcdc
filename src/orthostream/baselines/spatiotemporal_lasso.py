"""The lasso for many latent states at once, in torch: accelerated proximal gradient steps on the Gram matrix.

This module can be imported without torch; `DeepSTGDL` checks for torch before it calls anything here.
"""

from __future__ import annotations

from contextlib import suppress

with suppress(ImportError):
    import torch

#: Steps between two checks of the optimality conditions.
_LOOK = 20


def lasso(
    correlations: torch.Tensor,
    gram: torch.Tensor,
    penalty: float,
    start: torch.Tensor | None = None,
    *,
    n_iterations: int = 10_000,
    tolerance: float = 1e-6,
) -> torch.Tensor:
    """Return codes that minimise ``||z - D x||^2 + penalty * ||x||_1``, a row for each z.

    Momentum is reset, for each row separately, when it points uphill. Iterations stop when no row violates the
    optimality conditions by more than ``tolerance`` times the largest correlation, or after ``n_iterations``.

    Parameters
    ----------
    correlations : tensor of shape (n_samples, K)
        D'z of each sample.
    gram : tensor of shape (K, K)
        D'D.
    penalty : float
    start : tensor of shape (n_samples, K), optional
        Codes to start from; zeros, by default.
    """
    largest = float(torch.linalg.eigvalsh(gram)[-1]) * (1.0 + 1e-5)
    codes = torch.zeros_like(correlations) if start is None else start
    contraction = torch.eye(len(gram), dtype=gram.dtype) - gram / largest
    offset, threshold = correlations / largest, 0.5 * penalty / largest
    accuracy = tolerance * float(correlations.abs().max())
    ahead, momentum = codes, torch.ones((len(codes), 1), dtype=gram.dtype)
    for iteration in range(1, n_iterations + 1):
        following = torch.nn.functional.softshrink(torch.addmm(offset, ahead, contraction), threshold)
        move = following - codes
        uphill = ((ahead - following) * move).sum(1, keepdim=True) > 0.0
        momentum = torch.where(uphill, 1.0, momentum)
        grown = 0.5 + 0.5 * torch.sqrt(1.0 + 4.0 * momentum * momentum)
        ahead = torch.addcmul(following, (momentum - 1.0) / grown, move)
        codes, momentum = following, grown
        if iteration % _LOOK == 0 and _violation(codes, correlations, gram, penalty) <= accuracy:
            break
    return codes


def _violation(codes: torch.Tensor, correlations: torch.Tensor, gram: torch.Tensor, penalty: float) -> float:
    """Return the largest violation of the optimality conditions."""
    gradient = correlations - codes @ gram
    used = (gradient - 0.5 * penalty * codes.sign()).abs()
    unused = (gradient.abs() - 0.5 * penalty).clamp_min(0.0)
    return float(torch.where(codes != 0.0, used, unused).max())
