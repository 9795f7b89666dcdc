"""The figure of `orthostream bench compression`: rate against distortion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthostream.experiments.style import new_figure, paper_style

from .compression_case import SOURCES, Source
from .measure import Record

_MAXIMUM: dict[str, dict[str, Any]] = {
    "ours, frames of 6": {"color": "#b3123f", "ls": "-", "lw": 2.0, "marker": "o"},
    "lzma of quantised": {"color": "#0b5fa5", "ls": "-", "lw": 1.2, "marker": "s"},
    "bz2 of quantised": {"color": "#5aa9e6", "ls": "--", "lw": 1.0, "marker": "x"},
    "quantise + pcodec": {"color": "#e8a33d", "ls": "-", "lw": 1.2, "marker": "^"},
    "SZ3, whole file": {"color": "#2e7d32", "ls": "-", "lw": 1.2, "marker": "v"},
    "SZ3, windows of 24": {"color": "#2e7d32", "ls": ":", "lw": 1.2, "marker": "v"},
    "zfp": {"color": "#2e2e2e", "ls": ":", "lw": 1.2, "marker": "d"},
}
_RMSE: dict[str, dict[str, Any]] = {
    "ours, frames of 6": _MAXIMUM["ours, frames of 6"],
    "ours, rmse": {"color": "#b3123f", "ls": "--", "lw": 1.6, "marker": "*"},
    "paper's mode": {"color": "#7b3fa0", "ls": "-", "lw": 1.4, "marker": "p"},
    "SZ3": _MAXIMUM["SZ3, whole file"],
    "zfp": _MAXIMUM["zfp"],
}

#: By RMSE, SZ3 is the same line: the whole file.
_LABELS = {"SZ3": "SZ3, whole file"}


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw bits per observed reading against the maximum error, and against the root mean square error."""
    sources = [source for source in SOURCES if any(r.setting.startswith(f"{source.name} ") for r in records)]
    from matplotlib.ticker import FuncFormatter, NullFormatter

    with paper_style():
        figure = new_figure(2.7 * len(sources), 5.2)
        axes = figure.subplots(2, len(sources), squeeze=False)
        for (above, below), source in zip(axes.T, sources, strict=True):
            above.set_title(source.name, fontsize=8)
            reached = maximum_points(records, source)
            _curves(above, _MAXIMUM, reached)
            above.set_xticks(sorted({bound for method in reached.values() for bound, _ in method}))
            above.set_xlabel(f"maximum error, {source.unit}")
            _curves(below, _RMSE, rmse_points(records, source))
            below.set_xlabel(f"RMSE, {source.unit}")
        for part in axes.flat:
            part.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            part.xaxis.set_minor_formatter(NullFormatter())
        for left in axes[:, 0]:
            left.set_ylabel("bits per observed reading")
        handles: dict[str, Any] = {}
        for part in axes.flat:
            for handle, label in zip(*part.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=min(len(handles), 6), fontsize=7)
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.92))
        figure.savefig(path)


Points = dict[str, list[tuple[float, float]]]


def maximum_points(records: Sequence[Record], source: Source) -> Points:
    """Return for each method its (bound, bits), where it keeps the bound."""
    bounds = {f"{source.name} {bound:g} {source.unit}": bound for bound in (*source.bounds, *source.curve)}
    values = {(r.method, r.setting, r.metric): r.value for r in records if r.setting in bounds}
    found: Points = {}
    for (method, setting, metric), bits in values.items():
        if metric == "bits_per_reading" and values.get((method, setting, "violations")) == 0.0:
            found.setdefault(method, []).append((bounds[setting], bits))
    return found


def rmse_points(records: Sequence[Record], source: Source) -> Points:
    """Return for each method its (root mean square error, bits), whatever it was asked for."""
    values = {(r.method, r.setting, r.metric): r.value for r in records if r.setting.startswith(f"{source.name} ")}
    found: Points = {}
    for (method, setting, metric), bits in values.items():
        if metric == "bits_per_reading" and (method != "zfp" or " RMSE " in setting):
            found.setdefault(method, []).append((values[method, setting, "rmse"], bits))
    return found


def _curves(axes: Any, lines: dict[str, dict[str, Any]], points: Points) -> None:
    for method, line in lines.items():
        # What comes back without any error has no place on a logarithmic axis.
        there = sorted({point for point in points.get(method, []) if point[0] > 0.0})
        if there:
            axes.semilogx(*zip(*there, strict=True), **line, ms=3.5, label=_LABELS.get(method, method))
    axes.set_ylim(bottom=0.0)
