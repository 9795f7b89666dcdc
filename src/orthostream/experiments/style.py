"""How figures look: fit for a paper, alike in all of them, and each method in its own colour everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from orthostream.experiments import methods

#: Colour and line of each method. Ours are solid.
LINES: dict[str, dict[str, Any]] = {
    methods.PROPOSED: {"color": "#0b5fa5", "ls": "-", "lw": 2.0},
    methods.AVERAGED: {"color": "#5aa9e6", "ls": "-", "lw": 1.6},
    methods.CONSTANT: {"color": "#12897b", "ls": "-", "lw": 1.6},
    methods.SFW: {"color": "#c8553d", "ls": "--", "lw": 1.4},
    methods.SFW_POLAR: {"color": "#e8a598", "ls": "--", "lw": 1.2},
    methods.SFW_OWN: {"color": "#7d2a1a", "ls": "--", "lw": 1.0},
    methods.L4: {"color": "#8f2d8c", "ls": "-.", "lw": 1.4},
    methods.AODL: {"color": "#d9902f", "ls": ":", "lw": 1.8},
    methods.AODL_TUNED: {"color": "#a8661a", "ls": ":", "lw": 1.2},
    methods.DEEP: {"color": "#5b5f97", "ls": "--", "lw": 1.4},
    methods.NCBDL: {"color": "#7a5c3e", "ls": "-.", "lw": 1.4},
    methods.FORGETTING: {"color": "#2e2e2e", "ls": "-", "lw": 1.2},
    methods.PCA: {"color": "#8a8a8a", "ls": "--", "lw": 1.2},
    methods.COSINES: {"color": "#b5b5b5", "ls": ":", "lw": 1.4},
    methods.ICA: {"color": "#6b8e23", "ls": "-.", "lw": 1.2},
}


@contextmanager
def paper_style() -> Iterator[None]:
    """Set the style of figures, and restore what was set before; the same numbers give the same bytes."""
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
    """Return an empty figure of a size in inches, which nothing but its maker holds on to."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))
