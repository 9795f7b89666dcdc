"""Fonts that have the characters of the texts in a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

#: Comes with matplotlib.
_USUAL = "DejaVu Sans"
#: What stands for characters that no font has.
_MISSING = "\u25a1"
#: Fonts that have a box for every character.
_LAST_RESORT = "LastResort"


class FigureFonts:
    """Fonts of this machine that together have the characters of some texts, as far as there are any.

    Parameters
    ----------
    texts : iterable of str

    Examples
    --------
    >>> fonts = FigureFonts(["Cocoa", "\U0010fffd"])
    >>> fonts.families[0], fonts.drawn("Cocoa \U0010fffd")
    ('DejaVu Sans', 'Cocoa □')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

        self.families = [_USUAL]
        missing = _lacking(get_font(findfont(_USUAL)), set("".join(texts)))
        for entry in fontManager.ttflist:
            if not missing:
                break
            plain = entry.style == "normal" and entry.weight == 400
            if not plain or entry.name in self.families or _LAST_RESORT in entry.name.replace(" ", ""):
                continue
            left = _lacking(_opened(entry.fname), missing)
            # A family is asked for by its name, and several files can have it.
            if left != missing and findfont(FontProperties(family=[entry.name])) == entry.fname:
                self.families.append(entry.name)
                missing = left
        self._replacements = str.maketrans(dict.fromkeys(missing, _MISSING))

    def drawn(self, text: str) -> str:
        """Return the text with a box for each character that no font has."""
        return text.translate(self._replacements)


def _opened(path: str) -> Any:
    from matplotlib.font_manager import get_font

    try:
        return get_font(path)
    except (OSError, RuntimeError):
        return None


def _lacking(font: Any, characters: set[str]) -> set[str]:
    """Return the characters that a font does not have."""
    if font is None:
        return characters
    return {each for each in characters if not font.get_char_index(ord(each))}
