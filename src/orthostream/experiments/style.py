"""How figures look: fit for a paper, alike in all of them, and each method in its own colour everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from orthostream.experiments import contenders, convergence, protocol

#: Colour and line of each method. Ours are solid.
LINES: dict[str, dict[str, Any]] = {
    convergence.PROPOSED: {"color": "#0b5fa5", "ls": "-", "lw": 2.0},
    convergence.AVERAGED: {"color": "#5aa9e6", "ls": "-", "lw": 1.6},
    contenders.CONSTANT: {"color": "#12897b", "ls": "-", "lw": 1.6},
    convergence.SFW: {"color": "#c8553d", "ls": "--", "lw": 1.4},
    convergence.SFW_POLAR: {"color": "#e8a598", "ls": "--", "lw": 1.2},
    contenders.SFW_OWN: {"color": "#7d2a1a", "ls": "--", "lw": 1.0},
    convergence.L4: {"color": "#8f2d8c", "ls": "-.", "lw": 1.4},
    convergence.AODL: {"color": "#d9902f", "ls": ":", "lw": 1.8},
    convergence.AODL_TUNED: {"color": "#a8661a", "ls": ":", "lw": 1.2},
    protocol.DEEP: {"color": "#5b5f97", "ls": "--", "lw": 1.4},
    protocol.NCBDL: {"color": "#7a5c3e", "ls": "-.", "lw": 1.4},
    contenders.FORGETTING: {"color": "#2e2e2e", "ls": "-", "lw": 1.2},
    protocol.PCA: {"color": "#8a8a8a", "ls": "--", "lw": 1.2},
    protocol.COSINES: {"color": "#b5b5b5", "ls": ":", "lw": 1.4},
    protocol.ICA: {"color": "#6b8e23", "ls": "-.", "lw": 1.2},
    "running PCA": {"color": "#2e2e2e", "ls": "--", "lw": 1.2},
}


@contextmanager
def paper_style() -> Iterator[Any]:
    """Give matplotlib.pyplot with the style set, without a display, and the same bytes for the same numbers."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "backend": "Agg",
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
        import matplotlib.pyplot as plt

        yield plt
