"""The list of flagged documents, in HTML that needs no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from orthostream.novelty.explanation import Explanation
from orthostream.novelty.report.number_text import percent_text, score_text
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.scored_document import ScoredDocument


def entries(report: StreamReport) -> str:
    """Return one item for each flagged document that is kept, the highest score first.

    Bars get their lengths from the classes w0 to w100, since the policy of the page forbids styles of elements.
    """
    start = bar_start(report)
    span = max((each.most for each in report.scores.all()), default=0.0) - start
    documents = sorted(report.flagged.all(), key=lambda document: (-document.score, document.number))
    return "\n".join(_entry(document, start, span) for document in documents)


def bar_start(report: StreamReport) -> float:
    """Return the score of a bar of no length: the typical one, since from zero on all bars would look alike."""
    thresholds = [document.threshold for document in report.flagged.all() if document.threshold is not None]
    return min([report.typical_score, *thresholds])


def name_of(document: ScoredDocument) -> str:
    """Return the title of a document, or what else it can be called."""
    return document.title or f"(no title) {document.id or f'document {document.number:,}'}"


def _entry(document: ScoredDocument, start: float, span: float) -> str:
    place = [f"Document {document.number:,}"]
    place += [f"<bdi>{escape(each)}</bdi>" for each in (document.time, document.id and f"id {document.id}") if each]
    threshold, mark, limit = document.threshold, "", ""
    if threshold is not None:
        mark = f'<b class="w{_part(threshold - start, span)}"></b>'
        limit = f" <span>threshold {score_text(threshold)}</span>"
    data = f' data-threshold="{threshold:.5g}"' if threshold is not None else ""
    return (
        f'<li id="d{document.number}" data-score="{document.score:.5g}"{data}>'
        f'<h3 tabindex="-1"><bdi>{escape(name_of(document))}</bdi></h3>'
        f'<p class="place">{" · ".join(place)}</p>'
        f'<p class="score"><strong>{score_text(document.score)}</strong>'
        f'<i class="bar"><i class="w{_part(document.score - start, span)}"></i>{mark}</i>{limit}</p>'
        f"{_reasons(document.explanation)}</li>"
    )


def _reasons(explanation: Explanation | None) -> str:
    if explanation is None:
        return ""
    largest = max([each.share for each in explanation.terms] + [each.share for each in explanation.topics], default=0.0)
    terms = (_reason(each.term, percent_text(each.share), _part(each.share, largest)) for each in explanation.terms)
    topics = (
        _reason(
            ", ".join(each.words) or f"topic {each.topic + 1}",
            percent_text(each.share),
            _part(each.share, largest),
        )
        for each in explanation.topics
    )
    nearest = (
        _reason(each.title or each.id or "(no title)", f"{each.similarity:.2f}", _part(each.similarity, 1.0))
        for each in explanation.nearest
    )
    return (
        '<div class="reasons">'
        + _list("In no topic", "no single term stands out", terms, ' class="terms"', _unseen(explanation.unseen))
        + _list("Nearest topics", "none", topics)
        + _list("Closest earlier documents", "none", nearest)
        + "</div>"
    )


def _list(title: str, none: str, items: Iterable[str], attributes: str = "", note: str = "") -> str:
    found = "".join(items) or f"<li class=none>{none}"
    return f"<div{attributes}><h4>{title}</h4><ul>{found}</ul>{note}</div>"


def _unseen(terms: Sequence[str]) -> str:
    shown = escape(", ".join(filter(None, terms)))
    return f"<p>never seen before: <bdi>{shown}</bdi></p>" if shown else ""


def _reason(text: str, number: str, part: int) -> str:
    # There are tens of thousands of these in a page: the style sheet draws the bar, and HTML ends items by itself.
    return f"<li class=w{part}>{escape(text) or '(empty)'}<b>{number}</b>"


def _part(value: float, whole: float) -> int:
    """Return a part of a whole in percent, rounded to what a bar can show."""
    return round(100.0 * min(max(value / whole, 0.0), 1.0)) if whole > 0.0 else 0
