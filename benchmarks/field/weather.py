"""Simulated weather stations and air quality."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import REPORT, TUNE, Recipe, daily, field, spells, walk


def _rain(rng: np.random.Generator, n: int, k: int, dry: float, wet: float) -> FloatArray:
    """Simulate tips of 0.2 mm: showers pass inside of wet spells that all stations share."""
    front = spells(rng, n, dry, wet)[:, None]
    local = field(rng, n, k, 0.75, 0.5)
    intensity = front * np.where(local > 0.2, np.exp(0.9 * local - 0.6), 0.0)
    return np.round(0.2 * rng.poisson(4.0 * intensity), 1)


def rain_field(rng: np.random.Generator) -> FloatArray:
    """Simulate hours at 12 stations."""
    return _rain(rng, 4000, 12, 30.0, 6.0)


def rain_minutes(rng: np.random.Generator) -> FloatArray:
    """Simulate ten-minute sums at 20 stations, mostly dry."""
    return _rain(rng, 2500, 20, 150.0, 20.0)


def rain_station(rng: np.random.Generator) -> FloatArray:
    """Simulate hours of two years at one station."""
    return _rain(rng, 17000, 1, 30.0, 6.0)


def sun(rng: np.random.Generator) -> FloatArray:
    """Simulate minutes of sun in each hour at 8 stations: none at night, all or nothing on many days."""
    n, k = 4000, 8
    height = np.sin(2.0 * np.pi * (np.arange(n) % 24 - 6.0) / 24.0)[:, None]
    clear = 1.1 * field(rng, n, k, 0.93, 1.5) + 0.5 * field(rng, n, k, 0.3, 0.4)
    share = np.clip(0.5 + 0.6 * clear, 0.0, 1.0)
    return np.rint(60.0 * share * np.clip(height * 6.0, 0.0, 1.0))


def light(rng: np.random.Generator) -> FloatArray:
    """Simulate a photo diode read by a 12-bit converter every five minutes: zero at night, clouds by day."""
    n = 20000
    height = np.clip(np.sin(2.0 * np.pi * (np.arange(n) / 288.0 - 0.25)), 0.0, None)
    clouds = np.clip(0.7 + 0.3 * walk(rng, n, 0.97)[:, 0] + 0.1 * walk(rng, n, 0.6)[:, 0], 0.05, 1.0)
    counts = 3500.0 * height * clouds + (height > 0) * rng.normal(0.0, 2.0, n)
    return np.clip(np.rint(counts), 0.0, 4095.0)[:, None]


def kelvin(rng: np.random.Generator) -> FloatArray:
    """Simulate temperature of 20 stations in tenths of a degree Celsius, told in Kelvin."""
    n, k = 2000, 20
    celsius = 9.0 + 4.0 * daily(n, 24, 0.6)[:, None] + 5.0 * walk(rng, n, 0.995) + 1.2 * field(rng, n, k, 0.95, 0.8)
    celsius = celsius + rng.normal(0.0, 1.0, k) + rng.normal(0.0, 0.08, (n, k))
    return np.round(np.round(celsius, 1) + 273.15, 2)


def temperature(rng: np.random.Generator) -> FloatArray:
    """Simulate temperature of 30 stations in tenths, with hours missing here and there."""
    n, k = 1500, 30
    found = 12.0 + 5.0 * daily(n, 24, 0.6)[:, None] * (1.0 + 0.2 * walk(rng, n, 0.98))
    found = found + 4.0 * walk(rng, n, 0.995) + 1.5 * field(rng, n, k, 0.97, 0.6) + rng.normal(0.0, 0.12, (n, k))
    found[rng.random((n, k)) < 0.02] = np.nan
    return np.round(found, 1)


def pressure(rng: np.random.Generator) -> FloatArray:
    """Simulate pressure of 25 stations in tenths of a hectopascal: smooth, and alike but for their height."""
    n, k = 1600, 25
    slow = 9.0 * walk(rng, n, 0.999) + 0.8 * field(rng, n, k, 0.99, 2.0)
    return np.round(1013.0 - rng.uniform(0.0, 40.0, k) + slow + rng.normal(0.0, 0.05, (n, k)), 1)


def wind_speed(rng: np.random.Generator) -> FloatArray:
    """Simulate wind speed at 24 masts in tenths of m/s: never negative, gusty."""
    n, k = 1600, 24
    level = np.exp(0.5 * walk(rng, n, 0.98) + 0.25 * field(rng, n, k, 0.9, 0.6))
    return np.round(3.5 * level * (1.0 + 0.12 * rng.standard_normal((n, k))).clip(0.0), 1)


def wind_direction(rng: np.random.Generator) -> FloatArray:
    """Simulate wind direction of 15 stations in tens of degrees."""
    n, k = 2000, 15
    degrees = 250.0 + 60.0 * np.cumsum(0.25 * walk(rng, n, 0.5), axis=0) + 25.0 * field(rng, n, k, 0.8, 0.7)
    return 10.0 * np.mod(np.rint((degrees + rng.normal(0.0, 8.0, (n, k))) / 10.0), 36.0)


def ozone(rng: np.random.Generator) -> FloatArray:
    """Simulate ozone of 18 stations: parts per billion of a converter, times a factor that is no decimal."""
    n, k = 1800, 18
    day = np.clip(daily(n, 24, 0.62), -0.4, None)[:, None]
    parts = 32.0 + 20.0 * day * (1.0 + 0.3 * walk(rng, n, 0.95)) + 7.0 * field(rng, n, k, 0.93, 0.7)
    parts = np.rint(np.clip(parts + rng.normal(0.0, 1.0, (n, k)), 0.0, None) * 2.0) / 2.0
    return parts * 1.9957


def pm25(rng: np.random.Generator) -> FloatArray:
    """Simulate dust at 40 cheap sensors, whole numbers, with gaps of hours."""
    n, k = 1300, 40
    level = 2.4 + 0.7 * walk(rng, n, 0.98) + 0.35 * field(rng, n, k, 0.95, 0.4) + 0.2 * daily(n, 24, 0.9)[:, None]
    found = np.rint(np.exp(level) * (1.0 + 0.08 * rng.standard_normal((n, k))))
    for sensor in range(k):
        found[spells(rng, n, 200.0, 8.0) > 0, sensor] = np.nan
    return found


RECIPES = (
    Recipe("rain, 12 stations", "zero-inflated", TUNE, rain_field, 0.05, 0.2, period=24),
    Recipe("rain, 20 stations, ten minutes", "zero-inflated", REPORT, rain_minutes, 0.05, 0.2, period=144),
    Recipe("rain, one station", "zero-inflated", REPORT, rain_station, 0.05, 0.2, period=24),
    Recipe("minutes of sun", "zero-inflated", REPORT, sun, 0.4, 1.0, period=24),
    Recipe("light", "zero-inflated", TUNE, light, 2.0, 1.0, period=288),
    Recipe("Kelvin, 20 stations", "field", REPORT, kelvin, 0.3, 0.1, 0.05, period=24),
    Recipe("temperature, 30 stations", "field", TUNE, temperature, 0.25, 0.1, period=24),
    Recipe("pressure, 25 stations", "field", REPORT, pressure, 0.2, 0.1, period=24),
    Recipe("wind speed, 24 masts", "field", TUNE, wind_speed, 0.25, 0.1),
    Recipe("wind direction, 15 stations", "field", REPORT, wind_direction, 4.0, 10.0),
    Recipe("ozone, 18 stations", "field", REPORT, ozone, 1.5, 0.0, period=24),
    Recipe("PM2.5, 40 sensors", "field", TUNE, pm25, 2.0, 1.0, period=24),
)
