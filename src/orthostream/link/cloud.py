"""The cloud: receives from many edges, stores, and acknowledges only what is on disk."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from queue import Empty, Full, Queue
from typing import Any, Self

from orthostream.compression import FrameError
from orthostream.link.authentication import check_key, sign, verify
from orthostream.link.errors import MessageError, StoreError
from orthostream.link.messages import MOST_BYTES, TAG_BYTES, Answer, Frames, Opening, read_message, split_quiet
from orthostream.link.names import Shard, edge_of_topic, topic_of_answers, topic_of_readings
from orthostream.link.receiving import Receiving
from orthostream.link.store import Batch, NewMessage, NewStream, Store, Stream, open_store
from orthostream.link.transport import Transport

#: Messages that wait to be handled; more are dropped, and sent again by their edges.
_QUEUE = 4096
#: Messages that are stored together.
_BATCH = 512
#: Decoders that are kept in memory; others are brought back from the store.
_DECODERS = 2048
#: Seconds to wait after the store has failed.
_PAUSE = 1.0
#: Why messages of a stream are refused whose samples come again in another.
_REPLACED = "a message belongs to a stream that another one has replaced"
#: Called with each message that was stored: the edge, and its samples.
Listener = Callable[[str, NewMessage, Receiving], None]


class Cloud:
    """Receives messages, brings them into order, decodes and stores them.

    Messages are handled by `step`, which must be called now and then.

    Parameters
    ----------
    store : Store or str
        A store, the path of a SQLite file, or a PostgreSQL URL.
    transport : Transport
    shard : Shard
        The part of all edges that this process is for.
    keys : bytes, or mapping from edges to bytes, optional
        Keys shared with the edges: their messages must have an authentication tag then, and those of edges without a
        key are refused.
    listener : callable, optional
        Called for each message once it is stored.
    accelerate : bool, optional
        As for `Decoder`.
    clock : callable
        Returns seconds that never run backwards.

    Attributes
    ----------
    counts : Counter
        Messages stored, doubled, parked and refused, by edge: keys are (edge, what).
    """

    def __init__(
        self,
        store: Store | str,
        transport: Transport,
        *,
        shard: Shard | None = None,
        keys: bytes | Mapping[str, bytes] | None = None,
        listener: Listener | None = None,
        accelerate: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        for key in [keys] if isinstance(keys, bytes) else (keys or {}).values():
            check_key(key)
        self.store = open_store(store) if isinstance(store, str) else store
        self._transport = transport
        self._shard = shard or Shard()
        self._listener = listener
        self._accelerate = accelerate
        self._clock = clock
        self._inbox: Queue[tuple[str, bytes]] = Queue(_QUEUE)
        self._held: tuple[str, bytes] | None = None
        self._receiving: OrderedDict[tuple[str, bytes], Receiving | None] = OrderedDict()
        self._paused_until = -float("inf")
        # All that another thread counts is there from the beginning: a new key would disturb who looks at them.
        self.counts: Counter[tuple[str, str]] = Counter({("", "dropped, too many at once"): 0})
        self.last_error = ""
        self._seen: dict[str, float] = {}
        transport.subscribe(self._shard.filters, self._arrived)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Save all decoders, so that nothing has to be replayed, and close the store."""
        try:
            found = (each.snapshot(now=True) for each in self._receiving.values() if each is not None and each.next)
            self.store.add(Batch(snapshots=[each for each in found if each is not None]))
        except StoreError as error:
            self.last_error = str(error)
        self.store.close()

    def _arrived(self, topic: str, data: bytes) -> None:
        try:
            self._inbox.put_nowait((topic, data))
        except Full:
            self.counts["", "dropped, too many at once"] += 1

    def step(self, wait: float = 0.0) -> int:
        """Handle messages that have arrived; return how many. ``wait`` seconds for the first one at most."""
        if self._clock() < self._paused_until:
            return 0
        batch = Batch()
        touched: dict[tuple[str, bytes], Receiving | None] = {}
        count = 0
        try:
            while count < _BATCH:
                try:
                    if self._held is None:
                        self._held = self._inbox.get(block=wait > 0.0 and count == 0, timeout=wait or None)
                except Empty:
                    break
                if not self._handle(*self._held, batch, touched):
                    break
                self._held = None
                count += 1
            is_stored = self._commit(batch)
        except BaseException:
            # Decoders may be ahead of the store; what they hold must be neither saved nor acknowledged.
            self._receiving.clear()
            raise
        if is_stored:
            for (edge, tag), receiving in touched.items():
                self._answer(edge, tag, receiving)
            self._tell(batch)
            self._forget_some()
        return count

    def _commit(self, batch: Batch) -> bool:
        for key in {(message.edge, message.boot[:TAG_BYTES]) for message in batch.messages}:
            snapshot = self._known(*key).snapshot()
            if snapshot is not None:
                batch.snapshots.append(snapshot)
        if not batch:
            return True
        try:
            self.store.add(batch)
        except StoreError as error:
            # Decoders are ahead of the store now: forget them. Nothing was acknowledged, so all of it comes again.
            self._store_failed(error)
            self._receiving.clear()
            return False
        for message in batch.messages:
            self.counts[message.edge, "messages"] += 1
        return True

    def _store_failed(self, error: StoreError) -> None:
        self.last_error = str(error)
        self.counts["", "failures of the store"] += 1
        self._paused_until = self._clock() + _PAUSE

    def _tell(self, batch: Batch) -> None:
        if self._listener is not None:
            for message in batch.messages:
                self._listener(message.edge, message, self._known(message.edge, message.boot[:TAG_BYTES]))

    def _known(self, edge: str, tag: bytes) -> Receiving:
        found = self._receiving[edge, tag]
        assert found is not None
        return found

    def _handle(
        self, topic: str, data: bytes, batch: Batch, touched: dict[tuple[str, bytes], Receiving | None]
    ) -> bool:
        """Handle a message; return False, with nothing done, if the batch must be stored first."""
        edge = edge_of_topic(topic)
        if edge is None or not self._shard.holds(edge):
            self.counts["", "foreign topics"] += 1
            return True
        try:
            if len(data) > MOST_BYTES:
                raise MessageError(f"a message has {len(data)} bytes")
            content, is_quiet = split_quiet(verify(data, self._key_of(edge), topic_of_readings(edge)))
            message = read_message(content)
            if isinstance(message, Opening) and message.replaced and any(each.edge == edge for each in batch.messages):
                return False
            receiving = self._find(edge, message)
        except (MessageError, FrameError) as error:
            self._refused(edge, error)
            return True
        except StoreError as error:
            self._store_failed(error)
            return False
        self._seen[edge] = time.time()
        if receiving is None or message.sequence != receiving.next or not is_quiet:
            touched[edge, message.tag] = receiving
        if receiving is None:
            # Of a boot that is not known: its opening may still come, or is asked for.
            self.counts[edge, "unknown stream"] += 1
        elif message.sequence < receiving.next:
            self.counts[edge, "doubled"] += 1
        elif message.sequence > receiving.next:
            self.counts[edge, "too early" if receiving.park(message, content) else "too early, no room"] += 1
        else:
            if not self._take(receiving, message, content, batch):
                touched[edge, message.tag] = receiving
            while (parked := receiving.unpark()) is not None:
                if not self._take(receiving, *parked, batch):
                    break
        return True

    def _take(self, receiving: Receiving, message: Opening | Frames, data: bytes, batch: Batch) -> bool:
        edge = receiving.edge
        try:
            decoded = receiving.take(message)
        except FrameError as error:
            receiving.refuse()
            self._refused(edge, error)
            if isinstance(message, Opening):
                del self._receiving[edge, message.tag]
            return False
        if isinstance(message, Opening):
            schema = receiving.header.schema
            assert schema.time is not None
            sensors = [(column.name, column.unit) for column in schema.columns]
            batch.streams.append(
                NewStream(
                    edge, message.boot, message.generation, message.header, sensors, schema.time.unit, message.replaced
                )
            )
            for each in message.replaced:
                self._receiving[edge, each.tag] = None
        batch.messages.append(NewMessage(edge, receiving.boot, message.sequence, data, *decoded))
        return True

    def _find(self, edge: str, message: Opening | Frames) -> Receiving | None:
        """Return the state of the boot of a message; None if it is not known or over."""
        key = edge, message.tag
        if key in self._receiving:
            self._receiving.move_to_end(key)
            found = self._receiving[key]
            if found is None:
                raise MessageError(_REPLACED)
            return found
        stream = next((each for each in self.store.streams(edge) if each.boot.startswith(message.tag)), None)
        if self.store.is_replaced(edge, message.tag):
            raise MessageError(_REPLACED)
        if stream is not None:
            found = self._restored(stream)
        elif isinstance(message, Opening):
            found = Receiving(edge, message.boot, accelerate=self._accelerate)
        else:
            return None
        self._receiving[key] = found
        return found

    def _restored(self, stream: Stream) -> Receiving:
        """Return the state after all stored messages; if they are damaged, one that asks for a new boot."""
        try:
            return Receiving.restored(self.store, stream, accelerate=self._accelerate)
        except (FrameError, MessageError) as error:
            self._refused(stream.edge, error)
            return Receiving.broken(stream)

    def _forget_some(self) -> None:
        while len(self._receiving) > _DECODERS:
            _, oldest = self._receiving.popitem(last=False)
            snapshot = oldest.snapshot(now=True) if oldest is not None and oldest.next else None
            if snapshot is not None:
                try:
                    self.store.add(Batch(snapshots=[snapshot]))
                except StoreError as error:
                    # It will be brought back from an older snapshot.
                    self._store_failed(error)

    def _key_of(self, edge: str) -> bytes | None:
        if self._keys is None or isinstance(self._keys, bytes):
            return self._keys
        if edge not in self._keys:
            raise MessageError(f"there is no key of the edge {edge}")
        return self._keys[edge]

    def _refused(self, edge: str, error: Exception) -> None:
        self.counts[edge, "refused"] += 1
        self.last_error = f"{edge}: {error}"

    def _answer(self, edge: str, tag: bytes, receiving: Receiving | None) -> None:
        answer = Answer(tag, 0) if receiving is None else Answer(tag, receiving.next, receiving.wants_restart)
        topic = topic_of_answers(edge)
        # If it is lost, the edge sends the message again, and is answered again.
        self._transport.publish(topic, sign(answer.to_bytes(), self._key_of(edge), topic), confirmed=False)
        self.counts[edge, "answers"] += 1

    def status(self) -> dict[str, Any]:
        """Return what one would like to see of a cloud: by edge, and of the process."""
        edges: dict[str, dict[str, Any]] = {}
        for stream in self.store.streams():
            about = edges.setdefault(
                stream.edge, {"streams": 0, "messages": 0, "samples": 0, "readings": 0, "bytes": 0}
            )
            about["streams"] += 1
            about["messages"] += stream.next
            about["samples"] += stream.samples
            about["readings"] += stream.readings
            about["bytes"] += stream.n_bytes
        for (edge, what), count in self.counts.items():
            if edge:
                edges.setdefault(edge, {})[what] = count
        for edge, seen in self._seen.items():
            edges.setdefault(edge, {})["seen"] = seen
        return {
            "connected": self._transport.is_connected,
            "reconnects": self._transport.reconnects,
            "waiting": self._inbox.qsize(),
            "last error": self.last_error,
            "edges": edges,
            **{what: count for (edge, what), count in self.counts.items() if not edge},
        }
