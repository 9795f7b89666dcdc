"""Edges and clouds as services: they run until they are told to stop, whatever fails meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from orthostream.link.cloud import Cloud
from orthostream.link.edge import Edge
from orthostream.link.errors import LinkError, OutboxFullError, StoreError
from orthostream.link.sources.source import Samples, Source

#: Seconds to wait for samples or answers: while messages are under way, and otherwise.
_SHORT, _LONG = 0.02, 0.2
#: Seconds without a message or an answer after which nothing is under way.
_QUIET = 2.0
#: Seconds to wait after a failure of the disk: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
#: Seconds between two looks at the state, and after which a loop that does not turn is said to be stuck.
_LOOK, _STUCK = 1.0, 60.0
#: Seconds between two log entries about a full outbox.
_BETWEEN_LOGS = 60.0
_log = logging.getLogger(__name__)


class Service(ABC):
    """A loop that can be watched from other threads.

    Attributes
    ----------
    status : dict
        The state of a second ago at most.
    trouble : str
        What the disk fails with at present, "" if it does not.
    """

    def __init__(self) -> None:
        self.status: dict[str, Any] = {}
        self.trouble = ""
        self._pause = _FIRST_PAUSE
        self._turned = time.monotonic()
        self._looked = -float("inf")

    @abstractmethod
    def run(self, stop: threading.Event, on_progress: Callable[[Any], None] | None = None) -> None:
        """Run until ``stop`` is set; ``on_progress`` is called with this service about every second."""

    @property
    def health(self) -> dict[str, Any]:
        """Whether the service works; a broker that cannot be reached is no reason to restart it."""
        stuck = time.monotonic() - self._turned > _STUCK
        reason = self.trouble or ("the loop is stuck" if stuck else "")
        return {"healthy": not reason, "reason": reason, "connected": bool(self.status.get("connected"))}

    @abstractmethod
    def _look(self) -> dict[str, Any]:
        """Return the state."""

    def _turn(self, on_progress: Callable[[Any], None] | None, *, now: bool = False) -> None:
        """Note that the loop goes round, and look at the state once a second."""
        self._turned = time.monotonic()
        if not now and self._turned - self._looked < _LOOK:
            return
        self._looked = self._turned
        try:
            self.status = self._look()
        except StoreError as error:
            self._failed(error)
        if on_progress is not None:
            on_progress(self)

    def _failed(self, error: LinkError) -> None:
        """Log a failure of the disk, once until it is over."""
        if not self.trouble:
            _log.error("%s; trying again until it works", error)
        self.trouble = str(error)

    def _worked(self) -> None:
        if self.trouble:
            _log.warning("works again after: %s", self.trouble)
        self.trouble, self._pause = "", _FIRST_PAUSE

    def _rest(self, stop: threading.Event) -> None:
        stop.wait(self._pause)
        self._pause = min(2.0 * self._pause, _LONGEST_PAUSE)


class EdgeService(Service):
    """Takes samples from a source and pushes them into an edge.

    When the outbox is full, a source that can wait waits; samples of a live one are left out and counted. When the disk
    fails, the samples at hand are kept and tried again. Once the source is finished, all samples are sent.

    Parameters
    ----------
    edge : Edge
    source : Source
    drain : float
        Seconds after ``stop`` in which what is left is still sent; what is not stays in the outbox.
    """

    def __init__(self, edge: Edge, source: Source, *, drain: float = 5.0) -> None:
        super().__init__()
        self.edge, self.source = edge, source
        self.n_refused = 0
        self._drain = drain
        self._samples: Samples | None = None
        self._is_full = self._flush_when_full = False
        self._told_full = -float("inf")
        self._seen = (-1, -1)
        self._busy_until = 0.0

    def run(self, stop: threading.Event, on_progress: Callable[[Any], None] | None = None) -> None:
        while not stop.is_set() and not (self.source.is_finished and self._samples is None):
            self._take(stop)
            self._step(stop)
            self._turn(on_progress)
        self._send_all(stop, on_progress)
        self._turn(on_progress, now=True)

    def _take(self, stop: threading.Event) -> None:
        if self._samples is None:
            self._samples = self.source.poll(self._wait)
        elif not self.trouble:
            # The outbox is full.
            stop.wait(self._wait)
        if self._samples is None:
            return
        try:
            self.edge.push(*self._samples)
        except OutboxFullError as error:
            if not self._is_full:
                self._tell_full(str(error))
                # Samples that wait for others would wait in vain.
                self._flush_when_full = True
            self._is_full = True
            if self.source.is_live:
                self.n_refused += len(self._samples.readings)
                self._samples = None
        except StoreError as error:
            self._failed(error)
            self._rest(stop)
        except ValueError as error:
            # The target cannot carry these readings. A file is to be looked at; what is live goes on.
            if not self.source.is_live:
                raise
            self.source.leave_out("samples refused", str(error))
            self._samples = None
        else:
            self._samples = None
            self._is_full = False
            self._worked()

    def _step(self, stop: threading.Event) -> None:
        try:
            if self._flush_when_full:
                self.edge.flush()
                self._flush_when_full = False
            self.edge.step()
            done = self.edge.is_done
        except StoreError as error:
            self._failed(error)
            self._rest(stop)
            return
        if self._samples is None:
            self._worked()
        seen = self.edge.counts["messages sent"], self.edge.counts["answers"]
        now = time.monotonic()
        if seen != self._seen:
            self._busy_until = now + _QUIET
        if done:
            self._busy_until = now
        self._seen = seen

    def _tell_full(self, text: str) -> None:
        # A file that is read faster than it is sent fills the outbox again and again.
        if time.monotonic() - self._told_full >= _BETWEEN_LOGS:
            _log.warning("%s", text)
            self._told_full = time.monotonic()

    @property
    def _wait(self) -> float:
        return _SHORT if time.monotonic() < self._busy_until else _LONG

    def _send_all(self, stop: threading.Event, on_progress: Callable[[Any], None] | None) -> None:
        """Make messages of all samples and send them: without end if the source is finished, otherwise for a while."""
        flushed = False
        self.edge.hurry()
        stopped_at: float | None = None
        rest = threading.Event()
        while True:
            if stop.is_set():
                stopped_at = time.monotonic() if stopped_at is None else stopped_at
                if time.monotonic() - stopped_at >= self._drain:
                    return
            try:
                if not flushed:
                    self.edge.flush()
                flushed = True
                self.edge.step()
                if self.edge.is_done:
                    return
                self._worked()
            except StoreError as error:
                self._failed(error)
            self._turn(on_progress)
            if stop.is_set() and not self.status.get("connected"):
                return
            (rest if stop.is_set() else stop).wait(_SHORT)

    def _look(self) -> dict[str, Any]:
        refused = {"samples refused, outbox full": self.n_refused} if self.n_refused else {}
        return {**self.edge.status(), **{f"source: {name}": n for name, n in self.source.counts.items()}, **refused}


class CloudService(Service):
    """Handles the messages that a cloud receives.

    Parameters
    ----------
    cloud : Cloud
    drain : float
        Seconds after ``stop`` in which messages that have arrived are still handled.
    """

    def __init__(self, cloud: Cloud, *, drain: float = 5.0) -> None:
        super().__init__()
        self.cloud = cloud
        self._drain = drain
        self._failures = 0

    def run(self, stop: threading.Event, on_progress: Callable[[Any], None] | None = None) -> None:
        while not stop.is_set():
            begin = time.monotonic()
            handled = self._step(_LONG)
            if not handled and time.monotonic() - begin < 0.5 * _LONG:
                # The cloud pauses after a failure of its store.
                stop.wait(_LONG)
            self._turn(on_progress)
        deadline = time.monotonic() + self._drain
        while self._step(0.0) and time.monotonic() < deadline:
            pass
        self._turn(on_progress, now=True)

    def _step(self, wait: float) -> int:
        try:
            handled = self.cloud.step(wait)
        except StoreError as error:
            self._failed(error)
            return 0
        failures = self.cloud.counts["", "failures of the store"]
        if failures > self._failures:
            self._failures = failures
            self._failed(StoreError(self.cloud.last_error))
        elif handled:
            self._worked()
        return handled

    def _look(self) -> dict[str, Any]:
        return self.cloud.status()
