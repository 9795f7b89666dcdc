"""Stored messages decoded once more, to see what they spend their bits on and what others would take."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from orthostream.compression import Decoder, FrameError
from orthostream.dashboard.comparison import Comparison
from orthostream.dashboard.learning import LearningRecord
from orthostream.dashboard.recorded_view import with_rest
from orthostream.link.messages import Opening
from orthostream.link.receiving import read_stored
from orthostream.link.store import Store, Stream

#: Readings of a stream that are replayed, from its first message on.
_MOST_READINGS = 1 << 20
#: Seconds that one call takes at most.
_SECONDS = 0.5


class MessageReplay:
    """Decodes the messages of one stream, some at a time.

    Attributes
    ----------
    comparison : Comparison
        Of the readings that were replayed.
    learning : LearningRecord
        Dictionaries that came with them.
    """

    def __init__(self) -> None:
        self.comparison = Comparison()
        self.learning = LearningRecord()
        self._decoder = Decoder()
        self._boot = b""
        self._next = self._readings = self._n_bytes = 0
        self._is_over = False

    @property
    def spent(self) -> Mapping[str, float]:
        """Bits by component."""
        return {} if self._decoder.header is None else with_rest(self._decoder.bits_by_component, self._n_bytes)

    def go_on(self, store: Store, stream: Stream) -> None:
        """Replay some messages; those of a new stream of the edge are left alone."""
        self._boot = self._boot or stream.boot
        if self._is_over or stream.boot != self._boot or self._next >= stream.next:
            return
        end = time.monotonic() + _SECONDS
        for _, data in store.messages(stream, self._next):
            try:
                message = read_stored(data)
                if isinstance(message, Opening):
                    self._decoder.push(message.header)
                parts = [self._decoder.push(frame) for frame in message.frames]
            except FrameError:
                self._is_over = True
                return
            values = np.concatenate([part.values for part in parts])
            times = np.concatenate([part.times for part in parts if part.times is not None])
            self.comparison.add(times, values, len(data))
            if len(times):
                self.learning.hold(int(times[0]), self._decoder.codec.dictionary)
            self._next += 1
            self._n_bytes += len(data)
            self._readings += int(np.isfinite(values).sum())
            self._is_over = self._readings >= _MOST_READINGS
            if self._is_over or time.monotonic() > end:
                return
