"""Pictures of a stream: scores over time with what was flagged, and topics over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from orthostream.novelty.report.entries import name_of
from orthostream.novelty.report.figure_text import FigureFonts, fitted, short_time
from orthostream.novelty.report.number_text import percent_text, score_text
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.report.topic_rows import TopicRow, topic_rows
from orthostream.novelty.scored_document import ScoredDocument

_FORMATS = (".png", ".svg", ".pdf")
_WIDTH, _SCORES_HEIGHT, _ROW = 10.0, 3.0, 0.225
_TITLES, _TOPICS = 5, 15
#: About how many bins of scores are drawn.
_COLUMNS = 240
_TEXT, _FAINT, _GRID, _OWN, _BAND, _LIMIT, _FLAGGED, _WARMING = (
    "#1f2933",
    "#52606d",
    "#e4e8ec",
    "#0b62c4",
    "#c9dcf2",
    "#9a5b00",
    "#c2410c",
    "#eceff2",
)
_HEAT = ("#f1f5f9", "#bdd7f2", "#6aa5df", "#1d68b8", "#0a2f66")


def save_plot(report: StreamReport, topics: Sequence[Sequence[str]], path: str | Path) -> None:
    """Write one picture of scores and topics as PNG, SVG or PDF.

    Parameters
    ----------
    report : StreamReport
    topics : sequence of n_topics sequences of str
        The words of each topic; empty if there are no topics.
    path : path
        Its ending says which format.
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"a picture is written as {', '.join(_FORMATS)}, not as {path.suffix or 'a file'!r}: {path}.")
    rows = topic_rows(report, topics)[:_TOPICS]
    with _style(_texts(report, rows)) as fonts:
        figure = _figure([_scores_height(report), _topics_height(rows)] if rows else [_scores_height(report)])
        _draw_scores(figure, 0.0, _scores_height(report), report, fonts)
        if rows:
            _draw_topics(figure, _scores_height(report), _topics_height(rows), report, rows, fonts)
        # The same report gives the same bytes.
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
        figure.savefig(path, metadata=metadata)


def stream_figure(report: StreamReport) -> Any:
    """Return a figure of matplotlib: the scores over the stream, and the titles of the highest flagged documents."""
    with _style(_texts(report, [])) as fonts:
        figure = _figure([_scores_height(report)])
        _draw_scores(figure, 0.0, _scores_height(report), report, fonts)
    return figure


def topics_figure(report: StreamReport, topics: Sequence[Sequence[str]]) -> Any:
    """Return a figure of matplotlib: the share of the largest topics over the stream."""
    rows = topic_rows(report, topics)[:_TOPICS]
    if not rows:
        raise ValueError("there are no topics to draw: none of the documents came with topic energies.")
    with _style(_texts(report, rows)) as fonts:
        figure = _figure([_topics_height(rows)])
        _draw_topics(figure, 0.0, _topics_height(rows), report, rows, fonts)
    return figure


@contextmanager
def _style(texts: Sequence[str]) -> Iterator[FigureFonts]:
    import matplotlib as mpl

    fonts = FigureFonts(texts)
    settings: dict[Any, Any] = {
        "font.family": fonts.families,
        "font.size": 9,
        "text.usetex": False,
        "text.color": _TEXT,
        "axes.labelcolor": _FAINT,
        "axes.edgecolor": _FAINT,
        "axes.linewidth": 0.7,
        "xtick.color": _FAINT,
        "ytick.color": _FAINT,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "axes.unicode_minus": True,
        "figure.dpi": 100,
        "savefig.dpi": 160,
        "savefig.bbox": "standard",
        "svg.hashsalt": "orthostream",
        "svg.fonttype": "path",
    }
    with mpl.rc_context(settings):
        yield fonts


def _texts(report: StreamReport, rows: Sequence[TopicRow]) -> list[str]:
    times = [time for each in (*report.scores.all(), *report.topics.all()) for time in (each.first_time, each.last_time)]
    return [*map(name_of, _highest(report)), *(row.label for row in rows), *times]


def _figure(heights: Sequence[float]) -> Any:
    """Return a figure for parts of these heights in inches, not registered with pyplot, so that it is freed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, sum(heights)), facecolor="white")
    FigureCanvasAgg(figure)  # which can measure texts
    return figure


def _axes(figure: Any, left: float, above: float, width: float, height: float) -> Any:
    """Return axes at a place in inches, counted from the left and from the top."""
    full_width, full_height = figure.get_size_inches()
    return figure.add_axes(
        (left / full_width, 1.0 - (above + height) / full_height, width / full_width, height / full_height)
    )


def _highest(report: StreamReport) -> list[ScoredDocument]:
    """Return the flagged documents with the highest scores, in the order of the stream."""
    best = sorted(report.flagged.all(), key=lambda document: (-document.score, document.number))[:_TITLES]
    return sorted(best, key=lambda document: document.number)


# ---- scores ----


def _scores_height(report: StreamReport) -> float:
    return 0.85 + _SCORES_HEIGHT + 0.19 * len(_highest(report)) + 0.3


def _draw_scores(figure: Any, above: float, height: float, report: StreamReport, fonts: FigureFonts) -> None:
    axes = _axes(figure, 0.6, above + 0.45, _WIDTH - 0.8, _SCORES_HEIGHT)
    axes.set_title("Score over the stream", loc="left", fontsize=11, fontweight="bold", pad=9)
    bins = report.scores.all()
    if not bins:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no documents", ha="center", transform=axes.transAxes)
        return
    # Each bin is drawn from its first to its last document.
    step = max(1, len(bins) // _COLUMNS)
    parts = [bins[start : start + step] for start in range(0, len(bins), step)]
    ends = np.array([[part[0].first - 0.5, part[-1].last + 0.5] for part in parts])
    least, most = (np.repeat([pick(values) for values in _levels(parts, name)], 2) for pick, name in _EXTREMES)
    axes.fill_between(ends.ravel(), least, most, color=_BAND, lw=0, label="lowest to highest")
    medians = [float(np.median([each.median for each in part])) for part in parts]
    axes.plot(ends.mean(axis=1), medians, color=_OWN, lw=1.2, label="median")
    known = [next((each.threshold for each in reversed(part) if each.threshold is not None), np.nan) for part in parts]
    if np.isfinite(known).any():
        axes.plot(ends.ravel(), np.repeat(known, 2), color=_LIMIT, lw=1.3, ls=(0, (5, 3)), label="threshold")
    ready = next((each.first for each in bins if each.threshold is not None), bins[-1].last + 1)
    if ready > bins[0].first:
        axes.axvspan(bins[0].first - 0.5, ready - 0.5, color=_WARMING, lw=0, zorder=0, label="warm-up")
    flagged = report.flagged.all()
    if flagged:
        place = [[document.number for document in flagged], [document.score for document in flagged]]
        axes.plot(*place, "o", ms=3.6 if len(flagged) < 400 else 2.2, color=_FLAGGED, mec="white", mew=0.4, label="flagged")
    axes.set_xlim(bins[0].first - 0.5, bins[-1].last + 0.5)
    axes.margins(y=0.04)
    _finish_axes(axes, bins, fonts)
    axes.grid(axis="y", color=_GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5, frameon=False, fontsize=8, borderpad=0.2)
    _name_highest(figure, axes, above + 0.45 + _SCORES_HEIGHT + 0.5, _highest(report), fonts)


_EXTREMES = ((min, "least"), (max, "most"))


def _levels(parts: Sequence[Sequence[Any]], name: str) -> Iterator[list[float]]:
    return ([getattr(each, name) for each in part] for part in parts)


def _name_highest(
    figure: Any, axes: Any, above: float, documents: Sequence[ScoredDocument], fonts: FigureFonts
) -> None:
    """Number the highest documents above the curves, spread so that numbers do not collide, and list their titles."""
    if not documents:
        return
    low, high = axes.get_xlim()
    bottom, top = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= top])
    axes.set_ylim(bottom, top + 0.16 * (top - bottom))
    level = top + 0.09 * (top - bottom)
    places = _spread([document.number for document in documents], low, high, 0.024 * (high - low))
    full_height = figure.get_size_inches()[1]
    for k, (document, place) in enumerate(zip(documents, places, strict=True)):
        axes.plot([document.number, place], [document.score, level], color=_FLAGGED, lw=0.7, zorder=3)
        badge = {"boxstyle": "circle,pad=0.22", "fc": "white", "ec": _FLAGGED, "lw": 0.8}
        axes.text(place, level, str(k + 1), ha="center", va="center", fontsize=7.5, color=_FLAGGED, bbox=badge, zorder=4)
        y = 1.0 - (above + 0.19 * k) / full_height
        figure.text(0.6 / _WIDTH, y, str(k + 1), color=_FLAGGED, fontweight="bold", fontsize=8.5, va="top")
        style = {"fontsize": 8.5, "va": "top", "parse_math": False}
        title = figure.text(0.8 / _WIDTH, y, fonts.drawn(name_of(document)), **style)
        fitted(title, _WIDTH - 0.8 - 2.4)
        figure.text(1.0 - 1.75 / _WIDTH, y, score_text(document.score), ha="right", color=_FAINT, **style)
        when = fonts.drawn(document.time) or f"document {document.number:,}"
        fitted(figure.text(1.0 - 0.2 / _WIDTH, y, when, ha="right", color=_FAINT, **style), 1.45)


def _spread(places: Sequence[float], low: float, high: float, apart: float) -> list[float]:
    """Move sorted places as little as needed so that they are apart, and inside of the limits."""
    spread: list[float] = []
    for place in places:
        spread.append(max(place, spread[-1] + apart if spread else low + apart / 2.0))
    ceiling = high - apart / 2.0
    for k in reversed(range(len(spread))):
        spread[k] = ceiling = min(spread[k], ceiling)
        ceiling -= apart
    return spread


# ---- topics ----


def _topics_height(rows: Sequence[TopicRow]) -> float:
    return 0.5 + _ROW * len(rows) + 0.6


def _draw_topics(
    figure: Any, above: float, height: float, report: StreamReport, rows: Sequence[TopicRow], fonts: FigureFonts
) -> None:
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    left = 3.55
    axes = _axes(figure, left, above + 0.42, _WIDTH - left - 0.2, _ROW * len(rows))
    bins = report.topics.all()
    shares = np.array([row.shares for row in rows])
    top = max(float(np.quantile(shares, 0.998)), 1e-4)
    edges = [bins[0].first - 0.5, *(each.last + 0.5 for each in bins)]
    colours = LinearSegmentedColormap.from_list("heat", _HEAT)
    # A square root, since small shares are most of what there is.
    mesh = axes.pcolormesh(
        edges, np.arange(len(rows) + 1), shares, cmap=colours, norm=PowerNorm(0.5, 0.0, top), rasterized=True
    )
    axes.hlines(np.arange(1, len(rows)), edges[0], edges[-1], color="white", lw=1.2)
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([])
    for k, row in enumerate(rows):
        style = {"fontsize": 8, "va": "center", "parse_math": False}
        y = 1.0 - (above + 0.42 + _ROW * (k + 0.5)) / figure.get_size_inches()[1]
        words = figure.text(0.6 / _WIDTH, y, fonts.drawn(row.label), **style)
        fitted(words, left - 0.6 - 0.55)
        figure.text((left - 0.08) / _WIDTH, y, percent_text(row.share), ha="right", color=_FAINT, **style)
    _finish_axes(axes, bins, fonts)
    title_place = 1.0 - (above + 0.3) / figure.get_size_inches()[1]
    figure.text(0.6 / _WIDTH, title_place, "Topics over the stream", fontsize=11, fontweight="bold")
    scale = _axes(figure, _WIDTH - 1.75, above + 0.2, 1.1, 0.09)
    bar = figure.colorbar(mesh, cax=scale, orientation="horizontal")
    bar.set_ticks([])
    bar.outline.set_visible(False)
    scale.text(-0.05, 0.4, "share  0\xa0%", transform=scale.transAxes, ha="right", va="center", fontsize=8, color=_FAINT)
    scale.text(1.05, 0.4, percent_text(top), transform=scale.transAxes, ha="left", va="center", fontsize=8, color=_FAINT)


# ---- both ----


def _finish_axes(axes: Any, bins: Sequence[Any], fonts: FigureFonts) -> None:
    """Mark some documents by their numbers and times."""
    from matplotlib.ticker import MaxNLocator

    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    low, high = bins[0].first, bins[-1].last
    width = axes.get_position().width * _WIDTH
    wanted = MaxNLocator(max(int(width / 1.3), 2), integer=True, steps=[1, 2, 5, 10]).tick_values(low, high)
    marks = [round(mark) for mark in wanted if low <= mark <= high and mark == round(mark)] or [low]
    times = [next(each.first_time for each in bins if mark <= each.last) for mark in marks]
    days = len({time[:10] for time in times}) > 1
    labels = [f"{mark:,}\n{fonts.drawn(short_time(time, days))}" for mark, time in zip(marks, times, strict=True)]
    for mark, label in zip(marks, axes.set_xticks(marks, labels, parse_math=False), strict=True):
        # So that they do not leave the picture.
        label.label1.set_horizontalalignment("right" if mark - low > 0.95 * (high - low) > 0.0 else "center")
    axes.tick_params(axis="y", length=0)
