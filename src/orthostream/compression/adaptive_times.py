"""When samples were taken: nothing while the next times can be expected, close to their entropy where they cannot.

Two descriptions of the next step compete. *Repetition* asks yes/no questions: is it the nominal step, the one that
makes up for a late sample, one of the last few other steps? *Residuals* are the distance to a prediction: of the grid
that samples lie around, of the last sample and the mean step, or of the last sample alone. Both sides keep an account
of what each would have cost lately, and the cheapest one codes the next step. All of it is integers.
"""

from __future__ import annotations

import math
from typing import Any, cast

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel import range_coder
from orthostream.compression.kernel.range_coder import CODER_SIZE, EVEN
from orthostream.compression.time_predictors import Grid, MeanStep

#: The residual descriptions: distance to the grid, to the last time and the mean step, to the last time.
_GRID, _MEAN, _LAST = range(3)
_REPETITION = 3

#: Adaptive bits of repetition: nominal step? making up for the last one? candidates, the first with a context.
#: And whether a step that none of them foresaw is a multiple of the quantum.
_NOMINAL, _MAKE_UP, _FIRST_CANDIDATE, _OTHER_CANDIDATES, _DIVISIBLE, _QUESTIONS = 0, 48, 49, 65, 68, 69
_CANDIDATES = 4

#: Adaptive bits of a residual: a binary tree for its length in bits, a sign for each length, the three highest bits
#: below the leading one for each length.
_LENGTH_BITS, _LONGEST, _SHAPE_BITS = 7, 68, 3
_SIGN = 1 << _LENGTH_BITS
_SHAPE = _SIGN + _LONGEST + 1
_RESIDUAL = _SHAPE + ((_LONGEST + 1) << _SHAPE_BITS)
#: Nominal steps are counted up to this many.
_LONGEST_RUN = (1 << 31) - 1

#: How many bits an adaptive bit remembers.
_LIMIT = 250
#: A step that is no multiple of the quantum counts four, one that is takes one off; the quantum shrinks at this sum.
_ODD = 8
#: Steps that went unforeseen before the quantum may grow again.
_WINDOW = 64
#: Almost certain already: times are expected to be steady until they are not.
_LIKELY = (((1 << 22) * 15 // 16) << 8) | 2

#: Accounts begin, in 4,096ths of a bit, with a quarter of a bit for a residual and none for repetition.
_ACCOUNTS = (1024, 1024, 1024, 0)

#: What a bit of probability (i + 1/2) / 256 costs, in sixteenths of a bit.
_COSTS = [math.floor(16 * math.log2(256 / (i + 0.5)) + 0.5) for i in range(256)]

_LEAST, _MOST = -(2**63), 2**63 - 1


class AdaptiveTimes:
    """Times that both sides know, and what the next ones will probably be."""

    def __init__(self) -> None:
        #: Bits of all sections so far.
        self.bits = 0
        self.restart()

    def restart(self) -> None:
        """Forget everything but the bits spent."""
        self._last: int | None = None
        self._step: int | None = None
        self._nominal = 0
        self._missed = False
        self._candidates: list[int] = []
        self._answers, self._ranks = 15, 15
        self._run, self._run_before = 0, 0
        self._grid, self._mean = Grid(), MeanStep()
        self._quantum, self._odd, self._odd_quantum = 1, 0, 0
        self._window_quantum, self._unforeseen = 0, 0
        self._accounts = list(_ACCOUNTS)
        self._questions = [_LIKELY] * _MAKE_UP + [EVEN] * (_QUESTIONS - _MAKE_UP)
        self._questions[_DIVISIBLE] = _LIKELY
        self._residuals = [[EVEN] * _RESIDUAL for _ in range(3)]
        self._coder: list[int] | None = None
        self._buffer = bytearray()

    def to_plain(self) -> dict[str, Any]:
        """Return the state as integers, and lists and dictionaries of them."""
        return {
            "bits": self.bits,
            "last": [] if self._last is None else [self._last],
            "step": [] if self._step is None else [self._step],
            "nominal": self._nominal,
            "missed": int(self._missed),
            "candidates": list(self._candidates),
            "history": [self._answers, self._ranks, self._run, self._run_before],
            "grid": self._grid.to_plain(),
            "mean": self._mean.to_plain(),
            "quantum": [self._quantum, self._odd, self._odd_quantum, self._window_quantum, self._unforeseen],
            "accounts": list(self._accounts),
            "questions": list(self._questions),
            "residuals": [list(bits) for bits in self._residuals],
        }

    def from_plain(self, plain: dict[str, Any]) -> None:
        """Take over a state that `to_plain` returned."""
        self.bits = plain["bits"]
        self._last = plain["last"][0] if plain["last"] else None
        self._step = plain["step"][0] if plain["step"] else None
        self._nominal = plain["nominal"]
        self._missed = bool(plain["missed"])
        self._candidates = list(plain["candidates"])
        self._answers, self._ranks, self._run, self._run_before = plain["history"]
        self._grid.from_plain(plain["grid"])
        self._mean.from_plain(plain["mean"])
        self._quantum, self._odd, self._odd_quantum, self._window_quantum, self._unforeseen = plain["quantum"]
        self._accounts = list(plain["accounts"])
        self._questions = list(plain["questions"])
        self._residuals = [list(bits) for bits in plain["residuals"]]

    def encode(self, times: list[int]) -> bytes | None:
        """Return what the other side needs in order to know some times, None if it expects them."""
        if self._last is not None and times and times[0] == self._last + self._expected_step():
            before = self.to_plain()
            if self._follow(len(times), times) is not None:
                return None
            self.from_plain(before)
        self._coder = [0] * CODER_SIZE
        self._buffer = bytearray(40 * len(times) + 32)
        range_coder.start_encoding(cast(IntArray, self._coder))
        for time in times:
            self._code_time(time)
        size = range_coder.finish_encoding(cast(IntArray, self._coder), cast(ByteArray, self._buffer))
        self._coder = None
        self.bits += 8 * size
        return bytes(self._buffer[:size])

    def decode(self, section: bytes | None, count: int) -> list[int]:
        """Return the times of the next samples; a refused section changes nothing."""
        before = self.to_plain()
        try:
            if section is None:
                if self._last is None:
                    raise FrameError("a frame without times came first")
                times = self._follow(count, None)
                assert times is not None
                return times
            self._coder = [0] * CODER_SIZE
            self._buffer = bytearray(section)
            range_coder.start_decoding(cast(IntArray, self._coder), cast(ByteArray, self._buffer), len(section))
            times = [self._code_time(0) for _ in range(count)]
        except FrameError:
            self.from_plain(before)
            raise
        finally:
            self._coder = None
        self.bits += 8 * len(section)
        return times

    # Times

    def _follow(self, count: int, times: list[int] | None) -> list[int] | None:
        """Take the expected step ``count`` times; return the times, or None as soon as they are not as given."""
        assert self._last is not None
        followed = []
        for k in range(count):
            step = self._expected_step()
            time = self._last + step
            if times is not None and times[k] != time:
                return None
            followed.append(self._within(time))
            if self._step is None:
                continue
            if self._accounts[_REPETITION] <= min(self._accounts[:_REPETITION]):
                self._enter(_REPETITION, self._repeat(step, live=False)[1])
                self._grid.shift(step)
                self._last = time
                self._remember(step)
            else:
                self._learn(time, step, [None] * 4, 0, False)
        return followed

    def _expected_step(self) -> int:
        """Return the step that the cheapest description holds for the most probable."""
        if self._step is None:
            return 0
        best = self._best()
        if self._accounts[_REPETITION] > self._accounts[best]:
            return self._base(best)
        questions = self._questions
        if questions[self._nominal_context()] >= EVEN:
            return self._nominal
        if self._missed and questions[_MAKE_UP] >= EVEN:
            return self._make_up()
        for rank, candidate in enumerate(self._candidates):
            if questions[self._rank_context(rank)] >= EVEN:
                return candidate
        return self._nominal

    def _best(self) -> int:
        """Return the residual description that was the cheapest lately."""
        return min(range(3), key=self._accounts.__getitem__)

    def _code_time(self, time: int) -> int:
        """Code one time and learn from it; return it."""
        if self._last is None:
            self._last = self._within(self._code_plain(time))
            return self._last
        step = time - self._last
        if self._step is None:
            step = self._code_plain(step)
            time = self._within(self._last + step)
            self._nominal, self._quantum = step, max(abs(step), 1)
            self._grid.begin(time, step)
            self._mean.begin(step)
            self._last, self._step = time, step
            return time
        best = self._best()
        costs: list[int | None] = [None] * 4
        answer = None
        if self._accounts[_REPETITION] <= self._accounts[best]:
            answer, costs[_REPETITION] = self._repeat(step, live=True)
        told = answer is None
        if answer is None:
            answer, costs[best] = self._code_distance(best, step)
        time = self._within(self._last + answer)
        self._learn(time, answer, costs, best, told)
        return time

    def _within(self, time: int) -> int:
        if not _LEAST <= time <= _MOST:
            raise FrameError("times run out of 64 bits")
        return time

    def _learn(self, time: int, step: int, costs: list[int | None], best: int, unforeseen: bool) -> None:
        """Let every description learn from a step, also those that did not code it."""
        odd = step % self._quantum != 0
        made_up = self._missed and step == self._make_up()
        if costs[_REPETITION] is None:
            answer, costs[_REPETITION] = self._repeat(step, live=False)
            unforeseen = answer is None
        for k in range(3):
            if odd:
                costs[k] = 16 * (_LENGTH_BITS + abs(step).bit_length())
            elif costs[k] is None:
                costs[k] = self._residual(k, (step - self._base(k)) // self._quantum, live=False)[1]
        if unforeseen:
            costs[_REPETITION] = (costs[_REPETITION] or 0) + (costs[best] or 0)
        for k, cost in enumerate(costs):
            self._enter(k, cost or 0)
        self._grid.learn(time, step)
        self._mean.learn(step)
        self._last = time
        self._remember(step)
        if unforeseen or (odd and not made_up):
            self._adjust_quantum(step)

    def _enter(self, k: int, cost: int) -> None:
        """Enter a cost into an account, which is a running mean."""
        self._accounts[k] += ((cost << 8) - self._accounts[k]) >> 5

    def _adjust_quantum(self, step: int) -> None:
        """Let the quantum follow the steps that no question foresaw: down if many do not fit, up once all would."""
        quantum = self._quantum
        if step % quantum != 0:
            self._odd_quantum = math.gcd(self._odd_quantum or quantum, step)
            self._odd += 4
            if self._odd >= _ODD:
                quantum = self._odd_quantum
        else:
            self._odd = max(self._odd - 1, 0)
        if self._odd == 0:
            self._odd_quantum = 0
        self._window_quantum = math.gcd(self._window_quantum, step)
        self._unforeseen += 1
        if self._unforeseen == _WINDOW:
            wider = math.gcd(self._window_quantum, self._nominal, *self._candidates)
            if wider > quantum:
                quantum = wider
            self._unforeseen = self._window_quantum = 0
        if quantum != self._quantum:
            self._quantum, self._odd, self._odd_quantum = quantum, 0, 0
            self._accounts = list(_ACCOUNTS)
            self._residuals = [[EVEN] * _RESIDUAL for _ in range(3)]

    # Repetition

    def _nominal_context(self) -> int:
        """Return the bit that asks for the nominal step: how the last four were, how long since the last other one."""
        run = 0 if self._run < self._run_before else 1 if self._run == self._run_before else 2
        return _NOMINAL + 16 * run + self._answers

    def _make_up(self) -> int:
        """Return the step that brings the second of two samples to where it was expected before the first was late."""
        assert self._step is not None
        return 2 * self._nominal - self._step

    def _rank_context(self, rank: int) -> int:
        return _FIRST_CANDIDATE + self._ranks if rank == 0 else _OTHER_CANDIDATES + rank - 1

    def _repeat(self, step: int, *, live: bool) -> tuple[int | None, int]:
        """Ask whether a step is one of those met before; return it, None if it is not, and what the answers cost."""
        yes, cost = self._bit(self._questions, self._nominal_context(), step == self._nominal, live)
        if yes:
            return self._nominal, cost
        if self._missed:
            make_up = self._make_up()
            yes, more = self._bit(self._questions, _MAKE_UP, step == make_up, live)
            cost += more
            if yes:
                return make_up, cost
        for rank, candidate in enumerate(self._candidates):
            yes, more = self._bit(self._questions, self._rank_context(rank), step == candidate, live)
            cost += more
            if yes:
                return candidate, cost
        return None, cost

    def _remember(self, step: int) -> None:
        """Keep what the next questions are about: the nominal step is one that came twice in a row, or the first."""
        hit = step == self._nominal
        self._answers = (2 * self._answers + hit) & 15
        if hit:
            self._run = min(self._run + 1, _LONGEST_RUN)
        else:
            self._run_before, self._run = self._run, 0
            if self._candidates:
                self._ranks = (2 * self._ranks + (step == self._candidates[0])) & 15
            if step in self._candidates:
                self._candidates.remove(step)
            if step == self._step:
                self._candidates.insert(0, self._nominal)
                self._nominal, hit = step, True
            else:
                self._candidates.insert(0, step)
            del self._candidates[_CANDIDATES:]
        self._missed, self._step = not hit, step

    # Residuals

    def _base(self, k: int) -> int:
        """Return the step that a residual description predicts, a multiple of the quantum."""
        assert self._last is not None
        if k == _LAST:
            return 0
        step = self._grid.predict() - self._last if k == _GRID else self._mean.predict()
        return (step + (self._quantum >> 1)) // self._quantum * self._quantum

    def _code_distance(self, k: int, step: int) -> tuple[int, int]:
        """Code a step as its distance to a prediction, or plainly if it is no multiple of the quantum."""
        if self._quantum > 1:
            divisible, _ = self._bit(self._questions, _DIVISIBLE, step % self._quantum == 0, True)
            if not divisible:
                return self._code_plain(step), 0
        base = self._base(k)
        residual, cost = self._residual(k, (step - base) // self._quantum, live=True)
        return base + residual * self._quantum, cost

    def _residual(self, k: int, value: int, *, live: bool) -> tuple[int, int]:
        """Code an integer of either sign; return it and what it cost."""
        bits = self._residuals[k]
        size = abs(value)
        length, node, cost = size.bit_length(), 1, 0
        for level in range(_LENGTH_BITS - 1, -1, -1):
            bit, more = self._bit(bits, node, (length >> level) & 1, live)
            node, cost = 2 * node + bit, cost + more
        length = node - (1 << _LENGTH_BITS)
        if length == 0:
            return 0, cost
        if length > _LONGEST:
            raise FrameError("times run out of 64 bits")
        negative, more = self._bit(bits, _SIGN + length, value < 0, live)
        cost += more
        node, left = 1, length - 1
        while left > 0 and node < 1 << _SHAPE_BITS:
            left -= 1
            bit, more = self._bit(bits, _SHAPE + (length << _SHAPE_BITS) + node, (size >> left) & 1, live)
            node, cost = 2 * node + bit, cost + more
        cost += 16 * left
        if live:
            size = (node << left) | self._plain_bits(size & ((1 << left) - 1), left)
        return -size if negative else size, cost

    # Bits

    def _bit(self, bits: list[int], index: int, bit: int, live: bool) -> tuple[int, int]:
        """Code a bit, or only learn from it; return it and what it cost."""
        entry = bits[index]
        seen, chance = entry & 255, entry >> 8
        if live:
            bit = range_coder.code_bit(*self._channel(), cast(IntArray, bits), index, _LIMIT, bit)
        elif bit:
            chance += ((4194303 - chance) * (327680 // (5 * seen + 8))) >> 16
            bits[index] = (chance << 8) | min(seen + 1, _LIMIT)
        else:
            chance -= (chance * (327680 // (5 * seen + 8))) >> 16
            bits[index] = (chance << 8) | min(seen + 1, _LIMIT)
        likely = entry >> 22
        return bit, _COSTS[likely if bit else 255 - likely]

    def _channel(self) -> tuple[IntArray, ByteArray]:
        return cast(IntArray, self._coder), cast(ByteArray, self._buffer)

    def _plain_bits(self, value: int, n_bits: int) -> int:
        return range_coder.code_bits(*self._channel(), value, n_bits)

    def _code_plain(self, value: int) -> int:
        """Code an integer of either sign and at most 65 bits that nothing is known of."""
        length = self._plain_bits(abs(value).bit_length(), _LENGTH_BITS)
        if length > 65:
            raise FrameError("times run out of 64 bits")
        if length == 0:
            return 0
        negative = self._plain_bits(int(value < 0), 1)
        size = (1 << (length - 1)) | self._plain_bits(abs(value) & ((1 << (length - 1)) - 1), length - 1)
        return -size if negative else size
