"""What is compressed, and what came of it: part of `orthostream bench compression`."""

from __future__ import annotations

import lzma
import math
import os
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.datasets import load_airly, load_noaa
from orthostream.datasets.data_folder import DataFolderError
from orthostream.datasets.fill import filled

NAME = "compression"
_MASKS: dict[tuple[tuple[int, ...], int], int] = {}


class Source(NamedTuple):
    """Readings, and how far they may be off."""

    name: str
    quantity: str
    unit: str
    bounds: tuple[float, ...]
    """The rows of the tables."""
    curve: tuple[float, ...]
    """More of them, for the figure."""
    rmses: tuple[float, ...]
    """For targets by root mean square."""
    grid: float = 1.0
    """What all readings are multiples of: all of these sensors report whole numbers."""
    period: int = 24
    """Samples in a day, 0 if samples are days: what timestamps would tell."""


SOURCES = (
    Source("Airly temperature", "temperature", "degC", (0.5, 1.0), (2.0, 4.0), (0.4, 0.8)),
    Source("Airly PM2.5", "pm25", "ug/m3", (0.4, 2.0), (1.0, 4.0, 8.0), (1.5, 4.0)),
    Source("Airly humidity", "humidity", "%", (1.0, 3.0), (0.5, 8.0), (1.0, 3.0)),
    Source("Airly pressure", "pressure", "Pa", (20.0, 50.0), (10.0, 100.0, 200.0), (15.0, 40.0)),
    Source("NOAA Tmax", "", "degF", (0.5, 1.0), (2.0, 4.0), (1.0, 2.0), period=0),
)


class Case(NamedTuple):
    """Readings and the error that every one of them may have."""

    source: Source
    rows: FloatArray
    bound: float

    def first(self, n_samples: int) -> Case:
        """Return the same with fewer samples."""
        return self._replace(rows=self.rows[:n_samples])

    @property
    def setting(self) -> str:
        """The case as records name it."""
        return f"{self.source.name} {self.bound:g} {self.source.unit}"

    @property
    def observed(self) -> BoolArray:
        """Where there is a reading."""
        return ~np.isnan(self.rows)

    @property
    def points(self) -> int:
        """How many neighbours on the grid one number can stand for."""
        return math.floor(2.0 * self.bound / self.source.grid) + 1

    @property
    def step(self) -> float:
        """The widest step of a quantiser that keeps the bound, known that all readings are on the grid.

        >>> case = Case(SOURCES[0], np.zeros((1, 1)), 0.5)
        >>> [case._replace(bound=bound).step for bound in (0.4, 0.5, 1.0, 2.5)]
        [1.0, 2.0, 3.0, 6.0]
        """
        return self.points * self.source.grid

    @property
    def origin(self) -> float:
        """A level of that quantiser: in the middle between two neighbours, if it stands for an even number of them."""
        return 0.0 if self.points % 2 else 0.5 * self.source.grid


class Quality(NamedTuple):
    """How far decompressed readings are from the observed ones."""

    largest_error: float
    violations: float
    """The share of readings beyond the bound."""
    rmse: float


def quality(case: Case, decoded: FloatArray) -> Quality:
    """Compare what came back with what was observed."""
    errors = np.abs(decoded[case.observed] - case.rows[case.observed])
    # A reading that came back as NaN is as wrong as can be.
    errors[np.isnan(errors)] = np.inf
    return Quality(float(errors.max()), float(np.mean(errors > case.bound)), float(np.sqrt(np.mean(errors**2))))


class CaseResult(NamedTuple):
    """How one method fared in one case."""

    method: str
    configuration: str
    n_bytes: int
    n_bytes_with_mask: int
    quality: Quality
    encode_seconds: float
    decode_seconds: float


def cases(rows: int | None) -> tuple[list[Case], list[str]]:
    """Return the cases that there are data for, and a line for each data set that is absent."""
    if not os.environ.get("ORTHOSTREAM_DATA"):
        return [], ["real sensors are left out: ORTHOSTREAM_DATA names no folder with airly/ and noaa/ in it."]
    found, missing = [], dict[str, None]()
    for source in SOURCES:
        try:
            data = load_airly(None, source.quantity).data if source.quantity else load_noaa().data
        except DataFolderError as error:
            missing[f"{source.name.split()[0]} is left out: {error}"] = None
            continue
        found += [Case(source, data[:rows], bound) for bound in source.bounds]
    return found, list(missing)


def row_mean(rows: FloatArray) -> FloatArray:
    """Return rows with the mean of the row where a reading is missing, and the row above where there is none at all."""
    return previous(filled(rows, "row mean"))


def previous(rows: FloatArray) -> FloatArray:
    """Return rows with the sensor's last reading where one is missing, and its first one before that.

    >>> previous(np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, 3.0]])).tolist()
    [[2.0, 1.0], [2.0, 1.0], [2.0, 3.0]]
    """
    there = ~np.isnan(rows)
    last = np.maximum.accumulate(np.where(there, np.arange(len(rows))[:, None], -1), axis=0)
    first = np.argmax(there, axis=0)
    held = np.take_along_axis(rows, np.where(last < 0, first, last), axis=0)
    silent = np.isnan(held)
    return np.where(silent, np.mean(held[~silent]) if not silent.all() else 0.0, held)


def mask_bytes(case: Case) -> int:
    """Return what it costs to say which readings are missing: packed bits through lzma, in the best of eight ways."""
    observed = case.observed
    # Every setting of every peer asks for it.
    key = (observed.shape, zlib.crc32(observed.tobytes()))
    if key not in _MASKS:
        sizes = [len(lzma.compress(packed, **_lzma(lc))) for packed in _masks(observed) for lc in (0, 3)]
        _MASKS[key] = 0 if observed.all() else min(sizes)
    return _MASKS[key]


def _masks(observed: BoolArray) -> Iterator[bytes]:
    changed = observed ^ np.concatenate([np.ones_like(observed[:1]), observed[:-1]])
    for bits in (observed, changed):
        for ordered in (bits, bits.T):
            yield np.packbits(ordered).tobytes()


def _lzma(lc: int) -> dict[str, Any]:
    words = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": lc, "pb": 0, "dict_size": 1 << 20}
    return {"format": lzma.FORMAT_RAW, "filters": [words]}
