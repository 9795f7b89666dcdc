"""Colours of charts on a light and on a dark page; all of them differ for colour-blind eyes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Colours:
    """What charts are drawn in."""

    text: str
    faint: str
    line: str
    own: str
    other: str
    original: str
    series: tuple[str, ...]
    background: str
    #: From low to high.
    scale: tuple[str, ...]


_LIGHT = Colours(
    text="#1f2933",
    faint="#52606d",
    line="#d9dfe5",
    own="#0b62c4",
    other="#8b98a5",
    original="#1f2933",
    series=("#0b62c4", "#c2410c", "#0f7b5f", "#7c3aed", "#b4316f"),
    background="#ffffff",
    scale=("#352a87", "#0f7ac9", "#1fae9b", "#a8bf45", "#f4d03f"),
)
_DARK = Colours(
    text="#e6ebf0",
    faint="#a9b5c1",
    line="#35414d",
    own="#6cb2ff",
    other="#7d8b99",
    original="#f4f7fa",
    series=("#6cb2ff", "#ffa05c", "#4fd6ae", "#c4a5ff", "#ff8fc0"),
    background="#182028",
    scale=("#7a74e0", "#3fa0ee", "#3fd0bb", "#c6dd5f", "#ffe169"),
)


def colours(*, dark: bool) -> Colours:
    """Return the colours of a page."""
    return _DARK if dark else _LIGHT
