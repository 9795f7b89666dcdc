"""What a learner remembers of the gaps in its rows: how many there were, and how many rows could be solved."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.dictionary.missing import complete
from orthostream.dictionary.solved_gaps import solve_gaps
from orthostream.optimize import GradientEstimate, State

#: Length of the memory, in rows per atom.
_MEMORY = 10.0
#: If a smaller share of the rows can be solved, the dictionary may be wrong, and all rows are learnt from.
_FEW_SOLVED = 0.05


class GapRecord(NamedTuple):
    """Running shares over the mini-batches that have a gap."""

    missing: float = 0.0
    """The share of the readings that are missing."""
    solved: float = 1.0
    """The share of the rows with gaps that `solve_gaps` solves."""

    def completed(self, batch: FloatArray, estimate: GradientEstimate, state: State) -> tuple[FloatArray, Self]:
        """Return the mini-batch without missing readings, and the next record.

        Once codes are known to be sparse, rows that cannot be solved become zero, so that nothing is learnt from them.
        """
        gaps = np.isnan(batch)
        if not gaps.any():
            return batch, self
        record = self._replace(missing=_moved(self.missing, float(gaps.mean()), len(batch), state))
        point, noise = estimate.for_completion(state.memory, state.x, record.missing)
        rows = complete(batch, point)
        if noise is None:
            return rows, record
        rows, is_solved = solve_gaps(rows, gaps, point, noise)
        record = record._after_solving(np.asarray(gaps.any(axis=1)), is_solved, state)
        return rows if record.solved < _FEW_SOLVED else np.where(is_solved[:, None], rows, 0.0), record

    def _after_solving(self, incomplete: BoolArray, is_solved: BoolArray, state: State) -> Self:
        solved, count = int(np.count_nonzero(is_solved[incomplete])), int(np.count_nonzero(incomplete))
        return self._replace(solved=_moved(self.solved, solved / count, count, state))

    @classmethod
    def from_plain(cls, numbers: dict[str, Any]) -> Self:
        """Return the record that was saved."""
        return cls(**{name: float(numbers[name]) for name in cls._fields})


def _moved(share: float, new: float, rows: int, state: State) -> float:
    """Return a running share after so many rows; while the learner is new, it is their mean."""
    weight = max(min(rows / (_MEMORY * state.x.shape[-1]), 1.0), 1.0 / (state.t + 1))
    return float(share + weight * (new - share))
