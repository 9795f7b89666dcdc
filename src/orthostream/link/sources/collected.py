"""Samples that come one by one, and whose first ones fix the sensors."""

from __future__ import annotations

import json
import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.link.sources.json_samples import TIME, JsonSamples
from orthostream.link.sources.source import Samples, Source, samples_at_once

#: Seconds after the first sample in which samples may name further sensors, and how many samples.
_SETTLING, _FIRST_SAMPLES = 1.0, 1000
_log = logging.getLogger(__name__)


class CollectedSource(Source):
    """A source of JSON objects, one for each sample.

    Its sensors are the given ones, those of an earlier process (which the mark tells), or those that the samples of the
    first second name. What cannot be read is left out and counted.

    Parameters
    ----------
    mark : str, optional
        Of the last samples that were taken.
    sensors : sequence of str, optional
    time_name, unit
        As for `JsonSamples`.
    stop : Event, optional
        Ends the wait for the first sample; ValueError is raised then.
    """

    def __init__(
        self,
        *,
        mark: str | None = None,
        sensors: Sequence[str] | None = None,
        time_name: str = TIME,
        unit: str = "ms",
        stop: threading.Event | None = None,
    ) -> None:
        super().__init__()
        self._first: list[dict[str, Any]] = []
        known = sensors or _sensors_of(mark)
        try:
            if known:
                self._samples = JsonSamples(known, time_name, unit)
            else:
                self._samples = JsonSamples.like(self._wait_for_first(stop or threading.Event()), time_name, unit)
        except BaseException:
            self.close()
            raise
        self.schema = self._samples.schema
        self._mark = json.dumps({"sensors": self._samples.sensors})

    @abstractmethod
    def _take(self, wait: float) -> dict[str, Any] | None:
        """Return the next object, None if there is none within ``wait`` seconds."""

    @property
    @abstractmethod
    def _is_over(self) -> bool:
        """Whether no more objects will come."""

    @property
    def is_finished(self) -> bool:
        return not self._first and self._is_over

    def poll(self, wait: float = 0.0) -> Samples | None:
        rows: list[FloatArray] = []
        times: list[int] = []
        most = samples_at_once(self.schema)
        deadline = time.monotonic() + wait
        while len(rows) < most:
            left = 0.0 if rows else max(0.0, deadline - time.monotonic())
            plain = self._first.pop(0) if self._first else self._take(left)
            if plain is None:
                break
            try:
                row, tick = self._samples.read(plain)
            except ValueError as error:
                self._refuse(error)
                continue
            rows.append(row)
            times.append(tick)
        if self._samples.unknown:
            if "values of unknown sensors" not in self.counts:
                _log.warning("some samples name sensors that are not known; they are left out and counted")
            self.count("values of unknown sensors", self._samples.unknown)
            self._samples.unknown = 0
        return Samples(np.array(rows), np.array(times, dtype=np.int64), self._mark) if rows else None

    def _wait_for_first(self, stop: threading.Event) -> list[dict[str, Any]]:
        deadline = np.inf
        while len(self._first) < _FIRST_SAMPLES and time.monotonic() < deadline and not stop.is_set():
            plain = self._take(0.1)
            if plain is not None:
                self._first.append(plain)
                deadline = min(deadline, time.monotonic() + _SETTLING)
            elif self._is_over:
                break
        if not self._first:
            raise ValueError("there was no sample, and so no sensors: name them with --sensors.")
        return self._first

    def _refuse(self, error: ValueError) -> None:
        self.leave_out("samples refused", f"a sample is left out: {str(error).removesuffix('.')}")


def _sensors_of(mark: str | None) -> list[str] | None:
    try:
        sensors = json.loads(mark or "null")["sensors"]
    except (ValueError, KeyError, TypeError):
        return None
    is_list = isinstance(sensors, list) and sensors and all(isinstance(name, str) for name in sensors)
    return sensors if is_list else None
