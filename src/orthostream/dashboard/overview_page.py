"""The page of all edges."""

from __future__ import annotations

from collections import Counter
from urllib.parse import quote

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.html import Html
from nicegui.elements.mixins.text_element import TextElement

from orthostream.dashboard.charts import sparkline
from orthostream.dashboard.elements import block, set_attributes, show, text
from orthostream.dashboard.page_frame import PageFrame
from orthostream.dashboard.view import STATES, EdgeOverview, View


class EdgeCard:
    """One edge, as a link to its page."""

    def __init__(self, name: str) -> None:
        with block("li"):
            self._link = block("a", href=f"/edge/{quote(name, safe='')}", data_edge=name)
        with self._link:
            text("span", name, "name")
            self._state = text("span", "", "state", data_of="state")
            self._spark: Html = ui.html("", sanitize=False, tag="span").classes("spark")
            self._bits = text("span", "", "bits", data_of="bits")
            self._fault = text("span", "", "fault", data_of="last-error")
            self._lag = text("span", "", "lag", data_of="lag")
        self._shown: EdgeOverview | None = None

    def show(self, edge: EdgeOverview) -> None:
        """Bring the card up to date."""
        if edge == self._shown:
            return
        self._shown = edge
        bits = "no readings" if edge.bits_per_reading is None else f"{edge.bits_per_reading:.2f} bits/reading"
        show(self._state, edge.state)
        self._state.classes(replace=f"state {edge.state.replace(' ', '-')}")
        show(self._bits, bits, edge.bits_per_reading)
        show(self._lag, f"lag: {edge.lag}")
        show(self._fault, edge.last_error or "no errors")
        self._fault.classes(replace="fault is-bad" if edge.last_error else "fault")
        self._spark.content = sparkline(edge.recent)
        label = f"{edge.name}: {edge.state}, {bits}, lag {edge.lag}, {edge.last_error or 'no errors'}"
        set_attributes(self._link, {"aria_label": label, "title": edge.last_error or f"{edge.readings:,} readings"})


class OverviewPage:
    """Shows a card for each edge, and how many are in which state.

    Parameters
    ----------
    view : View
    leaves_for_only_edge : bool, default False
        Whether to go on to the page of the first edge that is known, if it is the only one.
    """

    def __init__(self, view: View, *, leaves_for_only_edge: bool = False) -> None:
        self._view = view
        self._leaves = leaves_for_only_edge
        self._frame = PageFrame(view, view.title, self._refresh)
        self._cards: dict[str, EdgeCard] = {}
        with block("div", "parts"):
            with block("dl", "tiles"):
                self._tiles = {
                    name: _tile(name) for name in ("Edges", "States", "Readings", "Bytes", "Bits per reading")
                }
            self._list: Element = block("ul", "edges", aria_label="All edges; lines show the sizes of recent messages")

    async def begin(self) -> None:
        """Fill the page, and keep it up to date."""
        await self._frame.begin()

    async def _refresh(self) -> None:
        edges: list[EdgeOverview] = await self._frame.ask(self._view.edges)
        if self._leaves and edges:
            self._leaves = False
            if len(edges) == 1:
                ui.navigate.to(f"/edge/{quote(edges[0].name, safe='')}")
        if list(self._cards) != [edge.name for edge in edges]:
            self._list.clear()
            with self._list:
                self._cards = {edge.name: EdgeCard(edge.name) for edge in edges}
        for edge in edges:
            self._cards[edge.name].show(edge)
        readings, n_bytes = sum(edge.readings for edge in edges), sum(edge.n_bytes for edge in edges)
        show(self._tiles["Edges"], f"{len(edges):,}", len(edges))
        show(self._tiles["Readings"], f"{readings:,}", readings)
        show(self._tiles["Bytes"], f"{n_bytes:,}", n_bytes)
        bits = 8.0 * n_bytes / readings if readings else None
        show(self._tiles["Bits per reading"], "-" if bits is None else f"{bits:.3f}", bits)
        counts = Counter(edge.state for edge in edges)
        words = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
        show(self._tiles["States"], words or "no edge yet")
        self._tiles["States"].classes(replace="word")


def _tile(name: str) -> TextElement:
    with block("div"):
        text("dt", name)
        return text("dd", "-", data_of=name.lower().replace(" ", "-"))
