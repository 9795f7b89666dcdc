"""Time per mini-batch of the dictionary learner and of what people use instead, in one run, on one BLAS thread."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning
from sklearn.exceptions import ConvergenceWarning

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import can_compile, without_numba
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.optimize import LpContrast, PolarStep, SpectralBall, StochasticFrankWolfe, polar

from .learner_field import run_field
from .measure import Record, best_time, duration, grown_up, table, write_json
from .two_svd_loop import TwoSVDLoop

Array = np.ndarray[Any, np.dtype[np.float64]]
NAME = "learner"
SIZES = (10, 32, 56, 128, 256, 512)
BATCHES = (6, 64)
FIRST = 200
OURS, FAST, REFERENCE = "orthostream, plain NumPy", "orthostream [fast]", "NumPy + SVD reference"
PAPER = "[fast], preset paper"
SPAMS = "SPAMS trainDL"


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    if options.field:
        return run_field(options)
    sizes, batches = ((10, 56), (6,)) if options.quick else (SIZES, BATCHES)
    records: list[Record] = []
    for batch in batches:
        for size in sizes:
            _say(f"mini-batches of {batch}, N = {size} ...")
            records += _measure(size, batch)
    _say("a stack of 100 problems ...")
    records += _measure_stack()
    print(_report(records, sizes, batches))
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure:
        _draw(records, sizes, batches, options.figure)
        print(f"figure: {options.figure}")
    return records


def _steps(size: int) -> tuple[int, int]:
    """Return how many steps are timed, and how often the whole stream is run."""
    return {10: (1000, 5), 32: (1000, 5), 56: (1000, 5), 128: (200, 2), 256: (40, 1)}.get(size, (12, 1))


def _measure(size: int, batch: int) -> list[Record]:
    steps, repeats = _steps(size)
    data = make_bernoulli_gaussian((FIRST + steps) * batch, size, sparsity=0.3, random_state=0).samples
    stream = [data[i : i + batch] for i in range(0, len(data), batch)]
    methods: dict[str, Callable[[list[Array]], Iterator[None]]] = {OURS: _ours_plain}
    if can_compile():
        methods[FAST] = _ours_fast
        methods[PAPER] = _paper_fast
    methods |= {
        REFERENCE: _reference,
        "scikit-learn cd": lambda s: _scikit_learn(s, "cd"),
        "scikit-learn lars": lambda s: _scikit_learn(s, "lars"),
        "forgetting PCA, eigh": _forgetting_pca,
    }
    times: dict[str, float] = {}
    for _ in range(repeats):
        for name, method in methods.items():
            # About the same cost at every step: a short stream tells it.
            slow = name == "scikit-learn lars" or (name == "scikit-learn cd" and size > 56)
            warm = 20 if size <= 128 else 1
            taken = _time_stream(method, stream[: 3 * warm + 2] if slow else stream, warm if slow else FIRST)
            times[name] = min(times.get(name, np.inf), taken)
    spams = _spams(data, size, batch, steps)
    if spams is not None:
        times[SPAMS] = spams
    a = np.random.default_rng(0).standard_normal((size, size))
    out = np.empty_like(a)
    product = best_time(lambda: np.matmul(a, a, out=out), repeat=20, least_seconds=0.005)
    setting = f"N={size} B={batch}"
    records = [Record(NAME, "one N x N product", setting, "seconds", product)]
    for name, seconds in times.items():
        records.append(Record(NAME, name, setting, "seconds_per_minibatch", seconds))
        records.append(Record(NAME, name, setting, "products_per_step", seconds / product))
    return records


def _time_stream(method: Callable[[list[Array]], Iterator[None]], stream: list[Array], first: int) -> float:
    """Return the mean time of the steps after the first ones; the methods are generators that yield at every step."""
    steps = method(stream)
    for _ in range(first):
        next(steps)
    start = time.perf_counter()
    count = 0
    for _ in steps:
        count += 1
        if time.perf_counter() - start > 10.0:
            break
    return (time.perf_counter() - start) / count


def _ours_fast(stream: list[Array]) -> Iterator[None]:
    return _ours(stream, OrthogonalDictionaryLearning(random_state=0))


def _paper_fast(stream: list[Array]) -> Iterator[None]:
    return _ours(stream, OrthogonalDictionaryLearning.preset("paper", random_state=0))


def _ours_plain(stream: list[Array]) -> Iterator[None]:
    with without_numba():
        yield from _ours(stream, OrthogonalDictionaryLearning(random_state=0))


def _ours(stream: list[Array], learner: OrthogonalDictionaryLearning) -> Iterator[None]:
    grown_up(learner, stream[0])
    for rows in stream:
        learner.partial_fit(rows)
        yield


def _reference(stream: list[Array]) -> Iterator[None]:
    size = stream[0].shape[1]
    loop = TwoSVDLoop(size, size)
    for rows in stream:
        loop.step(rows)
        yield


def _scikit_learn(stream: list[Array], algorithm: str) -> Iterator[None]:
    learner = MiniBatchDictionaryLearning(
        n_components=stream[0].shape[1], alpha=0.1, fit_algorithm=algorithm, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for rows in stream:
            learner.partial_fit(rows)
            yield


def _forgetting_pca(stream: list[Array]) -> Iterator[None]:
    size = stream[0].shape[1]
    covariance = np.zeros((size, size))
    for rows in stream:
        covariance = 0.95 * covariance + 0.05 / len(rows) * (rows.T @ rows)
        np.linalg.eigh(covariance)
        yield


def _spams(data: Array, size: int, batch: int, steps: int) -> float | None:
    """Return SPAMS' time per mini-batch, timed by itself in one call over the stream; None where it is absent."""
    try:
        import spams
    except ImportError:
        return None
    columns = np.asfortranarray(data.T)
    best = np.inf
    for _ in range(3 if size <= 56 else 1):
        start = time.perf_counter()
        spams.trainDL(columns, K=size, lambda1=0.1, batchsize=batch, iter=steps, numThreads=1, verbose=False)
        best = min(best, time.perf_counter() - start)
    return best / steps


def _measure_stack(trials: int = 100, size: int = 10, batch: int = 10) -> list[Record]:
    """Time 100 problems as a stack in one call, and as 100 calls."""
    rng = np.random.default_rng(0)
    shape = (FIRST + 1, trials, batch, size)
    rows = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    last = rows[FIRST]
    starts = polar(rng.standard_normal((trials, size, size)))[0]
    setting = f"{trials} problems N={size} B={batch}"
    records = []
    for name, context in (("plain NumPy", without_numba()), ("[fast]", nullcontext())):
        if name == "[fast]" and not can_compile():
            continue
        with context:
            solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep())
            state = solver.init(starts)
            for y in rows[:FIRST]:
                state = solver.step(state, y)
            states = [solver.init(start) for start in starts]
            for y in rows[:FIRST]:
                states = [solver.step(one, y[i]) for i, one in enumerate(states)]
            stacked = best_time(lambda s=state, f=solver.step: f(s, last))
            looped = best_time(lambda ss=states, f=solver.step: [f(one, last[i]) for i, one in enumerate(ss)])
        records.append(Record(NAME, f"stack, {name}", setting, "seconds_per_step", stacked))
        records.append(Record(NAME, f"100 loops, {name}", setting, "seconds_per_step", looped))
    return records


def _report(records: list[Record], sizes: tuple[int, ...], batches: tuple[int, ...]) -> str:
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    parts = []
    for metric, show, what in (
        ("seconds_per_minibatch", duration, "time per mini-batch"),
        ("products_per_step", lambda v: f"{v:.1f}", "the same in products of two N x N matrices"),
    ):
        for batch in batches:
            settings = [f"N={size} B={batch}" for size in sizes]
            names = list(dict.fromkeys(r.method for r in records if r.metric == metric))
            rows = [
                (n, [show(values[n, s, metric]) if (n, s, metric) in values else "-" for s in settings]) for n in names
            ]
            title = f"\nmini-batches of {batch}: {what}, t from {FIRST}, best of the repeats"
            parts.append(table(title, "", [f"N={size}" for size in sizes], rows))
    parts.append(
        "\nlars, and cd beyond N = 56, are timed on a short stretch at the start of the stream; "
        "SPAMS by itself, in one call over the whole of it."
    )
    for name, extra in ((FAST, "fast"), (SPAMS, "bench")):
        if not any(method == name for method, _, _ in values):
            parts.append(f"{name} is not installed: pip install 'orthostream[{extra}]'")
    parts.append(_summary(values))
    return "\n".join(parts)


def _summary(values: dict[tuple[str, str, str], float]) -> str:
    lines = ["\nhow many times as fast, in this run"]
    for size in (56, 10):
        setting = f"N={size} B=6"
        for ours in (OURS, FAST):
            mine = values.get((ours, setting, "seconds_per_minibatch"))
            if mine is None:
                continue
            peers = {
                name: values[name, s, m] / mine
                for name, s, m in values
                if s == setting and m == "seconds_per_minibatch" and name not in (OURS, FAST, PAPER)
            }
            against = ", ".join(f"{ratio:.1f} x {name}" for name, ratio in peers.items())
            lines.append(f"  {setting}, {ours}: {against}; {values[ours, setting, 'products_per_step']:.1f} products")
    for name in ("plain NumPy", "[fast]"):
        stack = [v for (m, _, _), v in values.items() if m == f"stack, {name}"]
        loops = [v for (m, _, _), v in values.items() if m == f"100 loops, {name}"]
        if stack:
            lines.append(
                f"  100 problems of N=10 as one stack, {name}: {duration(stack[0])} a step, "
                f"{loops[0] / stack[0]:.1f} x 100 loops ({duration(loops[0])})"
            )
    return "\n".join(lines)


def _draw(records: list[Record], sizes: tuple[int, ...], batches: tuple[int, ...], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(batches), figsize=(5.2 * len(batches), 4.2), sharey=True, squeeze=False)
    for axis, batch in zip(axes[0], batches, strict=True):
        for name in dict.fromkeys(r.method for r in records if r.metric == "seconds_per_minibatch"):
            found = {r.setting: r.value for r in records if r.method == name and r.metric == "seconds_per_minibatch"}
            points = [(size, found[s] * 1e3) for size in sizes if (s := f"N={size} B={batch}") in found]
            ours = name.startswith("orthostream")
            axis.loglog(
                *zip(*points, strict=True),
                marker="o",
                ms=4,
                lw=2.2 if ours else 1.2,
                ls="-" if ours else "--",
                label=name,
            )
        axis.set(xlabel="features N", title=f"mini-batches of {batch}", xticks=sizes, xticklabels=sizes)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("milliseconds per mini-batch")
    axes[0][-1].legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
