"""The scores of a stream as a picture, with the titles of the highest flagged documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream.novelty.report.entries import name_of
from orthostream.novelty.report.number_text import score_text
from orthostream.novelty.report.score_bins import ScoreBin
from orthostream.novelty.report.sheet import FAINT, GRID, LEFT, RIGHT, WIDTH, Sheet
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.scored_document import ScoredDocument

_OWN, _BAND, _LIMIT, _FLAGGED, _WARMING = "#0b62c4", "#c9dcf2", "#9a5b00", "#c2410c", "#eceff2"
#: In inches: above the curves, the curves, below them, and a title.
_ABOVE, _CURVES, _BELOW, _LINE = 0.45, 3.0, 0.5, 0.19
#: About how many bins are drawn, and how many documents are named.
_BINS, _NAMED = 160, 5
#: More dots than this are small.
_MANY = 400


def scores_height(report: StreamReport) -> float:
    """Return the height of the picture in inches."""
    return _ABOVE + _CURVES + _BELOW + _LINE * len(highest(report)) + 0.2


def highest(report: StreamReport) -> list[ScoredDocument]:
    """Return the flagged documents with the highest scores, in the order of the stream."""
    best = sorted(report.flagged.all(), key=lambda document: (-document.score, document.number))[:_NAMED]
    return sorted(best, key=lambda document: document.number)


def draw_scores(sheet: Sheet, above: float, report: StreamReport) -> None:
    """Draw the picture at a place of a sheet."""
    sheet.heading(above + 0.27, "Score over the stream")
    bins, flagged = report.scores.all(), report.flagged.all()
    if not bins:
        sheet.text(LEFT, above + _ABOVE + 0.2, "There are no documents.", color=FAINT)
        return
    axes = sheet.axes(LEFT, above + _ABOVE, WIDTH - LEFT - RIGHT, _CURVES)
    _draw_bins(axes, bins)
    if flagged:
        numbers, scores = [each.number for each in flagged], [each.score for each in flagged]
        size = 2.2 if len(flagged) > _MANY else 3.6
        axes.plot(numbers, scores, "o", ms=size, color=_FLAGGED, mec="white", mew=0.4, label="flagged")
    axes.set_xlim(bins[0].first - 0.5, bins[-1].last + 0.5)
    axes.margins(y=0.04)
    axes.grid(axis="y", color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5, frameon=False, fontsize=8, borderpad=0.2)
    sheet.mark_documents(axes, bins)
    if flagged:
        _number(axes, highest(report))
        _list(sheet, above + _ABOVE + _CURVES + _BELOW, highest(report))


def _draw_bins(axes: Any, bins: Sequence[ScoreBin]) -> None:
    """Draw each bin from its first to its last document, several as one where they would be too narrow."""
    step = max(1, len(bins) // _BINS)
    parts = [bins[start : start + step] for start in range(0, len(bins), step)]
    ends = np.array([[part[0].first - 0.5, part[-1].last + 0.5] for part in parts])
    least = [min(each.least for each in part) for part in parts]
    most = [max(each.most for each in part) for part in parts]
    medians = [float(np.median([each.median for each in part])) for part in parts]
    limits = [next((each.threshold for each in reversed(part) if each.threshold is not None), np.nan) for part in parts]
    places = ends.ravel()
    axes.fill_between(places, np.repeat(least, 2), np.repeat(most, 2), color=_BAND, lw=0, label="lowest to highest")
    axes.plot(ends.mean(axis=1), medians, color=_OWN, lw=1.2, label="median")
    if not np.isnan(limits).all():
        axes.plot(places, np.repeat(limits, 2), color=_LIMIT, lw=1.3, ls=(0, (5, 3)), label="threshold")
    ready = next((each.first for each in bins if each.threshold is not None), bins[-1].last + 1)
    if ready > bins[0].first:
        axes.axvspan(places[0], ready - 0.5, color=_WARMING, lw=0, zorder=0, label="warm-up")


def _number(axes: Any, documents: Sequence[ScoredDocument]) -> None:
    """Put numbers above the curves, with lines to the documents."""
    low, high = axes.get_xlim()
    bottom, top = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= top])
    axes.set_ylim(bottom, top + 0.16 * (top - bottom))
    level = top + 0.09 * (top - bottom)
    badge = {"boxstyle": "circle,pad=0.22", "fc": "white", "ec": _FLAGGED, "lw": 0.8}
    style = {"ha": "center", "va": "center", "fontsize": 7.5, "color": _FLAGGED, "bbox": badge, "zorder": 4}
    places = spread([document.number for document in documents], low, high, 0.024 * (high - low))
    for number, (document, place) in enumerate(zip(documents, places, strict=True), start=1):
        axes.plot([document.number, place], [document.score, level], color=_FLAGGED, lw=0.7, zorder=3)
        axes.text(place, level, str(number), **style)


def _list(sheet: Sheet, above: float, documents: Sequence[ScoredDocument]) -> None:
    """Write a line for each document: number, title, score and time."""
    for number, document in enumerate(documents, start=1):
        line = above + _LINE * (number - 1)
        when = document.time or f"document {document.number:,}"
        sheet.text(LEFT, line, str(number), color=_FLAGGED, fontweight="bold", fontsize=8.5, va="top")
        sheet.text(LEFT + 0.2, line, name_of(document), WIDTH - LEFT - 2.6, fontsize=8.5, va="top")
        right: dict[str, Any] = {"color": FAINT, "fontsize": 8.5, "va": "top", "ha": "right"}
        sheet.text(WIDTH - 1.75, line, score_text(document.score), **right)
        sheet.text(WIDTH - RIGHT, line, when, 1.45, **right)


def spread(places: Sequence[float], low: float, high: float, apart: float) -> list[float]:
    """Move sorted places so that they are apart, and inside of the limits.

    >>> spread([1, 5, 5, 10], 0, 10, 2)
    [1, 5, 7, 9.0]
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + apart if found else low + apart / 2.0))
    ceiling = high - apart / 2.0
    for k in reversed(range(len(found))):
        found[k] = min(found[k], ceiling)
        ceiling = found[k] - apart
    return found
