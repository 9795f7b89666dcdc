"""What is seen of an edge that learns a dictionary and sends it: the paper's mode."""

from __future__ import annotations

from collections import deque

from orthostream.compression.codecs.codec import SharedDictionary
from orthostream.dashboard.view import LearntDictionary

#: Dictionaries and gaps whose times are kept.
_MOST_SENT, _MOST_GAPS = 1000, 2000


class LearningRecord:
    """Keeps the last dictionary, when each one came, and the gaps that the edge has told.

    Examples
    --------
    >>> import numpy as np
    >>> record = LearningRecord()
    >>> for hour, epoch in enumerate([0, 1, 1, 2]):
    ...     record.hold(hour, SharedDictionary(epoch, np.eye(2)))
    >>> record.seen().sent
    [(0, 0), (1, 1), (3, 2)]
    """

    def __init__(self) -> None:
        self._dictionary: SharedDictionary | None = None
        self._sent: deque[tuple[int, int]] = deque(maxlen=_MOST_SENT)
        self._gaps: deque[tuple[int, float]] = deque(maxlen=_MOST_GAPS)

    def hold(self, time: int, dictionary: SharedDictionary | None) -> None:
        """Take over the dictionary that the cloud holds at a time."""
        if dictionary is None:
            return
        if self._dictionary is None or dictionary.epoch != self._dictionary.epoch:
            self._sent.append((time, dictionary.epoch))
        self._dictionary = dictionary

    def add_gap(self, time: int, gap: float) -> None:
        """Take over the Frank-Wolfe gap of the edge at a time; the same one is kept once."""
        if not self._gaps or self._gaps[-1][1] != gap:
            self._gaps.append((time, gap))

    def seen(self) -> LearntDictionary | None:
        """Return what is to be shown; None if the edge sends no dictionaries."""
        if self._dictionary is None:
            return None
        return LearntDictionary(self._dictionary.components, self._dictionary.epoch, list(self._sent), list(self._gaps))
