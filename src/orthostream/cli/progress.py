"""Progress as a bar on a terminal, as occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 28
_SECONDS_BETWEEN_LINES = 15.0


class ProgressBar:
    r"""Shows the fraction of the work that is done, the time left, and what was done last.

    Call it with the fraction and a description; call `close` at the end.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> bar = ProgressBar(text)
    >>> bar(0.5, "half of it")
    >>> text.getvalue()
    ' 50 %  half of it\n'
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._start = time.monotonic()
        self._last: float | None = None
        self._drawn = False

    def __call__(self, share: float, what: str) -> None:
        now = time.monotonic()
        if self._stream.isatty():
            if self._last is not None and now - self._last < 0.1 and share < 1.0:
                return
            full = round(_WIDTH * share)
            bar = "█" * full + "░" * (_WIDTH - full)
            line = f"{bar} {100 * share:3.0f} %{self._left(now, share)}  {what}"
            self._stream.write("\r" + line[:100].ljust(100))
            self._drawn = True
        elif self._last is None or now - self._last >= _SECONDS_BETWEEN_LINES or share >= 1.0:
            self._stream.write(f"{100 * share:3.0f} %{self._left(now, share)}  {what}\n")
        else:
            return
        self._stream.flush()
        self._last = now

    def _left(self, now: float, share: float) -> str:
        passed = now - self._start
        if share <= 0.02 or share >= 1.0 or passed < 3.0:
            return ""
        seconds = passed / share * (1.0 - share)
        return f", {seconds / 60:.0f} min left" if seconds >= 90 else f", {seconds:.0f} s left"

    def close(self) -> None:
        """End the line of the bar."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
