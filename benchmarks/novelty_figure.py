"""The figure of `orthostream bench novelty`: quality by n, DET curves, and speed against the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from orthostream.experiments.novelty.method_table import FIRST_STORY, L3, TOP
from orthostream.experiments.novelty.novelty_record import FALSE_ALARM
from orthostream.experiments.novelty.novelty_result import NoveltyResult
from orthostream.experiments.style import new_figure, paper_style

from .measure import Record

_LOOKS: dict[str, dict[str, Any]] = {
    TOP: {"color": "#b3123f", "ls": "-", "lw": 2.2, "marker": "o"},
    FIRST_STORY: {"color": "#b3123f", "ls": "--", "lw": 1.6, "marker": "o", "mfc": "white"},
    L3: {"color": "#e8a33d", "ls": "-", "lw": 1.8, "marker": "s"},
    "1-NN, all the past": {"color": "#5aa9e6", "ls": "-", "lw": 1.2, "marker": "v"},
    "5-NN, all the past": {"color": "#0b5fa5", "ls": "-", "lw": 1.4, "marker": "^"},
    "LSA-100 residual, refitted": {"color": "#2f7d32", "ls": "-", "lw": 1.2, "marker": "D"},
    "incremental PCA-100 residual": {"color": "#2f7d32", "ls": ":", "lw": 1.4, "marker": "x"},
    "online l1 dictionary": {"color": "#7b4fa3", "ls": "-.", "lw": 1.2, "marker": "p"},
    "share of unseen terms": {"color": "#8a8a8a", "ls": ":", "lw": 1.2, "marker": "*"},
}
_RATES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)
#: Intervals of few seeds end outside.
_AREAS = (0.47, 0.85)
_LEGEND_COLUMNS = 3
_INTRODUCED, _HISTORY = "introduced, n = ", "history of "


def draw(result: NoveltyResult | None, records: Sequence[Record], path: Path) -> None:
    """Draw a panel for each part that was measured."""
    introduced = [] if result is None else [name for name in result.settings if name.startswith(_INTRODUCED)]
    panels: list[Callable[[Any], None]] = []
    if result is not None:
        if introduced:
            panels.append(partial(_areas, result, introduced))
        middle = introduced[len(introduced) // 2 :][:1]
        ordered = [name for name in result.settings if name not in introduced][:1]
        panels += [partial(_curves, result, name) for name in (*middle, *ordered)]
    if any(record.setting.startswith(_HISTORY) for record in records):
        panels.append(partial(_speeds, records))
    if not panels:
        return
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    height = 3.2 * lines + 0.6
    with paper_style():
        figure = new_figure(4.1 * columns, height)
        grid = figure.subplots(lines, columns, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            panel(axes)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        found: dict[str, Any] = {}
        for axes in grid.flat:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        names = [name for name in _LOOKS if name in found]
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.6 / height), h_pad=1.5)
        top = 1.0 - (0.0 if len(names) > 2 * _LEGEND_COLUMNS else 0.2) / height
        handles = [found[name] for name in names]
        figure.legend(
            handles, names, loc="upper center", bbox_to_anchor=(0.5, top), ncols=_LEGEND_COLUMNS, fontsize=7.5
        )
        figure.savefig(path)


def _areas(result: NoveltyResult, settings: list[str], axes: Any) -> None:
    """Draw AUC against n, with intervals over seeds."""
    numbers = np.array([int(setting.removeprefix(_INTRODUCED)) for setting in settings], dtype=float)
    shown = [name for name in _LOOKS if name in result.methods]
    for place, name in enumerate(shown):
        found = [result.record(name, setting).auc for setting in settings]
        # Side by side, so that intervals do not cover each other.
        beside = numbers * 1.035 ** (place - 0.5 * (len(shown) - 1))
        bars = [[one.mean - one.low for one in found], [one.high - one.mean for one in found]]
        axes.errorbar(beside, [one.mean for one in found], bars, label=name, ms=3.5, elinewidth=0.7, **_LOOKS[name])
    axes.set_xscale("log")
    axes.set_xticks(numbers, [f"{number:g}" for number in numbers])
    axes.minorticks_off()
    axes.set_ylim(*_AREAS)
    axes.set(xlabel="novel: the first $n$ documents of an introduced topic", ylabel="area under the ROC curve")
    axes.set_title("Introduced topics, 95 % interval over seeds")


def _curves(result: NoveltyResult, setting: str, axes: Any) -> None:
    """Draw misses against false alarms on the scales of a normal distribution, as is usual for DET curves."""
    inside = (_RATES[0] <= FALSE_ALARM) & (_RATES[-1] >= FALSE_ALARM)
    low, high = ndtri(_RATES[0]), ndtri(_RATES[-1])
    for name, look in _LOOKS.items():
        if name in result.methods:
            miss = np.clip(result.record(name, setting).miss[inside], 1e-4, 1.0 - 1e-4)
            line = {key: value for key, value in look.items() if key not in ("marker", "mfc")}
            axes.plot(ndtri(FALSE_ALARM[inside]), ndtri(miss), label=name, **line)
    ticks, labels = [ndtri(rate) for rate in _RATES], [f"{100.0 * rate:g}" for rate in _RATES]
    axes.set_xticks(ticks, labels)
    axes.set_yticks(ticks, labels)
    axes.set(xlim=(low, high), ylim=(ndtri(0.02), ndtri(0.99)))
    axes.set(xlabel="false alarms, %", ylabel="misses, %")
    axes.set_title(f"DET curves: {setting}")


def _speeds(records: Sequence[Record], axes: Any) -> None:
    """Draw speed against the length of the history."""
    for name, look in _LOOKS.items():
        found = [record for record in records if record.method == name and record.setting.startswith(_HISTORY)]
        if found:
            marks = [int(record.setting.removeprefix(_HISTORY)) for record in found]
            axes.loglog(marks, [record.value for record in found], label=name, ms=3.5, **look)
    axes.set(xlabel="earlier documents", ylabel="documents per second")
    axes.set_title("Speed against the history, short documents")
