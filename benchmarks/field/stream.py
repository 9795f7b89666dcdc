"""One stream of the field benchmark, and the random processes that the simulated ones are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from orthostream._typing import FloatArray

TUNE, REPORT = "tune", "report"


class Recipe(NamedTuple):
    """How to make a stream, and what is known of it."""

    name: str
    kind: str
    """What decides how well it can be compressed: "field" is a field of sensors of one kind."""
    split: str
    """Constants of the codec are chosen on "tune"; what comes of them is reported on "report"."""
    make: Callable[[np.random.Generator], FloatArray]
    bound: float | tuple[float, ...]
    """The error that every reading may have; one for each sensor if they differ."""
    grid: float | tuple[float, ...] = 0.0
    """What all readings are multiples of, 0 if there is no such number; one for each sensor if they differ."""
    offset: float = 0.0
    """Readings are multiples of the grid after this is subtracted."""
    period: int = 0
    """Samples in a day, or in whatever else repeats; 0 if nothing does."""
    simulated: bool = True


class Stream(NamedTuple):
    """Readings, NaN where one is missing, and what is known of them: see `Recipe`."""

    name: str
    kind: str
    split: str
    rows: FloatArray
    bound: float | tuple[float, ...]
    grid: float | tuple[float, ...] = 0.0
    offset: float = 0.0
    period: int = 0
    simulated: bool = True


def walk(rng: np.random.Generator, n: int, keep: float, k: int = 1) -> FloatArray:
    """Return independent first-order autoregressions of variance one, one in each column."""
    noise = np.sqrt(1.0 - keep**2) * rng.standard_normal((n, k))
    noise[0] = rng.standard_normal(k)
    return np.asarray(lfilter([1.0], [1.0, -keep], noise, axis=0))


def places(rng: np.random.Generator, k: int) -> FloatArray:
    """Return random places in the unit square."""
    return rng.random((k, 2))


def field(rng: np.random.Generator, n: int, k: int, keep: float, reach: float) -> FloatArray:
    """Return autoregressions of variance one at random places; near ones are alike, with exp(-distance / reach)."""
    where = places(rng, k)
    distance = np.linalg.norm(where[:, None] - where[None], axis=-1)
    factor = np.linalg.cholesky(np.exp(-distance / reach) + 1e-9 * np.eye(k))
    return np.asarray(walk(rng, n, keep, k) @ factor.T)


def spells(rng: np.random.Generator, n: int, off: float, on: float) -> FloatArray:
    """Return 0 and 1 in spells with exponential lengths of these means, at least one sample each."""
    found = np.zeros(n)
    at = 0
    while at < n:
        at += 1 + int(rng.exponential(off))
        end = at + 1 + int(rng.exponential(on))
        found[at:end] = 1.0
        at = end
    return found


def daily(n: int, period: int, peak: float = 0.5) -> FloatArray:
    """Return a cosine with its maximum at this part of the period."""
    return np.asarray(np.cos(2.0 * np.pi * (np.arange(n) / period - peak)))
