"""What all pages share: the head with its choices, the line of news, pausing, and light or dark."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import run, ui

from orthostream.dashboard.colours import Colours, colours
from orthostream.dashboard.elements import block, button, choice, set_attributes, show, text
from orthostream.dashboard.style import STYLE
from orthostream.dashboard.view import View
from orthostream.link.errors import LinkError

#: Seconds between two looks at the data.
_EVERY = 1.0
_PREFERENCES = """({dark: window.matchMedia('(prefers-color-scheme: dark)').matches,
  theme: window.localStorage.getItem('orthostream theme') || 'auto'})"""
_THEMES = {"auto": "as the system", "light": "light", "dark": "dark"}
_log = logging.getLogger(__name__)


class PageFrame:
    """The head of a page, and the loop that keeps the page up to date.

    Parameters
    ----------
    view : View
    title : str
    refresh : callable
        Brings the page up to date.
    """

    def __init__(self, view: View, title: str, refresh: Callable[[], Awaitable[None]]) -> None:
        self.view = view
        self._refresh = refresh
        self.is_paused = False
        self._prefers_dark = False
        self._theme = "auto"
        ui.add_css(STYLE)
        ui.page_title(title)
        self._dark_mode = ui.dark_mode(None)
        with block("header", "top"):
            text("h1", title)
            block("div", "grow")
            self.places = block("nav", aria_label="Pages")
            self._pause = button("Pause", self._toggle, aria_pressed="false", data_of="pause")
            self._themes = choice("Colours", _THEMES, "auto", self._choose_theme, data_of="theme")
        self._notice = text("div", view.notice, "notice", role="status", aria_live="polite", data_of="notice")

    @property
    def paint(self) -> Colours:
        """The colours of charts on this page."""
        return colours(dark=self._prefers_dark if self._theme == "auto" else self._theme == "dark")

    async def begin(self) -> None:
        """Ask the browser for its preferences, show everything, and go on every second."""
        await ui.context.client.connected()
        found = await ui.run_javascript(_PREFERENCES, timeout=10.0)
        if found is None:
            # Whoever asked for the page did not run it: a health probe, or a browser that has left.
            return
        self._prefers_dark = bool(found["dark"])
        if found["theme"] in ("light", "dark"):
            await ui.run_javascript(
                f"document.querySelector('[data-of=theme]').value = '{found['theme']}'", timeout=10.0
            )
            self._apply(found["theme"])
        await self.refresh()
        ui.timer(_EVERY, self._tick)

    async def ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the view answers, without keeping other pages waiting."""
        return await run.io_bound(question, *arguments)

    async def refresh(self) -> None:
        """Bring the page up to date."""
        try:
            await self._refresh()
        except LinkError as error:
            _log.warning("%s", error)
            show(self._notice, str(error))
            return
        show(self._notice, "Paused. " * self.is_paused + self.view.notice)

    async def _tick(self) -> None:
        if not self.is_paused:
            await self.refresh()

    async def _toggle(self) -> None:
        self.is_paused = not self.is_paused
        show(self._pause, "Go on" if self.is_paused else "Pause")
        set_attributes(self._pause, {"aria_pressed": "true" if self.is_paused else "false"})
        if self.is_paused:
            show(self._notice, f"Paused. {self.view.notice}")
        else:
            await self.refresh()

    async def _choose_theme(self, theme: str) -> None:
        if theme not in _THEMES:
            return
        self._apply(theme)
        await ui.run_javascript(f"window.localStorage.setItem('orthostream theme', '{theme}')", timeout=10.0)
        await self.refresh()

    def _apply(self, theme: str) -> None:
        self._theme = theme
        self._dark_mode.value = None if theme == "auto" else theme == "dark"
