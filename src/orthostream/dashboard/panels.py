"""Parts of the page of one edge that show what they are given: numbers, comparison, bits, link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from orthostream.dashboard.charts import Options, comparison_chart, spent_chart
from orthostream.dashboard.colours import Colours
from orthostream.dashboard.elements import block, panel, set_attributes, show, text
from orthostream.dashboard.view import Compared, EdgeDetail


class Chart:
    """A chart, and what a screen reader says of it."""

    def __init__(self, classes: str, data_of: str) -> None:
        self.element = ui.echart({}).classes(f"chart {classes}")
        set_attributes(self.element, {"role": "img", "aria_label": "empty chart", "data_of": data_of})

    def show(self, options: Options, label: str) -> None:
        """Draw something else."""
        set_attributes(self.element, {"aria_label": label})
        if self.element.options != options:
            self.element.options.clear()
            self.element.options.update(options)
            self.element.update()


class TilesPanel:
    """The numbers that matter most."""

    def __init__(self) -> None:
        names = ("State", "Lag", "Sensors", "Readings", "Bytes", "Bits per reading", "Largest error", "RMS error")
        self._tiles: dict[str, TextElement] = {}
        with block("dl", "tiles"):
            for name in names:
                with block("div"):
                    text("dt", name)
                    self._tiles[name] = text("dd", "-", data_of=name.lower().replace(" ", "-"))

    def show(self, detail: EdgeDetail) -> None:
        """Bring the numbers up to date."""
        about = detail.overview
        unit = detail.schema.columns[0].unit if len({each.unit for each in detail.schema.columns}) == 1 else ""
        show(self._tiles["State"], about.state)
        self._tiles["State"].classes(replace=f"word state {about.state.replace(' ', '-')}")
        show(self._tiles["Lag"], about.lag)
        self._tiles["Lag"].classes(replace="word")
        show(self._tiles["Sensors"], f"{about.sensors:,}", about.sensors)
        show(self._tiles["Readings"], f"{about.readings:,}", about.readings)
        show(self._tiles["Bytes"], f"{about.n_bytes:,}", about.n_bytes)
        bits = about.bits_per_reading
        show(self._tiles["Bits per reading"], "-" if bits is None else f"{bits:.3f}", bits)
        for name, error in (("Largest error", detail.max_error), ("RMS error", detail.rmse)):
            show(self._tiles[name], "not known" if error is None else f"{error:.3g} {unit}".strip(), error)
            self._tiles[name].classes(replace="word" if error is None else "")


class ComparisonPanel:
    """What the same readings take in other forms."""

    def __init__(self) -> None:
        with panel("Against other forms of the same readings", "half"):
            self._chart = Chart("low", "comparison-chart")
            with block("table"):
                with block("thead"), block("tr"):
                    for tag, name in (
                        ("th", "form"),
                        ("td", "bytes"),
                        ("td", "bits per reading"),
                        ("td", "times ours"),
                    ):
                        text(tag, name)
                self._rows: Element = block("tbody", data_of="comparison")
            self._cells: dict[str, list[TextElement]] = {}
            self._none = text("p", "Nothing to compare: no readings yet, or too many.")
            text(
                "p",
                "JSON has one line for each sample. gzip and lzma compress these lines as one stream that is never"
                " flushed, which nobody could read live. float32 has 8 bytes of time and 4 for each sensor, also for a"
                " missing reading. All of these are exact; the errors of this stream are given above.",
            )

    def show(self, compared: Sequence[Compared], paint: Colours) -> None:
        """Bring the figures up to date."""
        self._none.set_visibility(not compared)
        if not compared:
            return
        words = ", ".join(f"{each.name} {each.bits_per_reading:.2f}" for each in compared)
        self._chart.show(comparison_chart(compared, paint), f"Bar chart of bits per reading: {words}")
        if list(self._cells) != [each.name for each in compared]:
            self._rows.clear()
            with self._rows:
                self._cells = {each.name: _row(each.name, is_own=each is compared[0]) for each in compared}
        own = max(compared[0].n_bytes, 1)
        for each in compared:
            size, bits, times = self._cells[each.name]
            show(size, f"{each.n_bytes:,}", each.n_bytes)
            show(bits, f"{each.bits_per_reading:.2f}", each.bits_per_reading)
            show(times, f"{each.n_bytes / own:,.1f}")


def _row(name: str, *, is_own: bool) -> list[TextElement]:
    with block("tr", "own" if is_own else "", data_form=name):
        text("th", name, scope="row")
        return [text("td", "-", data_of=what) for what in ("bytes", "bits", "times")]


class SpentPanel:
    """What the bits were spent on."""

    def __init__(self) -> None:
        self._panel = panel("Where the bytes went", "half")
        with self._panel:
            self._chart = Chart("bar", "spent-chart")
            self._list = CountList("spent")
            self._none = text("p", "Not known here: only the edge, a replay of its messages, or a file can tell.")

    def show(self, spent: Mapping[str, float], paint: Colours) -> None:
        """Bring the figures up to date."""
        self._none.set_visibility(not spent)
        self._chart.element.set_visibility(bool(spent))
        if spent:
            total = sum(spent.values()) or 1.0
            spent = dict(sorted(spent.items(), key=lambda each: -each[1]))
            words = ", ".join(f"{name} {100 * bits / total:.0f} percent" for name, bits in spent.items())
            self._chart.show(spent_chart(spent, paint), f"Shares of the bits: {words}")
        self._list.show({name: f"{bits / 8:,.0f} bytes" for name, bits in spent.items() if bits})


class LinkPanel:
    """Queue, acknowledgements, reconnections, refusals."""

    def __init__(self) -> None:
        with panel("The link", "half"):
            self._list = CountList("link")
            text("p", "Edge and cloud are asked at different moments, so their counts may differ a little.")
            self._fault = text("p", "", data_of="last-error")

    def show(self, detail: EdgeDetail) -> None:
        """Bring the counters up to date."""
        self._list.show(
            {name: f"{value:,}" if isinstance(value, int) else value for name, value in detail.link.items()}
        )
        show(self._fault, f"Last error: {detail.overview.last_error or 'none'}")


class CountList:
    """Names and values."""

    def __init__(self, data_of: str) -> None:
        self._body = block("dl", "counts", data_of=data_of)
        self._cells: dict[str, Any] = {}

    def show(self, counts: Mapping[str, str]) -> None:
        """Bring the values up to date."""
        if list(self._cells) != list(counts):
            self._body.clear()
            self._cells = {}
            with self._body:
                for name in counts:
                    with block("div"):
                        text("dt", name)
                        self._cells[name] = text("dd", "", data_of=name)
        for name, value in counts.items():
            show(self._cells[name], value)
