"""A stream as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from orthostream.novelty.report.chart_data import chart_data
from orthostream.novelty.report.entries import bar_start, entries
from orthostream.novelty.report.headline import course, headline, stretch
from orthostream.novelty.report.number_text import count_text, score_text
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.report.topic_rows import TopicRow, topic_list, topic_rows

_LONGEST_TITLE = 200


def stream_page(report: StreamReport, topics: Sequence[Sequence[str]], title: str = "Novel documents") -> str:
    """Return a page with the scores over the stream, the flagged documents and why, and the topics over time.

    Titles and terms can hold anything: they are escaped, and the page's policy allows its own script only.

    Parameters
    ----------
    report : StreamReport
    topics : sequence of n_topics sequences of str
        The words of each topic, the most typical first; empty if there are no topics.
    title : str, default "Novel documents"

    Examples
    --------
    >>> page = stream_page(StreamReport(), [], title="<Storms>")
    >>> "<h1><bdi>&lt;Storms&gt;</bdi></h1>" in page
    True
    """
    rows = topic_rows(report, topics)
    style, script = _own("page.css") + _BAR_LENGTHS, _own("page.js")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    return Template(_own("page.html")).substitute(
        policy=f"{policy}; form-action 'none'",
        style=style,
        script=script,
        title=escape(shown_text(title, _LONGEST_TITLE)),
        stretch=stretch(report),
        tiles=headline(report),
        course=escape(course(report)),
        flagged_note=escape(_flagged_note(report)),
        entries=entries(report),
        topics_note=escape(_topics_note(rows)),
        topics=topic_list(rows),
        data=chart_data(report, rows),
    )


#: Lengths of bars, as a page that forbids styles of elements needs them.
_BAR_LENGTHS = "".join(f".w{part}{{--part:{part}%}}" for part in range(101))


def _own(name: str) -> str:
    return files("orthostream.novelty.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _flagged_note(report: StreamReport) -> str:
    kept = len(report.flagged.all())
    if not report.n_flagged:
        return "No document is above the threshold."
    most = "" if kept == report.n_flagged else f"The {kept:,} with the highest scores, of {report.n_flagged:,}. "
    return (
        f"{most}Bars of scores start at {score_text(bar_start(report))} and have a mark at the threshold. Below: what "
        "is new, in percent of the document; the topics that it comes closest to; and recent documents with their "
        "cosine similarity."
    )


def _topics_note(rows: Sequence[TopicRow]) -> str:
    if not rows:
        return "There are no topics."
    return f"{count_text(len(rows), 'topic', 'topics')} in words, with their share of the whole stream, largest first."
