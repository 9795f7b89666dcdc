"""Progress of work that is usually short."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from orthostream.cli.progress import ProgressBar

_PATIENCE = 2.0


class LateProgress:
    """A progress bar that shows up once the work has taken two seconds.

    >>> with LateProgress("compressing") as progress:
    ...     progress(0.5)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._start = time.monotonic()
        self._bar: ProgressBar | None = None

    def __call__(self, share: float | None) -> None:
        if share is None or time.monotonic() - self._start < _PATIENCE:
            return
        if self._bar is None:
            self._bar = ProgressBar()
        # All of the input may be read long before the output is written.
        self._bar(min(share, 0.99), self._what)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
