"""A made-up stream with scores that fall while the history grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.report import StreamReport
from orthostream.novelty.scored_document import ScoredDocument

N_TOPICS = 40
WARM_UP = 100

MakeReport = Callable[..., StreamReport]


def made_up(number: int, score: float, title: str, novel: bool) -> ScoredDocument:
    explanation = Explanation(
        (TermShare(f"term{number}", 0.5), TermShare("quake", 0.25)),
        (TopicShare(3, ("oil", "crude"), 0.04), TopicShare(1, ("wheat", "grain"), 0.01)),
        (EarlierDocument("1", "An earlier storm", 0.31),),
        ("valparaiso",),
    )
    return ScoredDocument(
        number,
        f"id-{number}",
        title,
        f"1987-03-{1 + number // 100 % 28:02d} 10:{number % 60:02d}",
        score,
        None if number <= WARM_UP else 0.9 - number * 1e-5,
        novel,
        explanation if novel else None,
    )


@pytest.fixture
def make_report() -> MakeReport:
    """Return a function that collects a stream, of which documents are flagged here and there, with these titles."""

    def make(n_documents: int = 1000, every: int = 9, titles: Sequence[str] = ()) -> StreamReport:
        random = np.random.default_rng(0)
        report = StreamReport(rule="1 % false alarms")
        flagged = 0
        for start in range(1, n_documents + 1, 50):
            block = []
            for number in range(start, min(start + 50, n_documents + 1)):
                novel = number > WARM_UP and number % every == 0
                score = (0.91 if novel else 0.6) + 0.08 * random.random() - number * 1e-5
                title = titles[flagged % len(titles)] if novel and titles else f"Headline {number}"
                flagged += novel
                block.append(made_up(number, score, title, novel))
            report.add(block, random.dirichlet(np.ones(N_TOPICS)) * len(block) * 0.6)
        report.problems = {"malformed lines": 3, "duplicate ids": 0}
        report.documents_per_second = 8123.4
        return report

    return make


@pytest.fixture
def topics() -> list[tuple[str, ...]]:
    return [(f"word{topic}", "crude", "barrel") for topic in range(N_TOPICS)]
