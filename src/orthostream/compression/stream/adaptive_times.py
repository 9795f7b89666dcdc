"""When samples were taken: nothing while the next times can be expected, close to their entropy where they cannot.

Two descriptions of the next step compete. *Repetition* asks yes/no questions: is it the nominal step, the one that
makes up for a late sample, one of the last few other steps? *Residuals* are the distance to a prediction: of the grid
that samples lie around, of the last sample and the mean step, or of the last sample alone. Both sides keep an account
of what each would have cost lately, and the cheapest one codes the next step. All of it is integers.
"""

from __future__ import annotations

import math
from typing import Any

from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.range_coder import EVEN
from orthostream.compression.stream.time_bits import LEARNING, LENGTH_BITS, SIGNED_BITS, Learning, TimeBits, code_signed
from orthostream.compression.stream.time_predictors import Grid, MeanStep

#: The residual descriptions: distance to the grid, to the last time and the mean step, to the last time.
_GRID, _MEAN, _LAST = range(3)
_REPETITION = 3

#: Adaptive bits of repetition: nominal step? making up for the last one? candidates, the first with a context.
#: And whether a step that none of them foresaw is a multiple of the quantum.
_NOMINAL, _MAKE_UP, _FIRST_CANDIDATE, _OTHER_CANDIDATES, _DIVISIBLE, _QUESTIONS = 0, 48, 49, 65, 68, 69
_CANDIDATES = 4

#: After as many nominal steps in a row, the expected ones teach nothing to predictions, which saves time.
_STEADY_RUN = 64
#: Nominal steps are counted up to this many.
_LONGEST_RUN = (1 << 31) - 1

#: A step that is no multiple of the quantum counts four, one that is takes one off; the quantum shrinks at this sum.
_ODD = 8
#: Steps that went unforeseen before the quantum may grow again.
_WINDOW = 64
#: Almost certain already: times are expected to be steady until they are not.
_LIKELY = (((1 << 22) * 15 // 16) << 8) | 2

#: A sixty-fourth of a bit, in the 4,096ths that accounts are kept in.
_CLEARLY = 64

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
        self._accounts = [0, 0, 0, 0]
        self._questions = [_LIKELY] * _MAKE_UP + [EVEN] * (_QUESTIONS - _MAKE_UP)
        self._questions[_DIVISIBLE] = _LIKELY
        self._residuals = [[EVEN] * SIGNED_BITS for _ in range(3)]

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
        coder = TimeBits(None, len(times))
        for time in times:
            self._code_time(coder, time)
        section = coder.finish()
        self.bits += 8 * len(section)
        return section

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
            coder = TimeBits(section, count)
            times = [self._code_time(coder, 0) for _ in range(count)]
        except FrameError:
            self.from_plain(before)
            raise
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
            if self._run >= _STEADY_RUN and self._repeats():
                self._enter(_REPETITION, self._repeat(LEARNING, step)[1])
                self._grid.shift(step)
                self._last = time
                self._remember(step)
            else:
                self._learn(time, step, {})
        return followed

    def _expected_step(self) -> int:
        """Return the step that the cheapest description holds for the most probable."""
        if self._step is None:
            return 0
        best = self._best()
        if best != _LAST and not self._repeats():
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

    def _repeats(self) -> bool:
        """Return whether repetition describes the next step; it does where no residual is clearly cheaper."""
        return self._accounts[_REPETITION] <= min(self._accounts[:_REPETITION]) + _CLEARLY

    def _code_time(self, coder: TimeBits, time: int) -> int:
        """Code one time and learn from it; return it."""
        if self._last is None:
            self._last = self._within(coder.unknown(time))
            return self._last
        step = time - self._last
        if self._step is None:
            step = coder.unknown(step)
            time = self._within(self._last + step)
            self._nominal, self._quantum = step, max(abs(step), 1)
            self._grid.begin(time, step)
            self._mean.begin(step)
            self._last, self._step = time, step
            return time
        best = self._best()
        costs: dict[int, int] = {}
        answer = None
        if self._repeats():
            answer, costs[_REPETITION] = self._repeat(coder, step)
        step = self._code_distance(coder, best, step, costs) if answer is None else answer
        time = self._within(self._last + step)
        self._learn(time, step, costs)
        return time

    def _within(self, time: int) -> int:
        if not _LEAST <= time <= _MOST:
            raise FrameError("times run out of 64 bits")
        return time

    def _learn(self, time: int, step: int, costs: dict[int, int]) -> None:
        """Let every description learn from a step, also those that did not code it and whose cost is not known yet."""
        odd, best = step % self._quantum != 0, self._best()
        made_up = self._missed and step == self._make_up()
        unforeseen = not made_up and step != self._nominal and step not in self._candidates
        if _REPETITION not in costs:
            costs[_REPETITION] = self._repeat(LEARNING, step)[1]
        for k in range(3):
            if odd:
                costs[k] = 16 * (LENGTH_BITS + abs(step).bit_length())
            elif k not in costs:
                costs[k] = code_signed(LEARNING, self._residuals[k], (step - self._base(k)) // self._quantum)[1]
        if unforeseen:
            costs[_REPETITION] += costs[best]
        for k in range(4):
            self._enter(k, costs[k])
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
            self._accounts = [0, 0, 0, 0]
            self._residuals = [[EVEN] * SIGNED_BITS for _ in range(3)]

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

    def _repeat(self, coder: TimeBits | Learning, step: int) -> tuple[int | None, int]:
        """Ask whether a step is one of those met before; return it, None if it is not, and what the answers cost."""
        yes, cost = coder.bit(self._questions, self._nominal_context(), int(step == self._nominal))
        if yes:
            return self._nominal, cost
        if self._missed:
            make_up = self._make_up()
            yes, more = coder.bit(self._questions, _MAKE_UP, int(step == make_up))
            cost += more
            if yes:
                return make_up, cost
        for rank, candidate in enumerate(self._candidates):
            yes, more = coder.bit(self._questions, self._rank_context(rank), int(step == candidate))
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

    def _code_distance(self, coder: TimeBits, k: int, step: int, costs: dict[int, int]) -> int:
        """Code a step as its distance to a prediction, or as it is if it is no multiple of the quantum."""
        if self._quantum > 1 and not coder.bit(self._questions, _DIVISIBLE, int(step % self._quantum == 0))[0]:
            return coder.unknown(step)
        base = self._base(k)
        residual, costs[k] = code_signed(coder, self._residuals[k], (step - base) // self._quantum)
        return base + residual * self._quantum
