"""From samples to messages: what is recorded is on disk, and goes on after a crash as if there had been none."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Encoder, FrameError, Schema, Target
from orthostream.compression.codecs.codec import Codec
from orthostream.compression.varint import Reader
from orthostream.link.errors import OutboxFullError
from orthostream.link.messages import (
    BOOT_BYTES,
    MOST_REPLACED,
    TAG_BYTES,
    Frames,
    Opening,
    Replaced,
    read_replaced,
    replaced_to_bytes,
)
from orthostream.link.outbox import LIMIT, Boot, Outbox, Snapshot

#: Readings of a message at most.
_MOST_READINGS = 1 << 14
#: Readings after which the encoder is saved: replaying them takes less than a second where code is compiled.
_SNAPSHOT_EVERY = 1 << 18
#: Readings after which an encoder restarts: never. A stream is read from its beginning or from a snapshot.
_NO_KEYS = 1 << 40
#: What to do when the outbox is full.
POLICIES = ("refuse", "drop oldest")
#: With "drop oldest", a stream ends after this part of the limit, so that old streams can be dropped.
_PARTS = 8


class Recording:
    """Puts samples into an outbox, and makes messages of them.

    The encoder is brought back by its last snapshot and the samples since. If that fails, or gives other messages than
    were made, or the schema or the target is another one, a new stream begins.

    Parameters
    ----------
    outbox : Outbox
    schema, target
        As for `Edge`.
    max_delay : float
        Seconds that a sample may wait.
    limit, when_full
        As for `Edge`.
    accelerate : bool, optional
    clock : callable
    """

    def __init__(
        self,
        outbox: Outbox,
        schema: Schema,
        target: Target,
        *,
        max_delay: float,
        clock: Callable[[], float],
        limit: int = LIMIT,
        when_full: str = "refuse",
        accelerate: bool | None = None,
    ) -> None:
        self.outbox, self.schema, self.target = outbox, schema, target
        self._max_delay, self._limit, self._when_full = max_delay, limit, when_full
        self._accelerate = accelerate
        self._clock = clock
        self._per_message = max(1, _MOST_READINGS // len(schema.columns))
        self._encoder: Encoder | None = None
        self._waiting: list[tuple[FloatArray, IntArray]] = []
        self._n_waiting = self._since_snapshot = self._boot_bytes = 0
        self._boot: Boot
        self.ready()

    @property
    def encoder(self) -> Encoder:
        """The encoder of the newest stream."""
        assert self._encoder is not None
        return self._encoder

    @property
    def codec(self) -> Codec | None:
        """The codec of the newest stream; None before its first message, and after a change that failed."""
        return None if self._encoder is None else self._encoder.codec

    @property
    def boot(self) -> Boot:
        """The newest stream."""
        return self._boot

    @property
    def n_waiting(self) -> int:
        """Samples that wait for their message."""
        return self._n_waiting

    @property
    def is_due(self) -> bool:
        """Whether samples have waited long enough."""
        return self._n_waiting > 0 and self._clock() - self._waiting_since >= self._max_delay

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes within the block, or none; after a failure memory is brought back from the outbox."""
        try:
            with self.outbox.transaction():
                yield
        except BaseException:
            self._encoder = None
            raise

    def ready(self) -> None:
        """Bring the encoder back if there is none in memory, or the last change failed."""
        if self._encoder is None:
            with self.changing():
                self._bring_back()

    def add(self, rows: FloatArray, times: IntArray, mark: str | None) -> None:
        """Record samples; they are on disk when this returns."""
        self.ready()
        self._make_room()
        with self.changing():
            for start in range(0, len(rows), self._per_message):
                self._add(rows[start : start + self._per_message], times[start : start + self._per_message])
            if mark is not None:
                self.outbox.set_mark(mark)

    def flush(self) -> None:
        """Make a message of all samples that wait."""
        self.ready()
        with self.changing():
            self._make_message()

    def save(self) -> None:
        """Save the encoder, so that nothing has to be replayed."""
        if self._encoder is not None:
            with self.changing():
                self._save_encoder()

    def acknowledged(self, boot: Boot, upto: int) -> None:
        """Forget messages that have arrived."""
        with self.changing():
            self.outbox.acknowledge(boot.generation, upto)
            if boot.generation == self._boot.generation:
                self._boot = self._boot._replace(acknowledged=upto)
            elif upto == boot.next:
                self.outbox.end_boot(boot.generation)

    def replace(self, boot: Boot) -> None:
        """Put the samples of a stream that are not acknowledged into a new one."""
        self.ready()
        with self.changing():
            if boot.generation != self._boot.generation:
                self._make_message()
            samples = list(self.outbox.samples(boot.generation, boot.acknowledged, len(self.schema.columns)))
            known = {sequence: len(rows) for sequence, rows, _ in samples}
            unsent = self.outbox.messages(boot.generation, boot.acknowledged, -1)
            lost = sum(message.samples - known.get(message.sequence, 0) for message in unsent)
            self.outbox.count("samples lost", lost)
            # Of a stream that the cloud never opened, it does not know either what that one replaced.
            before = () if boot.acknowledged else read_replaced(Reader(boot.replaced))
            replaced = (Replaced(boot.name[:TAG_BYTES], boot.acknowledged), *before)[:MOST_REPLACED]
            self._begin_boot(replaced_to_bytes(replaced))
            self.outbox.end_boot(boot.generation)
            for _, rows, times in samples:
                self.outbox.add_samples(self._boot.generation, rows, times)
                self._wait_with(rows, times)
                self._make_message()

    def _add(self, rows: FloatArray, times: IntArray) -> None:
        if self._n_waiting + len(rows) > self._per_message:
            self._make_message()
        self.outbox.add_samples(self._boot.generation, rows, times)
        if not self._n_waiting and self._max_delay > 0.0:
            self.outbox.set_waiting_since(time.time())
        self._wait_with(rows, times)
        if self._max_delay == 0.0 or self._n_waiting >= self._per_message:
            self._make_message()

    def _wait_with(self, rows: FloatArray, times: IntArray) -> None:
        if not self._n_waiting:
            self._waiting_since = self._clock()
        self._waiting.append((rows, times))
        self._n_waiting += len(rows)

    def _make_message(self) -> None:
        if not self._n_waiting:
            return
        rows = np.concatenate([rows for rows, _ in self._waiting])
        times = np.concatenate([times for _, times in self._waiting])
        frames = self._encoded(rows, times)
        boot = self._boot
        if boot.next == 0:
            replaced = read_replaced(Reader(boot.replaced))
            data = Opening(boot.name, boot.generation, self.encoder.header, frames, replaced).to_bytes()
        else:
            data = Frames(boot.name[:TAG_BYTES], boot.next, frames).to_bytes()
        self.outbox.add_message(boot.generation, data, len(rows))
        self.outbox.count("samples", len(rows))
        self.outbox.count("readings", int(np.isfinite(rows).sum()))
        self.outbox.count("message bytes", len(data))
        self._boot = boot._replace(next=boot.next + 1)
        self._waiting, self._n_waiting = [], 0
        self._since_snapshot += rows.size
        self._boot_bytes += len(data)
        if self._when_full == "drop oldest" and self._boot_bytes > self._limit // _PARTS:
            self._begin_boot()
        elif self._since_snapshot >= _SNAPSHOT_EVERY:
            self._save_encoder()

    def _encoded(self, rows: FloatArray, times: IntArray) -> tuple[bytes, ...]:
        """Return the frames of some samples; if the encoder's own check refuses them, those of a new stream."""
        try:
            return tuple(map(bytes, self.encoder.push(rows, times)))
        except FrameError:
            self.outbox.count("streams begun after damage", 1)
            self.outbox.take_waiting(self._boot.generation, len(self.schema.columns))
            self._begin_boot()
            self.outbox.add_samples(self._boot.generation, rows, times)
            return tuple(map(bytes, self.encoder.push(rows, times)))

    def _save_encoder(self) -> None:
        place = io.BytesIO()
        self.encoder.save(place)
        self.outbox.save_snapshot(Snapshot(self._boot.generation, self._boot.next, place.getvalue()))
        self._since_snapshot = 0

    def _begin_boot(self, replaced: bytes = b"\0") -> None:
        self._boot = self.outbox.begin_boot(os.urandom(BOOT_BYTES), replaced)
        self._encoder = Encoder(
            self.schema, self.target, samples_per_frame=None, key_every=_NO_KEYS, accelerate=self._accelerate
        )
        self._begin()
        self._save_encoder()

    def _begin(self) -> None:
        self._waiting, self._n_waiting = [], 0
        self._waiting_since = self._clock()
        self._since_snapshot = 0
        self._boot_bytes = 0

    def _bring_back(self) -> None:
        """Go on where the outbox says that the edge was."""
        snapshot = self.outbox.snapshot()
        if snapshot is None:
            self._begin_boot()
            return
        try:
            self._load(snapshot)
        except FrameError:
            # The snapshot is damaged, or this version of the program encodes otherwise. Messages that were made stay;
            # samples that wait go into a new stream.
            waiting = self.outbox.take_waiting(snapshot.generation, len(self.schema.columns))
            self.outbox.count("streams begun after damage", 1)
            self._begin_boot()
            for _, rows, times in waiting:
                self._add(rows, times)
            return
        if not self.encoder.is_for(self.schema, self.target):
            self._make_message()
            self._begin_boot()

    def _load(self, snapshot: Snapshot) -> None:
        """Load the encoder and replay the samples since; raise FrameError if that gives other messages than before."""
        encoder = Encoder.load(io.BytesIO(snapshot.encoder), accelerate=self._accelerate)
        boot = next((each for each in self.outbox.boots() if each.generation == snapshot.generation), None)
        if boot is None:
            raise FrameError("the stream of the snapshot is gone")
        self._begin()
        made = {each.sequence: each.data for each in self.outbox.messages(boot.generation, snapshot.next, -1)}
        expected = snapshot.next
        for sequence, rows, times in self.outbox.samples(boot.generation, snapshot.next, len(encoder.schema.columns)):
            if sequence is None:
                self._wait_with(rows, times)
                continue
            frames = encoder.push(rows, times)
            data = made.get(sequence)
            if sequence != expected or not (data is None or all(bytes(frame) in data for frame in frames)):
                raise FrameError(f"message {expected} cannot be made again as it was")
            self._since_snapshot += rows.size
            expected += 1
        if expected != boot.next:
            raise FrameError(f"the samples of message {expected} are missing")
        # A restart does not make samples wait for longer, unless the clock of the machine has jumped back.
        self._waiting_since = self._clock() - max(time.time() - self.outbox.waiting_since, 0.0)
        self._boot, self._encoder = boot, encoder
        self._boot_bytes = sum(map(len, made.values()))

    def _make_room(self) -> None:
        n_bytes = self.outbox.n_bytes
        if n_bytes > self._limit // 2:
            with self.changing():
                # Samples since the snapshot are needed until there is a newer one.
                if n_bytes > self._limit or 8 * self._since_snapshot > self._limit // 16:
                    self._save_encoder()
                self.outbox.forget_samples_before_snapshot()
            n_bytes = self.outbox.n_bytes
        if n_bytes <= self._limit:
            return
        if self._when_full == "refuse":
            raise OutboxFullError(
                f"{self.outbox.path} has reached its limit of {self._limit} bytes, and the cloud has not acknowledged"
                " what is in it: samples are refused"
            )
        with self.changing():
            oldest = self.outbox.boots()[0]
            if oldest.generation == self._boot.generation:
                self._make_message()
                self._begin_boot()
            unsent = self.outbox.messages(oldest.generation, 0, -1)
            self.outbox.count("samples dropped", sum(message.samples for message in unsent))
            self.outbox.end_boot(oldest.generation)
