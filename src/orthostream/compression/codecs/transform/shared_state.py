"""What both sides of the transform codec hold alike, and how a payload moves it."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.codec import Payload
from orthostream.compression.codecs.paper.dictionary_update import QuantisedDictionary
from orthostream.compression.codecs.plain_state import checked_array, set_values, values_of
from orthostream.compression.codecs.transform.adapted_basis import AdaptedBasis
from orthostream.compression.codecs.transform.block import Block, Past, first_past, past_of_one
from orthostream.compression.codecs.transform.level_coder import MOST_ROWS
from orthostream.compression.codecs.transform.outliers import MOST_STEPS
from orthostream.compression.codecs.transform.step_size import step_size
from orthostream.compression.codecs.transform.symbol_model import SymbolModel

#: Atoms of a dictionary that is sent: the leading ones, since what a step leaves of the others is not worth their bits.
MOST_ATOMS = 8
#: A sensor whose readings were outliers for so many samples has moved for good: predictions start from them.
_BELIEVED_AFTER = 24
#: What a state holds of the basis, of the symbols, and of the rest.
_BASIS = ("components", "moment", "_waiting")
_SYMBOLS = (
    *("header", "n_rows", "habits", "levels", "activity", "sizes"),
    *("plane_bits", "planes", "outliers", "level_bits", "last_outliers"),
)
_OWN = ("level", "is_new", "digest", "_outlier_for")


class SharedState:
    """Memory of the samples, basis, probabilities of symbols, level of the step.

    Parameters
    ----------
    n_sensors : int
    period : int
        Samples after which habits repeat.
    fast : bool or None
        Whether to run compiled loops; by default where Numba is installed.
    """

    def __init__(self, n_sensors: int, period: int, fast: bool | None) -> None:
        self.past = first_past(n_sensors, period)
        self.basis = AdaptedBasis(n_sensors)
        self.symbols = SymbolModel(n_sensors, fast)
        self.level = 0
        self.is_new = True
        self.digest = zlib.crc32(struct.pack("<II", n_sensors, period))
        self._outlier_for = np.zeros(n_sensors, dtype=np.int64)
        self._dictionary: QuantisedDictionary | None = None

    def state(self) -> dict[str, Any]:
        """Return all of it as plain values and arrays."""
        return {
            "past": {"history": np.array(self.past.history), "mean": np.array(self.past.mean)},
            "basis": values_of(self.basis, _BASIS),
            "symbols": values_of(self.symbols, _SYMBOLS),
            "own": values_of(self, _OWN),
            "dictionary": None if self._dictionary is None else self._dictionary.state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over a state that was returned."""
        history = checked_array(state["past"]["history"], "float64", self.past.history.shape, "history")
        mean = checked_array(state["past"]["mean"], "float64", self.past.mean.shape, "mean")
        self.past = self.past._replace(history=history.copy(), mean=mean.copy())
        set_values(self.basis, state["basis"], _BASIS)
        set_values(self.symbols, state["symbols"], _SYMBOLS)
        set_values(self, state["own"], _OWN)
        if state["dictionary"] is not None:
            self.dictionary.set_state(state["dictionary"])

    @property
    def dictionary(self) -> QuantisedDictionary:
        """The atoms that were sent last; made when it is first asked for, since most streams do without."""
        if self._dictionary is None:
            n_sensors = len(self.past.mean)
            self._dictionary = QuantisedDictionary(min(MOST_ATOMS, n_sensors), n_sensors)
        return self._dictionary

    @property
    def has_dictionary(self) -> bool:
        """Whether any atoms were sent."""
        return self._dictionary is not None and self._dictionary.epoch > 0

    def take(self, payload: Payload) -> None:
        """Move to the state after a payload that brings a dictionary."""
        self.dictionary.receive(payload)
        self.basis.seed(self.dictionary.components)
        self.digest = zlib.crc32(payload.body, self.digest)

    def cut(self, n_rows: int) -> list[int]:
        """Return into blocks of how many rows a payload is cut: the first sample of all comes alone."""
        alone = 1 if self.is_new else 0
        rest = n_rows - alone
        count = -(-rest // MOST_ROWS)
        return [1] * alone + [rest * (i + 1) // count - rest * i // count for i in range(count)]

    def after(self, past: Past, samples: FloatArray, *, is_first: bool) -> Past:
        """Return the past after a block."""
        if is_first and self.is_new:
            return past_of_one(samples[0], past.period)
        return past.then(samples)

    def settle(self, body: bytes, level: int, blocks: list[Block], samples: list[FloatArray], past: Past) -> None:
        """Move to the state after a payload."""
        self.level, self.past, self.is_new = level, past, False
        step = step_size(level)
        self.basis.learn(np.concatenate(samples) - past.mean, step)
        for block in blocks:
            self._believe(block.outliers, step)
        with np.errstate(over="ignore", invalid="ignore"):
            # What is beyond 64 bits becomes another integer on another machine.
            integers = np.clip(np.rint(self.past.history[-1] / step), -(2.0**62), 2.0**62).astype("<i8")
        self.digest = zlib.crc32(integers.tobytes(), zlib.crc32(body.rstrip(b"\0"), self.digest))

    def _believe(self, outliers: IntArray, step: float) -> None:
        streaks = [self._outlier_for]
        for row in outliers:
            streaks.append((streaks[-1] + 1) * row)
        self._outlier_for = streaks[-1]
        values = self.symbols.last_outliers
        moved: BoolArray = (self._outlier_for >= _BELIEVED_AFTER) & (np.abs(values) <= MOST_STEPS * step)
        if moved.any():
            history, mean = np.array(self.past.history), np.array(self.past.mean)
            history[:, moved] = values[moved]
            mean[moved] = values[moved]
            self.past = self.past._replace(history=history, mean=mean)
            self._outlier_for = np.where(moved, 0, self._outlier_for)
