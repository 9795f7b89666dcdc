"""The numbers that the charts of a page draw, as JSON that can stand in a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream.novelty.report.stream_report import StreamReport
from orthostream.novelty.report.topic_rows import TopicRow

#: Shares of topics are whole numbers of this part.
_PARTS = 10_000


def chart_data(report: StreamReport, rows: Sequence[TopicRow]) -> str:
    r"""Return one object with the columns of both charts.

    Nothing in it can end the element around it, or is special to HTML:

    >>> from orthostream.novelty.scored_document import ScoredDocument
    >>> report = StreamReport()
    >>> report.add([ScoredDocument(1, "", "", "</script>", 0.5, None, False, None)], np.zeros(0))
    >>> "</script>" in chart_data(report, []), r"\u003c/script>" in chart_data(report, [])
    (False, True)
    """
    scores, topics = report.scores.all(), report.topics.all()
    data: dict[str, Any] = {
        "scores": {
            "first": [each.first for each in scores],
            "last": [each.last for each in scores],
            "time": [each.first_time for each in scores],
            "least": [_short(each.least) for each in scores],
            "median": [_short(each.median) for each in scores],
            "most": [_short(each.most) for each in scores],
            "threshold": [None if each.threshold is None else _short(each.threshold) for each in scores],
        },
        "topics": {
            "first": [each.first for each in topics],
            "last": [each.last for each in topics],
            "time": [each.first_time for each in topics],
            "parts": _PARTS,
            "shares": [np.rint(row.shares * _PARTS).astype(np.int64).tolist() for row in rows],
        },
    }
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c")


def _short(value: float) -> float:
    return float(f"{value:.5g}")
