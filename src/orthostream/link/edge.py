"""The edge: takes samples, keeps them safe, and sends them until the cloud has them on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from orthostream.compression import Encoder, Schema, Target
from orthostream.compression.codecs.registry import MOST_SENSORS
from orthostream.compression.stream.arguments import check_readings, check_times
from orthostream.link.authentication import check_key, sign, verify
from orthostream.link.errors import MessageError
from orthostream.link.messages import Answer, quiet, read_answer
from orthostream.link.names import check_edge, topic_of_answers, topic_of_readings
from orthostream.link.outbox import LIMIT, Boot, Outbox
from orthostream.link.recording import POLICIES, Recording
from orthostream.link.sending import Sending
from orthostream.link.transport import Transport

#: Seconds between two streams that are begun because the cloud asked for it.
_RESTART_PAUSE = 10.0
#: Bytes that an outbox must be allowed at least.
_LEAST_LIMIT = 1 << 20
#: Answers that ask for what was acknowledged long ago, after which the cloud is believed to have lost its store.
_BEHIND = 3


class Edge:
    """Compresses samples and sends them; what `push` has taken is never lost, whatever is switched off.

    Samples are on disk when `push` returns. They are sent by `step`, which must be called now and then.

    Parameters
    ----------
    name : str
        Of this edge, unique among those that share a broker.
    schema : Schema
        The sensors, with a time axis.
    target : Target
        How exact readings are to be: `MaxError(0.5)`, `Lossless()`, ...
    outbox : Outbox or path
    transport : Transport
    max_delay : float
        Seconds that a sample may wait for others before its message is made.
    key : bytes, optional
        Shared with the cloud: messages then carry an authentication tag, and answers must have one.
    limit : int
        Bytes that the outbox may take, 1 MiB or more.
    when_full : {"refuse", "drop oldest"}
        What to do when it is full: raise OutboxFullError, or forget the oldest samples.
    answer_every : float
        Seconds that messages may go without an answer, of the cloud or of the broker. By default each is answered; on a
        metered link, where an answer costs as much as a message, an hour saves half of the bytes. What is not answered
        stays in the outbox.
    accelerate : bool, optional
        As for `Encoder`.
    clock : callable
        Returns seconds that never run backwards.

    Attributes
    ----------
    counts : dict
        What was sent and answered since this object was made; `outbox.counts` outlive it.
    """

    def __init__(
        self,
        name: str,
        schema: Schema,
        target: Target,
        outbox: Outbox | str | os.PathLike[str],
        transport: Transport,
        *,
        max_delay: float = 60.0,
        key: bytes | None = None,
        limit: int = LIMIT,
        when_full: str = "refuse",
        answer_every: float = 0.0,
        accelerate: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = check_edge(name)
        if schema.time is None:
            raise ValueError("an edge needs times: give its schema a time axis.")
        if len(schema.columns) > MOST_SENSORS:
            raise ValueError(
                f"an edge has at most {MOST_SENSORS} sensors, got {len(schema.columns)}: use several edges."
            )
        if when_full not in POLICIES:
            raise ValueError(f"when_full must be one of {', '.join(POLICIES)}, got {when_full!r}.")
        if not max_delay >= 0.0:
            raise ValueError(f"max_delay must be 0 or more seconds, got {max_delay!r}.")
        if not answer_every >= 0.0:
            raise ValueError(f"answer_every must be 0 or more seconds, got {answer_every!r}.")
        if limit < _LEAST_LIMIT:
            raise ValueError(
                f"limit must be {_LEAST_LIMIT} bytes or more, got {limit!r}: the encoder is kept there too."
            )
        self.schema = schema
        self._key = check_key(key)
        self._limit = limit
        self._clock = clock
        self._transport = transport
        self._answers: SimpleQueue[bytes] = SimpleQueue()
        self._sending = Sending(clock, answer_every)
        self._was_connected = False
        self._restarted = -np.inf
        self._behind = 0
        names = (
            "messages sent",
            "bytes sent",
            "messages sent again",
            "answers",
            "answers refused",
            "restarts asked for",
        )
        self.counts = dict.fromkeys(names, 0)
        self.outbox = outbox if isinstance(outbox, Outbox) else Outbox(outbox, name)
        try:
            self._recording = Recording(
                self.outbox,
                schema,
                target,
                max_delay=max_delay,
                limit=limit,
                when_full=when_full,
                accelerate=accelerate,
                clock=clock,
            )
        except BaseException:
            self.outbox.close()
            raise
        transport.subscribe([topic_of_answers(name)], lambda _, data: self._answers.put(data))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Save the encoder and close the outbox; samples that wait stay in it."""
        try:
            self._recording.save()
        finally:
            self.outbox.close()

    @property
    def mark(self) -> str | None:
        """The ``mark`` of the last samples that were pushed, also by an earlier process."""
        return self.outbox.mark

    @property
    def encoder(self) -> Encoder:
        """The encoder of the newest stream."""
        self._recording.ready()
        return self._recording.encoder

    @property
    def is_done(self) -> bool:
        """Whether all samples are on the cloud's disk."""
        return not self._recording.n_waiting and all(each.acknowledged == each.next for each in self.outbox.boots())

    def push(self, readings: ArrayLike, times: ArrayLike, mark: str | None = None) -> None:
        """Take samples, each with its time; they are on disk when this returns.

        ``mark`` says how far their source was read; it is kept together with the samples, so that a process that goes
        on from `mark` neither loses nor doubles any.
        """
        rows = check_readings(readings, len(self.schema.columns))
        stamps = np.array(check_times(times, self.schema, len(rows)), dtype=np.int64)
        self._recording.target.check_readings(rows)
        if len(rows):
            self._recording.add(rows, stamps, mark)

    def flush(self) -> None:
        """Make a message of all samples that wait."""
        self._recording.flush()

    def step(self) -> None:
        """Make messages that are due, take answers in, and send what can be sent."""
        self._recording.ready()
        if self._recording.is_due:
            self._recording.flush()
        while True:
            try:
                data = self._answers.get_nowait()
            except Empty:
                break
            self._take_answer(data)
        self._send()

    def hurry(self) -> None:
        """Ask for an answer to every message from now on, and for those that are on their way."""
        if self._sending.answer_every:
            self._sending.answer_every = 0.0
            self._sending.rewind()

    def status(self) -> dict[str, Any]:
        """Return what one would like to see of an edge."""
        boots = self.outbox.boots()
        return {
            "edge": self.name,
            "connected": self._transport.is_connected,
            "reconnects": self._transport.reconnects,
            "samples waiting": self._recording.n_waiting,
            "messages to send": sum(boot.next - boot.acknowledged for boot in boots),
            "outbox bytes": self.outbox.n_bytes,
            "outbox limit": self._limit,
            "stream": boots[-1].generation,
            **self.counts,
            **self.outbox.counts,
            **self._learnt(),
        }

    def _learnt(self) -> dict[str, float]:
        """Return what is to be seen of the paper's mode."""
        codec = self._recording.codec
        if codec is None or codec.dictionary is None:
            return {}
        gap = codec.frank_wolfe_gap
        return {"dictionaries sent": codec.dictionary.epoch} | ({} if gap is None else {"frank-wolfe gap": gap})

    def _send(self) -> None:
        connected = self._transport.is_connected
        if connected and not self._was_connected:
            self._sending.rewind()
        self._was_connected = connected
        if not connected:
            return
        boot = next((each for each in self.outbox.boots() if each.acknowledged < each.next), None)
        if boot is None:
            return
        if boot.generation != self._sending.generation:
            self._sending.begin(boot.generation, boot.acknowledged)
        self._sending.look_at_the_clock()
        topic = topic_of_readings(self.name)
        for message in self.outbox.messages(boot.generation, self._sending.next, self._sending.room):
            if not self._sending.room:
                return
            again = self._sending.is_again
            asks = self._sending.sent(len(message.data))
            data = sign(message.data if asks else quiet(message.data), self._key, topic)
            if not self._transport.publish(topic, data, confirmed=not self._sending.answer_every):
                self._sending.not_sent()
                return
            self.counts["messages sent"] += 1
            self.counts["messages sent again"] += int(again)
            self.counts["bytes sent"] += len(data)

    def _take_answer(self, data: bytes) -> None:
        try:
            answer = read_answer(verify(data, self._key, topic_of_answers(self.name)))
        except MessageError:
            self.counts["answers refused"] += 1
            return
        boot = next((each for each in self.outbox.boots() if each.name.startswith(answer.tag)), None)
        if boot is None:
            # Late, of a stream that is over.
            return
        if answer.next > boot.next:
            # Forged: what was not sent cannot have arrived.
            self.counts["answers refused"] += 1
            return
        self.counts["answers"] += 1
        if answer.next > boot.acknowledged:
            self._recording.acknowledged(boot, answer.next)
            self._behind = 0
            if boot.generation == self._sending.generation:
                self._sending.acknowledged(answer.next)
        elif boot.generation == self._sending.generation:
            self._sending.asked_again()
        now = next((each for each in self.outbox.boots() if each.name == boot.name), None)
        # An older stream is over once all of it has arrived.
        if now is not None and self._asks_for_restart(now, answer):
            self._restarted, self._behind = self._clock(), 0
            self._recording.replace(now)
            self._sending.begin(-1, 0)
            self.counts["restarts asked for"] += 1

    def _asks_for_restart(self, boot: Boot, answer: Answer) -> bool:
        """Return whether the cloud cannot go on with a stream, so that its samples must be sent in a new one."""
        if not answer.restart and answer.next < boot.acknowledged:
            # Late answers look like this too; a cloud that has lost its store goes on asking.
            self._behind += 1
        is_due = self._clock() - self._restarted >= _RESTART_PAUSE
        is_open = boot.acknowledged < boot.next or boot.generation == self._recording.boot.generation
        return is_due and is_open and (answer.restart or self._behind >= _BEHIND)
