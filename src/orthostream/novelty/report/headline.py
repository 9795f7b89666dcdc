"""The figures at the top of the page of a stream, in HTML."""

from __future__ import annotations

from html import escape
from statistics import median

from orthostream.novelty.report.number_text import count_text, percent_text, score_text
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.report.stream_report import StreamReport

_LONGEST_RULE, _LONGEST_KIND = 120, 60


def headline(report: StreamReport) -> str:
    """Return the tiles: how many documents, how many are flagged and by what rule, how fast, what was wrong."""
    tiles = [_tile("documents", "Documents", f"{report.n_documents:,}"), _flagged(report), _rule(report)]
    if report.n_warming_up:
        note = "documents before the first threshold"
        tiles.append(_tile("warm-up", "Warm-up", f"{report.n_warming_up:,}", note))
    if report.documents_per_second is not None:
        tiles.append(_tile("speed", "Documents per second", f"{report.documents_per_second:,.0f}"))
    tiles.append(_problems(report))
    return "\n".join(tiles)


def stretch(report: StreamReport) -> str:
    """Return which documents these are, and of when, in HTML."""
    bins = report.scores.all()
    if not bins:
        return "No documents yet."
    numbers = f"Documents {bins[0].first:,} to {bins[-1].last:,}"
    times = [f"<bdi>{escape(time)}</bdi>" for time in (bins[0].first_time, bins[-1].last_time) if time]
    return ", ".join(filter(None, [numbers, " to ".join(dict.fromkeys(times))]))


def course(report: StreamReport) -> str:
    """Return in a sentence how scores went, for those who cannot see the chart."""
    bins = report.scores.all()
    if not bins:
        return ""
    tenth = max(len(bins) // 10, 1)
    first, last = (score_text(median(each.median for each in part)) for part in (bins[:tenth], bins[-tenth:]))
    lowest, highest = score_text(min(each.least for each in bins)), score_text(max(each.most for each in bins))
    flagged = count_text(report.n_flagged, "document is", "documents are")
    return (
        f"Scores lie between {lowest} and {highest}; a typical one is {first} at the start and {last} at the end. "
        f"{flagged} above the threshold."
    )


def _flagged(report: StreamReport) -> str:
    judged = report.n_documents - report.n_warming_up
    of_which = "those after the warm-up" if report.n_warming_up else "all"
    note = f"{percent_text(report.n_flagged / judged)} of {of_which}" if judged else ""
    return _tile("flagged", "Flagged as novel", f"{report.n_flagged:,}", note)


def _rule(report: StreamReport) -> str:
    threshold = report.threshold
    now = "none yet" if threshold is None else score_text(threshold)
    return _tile("threshold", "Threshold at the end", now, shown_text(report.rule, _LONGEST_RULE))


def _problems(report: StreamReport) -> str:
    found = {kind: count for kind, count in report.problems.items() if count}
    kinds = sorted(found, key=lambda kind: -found[kind])
    note = ", ".join(f"{shown_text(kind, _LONGEST_KIND)}: {found[kind]:,}" for kind in kinds)
    return _tile("problems", "Problems with the input", f"{sum(found.values()):,}" if found else "none", note)


def _tile(name: str, label: str, value: str, note: str = "") -> str:
    small = f"<small>{escape(note)}</small>" if note else ""
    return f'<div data-of="{name}"><dt>{escape(label)}</dt><dd>{escape(value)}{small}</dd></div>'
