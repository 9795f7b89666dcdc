"""Simulated meters, servers, counters and machines."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import REPORT, TUNE, Recipe, daily, spells, walk


def sub_meter(rng: np.random.Generator) -> FloatArray:
    """Simulate a kitchen's meter in watts: standby, and appliances of fixed power with a little noise."""
    n = 20000
    power = 1.0 + spells(rng, n, 90.0, 30.0) * 37.0 + spells(rng, n, 900.0, 12.0) * 2010.0
    power = power + spells(rng, n, 2000.0, 60.0) * 480.0
    return np.rint(power * (1.0 + 0.004 * rng.standard_normal(n)))[:, None]


def sub_meters(rng: np.random.Generator) -> FloatArray:
    """Simulate three circuits in watt-hours a minute, as whole numbers: few levels."""
    n = 8000
    fridge = np.rint(spells(rng, n, 35.0, 18.0) * rng.normal(1.4, 0.3, n)).clip(0.0)
    washing = np.rint(spells(rng, n, 1200.0, 50.0) * rng.choice([1.0, 2.0, 36.0, 37.0], n, p=[0.5, 0.2, 0.2, 0.1]))
    heater = np.rint(spells(rng, n, 400.0, 60.0) * rng.normal(17.6, 0.6, n))
    return np.column_stack([fridge, washing, heater])


def household(rng: np.random.Generator) -> FloatArray:
    """Simulate active power of a household in kilowatts with three decimals, and the voltage."""
    n = 10000
    base = 0.25 + 0.15 * daily(n, 1440, 0.8) + 0.05 * walk(rng, n, 0.98)[:, 0]
    power = (
        base + 0.09 * spells(rng, n, 30.0, 15.0) + 2.1 * spells(rng, n, 300.0, 8.0) + 0.9 * spells(rng, n, 400.0, 30)
    )
    power = np.round(np.clip(power * (1.0 + 0.01 * rng.standard_normal(n)), 0.0, None), 3)
    voltage = 240.0 + 2.5 * walk(rng, n, 0.99)[:, 0] - 1.5 * power + 0.3 * rng.standard_normal(n)
    return np.column_stack([power, np.round(voltage, 2)])


def disk_writes(rng: np.random.Generator) -> FloatArray:
    """Simulate bytes written to a disk each five minutes: blocks of 4 KiB, often none, sometimes very many."""
    n = 10000
    busy = spells(rng, n, 6.0, 3.0)
    blocks = np.floor(np.exp(rng.normal(2.5, 2.0, n))) * busy * (rng.random(n) < 0.7)
    return (4096.0 * blocks)[:, None]


def network(rng: np.random.Generator) -> FloatArray:
    """Simulate errors and retransmissions on six ports: mostly none, in bursts."""
    n, k = 4000, 6
    burst = np.column_stack([spells(rng, n, 80.0, 5.0) for _ in range(k)])
    return rng.poisson(burst * np.exp(rng.normal(1.5, 1.0, (n, k)))).astype(float)


def cpu_load(rng: np.random.Generator) -> FloatArray:
    """Simulate CPU load in percent: the mean over four cores and fifteen ticks, a fraction with few values."""
    n = 15000
    wish = np.clip(0.08 + 0.04 * walk(rng, n, 0.9)[:, 0] + 0.4 * spells(rng, n, 250.0, 10.0), 0.002, 0.98)
    ticks = rng.binomial(375, wish)
    return (100.0 * ticks / 375.0)[:, None]


def memory(rng: np.random.Generator) -> FloatArray:
    """Simulate memory of a server in percent: slow ramps, sudden drops, a little noise."""
    n = 12000
    drop = rng.random(n) < 0.003
    start = np.maximum.accumulate(np.where(drop, np.arange(n), 0))
    slope = rng.uniform(0.005, 0.05, n)[start]
    level = rng.uniform(30.0, 45.0, n)[start] + slope * (np.arange(n) - start)
    return np.round(np.clip(level + 0.03 * rng.standard_normal(n), 0.0, 99.0), 2)[:, None]


def counter(rng: np.random.Generator) -> FloatArray:
    """Simulate an energy meter in watt-hours: it only grows, faster by day."""
    n = 15000
    rate = 8.0 + 6.0 * daily(n, 288, 0.7) + 3.0 * walk(rng, n, 0.95)[:, 0] + 30.0 * spells(rng, n, 200.0, 10.0)
    return (1.2e6 + np.cumsum(rng.poisson(np.clip(rate, 0.1, None))).astype(float))[:, None]


def pulses(rng: np.random.Generator) -> FloatArray:
    """Simulate three event counters with constant rates, two of them exactly."""
    t = np.arange(6000)
    random = np.cumsum(rng.poisson(0.6, len(t)))
    return np.column_stack([17.0 * t, np.floor(2.5 * t), random.astype(float)])


def machine_temperature(rng: np.random.Generator) -> FloatArray:
    """Simulate a bearing's temperature, a float of many digits every five minutes, with two shutdowns."""
    n = 15000
    found = 85.0 + 6.0 * walk(rng, n, 0.999)[:, 0] + 0.8 * walk(rng, n, 0.9)[:, 0]
    running = spells(rng, n, 3000.0, 150.0)
    found = found - 40.0 * np.convolve(running, np.exp(-np.arange(120) / 30.0) / 30.0)[:n]
    return np.round(found, 9)[:, None]


def pump(rng: np.random.Generator) -> FloatArray:
    """Simulate the temperature of a pump by a PT100 at 0.06 degrees a count: slow, one sensor."""
    n = 15000
    found = 42.0 + 3.0 * daily(n, 1440)[:, None] + 4.0 * walk(rng, n, 0.9995) + 0.05 * rng.standard_normal((n, 1))
    return np.round(0.06 * np.rint(found / 0.06), 2)


def taxi(rng: np.random.Generator) -> FloatArray:
    """Simulate passengers in each half hour: counts in the ten thousands, by day and week."""
    n = 10000
    day = 15000.0 + 9000.0 * daily(n, 48, 0.75) + 2500.0 * daily(n, 336, 0.7) + 900.0 * walk(rng, n, 0.95)[:, 0]
    return rng.poisson(np.clip(day, 50.0, None)).astype(float)[:, None]


RECIPES = (
    Recipe("sub-meter", "levels", TUNE, sub_meter, 0.5, 1.0),
    Recipe("three sub-meters", "levels", REPORT, sub_meters, 0.4, 1.0),
    Recipe("household power", "mixed", TUNE, household, (0.005, 0.1), (0.001, 0.01), period=1440),
    Recipe("disk writes", "zero-inflated", REPORT, disk_writes, 1000.0, 4096.0),
    Recipe("network errors", "zero-inflated", TUNE, network, 0.4, 1.0),
    Recipe("CPU load", "single", TUNE, cpu_load, 0.5, 0.0),
    Recipe("server memory", "single", REPORT, memory, 0.02, 0.01),
    Recipe("energy counter", "counter", REPORT, counter, 0.4, 1.0, period=288),
    Recipe("event counters", "counter", TUNE, pulses, 0.4, 1.0),
    Recipe("machine temperature", "single", REPORT, machine_temperature, 0.1, 0.0),
    Recipe("pump temperature", "single", TUNE, pump, 0.1, 0.06),
    Recipe("taxi passengers", "single", REPORT, taxi, 50.0, 1.0, period=48),
)
