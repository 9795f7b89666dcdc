"""The topics of a stream, those with the most energy first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.novelty.report.flagged_documents import shown_words
from orthostream.novelty.report.number_text import percent_text
from orthostream.novelty.report.stream_report import StreamReport


class TopicRow(NamedTuple):
    """A topic in words, its share of the whole stream, and its share of each bin of documents."""

    topic: int
    words: tuple[str, ...]
    share: float
    shares: FloatArray

    @property
    def label(self) -> str:
        """The words, or the number of the topic if it has none."""
        return ", ".join(filter(None, self.words)) or f"topic {self.topic + 1}"


def topic_rows(report: StreamReport, topics: Sequence[Sequence[str]]) -> list[TopicRow]:
    """Return a row for each topic, the largest share first; none before any topic has energy.

    Parameters
    ----------
    report : StreamReport
    topics : sequence of n_topics sequences of str
        The words of each topic, the most typical first. Without any, topics are numbered.
    """
    bins = report.topics.all()
    n_topics = report.topics.n_topics
    if len(topics) not in (0, n_topics):
        raise ValueError(f"there are words for {len(topics)} topics, but energies of {n_topics}: give words for each.")
    energies = np.array([each.energies for each in bins])
    if not energies.any():
        return []
    counts = np.array([each.size for each in bins], dtype=float)
    total = energies.sum(axis=0) / counts.sum()
    shares = energies / counts[:, None]
    return [
        TopicRow(topic, shown_words(topics[topic]) if topics else (), float(total[topic]), shares[:, topic])
        for topic in np.argsort(-total, kind="stable").tolist()
    ]


def topic_list(rows: Sequence[TopicRow]) -> str:
    """Return the topics as items of a list in HTML."""
    return "\n".join(
        f'<li><bdi class="words">{escape(row.label)}</bdi> <span>{percent_text(row.share)}</span></li>' for row in rows
    )
