"""The readings of an edge over time: choose sensors, zoom, and take readings or the picture away."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from nicegui import ui
from nicegui.element import Element

from orthostream.compression.tables.times import time_texts
from orthostream.dashboard.charts import readings_chart
from orthostream.dashboard.csv_text import csv_text
from orthostream.dashboard.elements import block, button, choice, panel, set_attributes, show, text
from orthostream.dashboard.page_frame import PageFrame
from orthostream.dashboard.panels import Chart
from orthostream.dashboard.view import EdgeDetail, Window
from orthostream.dashboard.zoom import Zoom

#: Sensors that are shown at the same time.
_MOST_SENSORS = 4
_PICTURE = """(() => {
  const chart = getElement(%d).chart;
  const link = document.createElement('a');
  link.href = chart.getDataURL({type: 'png', pixelRatio: 2, backgroundColor: '%s'});
  link.download = '%s';
  document.body.appendChild(link); link.click(); link.remove();
})()"""
#: Lists and boxes of a browser keep what was chosen there; this is what is chosen now.
_CHOSEN = """(() => {
  document.querySelector('select[data-of=sensor]').value = '%d';
  const chosen = %s;
  document.querySelectorAll('[data-sensor]').forEach((box) => {
    box.checked = chosen.includes(Number(box.dataset.sensor));
  });
})()"""


class ReadingsPanel:
    """The chart of readings with its tools.

    Parameters
    ----------
    frame : PageFrame
    name : str
        Of the edge.
    detail : EdgeDetail
    changed : callable
        Called when other sensors were chosen.
    """

    def __init__(self, frame: PageFrame, name: str, detail: EdgeDetail, changed: Callable[[], Awaitable[None]]) -> None:
        self._frame, self._name, self._schema, self._changed = frame, name, detail.schema, changed
        self.chosen = [detail.best_sensor]
        self._was_chosen = False
        self._zoom: Zoom | None = None
        self._shown: Window | None = None
        self._extent, self._tick = (0, 1), 1
        with panel("Readings"):
            self._tools()
            self._chart = Chart("readings", "readings-chart")
            self._note = text("p", "", data_of="readings-note")

    def _tools(self) -> None:
        names = {str(place): column.name for place, column in enumerate(self._schema.columns)}
        with block("div", "tools"):
            self._chooser = choice("Sensor", names, str(self.chosen[0]), self._choose, data_of="sensor")
            for label, what, step in (
                ("Zoom in", "zoom-in", lambda zoom: zoom.nearer(*self._extent, self._tick)),
                ("Zoom out", "zoom-out", lambda zoom: zoom.farther(*self._extent)),
                ("Earlier", "earlier", lambda zoom: zoom.earlier(*self._extent)),
                ("Later", "later", lambda zoom: zoom.later(*self._extent)),
                ("All", "all", lambda _: Zoom()),
            ):
                button(label, self._zoomer(step), data_of=what, aria_label=f"{label}: time shown in the chart")
            button("CSV", self._take_csv, data_of="csv", aria_label="Download the readings shown as CSV")
            button("PNG", self._take_picture, data_of="png", aria_label="Download the chart as PNG")
            self._span = text("span", "", "span", data_of="span")
        if len(self._schema.columns) > 1:
            with block("details"):
                text("summary", f"More sensors at once (up to {_MOST_SENSORS})")
                self._boxes: Element = block("fieldset", "sensors", aria_label="Sensors in the chart")
                self._fill_boxes()

    def _fill_boxes(self) -> None:
        self._boxes.clear()
        with self._boxes:
            for place, column in enumerate(self._schema.columns):
                with block("label"):
                    on = {"checked": "checked"} if place in self.chosen else {}
                    block("input", type_="checkbox", data_sensor=str(place), **on).on(
                        "change", self._ticker(place), js_handler="(e) => emit(e.target.checked)"
                    )
                    text("span", column.name)

    def _ticker(self, place: int) -> Callable[[Any], Awaitable[None]]:
        async def tick(event: Any) -> None:
            kept = [each for each in self.chosen if each != place]
            if event.args:
                kept = [*kept, place][-_MOST_SENSORS:]
            await self.choose(kept or [0])

        return tick

    async def _choose(self, value: str) -> None:
        if value.isdecimal():
            await self.choose([int(value)])

    async def choose(self, places: list[int]) -> None:
        """Show other sensors."""
        self._was_chosen = True
        await self._set_chosen(places)
        await self._changed()

    async def _set_chosen(self, places: list[int]) -> None:
        self.chosen = [place for place in places if 0 <= place < len(self._schema.columns)] or [0]
        await ui.run_javascript(_CHOSEN % (self.chosen[-1], self.chosen), timeout=10.0)

    def _zoomer(self, step: Callable[[Zoom], Zoom]) -> Callable[[], Awaitable[None]]:
        async def zoom() -> None:
            self._zoom = step(self._zoom or Zoom())
            self._chart.element.run_chart_method("dispatchAction", {"type": "dataZoom", "start": 0, "end": 100})
            await self._frame.refresh()

        return zoom

    async def _window(self) -> tuple[Window | None, tuple[int, int]]:
        """Return the readings to show, and the times from which and to which they go."""
        whole: Window | None = await self._frame.ask(self._frame.view.window, self._name, self.chosen)
        if whole is None:
            return None, self._extent
        self._extent = whole.first, whole.last
        if len(whole.times) > 1:
            self._tick = max(int(np.median(np.diff(whole.times))), 1)
        if self._zoom is None:
            self._zoom = Zoom.at_first(self._tick) if self._frame.view.is_live else Zoom()
        start, end = self._zoom.span(*self._extent)
        window: Window | None = await self._frame.ask(self._frame.view.window, self._name, self.chosen, start, end)
        return window, (start, end)

    async def show(self, detail: EdgeDetail) -> None:
        """Bring the chart up to date."""
        if not self._was_chosen and np.isnan(detail.latest[self.chosen[0]]) and detail.best_sensor != self.chosen[0]:
            await self._set_chosen([detail.best_sensor])
        window, span = await self._window()
        self._shown = window
        names = ", ".join(self._schema.columns[place].name for place in self.chosen)
        if window is None:
            show(self._note, "No readings yet.")
            return
        first, last = self._texts(span)
        set_attributes(self._span, {"data_first": str(span[0]), "data_last": str(span[1])})
        show(self._span, f"{first} to {last}")
        original = "readings as measured, and " if detail.has_original else ""
        label = f"Line chart of {names} from {first} to {last}: {original}readings as decoded, with their error band"
        self._chart.show(readings_chart(window, self._schema, span, self._frame.paint), label)
        band = "the readings as measured" if detail.has_original else "the decoded readings"
        show(
            self._note,
            f"Target: {detail.target}."
            + (f" The band is what it allows around {band}." if window.band is not None else "")
            + f" {np.isfinite(window.decoded).any(axis=1).sum():,} of {len(window.times):,} samples have a reading; the"
            f" latest decoded ones: {self._latest(detail)}.",
            len(window.times),
        )

    def _latest(self, detail: EdgeDetail) -> str:
        found = []
        for place in self.chosen:
            value, unit = detail.latest[place], self._schema.columns[place].unit
            found.append("none" if np.isnan(value) else f"{value:.6g} {unit}".strip())
        return ", ".join(found)

    def _texts(self, span: tuple[int, int]) -> list[str]:
        if self._schema.time is None:
            return [f"sample {each:,}" for each in span]
        return time_texts(np.array(span, dtype=np.int64), self._schema.time)

    async def _take_csv(self) -> None:
        # What is on the page, which may be paused.
        if self._shown is not None:
            content = await self._frame.ask(csv_text, self._shown, self._schema)
            ui.download.content(content, f"{_file_name(self._name)}.csv", "text/csv")

    async def _take_picture(self) -> None:
        script = _PICTURE % (self._chart.element.id, self._frame.paint.background, f"{_file_name(self._name)}.png")
        ui.run_javascript(script)


def _file_name(name: str) -> str:
    """Return a name without characters that could end a text in a script."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
