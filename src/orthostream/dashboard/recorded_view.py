"""What all views share: a record of each edge, behind one lock."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from orthostream.dashboard.record import EdgeRecord
from orthostream.dashboard.view import EdgeDetail, EdgeOverview, View, Window


class RecordedView(View):
    """A view that keeps an `EdgeRecord` of each edge."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._records: dict[str, EdgeRecord] = {}

    @abstractmethod
    def _state(self, name: str, record: EdgeRecord) -> tuple[str, str]:
        """Return the state of an edge and its lag, in words."""

    def _last_error(self, name: str) -> str:
        return ""

    def _link(self, name: str) -> Mapping[str, int | str]:
        return {}

    def _spent(self, name: str) -> Mapping[str, float]:
        return {}

    def _errors(self, record: EdgeRecord) -> tuple[float | None, float | None]:
        """Return the largest error and its root mean square, None where they are not known."""
        rmse = record.rmse
        return (None if rmse is None else record.max_error), rmse

    def edges(self) -> list[EdgeOverview]:
        with self._lock:
            return [self._overview(name, self._records[name]) for name in sorted(self._records)]

    def edge(self, name: str) -> EdgeDetail | None:
        with self._lock:
            record = self._records.get(name)
            if record is None:
                return None
            max_error, rmse = self._errors(record)
            return EdgeDetail(
                overview=self._overview(name, record),
                schema=record.schema,
                target=record.target.in_words,
                has_original=record.history.has_original,
                locations=record.locations,
                latest=record.latest,
                sensor_bits=record.sensor_bits(),
                best_sensor=record.best_sensor,
                compared=[] if record.comparison is None else record.comparison.sizes(),
                spent=dict(self._spent(name)),
                link=dict(self._link(name)),
                max_error=max_error,
                rmse=rmse,
                learning=record.learning.seen(),
            )

    def window(
        self, name: str, sensors: Sequence[int], start: int | None = None, end: int | None = None
    ) -> Window | None:
        with self._lock:
            record = self._records.get(name)
            return None if record is None else record.window(sensors, start, end)

    def _overview(self, name: str, record: EdgeRecord) -> EdgeOverview:
        state, lag = self._state(name, record)
        return EdgeOverview(
            name=name,
            state=state,
            lag=lag,
            sensors=len(record.schema.columns),
            samples=record.samples,
            readings=record.readings,
            n_bytes=record.n_bytes,
            bits_per_reading=record.bits_per_reading,
            last_error=self._last_error(name),
            recent=list(record.recent),
        )


def with_rest(spent: Mapping[str, float], n_bytes: int) -> dict[str, float]:
    """Return bits by component, and what is left of all bytes: times, headers and checksums.

    Examples
    --------
    >>> with_rest({"readings": 64.0}, 10)
    {'readings': 64.0, 'times, headers, checksums': 16.0}
    """
    rest = 8.0 * n_bytes - sum(spent.values())
    return {**spent, "times, headers, checksums": rest} if spent and rest > 0.0 else dict(spent)
