"""What a page shows: of all edges a line each, of one edge all that is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Schema

#: States of an edge, from good to bad.
STATES = ("streaming", "complete", "quiet", "catching up", "offline")


@dataclass(frozen=True)
class EdgeOverview:
    """One line of the overview.

    ``lag`` is how far the store is behind the edge, in words. ``recent`` are the sizes of the last messages in bytes,
    oldest first. ``bits_per_reading`` is None before the first reading.
    """

    name: str
    state: str
    lag: str
    sensors: int
    samples: int
    readings: int
    n_bytes: int
    bits_per_reading: float | None
    last_error: str
    recent: Sequence[int] = ()


@dataclass(frozen=True)
class Compared:
    """What the same readings take in some other form."""

    name: str
    n_bytes: int
    bits_per_reading: float


@dataclass(frozen=True)
class LearntDictionary:
    """A dictionary that an edge learns, and sends now and then.

    Attributes
    ----------
    components : array (n_atoms, n_sensors)
        The dictionary that the cloud holds.
    epoch : int
        How many dictionaries were sent.
    sent : sequence of (int, int)
        When each epoch was first seen, and the epoch.
    gaps : sequence of (int, float)
        The Frank-Wolfe gap over time, where the edge can be asked.
    """

    components: FloatArray
    epoch: int
    sent: Sequence[tuple[int, int]]
    gaps: Sequence[tuple[int, float]]


@dataclass(frozen=True)
class EdgeDetail:
    """All that is known of one edge.

    Attributes
    ----------
    overview : EdgeOverview
    schema : Schema
    target : str
        In words.
    has_original : bool
        Whether readings as they were measured are at hand.
    locations : array (n_sensors, 2) or None
        Latitude and longitude of each sensor.
    latest : array (n_sensors,)
        The last reading of each sensor, NaN where there is none among the last 24 samples.
    sensor_bits : array (n_sensors,) or None
        Estimated bits per reading of each sensor.
    best_sensor : int
        The first sensor that has reported as much as any, lately.
    compared : list of Compared
        This stream first, then other forms of the same readings.
    spent : mapping
        Bits by component.
    link : mapping
        Counters of the link by their names.
    max_error, rmse : float or None
        Of all readings so far, where originals are at hand or the file says so.
    learning : LearntDictionary or None
        In the paper's mode.
    """

    overview: EdgeOverview
    schema: Schema
    target: str
    has_original: bool
    locations: FloatArray | None
    latest: FloatArray
    sensor_bits: FloatArray | None
    best_sensor: int = 0
    compared: Sequence[Compared] = ()
    spent: Mapping[str, float] = field(default_factory=dict)
    link: Mapping[str, int | str] = field(default_factory=dict)
    max_error: float | None = None
    rmse: float | None = None
    learning: LearntDictionary | None = None


@dataclass(frozen=True)
class Window:
    """Readings of some sensors over a stretch of time.

    Attributes
    ----------
    times : array (n_samples,)
        In ticks of the time axis; numbers of samples where there is none.
    first, last : int
        The first and the last time that could be asked for.
    sensors : sequence of int
        Their places in the schema.
    decoded : array (n_samples, n_sensors)
    original : array (n_samples, n_sensors) or None
    band : array (n_samples, n_sensors) or None
        How far decoded readings may be from the originals.
    """

    times: IntArray
    first: int
    last: int
    sensors: Sequence[int]
    decoded: FloatArray
    original: FloatArray | None
    band: FloatArray | None


class View(ABC):
    """What pages ask for. Methods may take a moment, and may be called from any thread.

    Attributes
    ----------
    title : str
        What is looked at.
    notice : str
        What is going on, one line.
    is_live : bool
        Whether anything can still change.
    """

    title: str = "orthostream"
    notice: str = ""
    is_live: bool = True

    @abstractmethod
    def edges(self) -> list[EdgeOverview]:
        """Return a line for each edge, by name."""

    @abstractmethod
    def edge(self, name: str) -> EdgeDetail | None:
        """Return what is known of an edge; None if it is not known."""

    @abstractmethod
    def window(
        self, name: str, sensors: Sequence[int], start: int | None = None, end: int | None = None
    ) -> Window | None:
        """Return readings of some sensors from ``start`` to ``end``, both included; None if there are none at all."""

    def close(self) -> None:
        """Let go of files and threads."""
        return
