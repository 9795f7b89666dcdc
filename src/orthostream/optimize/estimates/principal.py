"""The start of the estimates for compression."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


def principal_gradient(moment: FloatArray, count: int) -> FloatArray:
    """Return a gradient whose vertex is the first ``count`` principal components, for any number of samples.

    >>> principal_gradient(np.diag([1.0, 2.0, 3.0]), 2)
    array([[-0. , -0. ],
           [-0. , -2.5],
           [-2.5, -0. ]])
    """
    values, vectors = np.linalg.eigh(moment)
    energy = np.maximum(values[..., -count:].mean(axis=-1), 0.0)[..., None, None]
    return np.asarray(-energy * vectors[..., : -count - 1 : -1])
