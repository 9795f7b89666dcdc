"""An MQTT topic that sensors publish their readings to."""

from __future__ import annotations

import json
from queue import Empty, Full, Queue
from typing import Any

from orthostream.link.sources.collected import CollectedSource
from orthostream.link.sources.json_samples import read_object
from orthostream.link.transport import Transport

#: Messages that wait to be read, and the longest one.
_QUEUE, _LONGEST = 10_000, 1 << 20


class MqttReadingsSource(CollectedSource):
    """The samples that come by MQTT: a JSON object in each message, or a number under a topic that ends in its sensor.

    Nothing waits here: what is published while this process is not running is not received, and what comes faster than
    it is taken is left out and counted.

    Parameters
    ----------
    transport : Transport
        Not started yet; it is started and closed here.
    topic : str
        May have the wildcards + and #.
    options : dict
        As for `CollectedSource`.
    """

    is_live = True

    def __init__(self, transport: Transport, topic: str, **options: Any) -> None:
        self._queue: Queue[tuple[str, bytes]] = Queue(_QUEUE)
        self._overflowed = 0
        self._transport = transport
        transport.subscribe([topic], self._arrived)
        transport.start()
        super().__init__(**options)

    def close(self) -> None:
        self._transport.close()

    @property
    def _is_over(self) -> bool:
        return False

    def _arrived(self, topic: str, data: bytes) -> None:
        try:
            self._queue.put_nowait((topic, data))
        except Full:
            self._overflowed += 1

    def _take(self, wait: float) -> dict[str, Any] | None:
        while True:
            if self._overflowed:
                self.counts["messages left out, too many at once"] = self._overflowed
            try:
                topic, data = self._queue.get(block=wait > 0.0, timeout=wait or None)
            except Empty:
                return None
            try:
                return _object_of(topic, data)
            except ValueError as error:
                self._refuse(error)


def _object_of(topic: str, data: bytes) -> dict[str, Any]:
    """Return a sample; a plain number is the reading of the sensor that the topic ends with.

    >>> _object_of("house/roof", b"3.5"), _object_of("house", b'{"roof": 3.5}')
    ({'roof': 3.5}, {'roof': 3.5})
    """
    if len(data) > _LONGEST:
        raise ValueError(f"a message to {topic} has {len(data)} bytes.")
    if data.strip()[:1] not in (b"{", b""):
        try:
            number = json.loads(data)
        except (ValueError, RecursionError):
            number = None
        if isinstance(number, int | float):
            return {topic.rsplit("/", 1)[-1]: number}
    return read_object(data)
