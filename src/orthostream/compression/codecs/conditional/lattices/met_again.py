"""Readings that come again exactly: they want cells that stay where they are."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice

#: Readings that must agree before the next one is expected to be met again.
_CONTEXT = 32
#: Minimum number of readings to judge by.
_FEWEST = 256
#: Minimum share of repeats, within the last of so many parts of the readings.
_REPEATED_SHARE, _PARTS = 0.95, 8
#: Minimum saving, in bits.
_LEAST_SAVING = 2000.0


def fixed_cells(current: SensorLattice, recent: FloatArray, paid: float = np.inf) -> Linear | None:
    """Return cells that stay where they are, if readings come again exactly and cost something so far; else None.

    Wide cells are centred on predictions, so that what comes again is cut in other places each time.

    Parameters
    ----------
    current : SensorLattice
    recent : array
        Readings in order.
    paid : float
        Bits that a reading has cost lately.

    Examples
    --------
    >>> import numpy as np
    >>> waves = np.tile(np.sin(np.arange(300.0)), 8)
    >>> fixed_cells(Linear(8, 0.01), waves)
    Linear(width=1, numerator=0.08, denominator=1.0, offset=0.0, single=False)
    >>> fixed_cells(Linear(8, 0.01), waves + 0.1 * np.arange(2400) ** 0.5) is None
    True
    """
    if not isinstance(current, Linear) or current.width == 1 or paid * len(recent) < _LEAST_SAVING:
        return None
    placed = current.place(recent[np.isfinite(recent)])
    if len(placed.positions) < _FEWEST or not placed.held.all():
        return None
    cells = np.floor(placed.positions / current.width + 0.5).astype(np.int64)
    estimate = float(np.log2(1.0 + np.abs(np.diff(cells))).mean())
    if estimate * len(cells) < _LEAST_SAVING or not _last_context_repeats(cells):
        return None
    met = _repeats(cells)
    if met[-len(met) // _PARTS :].mean() < _REPEATED_SHARE:
        return None
    return Linear(1, current.numerator * current.width, current.denominator, current.offset, current.single)


def share_new(column: FloatArray) -> float:
    """Return the share of readings that do not come again exactly; 1 unless most do.

    Examples
    --------
    >>> import numpy as np
    >>> share_new(np.tile(np.sin(np.arange(300.0)), 8)) < 0.2
    True
    >>> share_new(np.sin(np.arange(2400.0)))
    1.0
    """
    values = column[np.isfinite(column)]
    if len(values) < _FEWEST or not _last_context_repeats(values):
        return 1.0
    met = _repeats(np.unique(values, return_inverse=True)[1])
    return 1.0 - float(met.mean()) if met[-len(met) // _PARTS :].mean() >= _REPEATED_SHARE else 1.0


def _last_context_repeats(cells: IntArray | FloatArray) -> bool:
    """Return whether the last ones were met before: a quick look."""
    n = len(cells) - _CONTEXT
    same = np.ones(n, dtype=bool)
    for k in range(_CONTEXT):
        same &= cells[k : k + n] == cells[n + k]
    return bool(same.any())


def _repeats(cells: IntArray) -> BoolArray:
    """Return which cells follow those before them as they did last time."""
    steps = np.arange(_CONTEXT, dtype=np.uint64)
    powers = np.uint64(0x9E3779B97F4A7C15) ** steps
    windows = np.lib.stride_tricks.sliding_window_view(cells[:-1].astype(np.uint64), _CONTEXT)
    hashes = (windows * powers).sum(axis=1, dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    again = hashes[order[1:]] == hashes[order[:-1]]
    following = cells[_CONTEXT:]
    held: BoolArray = np.zeros(len(following), dtype=bool)
    held[order[1:]] = again & (following[order[1:]] == following[order[:-1]])
    return held
