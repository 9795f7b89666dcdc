"""Which messages to send now: in order, a bounded number at a time, and again if no answer comes."""

from __future__ import annotations

from collections.abc import Callable

#: Messages, and bytes, that may be on their way without an answer.
WINDOW, WINDOW_BYTES = 64, 1 << 19
#: Seconds without an answer after which messages are sent again: at first, and at most.
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 60.0


class Sending:
    """How far the messages of one boot were sent and acknowledged.

    Parameters
    ----------
    clock : callable
        Returns seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.generation = -1
        self.begin(-1, 0)

    def begin(self, generation: int, acknowledged: int) -> None:
        """Go on with a boot, from its first message that is not acknowledged."""
        self.generation = generation
        self._sizes: list[int] = []
        self._acknowledged = acknowledged
        self._wait = _FIRST_WAIT
        self._since = self._clock()

    @property
    def next(self) -> int:
        """The sequence number of the next message to send."""
        return self._acknowledged + len(self._sizes)

    @property
    def on_the_way(self) -> int:
        """Messages that were sent and not answered."""
        return len(self._sizes)

    @property
    def room(self) -> int:
        """Messages that may be sent now."""
        return 0 if sum(self._sizes) >= WINDOW_BYTES else WINDOW - len(self._sizes)

    def sent(self, n_bytes: int) -> None:
        """Count a message."""
        if not self._sizes:
            self._since = self._clock()
        self._sizes.append(n_bytes)

    def acknowledged(self, upto: int) -> None:
        """Count messages that have arrived."""
        if upto > self._acknowledged:
            del self._sizes[: upto - self._acknowledged]
            self._acknowledged = upto
            self._wait = _FIRST_WAIT
            self._since = self._clock()

    def asked_again(self) -> None:
        """Send again from the first message that is not acknowledged, unless that was done just now."""
        if self._sizes and self._clock() - self._since >= 0.25 * self._wait:
            self.rewind()

    def rewind(self) -> None:
        """Send all messages again that were not acknowledged."""
        self._sizes.clear()
        self._since = self._clock()

    def look_at_the_clock(self) -> bool:
        """Send again if no answer has come for long; return whether that is so."""
        if not self._sizes or self._clock() - self._since < self._wait:
            return False
        self._wait = min(2.0 * self._wait, _LONGEST_WAIT)
        self.rewind()
        return True
