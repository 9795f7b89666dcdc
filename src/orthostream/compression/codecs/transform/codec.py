"""The codec for a root mean square error or a budget of bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from orthostream._checks import between, integer
from orthostream._typing import BoolArray, FloatArray
from orthostream.compression.codecs.codec import MOST_READINGS_PER_BYTE, READINGS, Codec, Payload
from orthostream.compression.codecs.plain_state import set_values, values_of
from orthostream.compression.codecs.transform.block import Block, Past, completed
from orthostream.compression.codecs.transform.budget_control import BudgetControl
from orthostream.compression.codecs.transform.dictionary_offer import DictionaryOffer
from orthostream.compression.codecs.transform.error_control import ErrorControl
from orthostream.compression.codecs.transform.outliers import find_outliers
from orthostream.compression.codecs.transform.quantise import best_habits, best_levels
from orthostream.compression.codecs.transform.shared_state import SharedState
from orthostream.compression.codecs.transform.step_size import HIGHEST_LEVEL, LOWEST_LEVEL, nearest_level, step_size
from orthostream.compression.codecs.transform.symbol_model import SymbolModel
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.range_coder import (
    AT,
    CODER_SIZE,
    finish_encoding,
    start_decoding,
    start_encoding,
)

#: Readings that a payload may have; more are sent as several.
MOST_READINGS = 1 << 17
MOST_SENSORS = 2048
#: Bytes that a reading takes at most, if all of its adaptive bits were surprising.
_BYTES_PER_READING = 160
#: With a budget, a step is never finer than this part of the largest reading.
_FINEST = 2.0**-30


class _Attempt(NamedTuple):
    """What would be sent with some level of step, and what it would be decoded to."""

    level: int
    blocks: list[Block]
    samples: list[FloatArray]
    expected: list[FloatArray]
    past: Past
    squares: float


class TransformCodec(Codec):
    """Codes samples as coefficients of an orthonormal basis, for an error on average or a budget of bits.

    The basis is orthonormal, so that the squared errors of coefficients add up to those of readings: one step for all
    of them costs the fewest bits. Blocks of up to 32 samples are predicted from the past, transformed along the sensors
    by the basis and along time by cosines, and quantised with a dead zone; what is predicted well costs next to
    nothing. The basis is learnt from what was decoded, by both sides, so that it need not be sent.

    Parameters
    ----------
    n_sensors : int
        Readings in a sample, at most 2,048.
    rmse : float, optional
        The root mean square error, over all finite readings so far, is at most this after every payload.
    bits_per_reading : float, optional
        Bits of all payloads so far, with four bytes for the frame around each, are at most this times the readings so
        far, once 2 kB have been sent. What masks of missing readings cost is never saved, and may break a small
        budget. Either this or ``rmse`` must be given.
    period : int, default 24
        Samples after which habits repeat, such as the hours of a day.
    learn : bool, default False
        Also learn a dictionary from what is measured, on the side that sends, and send its leading atoms whenever that
        is seen to pay. On real sensors it has not paid yet, and learning takes ten times the time of all the rest.
    fast : bool, optional
        Run the inner loops compiled; by default where Numba is installed. The bytes are the same.

    Attributes
    ----------
    basis : str
        Which basis was used last: "cosines", "adapted" or, once a dictionary was sent, "learnt".

    Examples
    --------
    >>> import numpy as np
    >>> hours = np.arange(240.0)[:, None]
    >>> rows = 10.0 + np.sin(hours / 4.0) * [3.0, 4.0, 5.0]
    >>> edge, cloud = TransformCodec(3, rmse=0.5), TransformCodec(3, rmse=0.5)
    >>> decoded, n_bytes = [], 0
    >>> for start in range(0, 240, 24):
    ...     for payload in edge.encode(rows[start : start + 24]):
    ...         n_bytes += len(payload.body)
    ...         decoded.append(cloud.decode(payload))
    >>> bool(np.sqrt(np.mean((np.concatenate(decoded) - rows) ** 2)) <= 0.5), n_bytes < 120
    (True, True)
    >>> edge.digest == cloud.digest
    True
    """

    def __init__(
        self,
        n_sensors: int,
        *,
        rmse: float | None = None,
        bits_per_reading: float | None = None,
        period: int = 24,
        learn: bool = False,
        fast: bool | None = None,
    ) -> None:
        integer("n_sensors", n_sensors, 1, MOST_SENSORS)
        integer("period", period, 1, 10_000)
        if (rmse is None) == (bits_per_reading is None):
            raise ValueError(f"give either rmse or bits_per_reading, got {rmse!r} and {bits_per_reading!r}.")
        for name, target in (("rmse", rmse), ("bits_per_reading", bits_per_reading)):
            if target is not None:
                between(name, target, 1e-100, 1e100)
        self.n_sensors = int(n_sensors)
        self.rmse = rmse
        self.bits_per_reading = bits_per_reading
        self.period = int(period)
        self.learn = bool(learn)
        self.fast = fast
        self._most_rows = self.most_samples = MOST_READINGS // self.n_sensors
        self.restart()

    def restart(self) -> None:
        self._state = SharedState(self.n_sensors, self.period, self.fast)
        self._control: ErrorControl | BudgetControl | None = None
        self._offer = DictionaryOffer() if self.learn else None

    def state(self) -> dict[str, Any]:
        control, offer = self._control, self._offer
        return {
            "shared": self._state.state(),
            "control": None if control is None else values_of(control, control.NAMES),
            "offer": None if offer is None else offer.state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.restart()
        self._state.set_state(state["shared"])
        if state["control"] is not None:
            self._control = self._first_control(np.empty((0, self.n_sensors)))
            set_values(self._control, state["control"], self._control.NAMES)
        if self._offer is not None and state["offer"] is not None:
            self._offer.set_state(state["offer"], self.n_sensors)

    @property
    def digest(self) -> int:
        return self._state.digest

    @property
    def basis(self) -> str:
        if self._state.is_new:
            return "cosines"
        return "learnt" if self._state.has_dictionary else "adapted"

    # -- the side that sends -------------------------------------------------------------------------------------

    def encode(self, rows: FloatArray) -> list[Payload]:
        samples = np.asarray(rows, dtype=float)
        if samples.ndim != 2 or samples.shape[1] != self.n_sensors or not len(samples):
            raise ValueError(f"rows must have shape (1 or more, {self.n_sensors}), got {samples.shape}.")
        count = -(-len(samples) // self._most_rows)
        payloads = []
        for part in np.array_split(samples, count):
            payloads += self._offered()
            payloads.append(self._encode(part))
        return payloads

    def _offered(self) -> list[Payload]:
        if self._offer is None or self._control is None:
            return []
        payload = self._offer.payload(self._state, step_size(self._state.level))
        if payload is None:
            return []
        if isinstance(self._control, BudgetControl):
            if not self._control.affords(len(payload.body)):
                return []
            self._control.spend(len(payload.body))
        self._state.take(payload)
        return [payload]

    def _encode(self, rows: FloatArray) -> Payload:
        if self._control is None:
            self._control = self._first_control(rows)
        control = self._control
        outliers = self._outliers(rows, step_size(control.level))
        if isinstance(control, ErrorControl):
            attempt, body = self._within_error(rows, outliers, control)
        else:
            attempt, body = self._within_budget(rows, outliers, control)
        if self._offer is not None:
            seen = ~np.isnan(rows) & ~outliers
            readings = np.where(seen, rows, np.concatenate(attempt.samples))
            centred = np.where(seen, rows - attempt.past.mean, np.nan)
            self._offer.learn(centred, readings - np.concatenate(attempt.expected))
        self._state.settle(body, attempt.level, attempt.blocks, attempt.samples, attempt.past)
        return Payload(READINGS, body)

    def _first_control(self, rows: FloatArray) -> ErrorControl | BudgetControl:
        if self.rmse is not None:
            return ErrorControl(self.rmse)
        assert self.bits_per_reading is not None
        usual = rows[np.abs(rows) < 1e100]
        spread = 0.0
        if usual.size:
            distance = np.abs(usual - np.median(usual))
            # Readings on a coarse grid may have a median distance of zero.
            spread = float(max(np.median(distance), min(np.mean(distance), 1e3), np.median(np.abs(usual)) / 4096.0))
        return BudgetControl(self.bits_per_reading, nearest_level(max(spread, 1e-6)))

    def _outliers(self, rows: FloatArray, step: float) -> BoolArray:
        return find_outliers(rows, None if self._state.is_new else self._state.past.history[-1], step)

    def _within_error(self, rows: FloatArray, outliers: BoolArray, control: ErrorControl) -> tuple[_Attempt, bytes]:
        level = control.level
        while True:
            attempt = self._attempt(rows, outliers, level)
            kept = int((~np.isnan(rows) & ~outliers).sum())
            if control.allows(attempt.squares, kept):
                break
            if level <= control.finest:
                # Only rounding is left as a reason: the readings that it hits hardest are sent as outliers.
                error = np.abs(np.where(np.isnan(rows) | outliers, 0.0, rows - np.concatenate(attempt.samples)))
                outliers = outliers | (error > min(control.rmse / 2.0, float(error.max()) * 0.999))
            level = max(level - 1, control.finest)
        body = self._coded(attempt, self._state.symbols)
        control.settle(level, attempt.squares, kept, len(rows))
        return attempt, body

    def _within_budget(self, rows: FloatArray, outliers: BoolArray, control: BudgetControl) -> tuple[_Attempt, bytes]:
        readings = int((~np.isnan(rows)).sum())
        largest = float(np.abs(rows[np.isfinite(rows) & ~outliers]).max(initial=0.0))
        level = max(control.level, nearest_level(max(largest * _FINEST, 1e-100)))
        while True:
            attempt = self._attempt(rows, outliers, level)
            symbols = self._state.symbols.copy()
            body = self._coded(attempt, symbols)
            empty = not any(block.levels.any() for block in attempt.blocks)
            if empty or level >= HIGHEST_LEVEL or control.allows(len(body), readings):
                break
            level = min(level + 2 + max(level - control.level, 0) // 4, HIGHEST_LEVEL)
        level_bits = symbols.level_bits - self._state.symbols.level_bits
        self._state.symbols = symbols
        control.settle(level, len(body), level_bits, readings, len(rows))
        return attempt, body

    def _attempt(self, rows: FloatArray, outliers: BoolArray, level: int) -> _Attempt:
        step = step_size(level)
        state = self._state
        components = state.basis.components
        missing = np.isnan(rows)
        seen = ~missing & ~outliers
        past, start, squares = state.past, 0, 0.0
        costs = state.symbols.habit_costs()
        blocks: list[Block] = []
        decoded: list[FloatArray] = []
        predictions: list[FloatArray] = []
        for size in state.cut(len(rows)):
            part = slice(start, start + size)
            start += size
            readings = np.where(seen[part], rows[part], 0.0)
            habits = best_habits(readings, seen[part], past, components, step, costs)
            expected = past.predicted(habits, size, components[0])
            levels = best_levels(readings, seen[part], expected, components, step)
            block = Block(
                habits, missing[part].astype(np.int64), outliers[part].astype(np.int64), rows[part].copy(), levels
            )
            samples = completed(block, expected, state.basis, step)
            squares += float(np.square(np.where(seen[part], readings - samples, 0.0)).sum())
            past = state.after(past, samples, is_first=not blocks)
            blocks.append(block)
            decoded.append(samples)
            predictions.append(expected)
        return _Attempt(level, blocks, decoded, predictions, past, squares)

    def _coded(self, attempt: _Attempt, symbols: SymbolModel) -> bytes:
        n_rows = sum(map(len, attempt.samples))
        coder = np.zeros(CODER_SIZE, dtype=np.int64)
        buffer = np.zeros(4096 + _BYTES_PER_READING * n_rows * self.n_sensors, dtype=np.uint8)
        start_encoding(coder)
        symbols.code_header(coder, buffer, n_rows, attempt.level - self._state.level)
        for block in attempt.blocks:
            symbols.code_block(coder, buffer, block)
        # Zeros at the end could be left out, but then a reader could not tell where to stop.
        written = int(coder[AT])
        body = buffer[: max(written, finish_encoding(coder, buffer))].tobytes()
        return body.ljust(-(-n_rows * self.n_sensors // MOST_READINGS_PER_BYTE), b"\0")

    # -- the side that receives ----------------------------------------------------------------------------------

    def decode(self, payload: Payload) -> FloatArray:
        # Corrupt payloads may overflow; the result is checked before it is used.
        with np.errstate(all="ignore"):
            if payload.kind == READINGS:
                return self._decode(payload)
            self._state.take(payload)
            return np.empty((0, self.n_sensors))

    def _decode(self, payload: Payload) -> FloatArray:
        state = self._state
        buffer = np.frombuffer(payload.body, dtype=np.uint8).copy()
        coder = np.zeros(CODER_SIZE, dtype=np.int64)
        start_decoding(coder, buffer, len(buffer))
        n_rows, change = state.symbols.code_header(coder, buffer, 1, 0)
        level = state.level + change
        if n_rows * self.n_sensors > MOST_READINGS_PER_BYTE * len(payload.body):
            raise FrameError(f"{len(payload.body)} bytes cannot be {n_rows} samples of {self.n_sensors} sensors.")
        if n_rows > self._most_rows:
            raise FrameError(f"a payload has at most {self._most_rows} samples, not {n_rows}.")
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise FrameError(f"a step has a level from {LOWEST_LEVEL} to {HIGHEST_LEVEL}, not {level}.")
        step = step_size(level)
        past = state.past
        blocks: list[Block] = []
        decoded: list[FloatArray] = []
        readings: list[FloatArray] = []
        for size in state.cut(n_rows):
            shape = (size, self.n_sensors)
            empty = Block(
                (0, 0),
                np.zeros(shape, dtype=np.int64),
                np.zeros(shape, dtype=np.int64),
                np.zeros(shape),
                np.zeros(shape[::-1], dtype=np.int64),
            )
            block = state.symbols.code_block(coder, buffer, empty)
            samples = completed(block, past.predicted(block.habits, size, state.basis.components[0]), state.basis, step)
            if not np.abs(samples).max() < math.inf:
                raise FrameError("the coefficients of a block add up to more than a float can hold.")
            past = state.after(past, samples, is_first=not blocks)
            blocks.append(block)
            decoded.append(samples)
            values = np.where(block.outliers != 0, block.values, samples)
            readings.append(np.where(block.missing != 0, np.nan, values))
        state.settle(payload.body, level, blocks, decoded, past)
        return np.concatenate(readings)
