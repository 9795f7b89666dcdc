"""Fewer points for a chart, with peaks and gaps kept."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray, IntArray


def thinned(values: FloatArray, most: int) -> IntArray:
    """Return the places of at most about ``most`` values: of each stretch the smallest, the largest, and one gap.

    Examples
    --------
    >>> import numpy as np
    >>> thinned(np.array([0.0, 5.0, 1.0, 1.0, -3.0, 1.0]), 4).tolist()
    [0, 1, 3, 4]
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    edges = np.linspace(0, count, max(most // 2, 1) + 1).astype(np.int64)
    chosen: list[int] = []
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = values[start:end]
        known = np.isfinite(part)
        if not known.all():
            chosen.append(start + int(np.argmin(known)))
        if known.any():
            chosen += [start + int(np.nanargmin(part)), start + int(np.nanargmax(part))]
    return np.unique(chosen)
