"""Pictures: whatever the texts are, they are written as they are, inside of the picture, and do not collide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.novelty.report import StreamReport
from orthostream.novelty.report.figure_fonts import FigureFonts
from orthostream.novelty.report.score_picture import spread
from orthostream.novelty.scored_document import ScoredDocument

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from orthostream.novelty.report.figures import save_plot, stream_figure, topics_figure

MakeReport = Callable[..., StreamReport]
TITLES = ["$\\frac{1}{0}$ costs $5", "$", "W" * 400, "\U0010fffd 石油 اسعار", "a_b^c {x} \\", "", "plain"]


def texts_of(figure: Any) -> list[Any]:
    """Return the texts that are written beside the axes."""
    return [text for text in figure.texts if text.get_text()]


def boxes_of(figure: Any, texts: Sequence[Any]) -> list[Any]:
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [text.get_window_extent(renderer) for text in texts]


@pytest.mark.parametrize("titles", [TITLES, TITLES[::-1], []])
def test_texts_beside_the_curves_do_not_collide_and_stay_inside(make_report: MakeReport, titles: list[str]) -> None:
    report = make_report(1000, titles=titles)
    words = [tuple(title or "w" * 60 for title in TITLES)] * 40
    for figure in (stream_figure(report), topics_figure(report, words)):
        figure.canvas.draw()
        texts = texts_of(figure)
        boxes = boxes_of(figure, texts)
        assert len(texts) >= 19
        for box in boxes:
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        # Lines of text are as high as their highest characters; what counts is that they do not run into each other.
        for one, other in combinations(boxes, 2):
            width = min(one.x1, other.x1) - max(one.x0, other.x0)
            height = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert width <= 0 or height <= 0.5 * min(one.height, other.height)
        for axes in figure.axes:
            marks = boxes_of(figure, [mark for mark in axes.get_xticklabels() if mark.get_text()])
            assert all(before.x1 < after.x0 for before, after in pairwise(marks))
            assert all(mark.x1 <= figure.bbox.x1 for mark in marks)


def test_titles_are_not_mathematics(make_report: MakeReport) -> None:
    report = make_report(1000, titles=["$x^2$ and $5"])
    figure = stream_figure(report)
    assert "$x^2$ and $5" in [text.get_text() for text in texts_of(figure)]
    assert not any(text.get_parse_math() for text in texts_of(figure))
    figure.canvas.draw()


def test_times_are_not_mathematics() -> None:
    report = StreamReport()
    times = ["$\\frac$", "100$", "_^$a$"]
    report.add([ScoredDocument(n, "", "", times[n % 3], 0.5, 0.9, False, None) for n in range(1, 40)], np.ones(2))
    for figure in (stream_figure(report), topics_figure(report, [("$a$",), ("$",)])):
        figure.canvas.draw()
        labels = [mark.get_text() for axes in figure.axes for mark in axes.get_xticklabels()]
        assert any("$" in label for label in labels)


def test_the_five_highest_are_named_with_their_scores(make_report: MakeReport) -> None:
    report = make_report(1000)
    written = [text.get_text() for text in texts_of(stream_figure(report))]
    best = sorted(report.flagged.all(), key=lambda each: -each.score)
    for each in best[:5]:
        assert each.title in written and f"{each.score:.3f}" in written and each.time in written
    assert best[5].title not in written


def test_the_fifteen_largest_topics_are_drawn(make_report: MakeReport, topics: list[tuple[str, ...]]) -> None:
    report = make_report(1000)
    written = [text.get_text() for text in texts_of(topics_figure(report, topics))]
    energies = sum(each.energies for each in report.topics.all())
    largest = np.argsort(-energies)
    assert [text for text in written if text.startswith("word")] == [f"word{k}, crude, barrel" for k in largest[:15]]


@pytest.mark.parametrize(("ending", "begin"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_the_same_report_gives_the_same_bytes(
    tmp_path: Path, make_report: MakeReport, topics: list[tuple[str, ...]], ending: str, begin: bytes
) -> None:
    report = make_report(400, titles=TITLES)
    paths = [tmp_path / f"first{ending}", tmp_path / f"second{ending}"]
    for path in paths:
        save_plot(report, topics, path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second and first.startswith(begin)


@pytest.mark.parametrize("name", ["plot", "plot.html", "plot.jpeg"])
def test_other_formats_are_refused(tmp_path: Path, make_report: MakeReport, name: str) -> None:
    with pytest.raises(ValueError, match=r"must end with \.png, \.svg, \.pdf, got 'plot"):
        save_plot(make_report(100), [], tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_documents", [0, 1, 2, 101])
def test_short_streams_are_drawn(tmp_path: Path, make_report: MakeReport, n_documents: int) -> None:
    save_plot(make_report(n_documents, every=1), [], tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 2000


def test_without_topics_only_scores_are_drawn(tmp_path: Path) -> None:
    report = StreamReport()
    report.add([ScoredDocument(1, "", "", "", 0.5, None, False, None)], np.zeros(0))
    save_plot(report, [], tmp_path / "plot.png")
    with pytest.raises(ValueError, match="there are no topics to draw"):
        topics_figure(report, [])


def test_characters_that_no_font_has_are_boxes() -> None:
    fonts = FigureFonts(["oil", "\U0010fffd\U0010fffe"])
    assert fonts.drawn("oil \U0010fffd") == "oil □"
    assert "DejaVu Sans" in fonts.families


@pytest.mark.parametrize("places", [[1.0, 1.0, 1.0], [99.0, 99.5, 100.0], [1.0, 50.0, 50.1], [30.0]])
def test_numbers_are_spread_inside_of_the_axes(places: list[float]) -> None:
    found = spread(places, 0.0, 100.0, 5.0)
    assert all(after - before >= 5.0 - 1e-9 for before, after in pairwise(found))
    assert found[0] >= 2.5 and found[-1] <= 97.5
