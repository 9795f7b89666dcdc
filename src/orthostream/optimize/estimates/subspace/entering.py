"""A learner of N x K points goes on inside of the subspace that its atoms span."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.guarded import Guarded
from orthostream.optimize.estimates.guarded.layout import ANCHOR, COURSE, POINT, SEEN, TRUSTED
from orthostream.optimize.polar_decomposition import polar


def entered(learner: Guarded, arrays: Mapping[str, FloatArray], x: FloatArray) -> tuple[FloatArray, ArrayBlock]:
    """Return a basis, and the memory of a K x K learner in it, made of the arrays of an N x K learner.

    The basis is the dictionary that was reported. What belongs to atoms and pairs of atoms stays; gradients, points and
    the mean are projected.
    """
    basis = np.asarray(x)
    if "guard" in arrays:
        guard = np.asarray(arrays["guard"])
        trusted = (guard[..., TRUSTED] == 1.0) | (guard[..., SEEN] == 0.0)
        basis = np.where(trusted[..., None, None], x, arrays["matrices"][..., ANCHOR, :, :])
    inner = dict(arrays)
    if "gradient" in arrays:
        inner["gradient"] = basis.mT @ arrays["gradient"]
    if "matrices" in arrays:
        matrices = basis.mT[..., None, :, :] @ arrays["matrices"]
        for which in (POINT, ANCHOR, COURSE):
            matrices[..., which, :, :] = polar(matrices[..., which, :, :])[0]
        inner["matrices"] = matrices
        inner["mean"] = (basis.mT @ arrays["mean"][..., None])[..., 0]
    return basis, learner.restored(inner, basis.mT @ x)
