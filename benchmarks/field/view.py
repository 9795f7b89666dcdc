"""What peers are given: readings as integers, by the same quantiser as ours or without any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import BoolArray, FloatArray, IntArray

from ..compression_case import SOURCES, Case, mask_bytes, previous
from .stream import Stream

#: Decimal places that are looked for.
PLACES = 10
#: Part of the bound that rounding of floats may add: peers are not refused for it.
SLACK = 1e-9


class View(NamedTuple):
    """Readings as integers from zero, gaps filled with the sensor's last reading, and the way back."""

    name: str
    levels: IntArray
    observed: BoolArray
    mask: int
    """Bytes that say which readings are missing."""
    restore: Callable[[IntArray], FloatArray]
    """Return readings; what peers do not pay for is the few numbers that it knows, such as the step."""
    floats: bool = False
    """The integers are the bits of floats, not counts of anything."""

    @property
    def gaps(self) -> bool:
        """Whether any reading is missing."""
        return not bool(self.observed.all())


def per_sensor(value: float | tuple[float, ...], rows: FloatArray) -> FloatArray:
    """Return one number for each sensor."""
    return np.broadcast_to(np.asarray(value, dtype=np.float64), rows.shape[1:])


def views(stream: Stream, *, lossless: bool) -> list[View]:
    """Return all views that peers may choose from."""
    return list(_lossless(stream) if lossless else [quantised(stream)])


def mask_size(rows: FloatArray) -> int:
    """Return the bytes of the mask of missing readings, by the best of eight ways."""
    return mask_bytes(Case(SOURCES[0], rows, 0.0))


def quantised(stream: Stream) -> View:
    """Return levels of the widest uniform quantiser that keeps the bound, known the grid.

    >>> stream = Stream("", "", "", np.array([[0.1], [0.2], [0.3], [0.4]]), 0.1, 0.1)
    >>> view = quantised(stream)
    >>> view.levels[:, 0].tolist(), np.round(view.restore(view.levels)[:, 0], 9).tolist()
    ([0, 1, 1, 1], [0.0, 0.3, 0.3, 0.3])
    """
    rows = stream.rows
    bound, grid = per_sensor(stream.bound, rows), per_sensor(stream.grid, rows)
    known = grid > 0.0
    safe = np.where(known, grid, 1.0)
    points = np.where(known, np.floor(2.0 * bound / safe * (1.0 + SLACK)) + 1.0, 1.0)
    step = np.where(known, points * safe, 2.0 * bound)
    # A level in the middle of an even number of neighbours lies between two of them.
    origin = np.where(known, stream.offset + np.where(points % 2 == 0, 0.5 * safe, 0.0), 0.0)
    found, observed = np.rint((previous(rows) - origin) / step).astype(np.int64), ~np.isnan(rows)
    least = _least(found, alike=np.ptp(step) == 0.0)
    return View(
        "quantised",
        found - least,
        observed,
        mask_size(rows),
        lambda levels: origin + (levels + least) * step,
    )


def _least(levels: IntArray, *, alike: bool) -> IntArray:
    """Return what is subtracted: one number for sensors of one kind, else one for each."""
    return np.asarray(np.full(levels.shape[1], levels.min()) if alike else levels.min(axis=0))


def _lossless(stream: Stream) -> Iterator[View]:
    filled, observed, mask = previous(stream.rows), ~np.isnan(stream.rows), mask_size(stream.rows)
    single = filled.astype(np.float32)
    for short in (False, True):
        if short and not np.array_equal(single, filled):
            break
        places = [_places(column, short) for column in filled.T]
        if max(places) < PLACES:
            yield _decimals(filled, observed, mask, np.array(places), short)
            break
    yield View("float64", _bits(filled, 64), observed, mask, lambda levels: _unbits(levels, 64), floats=True)
    if np.array_equal(single, filled):
        yield View("float32", _bits(single, 32), observed, mask, lambda levels: _unbits(levels, 32), floats=True)


def _places(column: FloatArray, short: bool) -> int:
    """Return the fewest decimal places that tell all numbers exactly, `PLACES` if there are none."""
    for places in range(PLACES):
        whole = np.rint(column * 10.0**places)
        back = whole / 10.0**places
        if np.array_equal(back.astype(np.float32) if short else back, column) and np.abs(whole).max() < 2**53:
            return places
    return PLACES


def _decimals(filled: FloatArray, observed: BoolArray, mask: int, places: NDArray[np.int64], short: bool) -> View:
    scale = 10.0**places
    whole = np.rint(filled * scale).astype(np.int64)
    least = _least(whole, alike=bool(np.ptp(places) == 0))
    rest = whole - least
    alike = np.ptp(places) == 0
    factor = np.asarray(np.maximum(np.gcd.reduce(rest, axis=None if alike else 0), 1))

    def restore(levels: IntArray) -> FloatArray:
        values = (levels * factor + least) / scale
        return np.asarray(values.astype(np.float32).astype(np.float64) if short else values)

    return View("decimals", rest // factor, observed, mask, restore)


def _bits(values: NDArray[np.floating], width: int) -> IntArray:
    """Return the bits of floats as integers in the order of the floats; 64 bits wrap around zero."""
    bits = values.view(f"i{width // 8}").astype(np.int64)
    top = np.int64(-1) << np.int64(width - 1)
    return np.asarray(np.where(bits < 0, top - bits, bits))


def _unbits(levels: IntArray, width: int) -> FloatArray:
    top = np.int64(-1) << np.int64(width - 1)
    bits = np.where(levels < 0, top - levels, levels)
    return np.ascontiguousarray(bits.astype(f"i{width // 8}")).view(f"f{width // 8}").astype(np.float64)
