"""Text from the stream that is fit to be shown: one short line, whatever the input was."""

from __future__ import annotations

import re

#: Control characters, ends of lines, and those that turn the direction of writing: they can change how the text around
#: them looks.
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
#: Halves of characters, which JSON can spell and UTF-8 cannot.
_HALVES = re.compile("[\ud800-\udfff]")


def shown_text(text: str, longest: int) -> str:
    r"""Return a text as one line of at most ``longest`` characters.

    >>> shown_text("Cocoa\n at\u202e a\ud800 new high", 12)
    'Cocoa at a�…'
    """
    # Only a part is looked at, since a text can have 10 MB.
    line = _NOT_SHOWN.sub(" ", text[: 4 * longest])
    line = " ".join(_HALVES.sub("\ufffd", line).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
