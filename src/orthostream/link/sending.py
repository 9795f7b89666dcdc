"""Which messages to send now: in order, a bounded number at a time, and again if no answer comes."""

from __future__ import annotations

from collections.abc import Callable

#: Messages, and bytes, that may be on their way without an answer.
WINDOW, WINDOW_BYTES = 64, 1 << 19
#: Messages in a row that do not ask for an answer, at most.
_UNASKED = 15
#: Seconds without an answer after which messages are sent again: at first, and at most.
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 60.0


class Sending:
    """How far the messages of one boot were sent and acknowledged.

    Parameters
    ----------
    clock : callable
        Returns seconds that never run backwards.
    answer_every : float
        Seconds that messages may go without an answer; 0 asks for an answer to each.

    Examples
    --------
    >>> sending = Sending(lambda: 0.0, answer_every=60.0)
    >>> sending.begin(0, 1)
    >>> asks = [sending.sent(100) for _ in range(17)]
    >>> [place for place, each in enumerate(asks) if each]
    [0, 16]
    """

    def __init__(self, clock: Callable[[], float], answer_every: float = 0.0) -> None:
        self._clock = clock
        self.answer_every = answer_every
        self._asked = -float("inf")
        self._unasked = 0
        self._asks = False
        self.generation = -1
        self.begin(-1, 0)

    def begin(self, generation: int, acknowledged: int) -> None:
        """Go on with a boot, from its first message that is not acknowledged."""
        self.generation = generation
        self._sizes: list[int] = []
        self._acknowledged = self._furthest = acknowledged
        self._wait = _FIRST_WAIT
        self._asks = False
        self._since = self._clock()

    @property
    def next(self) -> int:
        """The sequence number of the next message to send."""
        return self._acknowledged + len(self._sizes)

    @property
    def is_again(self) -> bool:
        """Whether the next message was sent before."""
        return self.next < self._furthest

    @property
    def room(self) -> int:
        """Messages that may be sent now."""
        return 0 if sum(self._sizes) >= WINDOW_BYTES else WINDOW - len(self._sizes)

    def sent(self, n_bytes: int) -> bool:
        """Count a message; return whether it should ask for an answer."""
        now = self._clock()
        asks = self.next == 0 or self._unasked >= _UNASKED or now - self._asked >= self.answer_every
        if asks:
            self._asked = now
        self._unasked = 0 if asks else self._unasked + 1
        if not self._sizes or (asks and not self._asks):
            self._since = now
        self._asks = self._asks or asks
        self._sizes.append(n_bytes)
        self._furthest = max(self._furthest, self.next)
        return asks

    def not_sent(self) -> None:
        """Take back the last message: it could not be sent."""
        self._sizes.pop()
        self._asked = -float("inf")

    def acknowledged(self, upto: int) -> None:
        """Count messages that have arrived."""
        if upto > self._acknowledged:
            del self._sizes[: upto - self._acknowledged]
            self._acknowledged = upto
            self._asks = self._asks and bool(self._sizes)
            self._wait = _FIRST_WAIT
            self._since = self._clock()

    def asked_again(self) -> None:
        """Send again from the first message that is not acknowledged, unless that was done just now."""
        if self._sizes and self._clock() - self._since >= 0.25 * self._wait:
            self.rewind()

    def rewind(self) -> None:
        """Send all messages again that were not acknowledged, and ask for an answer to the first of them."""
        self._sizes.clear()
        self._asks = False
        self._asked = -float("inf")
        self._since = self._clock()

    def look_at_the_clock(self) -> None:
        """Send again if no answer has come for long."""
        wait = self._wait if self._asks else max(self._wait, self.answer_every)
        if self._sizes and self._clock() - self._since >= wait:
            self._wait = min(2.0 * self._wait, _LONGEST_WAIT)
            self.rewind()
