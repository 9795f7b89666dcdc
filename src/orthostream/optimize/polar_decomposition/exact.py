"""Polar factors by singular values: exact for every input, and the reference for the faster paths."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from orthostream._typing import FloatArray


def thin_svd(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the thin singular value decomposition of a stack, also if LAPACK's gesdd fails.

    gesdd sometimes fails to converge on finite input; gesvd is slower and does converge. On input that is not finite
    LAPACK may not return at all, so such input is refused.
    """
    if not np.isfinite(a).all():
        raise ValueError("a matrix with NaN or infinity has no singular values.")
    try:
        u, s, vt = np.linalg.svd(a, full_matrices=False)
    except np.linalg.LinAlgError:
        parts = [linalg.svd(one, full_matrices=False, lapack_driver="gesvd") for one in a.reshape(-1, *a.shape[-2:])]
        u, s, vt = (np.stack([part[k] for part in parts]).reshape(*a.shape[:-2], *parts[0][k].shape) for k in range(3))
    return u, s, vt


def exact_polar(a: FloatArray, near: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the polar factor of a stack (..., N, K), N >= K, and the ratio of its extreme singular values.

    A rank-deficient ``a`` has many polar factors. This returns the **least-motion** one, the limit of
    ``polar(a + eps * near)`` as eps falls to 0: it equals ``near`` in the directions that ``a`` does not determine.
    Without ``near`` LAPACK chooses one.
    """
    u, s, vt = thin_svd(a)
    factor: FloatArray = u @ vt
    slack = max(a.shape[-2:]) * 2.0**-52
    if a.ndim == 2 and s[-1] > slack * s[0]:  # the usual case, without the cost of broadcasting
        return factor, s[-1] / s[0]
    top = s[..., 0]
    floor = top * slack
    deficient = s[..., -1] <= floor
    if near is not None and deficient.any():
        factor = _complete(factor, u, s, vt, np.broadcast_to(near, a.shape), floor)
    ratio = np.where(deficient, 0.0, s[..., -1] / np.where(top > 0, top, 1.0))
    return factor, ratio


def eigen_polar(a: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return what `exact_polar` does for one small matrix, from the eigenvalues of its Gram matrix.

    This is several times cheaper than singular values, but loses twice as many digits. For condition numbers above 31
    it returns None.
    """
    values, vectors, failed = lapack.dsyevd(blas.dsyrk(1.0, a.T), lower=0)
    if failed or not 1e-280 < values[-1] < 1e280 or not values[0] > 1e-3 * values[-1]:
        return None
    factor = a @ ((vectors / np.sqrt(values)) @ vectors.T)
    correction = factor.T @ factor
    correction *= -0.5
    correction.reshape(-1)[:: len(correction) + 1] += 1.5
    return factor @ correction, np.sqrt(values[0] / values[-1])


def _complete(
    factor: FloatArray, u: FloatArray, s: FloatArray, vt: FloatArray, near: FloatArray, floor: FloatArray
) -> FloatArray:
    for index in np.ndindex(s.shape[:-1]):
        rank = int(np.count_nonzero(s[index] > floor[index]))
        if rank < s.shape[-1]:
            factor[index] = _least_motion(u[index][:, :rank], vt[index], near[index])
    return factor


def _least_motion(u: FloatArray, vt: FloatArray, near: FloatArray) -> FloatArray:
    """Complete the partial isometry u @ vt[:rank] with the isometry nearest to ``near`` between the complements."""
    rank = u.shape[1]
    if rank == 0 and np.array_equal(near.T @ near, np.eye(near.shape[1])):
        return near.copy()
    null = vt[rank:].T
    rest = near @ null
    for _ in range(2):  # twice, because one projection leaves rounding errors
        rest = rest - u @ (u.T @ rest)
    left, s, right = thin_svd(rest)
    lost = s <= 64 * np.finfo(s.dtype).eps * np.linalg.norm(near)
    if lost.any():  # ``near`` does not determine them either, so any orthonormal directions will do
        known = np.concatenate([u, left[:, ~lost]], axis=1)
        spare = linalg.qr(np.concatenate([known, np.eye(len(u), dtype=u.dtype)], axis=1), mode="economic")[0]
        left[:, lost] = spare[:, known.shape[1] : known.shape[1] + int(lost.sum())]
    # A direction with a small remainder has large relative rounding errors after the projection: project once more.
    left = left - u @ (u.T @ left)
    a, _, b = thin_svd(left)
    completed: FloatArray = u @ vt[:rank] + (a @ b @ right) @ null.T
    return completed
