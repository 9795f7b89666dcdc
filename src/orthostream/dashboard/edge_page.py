"""The page of one edge."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from orthostream.dashboard.elements import block, choice, text
from orthostream.dashboard.learning_panel import LearningPanel
from orthostream.dashboard.map_panel import MapPanel
from orthostream.dashboard.page_frame import PageFrame
from orthostream.dashboard.panels import ComparisonPanel, LinkPanel, SpentPanel, TilesPanel
from orthostream.dashboard.readings_panel import ReadingsPanel
from orthostream.dashboard.view import EdgeDetail, View


class EdgePage:
    """Shows all that is known of one edge.

    Parameters
    ----------
    view : View
    name : str
        Of the edge.
    """

    def __init__(self, view: View, name: str) -> None:
        self._view, self._name = view, name
        self._frame = PageFrame(view, view.title, self._refresh)
        self._is_built = False
        with self._frame.places:
            text("a", "All edges", href="/edges", data_of="all-edges")
            self._place = block("span")
        self._main = block("div", "parts")

    async def begin(self) -> None:
        """Fill the page, and keep it up to date."""
        await self._frame.begin()

    async def _build(self, detail: EdgeDetail) -> None:
        names = {edge.name: edge.name for edge in await self._frame.ask(self._view.edges)}
        self._place.clear()
        with self._place:
            choice("Edge", names, self._name, self._go_to, data_of="edge")
        self._main.clear()
        with self._main:
            self._tiles = TilesPanel()
            self._readings = ReadingsPanel(self._frame, self._name, detail, self._frame.refresh)
            self._comparison = ComparisonPanel()
            self._map = MapPanel(self._frame, self._readings.choose)
            self._learning = LearningPanel()
            self._spent = SpentPanel()
            self._link = LinkPanel()
        self._schema = detail.schema
        self._is_built = True

    def _go_to(self, name: str) -> None:
        ui.navigate.to(f"/edge/{quote(name, safe='')}")

    async def _refresh(self) -> None:
        detail: EdgeDetail | None = await self._frame.ask(self._view.edge, self._name)
        if detail is None:
            self._main.clear()
            self._is_built = False
            with self._main:
                text("p", f"There is no edge {self._name}, or it has not sent anything yet.", "panel")
            return
        if not self._is_built or detail.schema != self._schema:
            await self._build(detail)
        self._tiles.show(detail)
        await self._readings.show(detail)
        paint = self._frame.paint
        self._comparison.show(detail.compared, paint)
        self._map.show(detail, self._readings.chosen)
        self._learning.show(detail, paint)
        self._spent.show(detail.spent, paint)
        self._link.show(detail)
