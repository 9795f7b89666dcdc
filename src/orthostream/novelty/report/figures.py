"""Pictures of a stream for papers, slides and pages of others, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthostream.novelty.report.entries import name_of
from orthostream.novelty.report.score_picture import draw_scores, highest, scores_height
from orthostream.novelty.report.sheet import Sheet, figure_style
from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.report.topic_picture import draw_topics, topics_height
from orthostream.novelty.report.topic_rows import TopicRow, topic_rows

#: By ending of the file: what must not depend on the clock, so that the same report gives the same bytes.
_METADATA: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_MOST_TOPICS = 15


def save_plot(report: StreamReport, topics: Sequence[Sequence[str]], path: str | Path) -> None:
    """Write one picture of the scores, the highest flagged documents, and the 15 largest topics.

    Parameters
    ----------
    report : StreamReport
    topics : sequence of n_topics sequences of str
        The words of each topic, the most typical first; empty if there are no topics.
    path : path
        Its ending says the format: .png, .svg or .pdf.

    Raises
    ------
    ValueError
        If the ending is another one.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _METADATA:
        raise ValueError(f"the name of a picture must end with {', '.join(_METADATA)}, got {path.name!r}.")
    rows = topic_rows(report, topics)[:_MOST_TOPICS]
    height = scores_height(report)
    with figure_style(_texts(report, rows)) as fonts:
        sheet = Sheet(height + topics_height(rows) if rows else height, fonts)
        draw_scores(sheet, 0.0, report)
        if rows:
            draw_topics(sheet, height, report, rows)
        sheet.figure.savefig(path, metadata=_METADATA[ending])


def stream_figure(report: StreamReport) -> Any:
    """Return a figure of matplotlib: the scores over the stream, and the titles of the highest flagged documents."""
    with figure_style(_texts(report, [])) as fonts:
        sheet = Sheet(scores_height(report), fonts)
        draw_scores(sheet, 0.0, report)
    return sheet.figure


def topics_figure(report: StreamReport, topics: Sequence[Sequence[str]]) -> Any:
    """Return a figure of matplotlib: the shares of the 15 largest topics over the stream."""
    rows = topic_rows(report, topics)[:_MOST_TOPICS]
    if not rows:
        raise ValueError("there are no topics to draw: no block of documents came with topic energies.")
    with figure_style(_texts(report, rows)) as fonts:
        sheet = Sheet(topics_height(rows), fonts)
        draw_topics(sheet, 0.0, report, rows)
    return sheet.figure


def _texts(report: StreamReport, rows: Sequence[TopicRow]) -> list[str]:
    """Return all texts that come from the stream."""
    documents = highest(report)
    times = [each.first_time for each in report.scores.all()] + [each.first_time for each in report.topics.all()]
    times += [document.time for document in documents]
    return [*map(name_of, documents), *(row.label for row in rows), *times]
