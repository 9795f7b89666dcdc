"""Simulated switches, levels and patterns that repeat exactly."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import REPORT, TUNE, Recipe, daily, field, spells, walk


def switch(rng: np.random.Generator) -> FloatArray:
    """Simulate a compressor: on and off in irregular spells."""
    return spells(rng, 20000, 60.0, 25.0)[:, None]


def switches(rng: np.random.Generator) -> FloatArray:
    """Simulate eight lights of a building: mostly on together, by day."""
    n, k = 5000, 8
    wish = 1.2 * daily(n, 288, 0.55)[:, None] + 0.6 * walk(rng, n, 0.98) + 0.5 * field(rng, n, k, 0.99, 0.5)
    found = np.zeros((n, k))
    # A switch has hysteresis: it does not flicker at its threshold.
    found[0] = wish[0] > 0
    for t in range(1, n):
        found[t] = np.where(found[t - 1] > 0, wish[t] > -0.4, wish[t] > 0.4)
    return found


def square_wave(rng: np.random.Generator) -> FloatArray:
    """Simulate a timer: on from seven to nineteen, every day the same."""
    hour = (np.arange(20000) + rng.integers(96)) % 96
    return np.where((hour >= 28) & (hour < 76), 21.5, 16.0)[:, None]


def schedule(rng: np.random.Generator) -> FloatArray:
    """Simulate four setpoints that follow a weekly programme exactly."""
    week = np.repeat(rng.choice([15.0, 18.0, 20.0, 20.5, 22.0], size=(42, 4)), 16, axis=0)
    return np.tile(week, (15, 1))


def lookup(rng: np.random.Generator) -> FloatArray:
    """Simulate a signal generator: a smooth table of 250 entries, played again and again."""
    phase = 2.0 * np.pi * np.arange(250) / 250.0
    wave = sum(rng.normal(0.0, 1.0 / h) * np.sin(h * phase + rng.uniform(0.0, 6.3)) for h in range(1, 8))
    return np.tile(np.rint(900.0 * wave), 60)[:, None]


def lookup_noise(rng: np.random.Generator) -> FloatArray:
    """Simulate a table of 1,000 random entries, played again and again by two channels."""
    return np.tile(np.rint(rng.normal(0.0, 300.0, (1000, 2))), (12, 1))


def steps(rng: np.random.Generator) -> FloatArray:
    """Simulate a setpoint that changes now and then, measured with a little noise."""
    n = 15000
    change = rng.random(n) < 0.004
    change[0] = True
    level = rng.uniform(40.0, 90.0, n)[np.maximum.accumulate(np.where(change, np.arange(n), 0))]
    return np.round(level + rng.normal(0.0, 0.04, n), 1)[:, None]


def valve(rng: np.random.Generator) -> FloatArray:
    """Simulate six valves in percent: they stand still, or move by a few percent a sample."""
    n, k = 4000, 6
    found = np.zeros((n, k))
    for sensor in range(k):
        moving = spells(rng, n, 40.0, 8.0)
        direction = np.where(rng.random(n) < 0.5, 1, -1)[np.cumsum(np.diff(moving, prepend=0.0) > 0)]
        at = 50.0
        for t in range(n):
            at = min(100.0, max(0.0, at + moving[t] * direction[t] * rng.integers(1, 5)))
            found[t, sensor] = at
    return found


def occupancy(rng: np.random.Generator) -> FloatArray:
    """Simulate people in four rooms, counted every five minutes: arrivals by day, few at night."""
    n, k = 4000, 4
    rate = np.clip(daily(n, 288, 0.55), 0.0, None) ** 2
    found = np.zeros((n, k))
    people = np.zeros(k)
    for t in range(n):
        people = people + rng.poisson(2.0 * rate[t], k) - rng.binomial(people.astype(int), 0.08 + 0.3 * (rate[t] == 0))
        found[t] = people
    return found


RECIPES = (
    Recipe("switch", "levels", TUNE, switch, 0.4, 1.0),
    Recipe("eight switches", "levels", REPORT, switches, 0.4, 1.0, period=288),
    Recipe("square wave, daily", "periodic", TUNE, square_wave, 0.2, 0.5, period=96),
    Recipe("weekly programme", "periodic", REPORT, schedule, 0.2, 0.5, period=672),
    Recipe("table lookup, smooth", "periodic", REPORT, lookup, 0.4, 1.0, period=250),
    Recipe("table lookup, noise", "periodic", TUNE, lookup_noise, 5.0, 1.0, period=1000),
    Recipe("setpoint steps", "levels", REPORT, steps, 0.1, 0.1),
    Recipe("six valves", "levels", TUNE, valve, 1.0, 1.0),
    Recipe("occupancy", "levels", REPORT, occupancy, 0.4, 1.0, period=288),
)
