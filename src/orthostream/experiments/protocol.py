"""Section V-C: how online and offline methods are trained, and with which dictionary they code.

Offline methods are trained on the first 4,000 readings. Online methods start from the next 100, then learn from
mini-batches of six. All are measured on the same slots. The paper codes a mini-batch with the dictionary that was just
learnt from it (``after``), which a receiver does not have; a receiver can have the dictionary ``before``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.dictionary.sparse_coding import keep_largest
from orthostream.experiments.contenders import SLOT
from orthostream.experiments.paper_values import ETAS
from orthostream.experiments.registry import OFFLINE, OfflineFit, contender
from orthostream.experiments.task import TaskReport, TaskResult

TRAINING, INITIAL = 4000, 100
BEFORE, AFTER = "before", "after"

#: The last training row and the last validation row of each fold, all within the training rows of the experiment.
FOLDS = ((2000, 3000), (3000, 4000))


def slots(first: int, last: int) -> Iterator[slice]:
    """Cut rows into slots of six, the last of which may be shorter.

    >>> [(slot.start, slot.stop) for slot in slots(0, 8)]
    [(0, 6), (6, 8)]
    """
    for start in range(first, last, SLOT):
        yield slice(start, min(start + SLOT, last))


def follow(method: str, penalty: float, rows: FloatArray, seed: int, report: TaskReport) -> TaskResult:
    """Run an online method along the stream; return squared errors (etas, slots) under both protocols.

    Also returned: the processor time of learning and coding in each slot, and the energy of each slot.
    """
    first = TRAINING + INITIAL
    cut = list(slots(first, len(rows)))
    runner = contender(method, seed, penalty)
    runner.start(rows[TRAINING:first])
    errors = {protocol: np.empty((len(ETAS), len(cut))) for protocol in (BEFORE, AFTER)}
    seconds = np.empty((len(ETAS), len(cut)))
    for i, slot in enumerate(cut):
        for protocol in (BEFORE, AFTER):
            start = time.process_time()
            if protocol == AFTER:
                runner.learn(rows[slot])
            codes = runner.code(rows[slot])
            shared = time.process_time() - start
            for k, eta in enumerate(ETAS):
                start = time.process_time()
                kept = keep_largest(codes, eta)
                seconds[k, i] = shared + time.process_time() - start
                estimates = runner.decode(kept)
                errors[protocol][k, i] = ((estimates - rows[slot]) ** 2).sum()
        if i % 50 == 0:
            report(i / len(cut))
    return {
        **{f"errors {protocol}": errors[protocol] for protocol in errors},
        "seconds": seconds,
        "energy": np.array([(rows[slot] ** 2).sum() for slot in cut]),
    }


def train(
    method: str,
    grid: tuple[float, ...],
    rows: FloatArray,
    trained: int,
    first: int,
    effort: int,
    seed: int,
    report: TaskReport,
) -> TaskResult:
    """Fit an offline method to the first rows; return squared errors (values of the grid, etas, slots) on later ones.

    ``effort`` is the number of epochs or sweeps. Also returned: the processor time of coding a slot, and the training
    curves, if there are any.
    """
    row = OFFLINE[method]
    with _one_torch_thread() if row.uses_torch else nullcontext():
        cut = list(slots(first, len(rows)))
        # One training serves all values of a coding parameter; any other grid needs one for each value.
        trainings: tuple[float | None, ...] = grid if grid and not row.coding_parameter else (None,)
        errors, seconds = [], []
        curves: TaskResult = {}
        for step, value in enumerate(trainings):

            def part(share: float, step: int = step) -> None:
                report((step + share) / len(trainings))

            estimator = row.make(OfflineFit(value, trained, effort, seed, part)).fit(rows[:trained])
            if row.curves:
                suffix = "" if value is None else f" {value:g}"
                curves |= {f"curve {name}{suffix}": np.asarray(c) for name, c in getattr(estimator, row.curves).items()}
            if row.coding_parameter:
                for each in grid:
                    tried, taken = _cut_codes(estimator.set_params(**{row.coding_parameter: each}), rows, first, cut)
                    errors.append(tried)
                    seconds.append(taken)
            else:
                errors.append([_errors(_estimates(estimator, rows, first, eta), rows, cut) for eta in ETAS])
                seconds.append([_seconds(estimator.set_params(n_nonzero=eta), rows, cut) for eta in ETAS])
        return {
            "errors": np.array(errors),
            "seconds": np.array(seconds),
            "energy": np.array([(rows[slot] ** 2).sum() for slot in cut]),
            **curves,
        }


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Limit torch to one thread, as BLAS is: each worker has one core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _estimates(estimator: Any, rows: FloatArray, first: int, eta: int) -> FloatArray:
    codes = estimator.set_params(n_nonzero=eta).transform(rows[first:])
    estimates: FloatArray = estimator.inverse_transform(codes)
    return estimates


def _cut_codes(estimator: Any, rows: FloatArray, first: int, cut: list[slice]) -> tuple[list[list[float]], list[float]]:
    """Return errors and seconds for each eta; codes are found once, with the rows before them, and then cut."""
    history = getattr(estimator, "window", 1) - 1
    codes = estimator.transform(rows[first - history :])[history:]
    errors = [_errors(estimator.inverse_transform(keep_largest(codes, eta)), rows, cut) for eta in ETAS]
    return errors, [_seconds(estimator, rows, cut, history)] * len(ETAS)


def _errors(estimates: FloatArray, rows: FloatArray, cut: list[slice]) -> list[float]:
    """Return the squared error of each slot."""
    first = cut[0].start
    return [float(((estimates[s.start - first : s.stop - first] - rows[s]) ** 2).sum()) for s in cut]


def _seconds(estimator: Any, rows: FloatArray, cut: list[slice], history: int = 0, repeats: int = 50) -> float:
    """Return the median processor time of coding one of the first slots."""
    taken = []
    for slot in cut[:repeats]:
        start = time.process_time()
        estimator.transform(rows[slot.start - history : slot.stop])
        taken.append(time.process_time() - start)
    return float(np.median(taken))
