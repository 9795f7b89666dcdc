"""The topics of a stream as a picture: topics in rows, the stream from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream.novelty.report.number_text import percent_text
from orthostream.novelty.report.sheet import FAINT, LEFT, RIGHT, WIDTH, Sheet
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.report.topic_rows import TopicRow

#: From a share of nothing to the largest.
_COLOURS = ("#f1f5f9", "#bdd7f2", "#6aa5df", "#1d68b8", "#0a2f66")
#: In inches: above the rows, a row, below them; where the rows begin.
_ABOVE, _ROW, _BELOW, _ROWS_LEFT = 0.42, 0.225, 0.55, 3.55
#: So that one burst does not make everything else pale.
_LARGEST = 0.998


def topics_height(rows: Sequence[TopicRow]) -> float:
    """Return the height of the picture in inches."""
    return _ABOVE + _ROW * len(rows) + _BELOW


def draw_topics(sheet: Sheet, above: float, report: StreamReport, rows: Sequence[TopicRow]) -> None:
    """Draw the picture at a place of a sheet."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    sheet.heading(above + 0.23, "Topics over the stream")
    bins = report.topics.all()
    shares = np.array([row.shares for row in rows])
    top = max(float(np.quantile(shares, _LARGEST)), 1e-4)
    edges = [bins[0].first - 0.5, *(each.last + 0.5 for each in bins)]
    axes = sheet.axes(_ROWS_LEFT, above + _ABOVE, WIDTH - _ROWS_LEFT - RIGHT, _ROW * len(rows))
    cells = axes.pcolormesh(
        edges,
        np.arange(len(rows) + 1),
        shares,
        cmap=LinearSegmentedColormap.from_list("topics", _COLOURS),
        norm=PowerNorm(0.5, 0.0, top),  # a square root, since small shares are most of what there is
        rasterized=True,
    )
    axes.hlines(np.arange(1, len(rows)), edges[0], edges[-1], color="white", lw=1.2)
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([])
    sheet.mark_documents(axes, bins)
    for k, row in enumerate(rows):
        middle = above + _ABOVE + _ROW * (k + 0.5)
        sheet.text(LEFT, middle, row.label, _ROWS_LEFT - LEFT - 0.55, fontsize=8, va="center")
        percent = percent_text(row.share)
        sheet.text(_ROWS_LEFT - 0.08, middle, percent, fontsize=8, va="center", ha="right", color=FAINT)
    scale = sheet.axes(WIDTH - RIGHT - 1.55, above + 0.2, 1.1, 0.09)
    sheet.figure.colorbar(cells, cax=scale, orientation="horizontal", ticks=[]).outline.set_visible(False)
    beside: dict[str, Any] = {"fontsize": 8, "va": "center", "color": FAINT}
    sheet.text(WIDTH - RIGHT - 1.6, above + 0.245, "share  0\xa0%", ha="right", **beside)
    sheet.text(WIDTH - RIGHT - 0.4, above + 0.245, percent_text(top), **beside)
