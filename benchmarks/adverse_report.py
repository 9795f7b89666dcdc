"""What `orthostream bench recovery --adverse` asks of the default learner, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray

from .measure import Record, exponent, table

NAME = "recovery adverse"
OURS, PAPER, AVERAGED = "default", "paper", "averaged"
METHODS = (OURS, PAPER, AVERAGED)
#: How many times the error of averaged l3 the default may have: in the median and in the worst trial.
MEDIAN, WORST = 1.1, 2.0
#: Errors up to here are exact; ratios take them for this.
EXACT = 1e-12


class Outcome(NamedTuple):
    """The errors of all trials on a stream, by method."""

    stream: str
    errors: dict[str, FloatArray]

    def median(self, method: str) -> float:
        """Return the median of the trials."""
        return float(np.median(self.errors[method]))

    def worst(self, method: str) -> float:
        """Return the largest error of the trials."""
        return float(self.errors[method].max())

    @property
    def median_ratio(self) -> float:
        """The median of the default, in medians of the average."""
        return _ratio(self.median(OURS), self.median(AVERAGED))

    @property
    def paper_ratio(self) -> float:
        """The median of the default, in medians of the paper's algorithm."""
        return _ratio(self.median(OURS), self.median(PAPER))

    @property
    def worst_ratio(self) -> float:
        """The worst trial of the default, in worst trials of the average."""
        return _ratio(self.worst(OURS), self.worst(AVERAGED))

    @property
    def missed(self) -> list[str]:
        """What the default should do and does not, in words; empty if it meets all."""
        paper_is_better = self.median(PAPER) < self.median(AVERAGED)
        found = {
            f"median {_short(self.median_ratio)} x averaged": self.median_ratio > MEDIAN,
            f"median {_short(self.paper_ratio)} x paper": paper_is_better and self.paper_ratio > 1.0,
            f"worst {_short(self.worst_ratio)} x averaged": self.worst_ratio > WORST,
        }
        return [what for what, is_missed in found.items() if is_missed]


def report(outcomes: Sequence[Outcome], seeds: str, trials: int) -> str:
    """Return the table, how many streams meet what is asked, and those that do not."""
    rows = []
    for outcome in outcomes:
        cells = [f"{exponent(outcome.median(m))} ({exponent(outcome.worst(m))})" for m in METHODS]
        cells += [_short(outcome.median_ratio), _short(outcome.worst_ratio), "no" if outcome.missed else "yes"]
        rows.append((outcome.stream, cells))
    title = (
        f"hard streams, seeds {seeds!r}: recovery error in the last fifth, median (worst) of {trials} trials;\n"
        f"met: median <= {MEDIAN:g} x averaged, and not above paper where that is better, and worst <= {WORST:g} x"
        f" averaged;\nerrors below {EXACT:g} count as {EXACT:g}"
    )
    columns = [*METHODS, "median / averaged", "worst / averaged", "met"]
    failed = [outcome for outcome in outcomes if outcome.missed]
    lines = [table(title, "", columns, rows), f"\nmet on {len(outcomes) - len(failed)} of {len(outcomes)} streams"]
    if failed:
        lines.append("not met:")
        lines += [f"  {outcome.stream}: {', '.join(outcome.missed)}" for outcome in failed]
    return "\n".join(lines)


def records_of(outcome: Outcome) -> list[Record]:
    """Return all numbers of a stream."""
    values: list[tuple[str, str, float]] = []
    for method in METHODS:
        values += [(method, "median_error", outcome.median(method)), (method, "worst_error", outcome.worst(method))]
        values += [(method, f"error_of_trial_{i}", float(e)) for i, e in enumerate(outcome.errors[method])]
    values += [
        (OURS, "median_ratio_to_averaged", outcome.median_ratio),
        (OURS, "median_ratio_to_paper", outcome.paper_ratio),
        (OURS, "worst_ratio_to_averaged", outcome.worst_ratio),
        (OURS, "met", float(not outcome.missed)),
    ]
    return [Record(NAME, method, outcome.stream, metric, value) for method, metric, value in values]


def _ratio(ours: float, theirs: float) -> float:
    return max(ours, EXACT) / max(theirs, EXACT)


def _short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.01 else exponent(ratio)
