"""The sensors of an edge at their places, coloured by their last readings or by their bits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from orthostream.dashboard.charts import map_chart
from orthostream.dashboard.elements import block, choice, panel, show, text
from orthostream.dashboard.page_frame import PageFrame
from orthostream.dashboard.panels import Chart
from orthostream.dashboard.view import EdgeDetail

_VALUES, _BITS = "values", "bits"


class MapPanel:
    """The map; a click on a sensor chooses it.

    Parameters
    ----------
    frame : PageFrame
    choose : callable
        Called with the places of sensors that were chosen.
    """

    def __init__(self, frame: PageFrame, choose: Callable[[list[int]], Awaitable[None]]) -> None:
        self._frame, self._choose = frame, choose
        self._by = _VALUES
        with panel("Sensors", "half"):
            with block("div", "tools"):
                options = {_VALUES: "last readings", _BITS: "bits per reading"}
                choice("Coloured by", options, _VALUES, self._colour_by, data_of="colour-by")
            self._chart = Chart("map", "map-chart")
            self._chart.element.on_point_click(self._clicked)
            self._note = text("p", "", data_of="map-note")

    async def _colour_by(self, value: str) -> None:
        if value in (_VALUES, _BITS):
            self._by = value
            await self._frame.refresh()

    async def _clicked(self, event: Any) -> None:
        await self._choose([int(event.data_index)])

    def show(self, detail: EdgeDetail, chosen: Sequence[int]) -> None:
        """Bring the map up to date."""
        units = {column.unit for column in detail.schema.columns}
        unit = units.pop() if len(units) == 1 else ""
        values = detail.latest
        words = "the last reading of each sensor, hollow if it is more than 24 samples old"
        if self._by == _BITS:
            unit = "bits"
            words = (
                "bits per reading of each sensor, estimated: sensors are coded together, so all bits are shared out by"
                " the entropy of each sensor's changes"
            )
            values = np.full(len(values), np.nan) if detail.sensor_bits is None else detail.sensor_bits
        where = "" if detail.locations is not None else " Places are not known: sensors are shown in their order."
        known = values[np.isfinite(values)]
        extent = f" From {known.min():.3g} to {known.max():.3g} {unit}." if len(known) else ""
        label = f"Map of {len(values)} sensors coloured by {words}.{extent}"
        self._chart.show(map_chart(detail, values, chosen, self._frame.paint, unit), label)
        show(self._note, f"Colour: {words}.{extent}{where}")
