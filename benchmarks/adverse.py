"""The default learner on hard streams, beside the paper's algorithm: `orthostream bench recovery --adverse`."""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.cli.errors import UserError

from .adverse_report import AVERAGED, OURS, PAPER, Outcome, records_of, report
from .adverse_streams.registry import CASES
from .adverse_streams.stream import Case
from .measure import SEED, Record, exponent, recovery_errors, say, write_json

#: Families of seeds: constants of the learner are chosen on one, and what comes of them is reported on the other.
FAMILIES = {"report": 0, "tune": 1}
#: The error of a trial is the median over so many moments, evenly spaced in this last part of the stream.
MOMENTS, TAIL = 10, 0.2
#: The error of a learner that raised an exception or returned NaN; no error is larger.
LOST = 1.0


class Effort(NamedTuple):
    """How much is run."""

    trials: int = 20
    steps: float = 1.0
    """Part of the mini-batches of a stream."""


FULL, QUICK = Effort(), Effort(trials=3, steps=0.2)

_Read = Callable[[OrthogonalDictionaryLearning], Sequence[FloatArray]]


def run_adverse(options: argparse.Namespace) -> list[Record]:
    """Measure, print the table, and return the records."""
    effort = QUICK if options.quick else FULL
    effort = effort._replace(trials=options.trials or effort.trials)
    cases, seeds = chosen(options.only), options.seeds or "report"
    began = time.perf_counter()
    outcomes: list[Outcome] = []
    for number, case in enumerate(cases, start=1):
        start = time.perf_counter()
        outcome = measure(case, seeds, effort)
        outcomes.append(outcome)
        errors = ", ".join(f"{method} {exponent(outcome.median(method))}" for method in outcome.errors)
        say(f"{number} of {len(cases)}, {case.name}: {errors}; {time.perf_counter() - start:.0f} s")
    print(report(outcomes, seeds, effort.trials), flush=True)
    say(f"{time.perf_counter() - began:.0f} s")
    records = [record for outcome in outcomes for record in records_of(outcome)]
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    return records


def chosen(words: str | None) -> list[Case]:
    """Return the streams whose name contains one of the words, separated by commas; all without words."""
    if words is None:
        return list(CASES)
    each = [word.strip().lower() for word in words.split(",")]
    for word in each:
        if not word or not any(word in case.name.lower() for case in CASES):
            raise UserError(f"--only: no stream has {word!r} in its name; --adverse --quick prints all names")
    return [case for case in CASES if any(word in case.name.lower() for word in each)]


def measure(case: Case, seeds: str, effort: Effort) -> Outcome:
    """Return the errors of all trials."""
    steps = max(round(effort.steps * case.steps), MOMENTS)
    found = [_trial(case, seeds, trial, steps) for trial in range(effort.trials)]
    return Outcome(case.name, {method: np.array([errors[method] for errors in found]) for method in found[0]})


def _trial(case: Case, seeds: str, trial: int, steps: int) -> dict[str, float]:
    """Learn one stream, and return the error of each method: the median over the moments of the tail."""
    rng = np.random.default_rng([SEED, FAMILIES[seeds], zlib.crc32(case.name.encode()), trial])
    start = int(rng.integers(2**31))
    stream = case.make(rng, steps)
    batches = list(stream.batches)
    moments = np.unique(np.linspace((1.0 - TAIL) * steps, steps, MOMENTS + 1).round()[1:].astype(int)).tolist()
    ours = OrthogonalDictionaryLearning(case.atoms, random_state=start)
    # The average changes nothing about the steps: the last iterate is that of the preset without it.
    paper = OrthogonalDictionaryLearning.preset("paper", n_components=case.atoms, random_state=start, average=True)
    readers: list[tuple[OrthogonalDictionaryLearning, _Read, tuple[str, ...]]] = [
        (ours, lambda learner: [learner.components_.T], (OURS,)),
        (paper, lambda learner: [learner.state_.x, learner.components_.T], (PAPER, AVERAGED)),
    ]
    errors: dict[str, float] = {}
    for learner, read, methods in readers:
        found = _learn(learner, batches, moments, read)
        for i, method in enumerate(methods):
            each = [_error(stream.truth_at(t), found[t][i]) if t in found else LOST for t in moments]
            errors[method] = float(np.median(each))
    return errors


def _learn(
    learner: OrthogonalDictionaryLearning, batches: Sequence[FloatArray], moments: Sequence[int], read: _Read
) -> dict[int, Sequence[FloatArray]]:
    """Return the dictionaries at the moments; those after an exception are missing."""
    found: dict[int, Sequence[FloatArray]] = {}
    for t, rows in enumerate(batches, start=1):
        try:
            learner.partial_fit(rows)
        except Exception as error:  # One stream that breaks the learner must not hide the others.
            say(f"  mini-batch {t}: {type(error).__name__}: {error}")
            break
        if t in moments:
            found[t] = read(learner)
    return found


def _error(truth: FloatArray, learnt: FloatArray) -> float:
    """Return `recovery_error`, with the mean over the true atoms: the learner may have others to spare."""
    error = float(recovery_errors(truth, learnt))
    return error if np.isfinite(error) else LOST
