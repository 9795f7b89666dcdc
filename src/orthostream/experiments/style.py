"""How figures look: fit for a paper, and alike in all experiments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def paper_style() -> Iterator[None]:
    """Set the style of figures within a block; the same numbers give the same bytes."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "font.family": "serif",
        "font.serif": ["STIXGeneral", "DejaVu Serif"],
        "mathtext.fontset": "stix",
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.labelsize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "figure.dpi": 100,
        "savefig.dpi": 200,
        "savefig.bbox": "tight",
        "svg.hashsalt": "orthostream",
        "svg.fonttype": "path",
    }
    with mpl.rc_context(settings):
        yield


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of a size in inches, not registered with pyplot, so that it is freed after use."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))
