"""Memories of hand-overs that earlier versions saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import Layout


def padded(saved: Mapping[str, FloatArray], layout: Layout) -> dict[str, FloatArray]:
    """Return saved arrays with zeros for the numbers and rows that earlier versions did not have."""
    arrays = dict(saved)
    for name, axis in (("numbers", -1), ("atoms", -2), ("guard", -1)):
        if name in arrays and name in layout.shapes and 0 < arrays[name].ndim >= -axis:
            missing = layout.shapes[name][axis] - arrays[name].shape[axis]
            if missing > 0:
                widths = [(0, 0)] * arrays[name].ndim
                widths[axis] = (0, missing)
                arrays[name] = np.pad(arrays[name], widths)
    return arrays
