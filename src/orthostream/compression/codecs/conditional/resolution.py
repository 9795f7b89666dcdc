"""Of which number the readings of an instrument are multiples: whole degrees, tenths, hundredths."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.targets import ErrorBound

_MOST_DECIMALS = 9
#: Readings below which a sensor may look coarser than it is.
_FEW = 16


class Resolution(NamedTuple):
    """Readings are the multiples of numerator / denominator; 0 where they have none."""

    numerator: int
    denominator: int


NO_RESOLUTION = Resolution(0, 1)


def find_resolution(values: FloatArray, *, single: bool = False) -> Resolution:
    """Return the coarsest decimal resolution of which nearly all finite values are exact multiples, if they have one.

    Examples
    --------
    >>> import numpy as np
    >>> find_resolution(np.array([21.5, 22.0, 19.3]))
    Resolution(numerator=1, denominator=10)
    >>> find_resolution(np.array([0.1234567890123]))
    Resolution(numerator=0, denominator=1)
    """
    # Outliers that do not fit are sent as they are; they must not hide the resolution of all others.
    values = values[np.abs(values) < 2.0**45]
    strays = values.size // 50
    if values.size == 0:
        return NO_RESOLUTION
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10**decimals
        counts = np.rint(values * scale)
        back = counts / scale
        if single:
            back = back.astype(np.float32).astype(np.float64)
        fits = (back == values) & (np.abs(counts) < 2.0**52)
        if (~fits).sum() <= strays:
            step = 1
            counts = counts[fits]
            if values.size >= 64 and np.ptp(counts) > 0:
                step = int(np.gcd.reduce(counts.astype(np.int64)))
                common = math.gcd(step, scale)
                return Resolution(step // common, scale // common)
            return Resolution(step, scale)
    return NO_RESOLUTION


def find_resolutions(rows: FloatArray, bound: ErrorBound) -> list[Resolution]:
    """Return the resolution of each sensor, as found in its readings; sensors with few readings share the finest."""
    finite = np.isfinite(rows)
    found: list[Resolution | None] = []
    for i in range(rows.shape[1]):
        values = rows[finite[:, i], i]
        if bound.whole[i]:
            found.append(Resolution(1, 1))
        elif values.size == 0:
            found.append(None)
        else:
            found.append(find_resolution(values, single=bool(bound.single[i])))
    known = [each for each in found if each is not None and each.numerator]
    finest = max((each.denominator for each in known), default=1)
    some_have_none = any(each is not None and not each.numerator for each in found)
    common = NO_RESOLUTION if some_have_none or not known else Resolution(1, finest)
    # One or two values may look coarser than their sensor is; a sensor without readings may be like its neighbours.
    few = finite.sum(axis=0) < _FEW
    return [
        common if each is None or (few[i] and each.numerator and not bound.whole[i] and not some_have_none) else each
        for i, each in enumerate(found)
    ]
