"""The tables of `orthostream bench learner --field`, and which of its goals are met."""

from __future__ import annotations

from collections.abc import Iterator

from .goal import Goal
from .measure import Record, table

NAME = "learner field"
LOOP, OURS, FAST = "two-SVD loop", "plain NumPy", "[fast]"

#: The largest ratio to C float64 for each layout that has a goal, at N = 56 and at N = 10.
LAYOUT_GOALS = {
    "Fortran": {"N=56": 1.25, "N=10": 2.0},
    "float32": {"N=56": 1.25, "N=10": 2.0},
    "DataFrame": {"N=56": 1.5, "N=10": 5.0},
    "10 % missing": {"N=56": 2.0, "N=10": 2.0},
}
#: Products of a step of [fast] on the Airly streams with K = N and B = 6.
AIRLY_PRODUCTS = 45.0
#: The largest ratio to the two-SVD loop.
LOOP_GOALS = {FAST: 0.5, OURS: 1.0}

_HOW = (
    "Time of a step of the default learner after 200 steps, one BLAS thread. All methods of a setting take turns, 20\n"
    "steps each, on the same mini-batches; a stream that ends begins again. Times are those of the best 20 steps;\n"
    "(median) is the ratio of the medians. The loop cannot learn from NaN: it fills them with the mean of the row."
)
_LAYOUTS = (
    "layouts: time of a step, and its ratio to C float64, with Numba where it is installed; (median) as above.\n"
    "Mini-batches are made before the clock starts, df.iloc[a:b] too. 10 % missing and zero rows are other data."
)


_Values = dict[tuple[str, str, str], float]


def report(records: list[Record]) -> tuple[str, list[Record]]:
    """Return the tables and the summary as text, and the goals as records."""
    values: _Values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records))
    in_field = [s for s in settings if (LOOP, s, "seconds_per_step") in values]
    parts = [_HOW]
    for batch in dict.fromkeys(s.split()[-2] for s in in_field):
        parts.append(_streams_table(values, [s for s in in_field if s.split()[-2] == batch], batch))
    parts.append(_LAYOUTS)
    in_layouts = [s for s in settings if s not in in_field]
    parts += [_layouts_table(values, s) for s in in_layouts]
    goals = list(_goals(values, in_field, in_layouts))
    kept = sum(goal.is_met for goal in goals)
    lines = [f"goals, worst of this run: {kept} of {len(goals)} met by the best times", *(goal.text for goal in goals)]
    lines += [*_loop(values, in_field), *_airly(values, in_field), *_without_goal(values, in_layouts)]
    found = [Record(NAME, goal.what, goal.where, "worst", goal.value) for goal in goals]
    found += [Record(NAME, goal.what, goal.where, "goal_met", float(goal.is_met)) for goal in goals]
    return "\n\n".join([*parts, "\n".join(lines)]), found


def _streams_table(values: _Values, settings: list[str], batch: str) -> str:
    rows = []
    for s in settings:
        cells = [_microseconds(values[LOOP, s, "seconds_per_step"])]
        for method in (OURS, FAST):
            if (method, s, "seconds_per_step") not in values:
                cells += ["-"] * 3
                continue
            best, middle = (values[method, s, metric] for metric in ("ratio_to_loop", "median_ratio_to_loop"))
            cells += [_microseconds(values[method, s, "seconds_per_step"]), f"{best:.2f} ({middle:.2f})"]
            cells.append(f"{values[method, s, 'products_per_step']:.1f}")
        rows.append((s.replace(f" {batch}", ""), cells))
    each = ["us", "/ loop (median)", "products"]
    columns = ["loop us", *(f"{method} {column}" for method in ("plain", FAST) for column in each)]
    return table(f"mini-batches of {batch.removeprefix('B=')}", "", columns, rows)


def _layouts_table(values: _Values, setting: str) -> str:
    rows = []
    for method in dict.fromkeys(m for m, s, _ in values if s == setting):
        best, middle = (values[method, setting, f"{kind}ratio_to_c_float64"] for kind in ("", "median_"))
        seconds = values[method, setting, "seconds_per_step"]
        rows.append((method, [_microseconds(seconds), f"{best:.2f} ({middle:.2f})"]))
    return table(setting, "", ["us", "/ C float64 (median)"], rows)


def _goals(values: _Values, in_field: list[str], in_layouts: list[str]) -> Iterator[Goal]:
    for method, limit in LOOP_GOALS.items():
        found = [s for s in in_field if (method, s, "ratio_to_loop") in values]
        if found:
            worst = max(found, key=lambda s: values[method, s, "ratio_to_loop"])
            best, middle = (values[method, worst, kind] for kind in ("ratio_to_loop", "median_ratio_to_loop"))
            yield Goal(f"{method} / loop everywhere", limit, best, middle, worst)
    found = [s for s in _airly_settings(in_field) if (FAST, s, "products_per_step") in values]
    if found:
        worst = max(found, key=lambda s: values[FAST, s, "products_per_step"])
        what = f"{FAST} products of a step, Airly K=N B=6"
        yield Goal(what, AIRLY_PRODUCTS, values[FAST, worst, "products_per_step"], None, worst)
    for layout, limits in LAYOUT_GOALS.items():
        for s in in_layouts:
            size = s.split()[-3]
            if size in limits and (layout, s, "ratio_to_c_float64") in values:
                best, middle = (values[layout, s, f"{kind}ratio_to_c_float64"] for kind in ("", "median_"))
                yield Goal(f"{layout} / C float64, {size}", limits[size], best, middle, s)


def _loop(values: _Values, in_field: list[str]) -> Iterator[str]:
    """Say how many settings miss a goal, and how rows without gaps fare."""
    for method, limit in LOOP_GOALS.items():
        found = {s: values[method, s, "ratio_to_loop"] for s in in_field if (method, s, "ratio_to_loop") in values}
        whole = {s: ratio for s, ratio in found.items() if ", NaN," not in s}
        if whole:
            worst = max(whole, key=whole.__getitem__)
            missed, missed_whole = (sum(ratio > limit for ratio in some.values()) for some in (found, whole))
            by_medians = sum(values[method, s, "median_ratio_to_loop"] > limit for s in found)
            yield (
                f"  {method} / loop > {limit:g} in {missed} of {len(found)} settings ({by_medians} by the medians); "
                f"without NaN in {missed_whole} of {len(whole)}, worst {whole[worst]:.2f}, {worst}"
            )


def _airly_settings(in_field: list[str]) -> list[str]:
    return [s for s in in_field if s.startswith("Airly") and s.endswith("N=56 B=6 K=56")]


def _airly(values: _Values, in_field: list[str]) -> Iterator[str]:
    for s in _airly_settings(in_field):
        cells = [f"{m} {values[m, s, p]:.1f}" for m in (FAST, OURS, LOOP) if (m, s, p := "products_per_step") in values]
        yield f"  products of a step, {s}: {', '.join(cells)}"


def _without_goal(values: _Values, in_layouts: list[str]) -> Iterator[str]:
    for s in in_layouts:
        names = dict.fromkeys(m for m, where, _ in values if where == s and m not in LAYOUT_GOALS)
        cells = [f"{m} {values[m, s, 'ratio_to_c_float64']:.2f}" for m in names if m != "C float64"]
        yield f"  without a goal, {s}: {', '.join(cells)}"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"
