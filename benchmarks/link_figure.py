"""The figure of `orthostream bench link`: bytes on the wire by format and delay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orthostream.experiments.style import new_figure, paper_style

from .measure import Record

_OURS, _OTHERS = "#b3123f", "#5aa9e6"


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw bytes on the wire per reading, a panel for each delay."""
    found = [record for record in records if record.metric == "wire_bytes_per_reading"]
    settings = list(dict.fromkeys(record.setting for record in found))
    with paper_style():
        figure = new_figure(2.9 * len(settings), 2.6)
        panels = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=True):
            here = [record for record in found if record.setting == setting]
            methods = [record.method for record in here]
            colours = [_OURS if method.startswith("ours") else _OTHERS for method in methods]
            bars = axes.barh(methods, [record.value for record in here], color=colours)
            axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7)
            axes.margins(x=0.2)
            axes.set_axisbelow(True)
            axes.grid(visible=False, axis="y")
            axes.set_title(setting.removeprefix("wire, "), fontsize=8)
            axes.set_xlabel("bytes on the wire per reading")
        panels[0].invert_yaxis()
        figure.tight_layout()
        figure.savefig(path)
