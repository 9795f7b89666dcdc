"""The numbers that readings may be replaced by: chosen so that the nearest one is always near enough.

A linear lattice holds the multiples of a unit; a cell is some units wide, and the middle of the cell into which a
reading falls is what is decoded. Where readings come from an instrument of known resolution (whole degrees, tenths),
the unit is that resolution, and a cell holds as many of its multiples as lie within the error of their middle: more
than fit into twice the error. (The middle of an even number of them is not one of them: whole degrees within half a
degree are sent as pairs.)
A geometric lattice, for relative errors, holds the powers of a ratio.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, put_varint

#: A cell of a lattice without a resolution is this many units wide, so that it can be centred on a prediction.
_FINE = 8
#: Cells wider than this many multiples of the resolution gain nothing from it.
_WIDEST = 63
#: Powers of the ratio of a geometric lattice that are kept: 2**20 steps reach from the smallest double to the largest
#: with a ratio of 1.0014.
N_POWERS = 32
_LARGEST = float(2**50)
#: Errors that are smaller have no unit that a double could hold; readings are sent as they are.
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Lattice:
    """One lattice per sensor.

    The integer c stands for ``(c * numerator + offset) / denominator``, or, where ``ratio`` is not 0, for 0 and for
    ``numerator * ratio ** (|c| - 1)`` with the sign of c. ``single`` marks sensors whose readings are rounded to 32
    bits.
    """

    width: IntArray
    numerator: FloatArray
    denominator: FloatArray
    offset: FloatArray
    ratio: FloatArray
    single: BoolArray

    @cached_property
    def _curved(self) -> bool:
        return bool((self.ratio > 0.0).any())

    @cached_property
    def _rounded(self) -> bool:
        return bool(self.single.any())

    def where(self, own: BoolArray, other: Lattice, *, known: BoolArray) -> Lattice:
        """Return these lattices for some sensors, and others for the rest of those whose resolution is known."""
        own = own | ~known
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Lattice(*(np.where(own, mine, others) for mine, others in pairs))

    def powers(self) -> FloatArray:
        """Return the powers 1, 2, 4, 8, ... of each ratio, 0 for linear lattices."""
        columns = [self.ratio]
        with np.errstate(over="ignore"):
            for _ in range(N_POWERS - 1):
                columns.append(columns[-1] * columns[-1])
        return np.stack(columns, axis=1)

    def positions(self, rows: FloatArray) -> FloatArray:
        """Return where readings lie, in units; NaN where they are missing, infinite or beyond the lattice."""
        with np.errstate(all="ignore"):
            linear = (rows * self.denominator - self.offset) / self.numerator
            if not self._curved:
                return np.where(np.abs(linear) < _LARGEST / 2, linear, np.nan)
            logarithm = np.log(np.abs(rows) / self.numerator) / np.log(np.where(self.ratio > 0.0, self.ratio, 2.0))
            geometric = np.where(rows == 0.0, 0.0, np.copysign(np.maximum(logarithm, -0.5) + 1.0, rows))
            geometric = np.where((rows != 0.0) & (logarithm < -0.5), np.nan, geometric)
            places = np.where(self.ratio > 0.0, geometric, linear)
            return np.where(np.abs(places) < _LARGEST / 2, places, np.nan)

    def values(self, cells: IntArray) -> FloatArray:
        """Return what integers stand for; the same operations as `kernel.group_state.value_of`, so the same bits."""
        with np.errstate(over="ignore"):
            linear = (cells.astype(np.float64) * self.numerator + self.offset) / self.denominator
        if self._curved:
            curved = self.ratio > 0.0
            rest = np.maximum(np.abs(cells) - 1, 0)
            value = np.broadcast_to(self.numerator, cells.shape).copy()
            with np.errstate(over="ignore", under="ignore"):
                for power in self.powers().T:
                    value = np.where(rest & 1 == 1, value * power, value)
                    rest = rest >> 1
            value = np.where(cells == 0, 0.0, np.where(cells < 0, -value, value))
            linear = np.where(curved, value, linear)
        if not self._rounded:
            return linear
        with np.errstate(over="ignore", under="ignore"):
            return np.where(self.single, linear.astype(np.float32).astype(np.float64), linear)

    def to_bytes(self) -> bytes:
        """Return the lattices, equal neighbours together."""
        out = bytearray()
        columns = (self.width, self.numerator, self.denominator, self.offset, self.ratio, self.single)
        fields = list(zip(*(column.tolist() for column in columns), strict=True))
        start = 0
        while start < len(fields):
            end = start + 1
            while end < len(fields) and fields[end] == fields[start]:
                end += 1
            width, numerator, denominator, offset, ratio, single = fields[start]
            whole = all(float(number).is_integer() and number < 2**53 for number in (numerator, denominator, offset))
            put_varint(out, end - start)
            put_varint(out, width)
            out.append((1 if whole else 0) | (2 if ratio > 0.0 else 0) | (4 if single else 0))
            if whole:
                put_varint(out, int(numerator))
                put_varint(out, int(denominator))
                put_varint(out, int(offset))
            else:
                out += np.array([numerator, denominator, offset], dtype="<f8").tobytes()
            if ratio > 0.0:
                out += np.array([ratio], dtype="<f8").tobytes()
            start = end
        return bytes(out)

    @classmethod
    def read(cls, reader: Reader, n_sensors: int) -> Lattice:
        """Return the lattices that a reader holds next."""
        width = np.zeros(n_sensors, dtype=np.int64)
        numerator, denominator = np.ones(n_sensors), np.ones(n_sensors)
        offset, ratio = np.zeros(n_sensors), np.zeros(n_sensors)
        single = np.zeros(n_sensors, dtype=bool)
        start = 0
        while start < n_sensors:
            run = slice(start, start + reader.varint(n_sensors - start))
            start = run.stop
            width[run] = reader.varint(2 * _WIDEST)
            flags = reader.byte()
            if flags & 1:
                numerator[run], denominator[run] = reader.varint(2**53), reader.varint(2**53)
                offset[run] = reader.varint(2**53)
            else:
                numerator[run], denominator[run], offset[run] = reader.double(), reader.double(), reader.double()
            if flags & 2:
                ratio[run] = reader.double()
            single[run] = bool(flags & 4)
            if flags > 7 or run.stop == run.start:
                raise FrameError("a lattice is damaged: flags or lengths are impossible")
        ok = (width >= 1) & np.isfinite(numerator) & (numerator > 0.0) & np.isfinite(denominator) & (denominator > 0.0)
        ok &= np.isfinite(offset)
        if not np.all(ok & ((ratio == 0.0) | ((ratio > 1.0) & (ratio < 16.0)))):
            raise FrameError("a lattice is damaged: its numbers are impossible")
        return cls(width, numerator, denominator, offset, ratio, single)


def linear_lattice(
    max_error: FloatArray, resolutions: list[Resolution], single: BoolArray, whole: BoolArray
) -> Lattice:
    """Return the widest cells that hold readings within ``max_error``, one lattice per sensor.

    Sensors of integer type (``whole``) are decoded as integers, even where cells without that would be wider.
    """
    n = len(max_error)
    width = np.ones(n, dtype=np.int64)
    numerator, denominator, offset = np.ones(n), np.ones(n), np.zeros(n)
    for i, (error, (step, scale)) in enumerate(zip(max_error.tolist(), resolutions, strict=True)):
        if step:
            # Differences of whole numbers are exact, those of decimals are not: these stay clear of the bound.
            reach = min(2.0 * error * scale / step, 2.0**52)
            held = math.floor(reach if scale == 1 else reach * (1.0 - 1e-9)) + 1
            if whole[i]:
                held -= 1 - held % 2
            if held <= _WIDEST:
                width[i], numerator[i], denominator[i] = held, step, scale
                if held % 2 == 0:
                    numerator[i], denominator[i], offset[i] = 2 * step, 2 * scale, step
                continue
            if whole[i]:
                # Coarser units still stand for whole numbers.
                width[i], numerator[i] = _FINE - 1, step * (held // _FINE)
                continue
        if error > _SMALLEST:
            # A hair less than the bound, so that rounding to a double does not cross it.
            width[i], numerator[i] = _FINE, error * (2.0 / _FINE) * (1.0 - 1e-12)
    return Lattice(width, numerator, denominator, offset, np.zeros(n), single)


def geometric_lattice(relative_error: FloatArray, smallest: FloatArray, single: BoolArray) -> Lattice:
    """Return powers of a ratio so that the nearest one is within a relative error, from ``smallest`` on."""
    n = len(relative_error)
    ratio = (1.0 + relative_error * (1.0 - 1e-9)) ** 2
    return Lattice(np.ones(n, dtype=np.int64), smallest.astype(np.float64), np.ones(n), np.zeros(n), ratio, single)
