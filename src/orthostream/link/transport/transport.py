"""What carries messages: topics, and who listens to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Self

#: Called with the topic and the bytes of each message, from any thread.
Handler = Callable[[str, bytes], None]


class Transport(ABC):
    """Carries messages. Users must cope with lost, doubled, delayed and reordered ones.

    Attributes
    ----------
    reconnects : int
        How often the connection was made again.
    """

    reconnects: int = 0

    @abstractmethod
    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        """Call a function for every message to some topics, now and after each reconnection."""

    @abstractmethod
    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        """Send a message; return False if that is not possible at present.

        The broker need not confirm (QoS 0) what is not ``confirmed``: it costs fewer bytes, and may be lost.
        """

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether messages can be sent at present."""

    @abstractmethod
    def start(self) -> None:
        """Begin to connect, and go on trying."""

    @abstractmethod
    def close(self) -> None:
        """End the connection."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
