"""`orthostream demo recovery`: learn synthetic streams and show how well their dictionaries are recovered."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.errors import UserError
from orthostream.cli.trouble import bad_values

if TYPE_CHECKING:
    from orthostream.optimize import StochasticFrankWolfe

#: Smaller errors are drawn here.
_LEAST = 1e-17


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("recovery", help="learn a synthetic stream and show the recovery", description=__doc__)
    parser.add_argument("--features", type=int, default=10, metavar="N", help="features of a sample (10)")
    parser.add_argument("--batch-size", type=int, default=10, metavar="B", help="samples in a mini-batch (10)")
    parser.add_argument("--steps", type=int, default=3000, metavar="T", help="mini-batches in the stream (3000)")
    parser.add_argument(
        "--sparsity", type=float, default=0.3, metavar="P", help="fraction of active coefficients (0.3)"
    )
    parser.add_argument("--trials", type=int, default=20, metavar="K", help="streams to average over (20)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (0)")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        metavar="FOLDER",
        help="folder for the picture and the numbers (demo-output)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn the stream with every method, draw the curves, write the numbers."""
    from orthostream._checks import fraction, integer
    from orthostream._compile import can_compile

    with bad_values():
        for name in ("features", "batch_size", "steps", "trials"):
            integer(f"--{name.replace('_', '-')}", getattr(options, name))
        integer("--seed", options.seed, 0)
        fraction("--sparsity", options.sparsity)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to {options.output}: {error.strerror}") from error
    moments = _moments(options.steps)
    print(
        f"{options.trials} streams at once: N = {options.features}, mini-batches of {options.batch_size}, "
        f"{100 * options.sparsity:g} % of the coefficients active"
    )
    if can_compile():
        print("the first run on a machine compiles for about a minute; times below leave that out", flush=True)
    curves = {name: _learn(name, solver, moments, options) for name, solver in _methods().items()}
    print(_chart(moments, curves))
    _write(options.output, moments, curves)
    return 0


def _methods() -> dict[str, StochasticFrankWolfe]:
    """Return the solvers to compare, by name."""
    from orthostream.optimize import (
        Guarded,
        LpContrast,
        MokhtariSchedule,
        PaperSchedule,
        PolarStep,
        SpectralBall,
        StochasticFrankWolfe,
    )

    ball, paper, polar_step = SpectralBall(), PaperSchedule(), PolarStep()
    return {
        "default": StochasticFrankWolfe(ball, Guarded(), post_step=polar_step),
        "l3, averaged": StochasticFrankWolfe(ball, LpContrast(3), paper, polar_step, average=True),
        "l3 (the paper)": StochasticFrankWolfe(ball, LpContrast(3), paper, polar_step),
        "l4": StochasticFrankWolfe(ball, LpContrast(4), paper, polar_step),
        "SFW": StochasticFrankWolfe(ball, LpContrast(3), MokhtariSchedule()),
    }


def _moments(steps: int) -> list[int]:
    """Return the steps at which errors are measured, about sixteen per decade."""
    return sorted({min(steps, round(10 ** (i / 16))) for i in range(math.ceil(16 * math.log10(steps)) + 1)})


def _learn(name: str, solver: StochasticFrankWolfe, moments: list[int], options: argparse.Namespace) -> list[float]:
    """Return the mean recovery error of all streams at the given steps; the streams are one stack."""
    import numpy as np

    from orthostream.metrics import recovery_error
    from orthostream.optimize import polar

    rng = np.random.default_rng(options.seed)
    stack = (options.trials, options.features, options.features)
    truth, _ = polar(rng.standard_normal(stack))
    state = solver.init(polar(rng.standard_normal(stack))[0])
    solver.step(state, np.ones((options.trials, options.batch_size, options.features)))  # compile before the clock runs
    errors, start = [], time.perf_counter()
    for t in range(1, options.steps + 1):
        shape = (options.trials, options.batch_size, options.features)
        codes = rng.standard_normal(shape) * (rng.random(shape) < options.sparsity)
        state = solver.step(state, codes @ truth.mT)
        if t in moments:
            learnt = solver.answer(state) if state.average is None else polar(state.average)[0]
            errors.append(float(np.mean([recovery_error(d.T, true.T) for d, true in zip(learnt, truth, strict=True)])))
            if sys.stderr.isatty():
                print(f"\r{name}: {100 * t // options.steps} %", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    seconds = time.perf_counter() - start
    print(f"{name:15s} mean recovery error {errors[-1]:.1e} after {options.steps} mini-batches, {seconds:.1f} s")
    return errors


def _positive(error: float) -> float:
    """Return an error as logarithmic axes can show it: it may be exactly zero."""
    return max(error, _LEAST)


def _chart(moments: Sequence[int], curves: dict[str, list[float]], width: int = 64, rows_per_decade: int = 2) -> str:
    """Return the curves as text, on logarithmic axes."""
    decades = min(16, -math.floor(min(math.log10(_positive(min(curve))) for curve in curves.values())))
    height = decades * rows_per_decade + 1
    grid = [[" "] * width for _ in range(height)]
    right = math.log10(moments[-1]) or 1.0
    marks = "#o*+x"
    for mark, curve in reversed(list(zip(marks, curves.values(), strict=False))):
        for t, error in zip(moments, curve, strict=True):
            column = round(math.log10(t) / right * (width - 1))
            row = round(max(-math.log10(_positive(error)), 0.0) * rows_per_decade)
            grid[min(row, height - 1)][column] = mark
    lines = ["", "recovery error"]
    for i, cells in enumerate(grid):
        label = ("1" if i == 0 else f"1e-{i // rows_per_decade}") if i % rows_per_decade == 0 else ""
        lines.append(f"{label:>6s} |{''.join(cells)}")
    lines.append(f"       +{'-' * width}")
    lines.append(f"        t = 1{f't = {moments[-1]}':>{width - 5}s}")
    lines.append("        " + "   ".join(f"{mark} {name}" for mark, name in zip(marks, curves, strict=False)))
    return "\n".join(lines)


def _write(folder: Path, moments: list[int], curves: dict[str, list[float]]) -> None:
    records = [
        {"experiment": "demo", "method": name, "setting": f"t={t}", "metric": "recovery_error", "value": error}
        for name, curve in curves.items()
        for t, error in zip(moments, curve, strict=True)
    ]
    (folder / "recovery.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    with (folder / "recovery.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["t", *curves])
        writer.writerows(zip(moments, *curves.values(), strict=True))
    written = [folder / "recovery.json", folder / "recovery.csv"]
    try:
        written.insert(0, _draw(folder / "recovery.png", moments, curves))
    except ImportError:
        print("\n(no picture: pip install matplotlib)")
    print("\n" + "\n".join(str(path) for path in written))


def _draw(path: Path, moments: list[int], curves: dict[str, list[float]]) -> Path:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 4.0))
    for (name, curve), style in zip(curves.items(), ("-", "-", "-", "--", ":"), strict=True):
        axis.loglog(moments, [_positive(error) for error in curve], style, lw=2, label=name)
    axis.set(xlabel="mini-batches seen", ylabel="recovery error", title="An orthogonal dictionary, from a stream")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path
