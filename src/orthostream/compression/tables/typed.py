"""Readings as the type that their column has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.compression.errors import FrameError


def typed(values: FloatArray, kind: str) -> NDArray[Any]:
    """Return readings as the type that they had, the nearest number of it where they are out of its range."""
    dtype = np.dtype("bool" if kind == "boolean" else kind.lower())
    if dtype.kind == "f":
        return values.astype(dtype, copy=False)
    if np.isnan(values).any():
        raise FrameError(f"readings of type {kind} are missing, which that type cannot say")
    if dtype.kind == "b":
        return np.not_equal(values, 0.0)
    ends = np.iinfo(dtype)
    return np.clip(values, max(float(ends.min), -(2.0**53)), min(float(ends.max), 2.0**53)).astype(dtype)
