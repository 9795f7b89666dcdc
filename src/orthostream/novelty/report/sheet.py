"""A figure of matplotlib that is laid out in inches from its top left corner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from orthostream.novelty.report.figure_fonts import FigureFonts
from orthostream.novelty.report.score_bins import ScoreBin
from orthostream.novelty.report.topic_bins import TopicBin

WIDTH = 10.0
#: Space at the left and at the right, in inches.
LEFT, RIGHT = 0.6, 0.2
TEXT, FAINT, GRID = "#1f2933", "#52606d", "#e4e8ec"


class Sheet:
    """A figure with fonts for some texts.

    Parameters
    ----------
    height : float
        In inches.
    fonts : FigureFonts

    Attributes
    ----------
    figure : matplotlib Figure
        Not registered with pyplot, so that it is freed after use.
    """

    def __init__(self, height: float, fonts: FigureFonts) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.fonts = fonts
        self.figure: Any = Figure(figsize=(WIDTH, height), facecolor="white")
        canvas: Any = FigureCanvasAgg(self.figure)
        self._renderer = canvas.get_renderer()
        self._height = height

    def axes(self, left: float, above: float, width: float, height: float) -> Any:
        """Return axes at a place."""
        return self.figure.add_axes(
            (left / WIDTH, 1.0 - (above + height) / self._height, width / WIDTH, height / self._height)
        )

    def text(self, left: float, above: float, text: str, width: float = WIDTH, **style: Any) -> None:
        """Write a text as it is, without mathematics, and cut off its end if it is wider than that."""
        drawn = self.fonts.drawn(text)
        made = self.figure.text(left / WIDTH, 1.0 - above / self._height, drawn, parse_math=False, **style)
        fits, too_long = 0, len(drawn) + 1
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            made.set_text(clipped(drawn, middle))
            if made.get_window_extent(self._renderer).width <= width * self.figure.dpi:
                fits = middle
            else:
                too_long = middle
        made.set_text(clipped(drawn, fits))

    def heading(self, above: float, text: str) -> None:
        """Write the title of a part."""
        self.text(LEFT, above, text, fontsize=11, fontweight="bold", va="center")

    def mark_documents(self, axes: Any, bins: Sequence[ScoreBin] | Sequence[TopicBin]) -> None:
        """Mark some documents below axes by their numbers and times."""
        from matplotlib.ticker import MaxNLocator

        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        low, high = bins[0].first, bins[-1].last
        most = max(int(axes.get_position().width * WIDTH / 1.4), 2)
        wanted = MaxNLocator(most, integer=True, steps=[1, 2, 5, 10]).tick_values(low, high)
        marks = [round(mark) for mark in wanted if low <= mark <= high and mark == round(mark)] or [low]
        times = [next(each.first_time for each in bins if mark <= each.last) for mark in marks]
        several_days = len({time[:10] for time in times}) > 1
        labels = [self.fonts.drawn(short_time(time, several_days)) for time in times]
        texts = [f"{mark:,}\n{label}" for mark, label in zip(marks, labels, strict=True)]
        axes.set_xticks(marks, texts, parse_math=False)
        if marks[-1] - low > 0.95 * (high - low) > 0.0:
            axes.get_xticklabels()[-1].set_horizontalalignment("right")  # so that it does not leave the picture


@contextmanager
def figure_style(texts: Iterable[str]) -> Iterator[FigureFonts]:
    """Set the style of figures within a block, with fonts for some texts; the same report gives the same bytes."""
    import matplotlib as mpl

    fonts = FigureFonts(texts)
    settings: dict[Any, Any] = {
        "font.family": fonts.families,
        "font.size": 9,
        "text.usetex": False,
        "text.color": TEXT,
        "axes.edgecolor": FAINT,
        "axes.linewidth": 0.7,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "figure.dpi": 100,
        "savefig.dpi": 160,
        "savefig.bbox": "standard",
        "svg.hashsalt": "orthostream",
        "svg.fonttype": "path",
    }
    with mpl.rc_context(settings):
        yield fonts


def clipped(text: str, longest: int) -> str:
    """Return the beginning of a text.

    >>> clipped("Cocoa at a new high", 9)
    'Cocoa at…'
    """
    return text if len(text) <= longest else text[: max(longest - 1, 0)].rstrip() + "…"


def short_time(time: str, several_days: bool) -> str:
    """Return the day of an ISO time, or its hour if all are of one day; of other times the beginning.

    >>> short_time("1987-02-26 15:01:01", True), short_time("1987-02-26T15:01:01Z", False)
    ('1987-02-26', '15:01')
    """
    if len(time) >= 16 and time[4] == time[7] == "-" and time[10] in "T " and time[13] == ":":
        return time[:10] if several_days else time[11:16]
    return clipped(time, 12)
