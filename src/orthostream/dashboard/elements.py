"""Plain elements of HTML, with what screen readers need; NiceGUI keeps them up to date in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement


def block(tag: str, classes: str = "", **attributes: str) -> Element:
    """Return an element that others go into; ``aria_label`` becomes the attribute ``aria-label``."""
    element = ui.element(tag).classes(classes)
    set_attributes(element, attributes)
    return element


def text(tag: str, content: str, classes: str = "", **attributes: str) -> TextElement:
    """Return an element with a text."""
    element = TextElement(tag=tag, text=content).classes(classes)
    set_attributes(element, attributes)
    return element


def set_attributes(element: Element, attributes: Mapping[str, str]) -> None:
    """Set attributes of an element, and tell the browser if any has changed."""
    changed = False
    for name, value in attributes.items():
        key = name.rstrip("_").replace("_", "-")
        if element.props.get(key) != value:
            element.props[key] = value
            changed = True
    if changed:
        element.update()


def show(element: TextElement, content: str, value: float | int | str | None = None) -> None:
    """Change a text, and the number behind it that programs read."""
    if element.text != content:
        element.text = content
    if value is not None:
        set_attributes(element, {"data_value": str(value)})


def button(label: str, handler: Callable[[], Any], **attributes: str) -> TextElement:
    """Return a button; what is pressed is the native one of the browser, so keys work as everywhere."""
    return text("button", label, "button", type_="button", **attributes).on("click", handler, args=[])


def choice(
    label: str, options: Mapping[str, str], value: str, handler: Callable[[str], Any], **attributes: str
) -> Element:
    """Return a list to choose from, with its label; ``options`` are texts by their values."""
    with block("label", "choice"):
        text("span", label)
        chooser = block("select", **attributes)
        fill_choice(chooser, options, value)
    return chooser.on("change", lambda event: handler(event.args), js_handler="(e) => emit(e.target.value)")


def fill_choice(chooser: Element, options: Mapping[str, str], value: str) -> None:
    """Replace the options of a list."""
    chooser.clear()
    with chooser:
        for key, shown in options.items():
            chosen = {"selected": "selected"} if key == value else {}
            text("option", shown, value=key, **chosen)


def panel(title: str, classes: str = "") -> Element:
    """Return a part of the page with a heading."""
    part = block("section", f"panel {classes}", aria_label=title)
    with part:
        text("h2", title)
    return part
