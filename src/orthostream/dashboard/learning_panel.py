"""The dictionary of an edge in the paper's mode: its atoms, when it was sent, and how far the learner still is."""

from __future__ import annotations

from orthostream.dashboard.colours import Colours
from orthostream.dashboard.elements import panel, show, text
from orthostream.dashboard.learning_charts import MOST_ATOMS, atoms_chart, learning_chart
from orthostream.dashboard.panels import Chart, CountList
from orthostream.dashboard.view import EdgeDetail


class LearningPanel:
    """Atoms, epochs and the Frank-Wolfe gap; hidden where no dictionary is sent."""

    def __init__(self) -> None:
        self._atoms = panel("The dictionary that the cloud holds", "half")
        with self._atoms:
            self._atoms_chart = Chart("map", "atoms-chart")
            self._atoms_note = text("p", "", data_of="atoms-note")
        self._course = panel("Learning on the edge", "half")
        with self._course:
            self._course_chart = Chart("", "learning-chart")
            self._counts = CountList("learning")
            text(
                "p",
                "The epoch is the number of dictionaries that were sent. The gap says how far the learner is from a"
                " stationary point, where it is 0. It is that of the last message, as a share of the nuclear norm of"
                " the gradient, and known on the edge only, not in a store or a file.",
            )

    def show(self, detail: EdgeDetail, paint: Colours) -> None:
        """Bring both charts up to date."""
        learning = detail.learning
        self._atoms.set_visibility(learning is not None)
        self._course.set_visibility(learning is not None)
        if learning is None:
            return
        count, sensors = learning.components.shape
        words = f"{count} atoms of {sensors} sensors"
        if max(count, sensors) > MOST_ATOMS:
            words += f"; of both the first {MOST_ATOMS} are shown"
        label = f"Heat map of a dictionary: {words}"
        self._atoms_chart.show(atoms_chart(learning.components, detail.schema, paint), label)
        note = "Each row is a pattern over the sensors; rows are sorted by their largest weight, hence the diagonal."
        show(self._atoms_note, f"{words[0].upper()}{words[1:]}. {note}")
        gap = learning.gaps[-1][1] if learning.gaps else None
        known = "not known here" if gap is None else f"{gap:.4f}"
        self._course_chart.show(
            learning_chart(learning, detail.schema.time, paint),
            f"Line chart of the Frank-Wolfe gap, now {known}, and of the epoch, now {learning.epoch}",
        )
        self._counts.show({"epoch": f"{learning.epoch:,}", "Frank-Wolfe gap": known})
