"""The tables, goals and picture of `orthostream bench codes`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orthostream.experiments.style import new_figure, paper_style

from .codes_methods import BEST, CENTRED, COMPRESSION, COSINES, DEFAULT, FORGETTING, INCREMENTAL, OURS, PAPER, PURSUIT
from .goal import Goal
from .measure import LINES, Record, table

NAME = "codes"
MIDDLE, WORST, PRODUCTS = "relative_rmse_percent", "worst_relative_rmse_percent", "products_per_step"
#: Whether the default's steps were timed after its youth, in which it rehearses.
GROWN_UP = "grown_up"

#: Percent that `compression` may be above each of these, and the default above the paper's algorithm, in any column.
COMPRESSION_LIMIT, DEFAULT_LIMIT = 1.0, 3.0
#: Products of a step; of the default, after its youth.
PRODUCT_LIMITS = {COMPRESSION: 70.0, DEFAULT: 45.0}

_HOW = """\
Relative root mean square error in percent with k coefficients for each row. A mini-batch (6 rows of sensors, 10 of
pictures) is coded with what was learnt before it, then learnt from; the first 150 rows are only learnt from. Where the
start is random: median (worst) of the starts. * is the best of a column. Products: time of a step, in products of two
N x N matrices. The best factor is chosen in hindsight for each k. IncrementalPCA has its mean for free, and waits for
N rows; the pursuit's dictionary is not orthogonal."""

#: Lines of the picture.
_LOOKS = {
    DEFAULT: LINES["exact"],
    COMPRESSION: {"color": "#2f7d32", "ls": "-", "lw": 2.0},
    PAPER: LINES["paper"],
    FORGETTING: {"color": "#8a8a8a", "ls": "--", "lw": 1.2},
    INCREMENTAL: {"color": "#7b4fa3", "ls": "--", "lw": 1.2},
    PURSUIT: {"color": "#e8a33d", "ls": "-.", "lw": 1.4},
    COSINES: {"color": "#2e2e2e", "ls": ":", "lw": 1.4},
}

_Values = dict[tuple[str, str, str], float]


def report(records: list[Record]) -> tuple[str, list[Record]]:
    """Return the tables and the summary as text, and the goals as records."""
    values: _Values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records if r.metric == MIDDLE))
    streams = list(dict.fromkeys(_stream(setting) for setting in settings))
    parts = [_HOW]
    parts += [_table(values, stream, [s for s in settings if _stream(s) == stream]) for stream in streams]
    goals = list(_goals(values, settings, streams))
    lines = [f"goals, worst of this run: {sum(goal.is_met for goal in goals)} of {len(goals)} met"]
    lines += [goal.text for goal in goals]
    parts.append("\n".join([*lines, *_misses(values, settings), *_young(values, streams)]))
    parts.append("\n".join(_losses(values, settings)))
    found = [Record(NAME, goal.what, goal.where, "worst", goal.value) for goal in goals]
    found += [Record(NAME, goal.what, goal.where, "goal_met", float(goal.is_met)) for goal in goals]
    return "\n\n".join(parts), found


def _stream(setting: str) -> str:
    return setting.rsplit(" ", 1)[0]


def _methods(values: _Values) -> list[str]:
    return list(dict.fromkeys(method for method, _, metric in values if metric == MIDDLE))


def _table(values: _Values, stream: str, settings: list[str]) -> str:
    least = {s: min(v for (_, where, metric), v in values.items() if where == s and metric == MIDDLE) for s in settings}
    rows = []
    for method in _methods(values):
        cells = []
        for s in settings:
            middle, worst = values[method, s, MIDDLE], values[method, s, WORST]
            mark = "*" if middle == least[s] else " "
            cells.append(f"{middle:.3f}{f' ({worst:.3f})' if worst > middle else ''}{mark}")
        rows.append((method, [*cells, f"{values[method, stream, PRODUCTS]:.1f}"]))
    return table(stream, "", [*(s.split()[-1] + " " for s in settings), "products"], rows)


def _goals(values: _Values, settings: list[str], streams: list[str]) -> Iterator[Goal]:
    for method, rival, limit in _pairs():
        if settings:
            worst = max(settings, key=lambda s: _above(values, method, rival, s))
            yield Goal(f"{method}, % above {rival}", limit, _above(values, method, rival, worst), None, worst)
    for method, limit in PRODUCT_LIMITS.items():
        timed = [s for s in streams if method != DEFAULT or values[DEFAULT, s, GROWN_UP]]
        if timed:
            where = max(timed, key=lambda s: values[method, s, PRODUCTS])
            yield Goal(f"{method}, products of a step", limit, values[method, where, PRODUCTS], None, where)


def _pairs() -> list[tuple[str, str, float]]:
    return [
        (COMPRESSION, BEST, COMPRESSION_LIMIT),
        (COMPRESSION, INCREMENTAL, COMPRESSION_LIMIT),
        (CENTRED, INCREMENTAL, COMPRESSION_LIMIT),
        (DEFAULT, PAPER, DEFAULT_LIMIT),
    ]


def _above(values: _Values, method: str, rival: str, setting: str) -> float:
    """Return by how many percent an error is above that of a rival."""
    return 100.0 * (values[method, setting, MIDDLE] / values[rival, setting, MIDDLE] - 1.0)


def _misses(values: _Values, settings: list[str]) -> Iterator[str]:
    """Name every column in which a goal is missed."""
    for method, rival, limit in _pairs():
        missed = {s: above for s in settings if (above := _above(values, method, rival, s)) > limit}
        if missed:
            where = "; ".join(f"{s} {above:+.1f}" for s, above in missed.items())
            yield f"  {method} more than {limit:g} % above {rival} in {len(missed)} of {len(settings)}: {where}"


def _young(values: _Values, streams: list[str]) -> Iterator[str]:
    """Name the streams that end before the default has grown up, whose steps the goal does not count."""
    young = [f"{s} {values[DEFAULT, s, PRODUCTS]:.1f}" for s in streams if not values[DEFAULT, s, GROWN_UP]]
    if young:
        yield f"  products of the default while it is young, without a goal: {'; '.join(young)}"


def _losses(values: _Values, settings: list[str]) -> Iterator[str]:
    """Name every column whose best figure is not ours, and how far our best is behind."""
    lost = {}
    for s in settings:
        best = min(_methods(values), key=lambda method: values[method, s, MIDDLE])
        if best not in OURS:
            ours = min(OURS, key=lambda method: values[method, s, MIDDLE])
            lost[s] = f"  {s}: {best} {values[best, s, MIDDLE]:.3f}, {ours} {values[ours, s, MIDDLE]:.3f}"
            lost[s] += f" ({_above(values, ours, best, s):+.1f} %)"
    yield f"where ours are not the best: {len(lost)} of {len(settings)} columns"
    yield from lost.values()


def draw(records: list[Record], path: Path) -> None:
    """Draw the errors, relative to those of the best factor, against the number of coefficients."""
    values: _Values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records if r.metric == MIDDLE))
    streams = list(dict.fromkeys(_stream(setting) for setting in settings))
    if not streams:
        return
    columns = min(4, len(streams))
    lines = -(-len(streams) // columns)
    with paper_style():
        figure = new_figure(2.3 * columns, 2.2 * lines + 0.6)
        grid = figure.subplots(lines, columns, squeeze=False, sharex=True)
        for panel, stream in zip(grid.flat, streams, strict=False):
            own = [s for s in settings if _stream(s) == stream]
            counts = [int(s.split("=")[-1]) for s in own]
            for method, look in _LOOKS.items():
                panel.plot(counts, [1.0 + _above(values, method, BEST, s) / 100.0 for s in own], label=method, **look)
            panel.axhline(1.0, color="#bbbbbb", lw=0.8)
            panel.set_title(stream)
            panel.set_xscale("log", base=2)
            panel.set_ylim(0.6, 1.6)
            panel.set_xticks(counts, [str(count) for count in counts])
            panel.minorticks_off()
        for panel in grid.flat[len(streams) :]:
            panel.set_visible(False)
        for panel in grid[:, 0]:
            panel.set_ylabel("error / best factor's")
        for panel in grid[-1]:
            panel.set_xlabel("coefficients k")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="upper center", ncols=4)
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.55 / (2.2 * lines + 0.6)))
        figure.savefig(path)
