"""Simulated tables whose numbers are unusual: floats without a grid, levels of their own, columns of many kinds."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import REPORT, TUNE, Recipe, daily, field, spells, walk


def traffic(rng: np.random.Generator) -> FloatArray:
    """Simulate the mean speed of few cars at 30 places in five minutes: whole miles an hour each, 0 without a car."""
    n, k = 1500, 30
    jam = np.clip(daily(n, 288, 0.7)[:, None] + 0.8 * field(rng, n, k, 0.97, 0.4) - 0.6, 0.0, None)
    speed = np.clip(64.0 - 25.0 * jam + rng.normal(0.0, 3.0, k), 6.0, None)
    cars = rng.poisson(np.clip(7.0 - 6.0 * daily(n, 288, 0.1), 0.5, None)[:, None], (n, k))
    total = np.rint(cars * speed + np.sqrt(cars) * np.minimum(4.0, speed / 6.0) * rng.standard_normal((n, k)))
    return np.where(cars > 0, total / np.maximum(cars, 1), 0.0)


def transformer(rng: np.random.Generator) -> FloatArray:
    """Simulate loads and oil temperature of a transformer: seven columns of three decimals, kept as float32."""
    n = 5000
    common = 3.0 * daily(n, 24, 0.5)[:, None] + 3.0 * walk(rng, n, 0.97)
    loads = np.array([2.5, 0.6, 2.2, 0.4, 0.9, 0.3]) * (common + 1.5 * walk(rng, n, 0.85, 6)) + 3.0
    loads = 0.067 * np.rint(loads / 0.067)
    oil = 14.0 + 7.0 * walk(rng, n, 0.998) + 1.5 * daily(n, 24, 0.6)[:, None] + 0.1 * common
    return np.round(np.hstack([loads, 0.0703 * np.rint(oil / 0.0703)]), 3).astype(np.float32).astype(np.float64)


def smooth_floats(rng: np.random.Generator) -> FloatArray:
    """Simulate output of a model: a smooth field at 16 places, every bit of the float used."""
    n, k = 1500, 16
    slow = np.cumsum(field(rng, n, k, 0.98, 0.8), axis=0)
    return 280.0 + 0.02 * slow + 4.0 * daily(n, 96)[:, None]


def float32_field(rng: np.random.Generator) -> FloatArray:
    """Simulate humidity from a model at 20 places, computed in float32."""
    found = 60.0 + 15.0 * field(rng, 1500, 20, 0.98, 0.9) + 8.0 * daily(1500, 24)[:, None]
    return np.clip(found, 0.0, 100.0).astype(np.float32).astype(np.float64)


def thermistor(rng: np.random.Generator) -> FloatArray:
    """Simulate eight thermistors: counts of a 10-bit converter through a nonlinear calibration."""
    n, k = 3000, 8
    celsius = 22.0 + 3.0 * daily(n, 144)[:, None] + 2.0 * walk(rng, n, 0.99) + 0.6 * field(rng, n, k, 0.97, 0.8)
    resistance = 1e4 * np.exp(3950.0 * (1.0 / (celsius + 273.15) - 1.0 / 298.15))
    counts = np.clip(np.rint(1023.0 * resistance / (resistance + 1e4) + 0.4 * rng.standard_normal((n, k))), 1, 1022)
    return np.asarray(1.0 / (np.log(counts / (1023.0 - counts)) / 3950.0 + 1.0 / 298.15) - 273.15)


def mixed(rng: np.random.Generator) -> FloatArray:
    """Simulate a weather station's table: temperature, humidity, a flag, a counter, pressure."""
    n = 6000
    day = daily(n, 144, 0.6)
    temperature = 11.0 + 5.0 * day + 3.0 * walk(rng, n, 0.998)[:, 0] + 0.05 * rng.standard_normal(n)
    humidity = np.clip(70.0 - 12.0 * day + 8.0 * walk(rng, n, 0.99)[:, 0], 5.0, 100.0)
    flag = spells(rng, n, 400.0, 60.0)
    counter = np.cumsum(rng.poisson(0.05 + 3.0 * flag)).astype(float)
    pressure = 1009.0 + 9.0 * walk(rng, n, 0.9997)[:, 0] + 0.04 * rng.standard_normal(n)
    return np.column_stack([np.round(temperature, 1), np.rint(humidity), flag, counter, np.round(pressure, 1)])


def heat_pump(rng: np.random.Generator) -> FloatArray:
    """Simulate a heat pump's log: state, setpoint, two temperatures, power, and a total; with gaps."""
    n = 5000
    state = spells(rng, n, 40.0, 25.0)
    setpoint = np.where(np.arange(n) % 1440 < 480, 19.0, 21.0)
    warm = np.convolve(state, np.exp(-np.arange(90) / 25.0) / 25.0)[:n]
    supply = 28.0 + 14.0 * warm + 0.1 * rng.standard_normal(n)
    back = 26.0 + 9.0 * np.roll(warm, 4) + 0.1 * rng.standard_normal(n)
    power = state * np.rint(1850.0 + 30.0 * rng.standard_normal(n)) + 12.0
    total = np.floor(np.cumsum(power) / 60.0)
    found = np.column_stack([state, setpoint, np.round(supply, 1), np.round(back, 1), power, total])
    found[spells(rng, n, 900.0, 30.0) > 0] = np.nan
    return found


def constant(rng: np.random.Generator) -> FloatArray:
    """Simulate a sensor that is stuck."""
    return np.full((20000, 1), np.round(rng.uniform(20.0, 30.0), 2))


def three_constants(rng: np.random.Generator) -> FloatArray:
    """Simulate three columns that never change, and one that does once."""
    found = np.tile(np.round(rng.uniform(0.0, 100.0, 4), 1), (5000, 1))
    found[2500:, 3] += 1.0
    return found


def finer(rng: np.random.Generator) -> FloatArray:
    """Simulate ten sensors that tell whole degrees, and tenths after new firmware."""
    n, k = 2500, 10
    found = 20.0 + 4.0 * daily(n, 96)[:, None] + 3.0 * walk(rng, n, 0.995) + 0.8 * field(rng, n, k, 0.97, 0.8)
    return np.vstack([np.rint(found[:800]), np.round(found[800:], 1)])


def finer_single(rng: np.random.Generator) -> FloatArray:
    """Simulate one sensor that tells whole percents, and hundredths after new firmware."""
    found = 55.0 + 12.0 * walk(rng, 12000, 0.998) + 0.2 * rng.standard_normal((12000, 1))
    return np.vstack([np.rint(found[:3000]), np.round(found[3000:], 2)])


def gaps(rng: np.random.Generator) -> FloatArray:
    """Simulate twenty sensors by radio: three of ten readings missing, alone and in stretches."""
    n, k = 2000, 20
    found = np.round(18.0 + 5.0 * walk(rng, n, 0.99) + 1.5 * field(rng, n, k, 0.97, 0.6) + daily(n, 48)[:, None], 1)
    for sensor in range(k):
        found[spells(rng, n, 60.0, 15.0) > 0, sensor] = np.nan
    found[rng.random((n, k)) < 0.12] = np.nan
    return found


def gaps_single(rng: np.random.Generator) -> FloatArray:
    """Simulate a river gauge in centimetres that is silent at times."""
    n = 12000
    flood = np.convolve(rng.exponential(60.0, n) * (rng.random(n) < 0.004), np.exp(-np.arange(400) / 80.0))[:n]
    found = np.rint(120.0 + flood + 10.0 * walk(rng, n, 0.999)[:, 0] + 0.5 * rng.standard_normal(n))
    found[spells(rng, n, 100.0, 12.0) > 0] = np.nan
    return found[:, None]


_MIXED = (0.2, 0.4, 0.4, 0.4, 0.2), (0.1, 1.0, 1.0, 1.0, 0.1)
_PUMP = (0.4, 0.2, 0.2, 0.2, 10.0, 0.4), (1.0, 0.5, 0.1, 0.1, 1.0, 1.0)

RECIPES = (
    Recipe("traffic speed, 30 places", "field", TUNE, traffic, 1.0, 0.0, period=288),
    Recipe("transformer, float32 decimals", "mixed", REPORT, transformer, 0.1, 0.0, period=24),
    Recipe("smooth floats, 16 places", "field", TUNE, smooth_floats, 0.01, 0.0, period=96),
    Recipe("float32 humidity, 20 places", "field", REPORT, float32_field, 0.5, 0.0, period=24),
    Recipe("eight thermistors", "field", TUNE, thermistor, 0.1, 0.0, period=144),
    Recipe("weather station", "mixed", REPORT, mixed, *_MIXED, period=144),
    Recipe("heat pump", "mixed", TUNE, heat_pump, *_PUMP, period=1440),
    Recipe("constant", "constant", TUNE, constant, 0.05, 0.01),
    Recipe("three constants", "constant", REPORT, three_constants, 0.2, 0.1),
    Recipe("whole degrees, then tenths", "finer later", TUNE, finer, 0.2, 0.1, period=96),
    Recipe("whole percents, then hundredths", "finer later", REPORT, finer_single, 0.1, 0.01),
    Recipe("many gaps, 20 sensors", "gaps", REPORT, gaps, 0.2, 0.1, period=48),
    Recipe("river gauge with gaps", "gaps", TUNE, gaps_single, 1.0, 1.0),
)
