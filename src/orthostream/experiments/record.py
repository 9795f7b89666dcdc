"""Records: the numbers of a reproduction, and how they are written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import NamedTuple


class Record(NamedTuple):
    """A measured value, and the paper's value if it gives one."""

    experiment: str
    method: str
    setting: str
    metric: str
    value: float
    paper: float | None = None


def to_json(records: Sequence[Record]) -> str:
    r"""Return the records as a JSON array of flat objects.

    >>> to_json([Record("sparsity", "l3", "theta=0.3", "error", 0.5)])
    '[\n {"experiment": "sparsity", "method": "l3", "setting": "theta=0.3", "metric": "error", "value": 0.5, "paper": null}\n]\n'
    """  # noqa: E501
    return "[\n" + ",\n".join(" " + json.dumps(record._asdict(), allow_nan=False) for record in records) + "\n]\n"


def to_csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Return rows as CSV text; None becomes an empty cell.

    >>> to_csv(["t", "error"], [[1, 0.5], [2, None]])
    't,error\n1,0.5\n2,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
