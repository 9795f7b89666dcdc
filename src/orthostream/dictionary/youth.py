"""Rehearsal: while a learner is young it learns from the samples of a small buffer several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize import GradientEstimate, Guarded, InSubspace, State, StochasticFrankWolfe
from orthostream.optimize.estimates.guarded.constants import MOST_REPEATS
from orthostream.optimize.estimates.guarded.rehearsal import Rehearsal

#: A learner is young for this many samples per atom; longer, and it would fit the noise of the buffer.
YOUTH = 40
#: The largest number of samples per atom in the buffer.
BUFFER = 20
#: How many samples are rehearsed for each new one, and how many at a time, per atom; but no more at a time than so many
#: times a mini-batch, because the learner's clock counts mini-batches.
TIMES, AT_A_TIME, LARGER = 8, 0.5, 5
#: The largest number of readings in the buffer; learners that would need more have no youth.
LARGEST = 10_000_000
#: Steps through the buffer from one rehearsed sample to the next, so that a mini-batch is not one stretch of samples.
_STRIDE = 7


class Youth:
    """The samples that a young learner rehearses. With them the dictionary is found from a third of the samples."""

    def __init__(self, features: int, atoms: int) -> None:
        self.atoms = atoms
        self.rows = np.empty((0, features))
        self.seen = self.owed = self.place = 0

    @property
    def is_over(self) -> bool:
        """Whether enough samples were seen."""
        return self.seen > YOUTH * self.atoms

    def rehearse(self, solver: StochasticFrankWolfe, state: State, rows: FloatArray) -> State:
        """Add new rows to the buffer and take steps on rehearsed ones; the number of steps stays that of new rows."""
        rows = self._without_repeats(rows)
        self.seen += len(rows)
        if self.is_over or not len(rows):
            return state
        self.rows = np.concatenate([self.rows, rows])[-BUFFER * self.atoms :]
        self.owed += TIMES * len(rows)
        size = max(len(rows), min(int(AT_A_TIME * self.atoms), LARGER * len(rows)))
        again = StochasticFrankWolfe(solver.feasible, _rehearsal(solver.estimate), post_step=solver.post_step)
        t, average = state.t, state.average
        state = state._replace(average=None)
        while self.owed >= size:
            self.owed -= size
            if len(self.rows) >= size:
                which = (self.place + _STRIDE * np.arange(size)) % len(self.rows)
                self.place = int(self.place + _STRIDE * size + 3) % len(self.rows)  # 3: others next time
                state = again.step(state, self.rows[which])
        return state._replace(t=t, average=average)

    def _without_repeats(self, rows: FloatArray) -> FloatArray:
        """Return the rows without those that repeat the one before, if one comes more than a few times in a row.

        None is left of a mini-batch that is the same as the one before: its rows are in the buffer already.
        """
        if len(rows) <= len(self.rows) and np.array_equal(rows, self.rows[-len(rows) :]):
            return rows[:0]
        first = self.rows[-1:] if len(self.rows) else np.full((1, rows.shape[1]), np.nan)
        fresh = (rows != np.concatenate([first, rows[:-1]])).any(axis=1)
        longest = np.diff(np.flatnonzero(np.concatenate([[True], fresh, [True]]))).max()
        return rows[fresh] if longest > MOST_REPEATS else rows

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers as data for JSON; the rows are saved as an array."""
        return {"seen": self.seen, "owed": self.owed, "place": self.place}

    @classmethod
    def from_plain(cls, numbers: dict[str, Any], rows: FloatArray, shape: tuple[int, ...]) -> Youth:
        """Return the youth that was saved, of a learner whose dictionary has this shape."""
        if rows.ndim != 2 or rows.shape[1] != shape[0]:
            raise ValueError(f"the buffer has shape {rows.shape}, but there are {shape[0]} features.")
        youth = cls(*shape)
        youth.rows = np.array(rows, dtype=float)
        youth.seen, youth.owed, youth.place = (int(numbers[name]) for name in ("seen", "owed", "place"))
        return youth


def has_youth(solver: StochasticFrankWolfe, state: State) -> bool:
    """Return whether a learner with this solver rehearses while it is young: if the estimate can, and memory allows."""
    return isinstance(solver.estimate, Guarded | InSubspace) and BUFFER * state.x.size <= LARGEST


def _rehearsal(estimate: GradientEstimate) -> GradientEstimate:
    """Return the estimate for samples that were seen before. Those in a subspace do not move it."""
    if isinstance(estimate, InSubspace):
        return InSubspace(estimate.learner, again=True)
    assert isinstance(estimate, Guarded)
    return Rehearsal(estimate)
