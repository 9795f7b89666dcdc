"""The state of an edge or a cloud as Prometheus reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Numbers that may go down; all others are counters.
_GAUGES = {
    "connected",
    "dictionaries sent",
    "frank-wolfe gap",
    "healthy",
    "messages to send",
    "outbox bytes",
    "outbox limit",
    "samples waiting",
    "seen",
    "stream",
    "streams",
    "waiting",
}


def prometheus_text(status: Mapping[str, Any], prefix: str) -> str:
    r"""Return the numbers of a status in the text format of Prometheus.

    A text under "edge" becomes a label, and so do the keys of a mapping under "edges". Other texts are left out.

    Examples
    --------
    >>> print(prometheus_text({"edge": "roof", "connected": True, "messages sent": 3}, "orthostream_edge"), end="")
    # TYPE orthostream_edge_connected gauge
    orthostream_edge_connected{edge="roof"} 1
    # TYPE orthostream_edge_messages_sent_total counter
    orthostream_edge_messages_sent_total{edge="roof"} 3
    """
    lines: dict[str, list[str]] = {}
    labels = _labels(status["edge"]) if isinstance(status.get("edge"), str) else ""
    _add(lines, status, prefix, labels)
    for edge, about in (status.get("edges") or {}).items():
        _add(lines, about, f"{prefix}_edge", _labels(edge))
    return "".join(line + "\n" for each in lines.values() for line in each)


def _add(lines: dict[str, list[str]], numbers: Mapping[str, Any], prefix: str, labels: str) -> None:
    for key, value in numbers.items():
        if not isinstance(value, bool | int | float):
            continue
        gauge = key in _GAUGES
        name = f"{prefix}_{re.sub('[^a-z0-9]+', '_', key.lower()).strip('_')}" + ("" if gauge else "_total")
        lines.setdefault(name, [f"# TYPE {name} {'gauge' if gauge else 'counter'}"])
        lines[name].append(f"{name}{labels} {int(value) if isinstance(value, bool | int) else repr(value)}")


def _labels(edge: str) -> str:
    text = edge.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{{edge="{text}"}}'
