"""Simulated signals of a high rate, positions and prices."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from orthostream._typing import FloatArray

from .stream import REPORT, TUNE, Recipe, spells, walk


def gps(rng: np.random.Generator) -> FloatArray:
    """Simulate latitude and longitude of a walker with seven decimals, a second apart; she stops now and then."""
    n = 8000
    heading = np.cumsum(0.15 * rng.standard_normal(n))
    speed = 1.3 * (1.0 - spells(rng, n, 300.0, 60.0)) * (1.0 + 0.1 * walk(rng, n, 0.9)[:, 0])
    noise = 0.4 * walk(rng, n, 0.98, 2) + 0.02 * rng.standard_normal((n, 2))
    metres = np.cumsum(np.column_stack([speed * np.cos(heading), speed * np.sin(heading)]), axis=0) + noise
    return np.round(np.array([50.0614, 19.9366]) + metres / np.array([111320.0, 71470.0]), 7)


def gps_fleet(rng: np.random.Generator) -> FloatArray:
    """Simulate latitude and longitude of three vans with six decimals, ten seconds apart; parked for hours."""
    n = 3000
    parts = []
    for _ in range(3):
        moving = spells(rng, n, 150.0, 120.0)
        heading = np.repeat(rng.integers(4, size=n // 15 + 1), 15)[:n] * np.pi / 2.0 + 0.1 * rng.standard_normal(n)
        speed = 100.0 * moving * np.clip(1.0 + 0.5 * walk(rng, n, 0.9)[:, 0], 0.0, None)
        metres = np.cumsum(np.column_stack([speed * np.cos(heading), speed * np.sin(heading)]), axis=0)
        jitter = 1.5 * walk(rng, n, 0.95, 2) * (moving[:, None] + 0.1)
        parts.append(np.array([52.23, 21.01]) + (metres + jitter) / np.array([111320.0, 68200.0]))
    return np.round(np.column_stack(parts), 6)


def exchange(rng: np.random.Generator) -> FloatArray:
    """Simulate five exchange rates with five decimals: walks whose steps cluster, and one rate that hardly moves."""
    n, k = 4000, 5
    volatility = np.exp(0.6 * walk(rng, n, 0.98))
    move = 2e-4 * volatility * rng.standard_t(5, size=(n, k)) @ (np.eye(k) + 0.5)
    move[:, 4] *= rng.random(n) < 0.1
    return np.round(np.array([1.08, 0.86, 4.31, 0.95, 7.46]) * np.exp(np.cumsum(0.3 * move, axis=0)), 5)


def price(rng: np.random.Generator) -> FloatArray:
    """Simulate one price in ticks of 0.25: trades, most of them at the last price or one tick off."""
    n = 20000
    return (4500.0 + 0.25 * np.cumsum(rng.choice([-2, -1, 0, 1, 2], n, p=[0.02, 0.2, 0.56, 0.2, 0.02])))[:, None]


def ecg(rng: np.random.Generator) -> FloatArray:
    """Simulate two leads at 360 Hz with 11 bits: waves of varying length, breath, and muscle noise."""
    n = 12000
    phase = np.zeros(n)
    at = 0
    while at < n:
        length = int(rng.normal(290.0, 14.0))
        phase[at : at + length] = (np.arange(length) / length)[: n - at]
        at += length
    shape = np.zeros((n, 2))
    for centre, width, first, second in (
        (0.18, 0.025, 22.0, 12.0),
        (0.27, 0.008, -22.0, 15.0),
        (0.295, 0.009, 240.0, 110.0),
        (0.32, 0.009, -45.0, -60.0),
        (0.55, 0.045, 55.0, 25.0),
    ):
        shape += np.exp(-0.5 * ((phase[:, None] - centre) / width) ** 2) * np.array([first, second])
    wander = 25.0 * walk(rng, n, 0.9995, 2)
    return np.clip(np.rint(1024.0 + shape + wander + 2.0 * walk(rng, n, 0.6, 2)), 0.0, 2047.0)


def _resonant(rng: np.random.Generator, n: int, tones: list[tuple[float, float]]) -> FloatArray:
    """Simulate noise through resonances (frequency as a part of the sampling rate, radius of the pole)."""
    found = rng.standard_normal(n)
    for frequency, radius in tones:
        found = lfilter([1.0], [1.0, -2.0 * radius * np.cos(2.0 * np.pi * frequency), radius**2], found)
    return np.asarray(found / found.std())


def vibration(rng: np.random.Generator) -> FloatArray:
    """Simulate an accelerometer on a bearing: resonances in counts of a converter, times a scale that is no decimal."""
    signal = _resonant(rng, 30000, [(0.031, 0.99), (0.12, 0.98), (0.27, 0.95)])
    strikes = _resonant(rng, 30000, [(0.18, 0.93)]) * (np.arange(30000) % 107 < 25)
    return (np.rint(900.0 * signal + 400.0 * strikes) * 4.882961516e-05)[:, None]


def imu(rng: np.random.Generator) -> FloatArray:
    """Simulate six axes of a phone in a pocket, 100 Hz: counts times 9.80665 / 8192 and pi / 180 / 65.5."""
    n = 6000
    step = 2.0 * np.pi * np.cumsum(0.018 + 0.001 * walk(rng, n, 0.99)[:, 0])
    axes = []
    for axis in range(6):
        wave = sum(rng.normal(0.0, 1.0 / h) * np.cos(h * step + rng.uniform(0.0, 6.3)) for h in range(1, 6))
        counts = 1100.0 * wave + 150.0 * walk(rng, n, 0.97)[:, 0] + 40.0 * rng.standard_normal(n)
        axes.append(np.rint(counts + (8192.0 if axis == 2 else 0.0)))
    scale = np.array([9.80665 / 8192.0] * 3 + [np.pi / 180.0 / 65.5] * 3)
    return np.column_stack(axes) * scale


def audio(rng: np.random.Generator) -> FloatArray:
    """Simulate speech-like sound with 16 bits: a voice with formants, and pauses."""
    n = 40000
    pulse = (np.cumsum(0.013 + 0.002 * walk(rng, n, 0.9999)[:, 0]) % 1.0) < 0.013
    found = pulse * 6.0 + 0.15 * rng.standard_normal(n)
    for frequency, radius in ((0.045, 0.98), (0.11, 0.97), (0.23, 0.95)):
        found = lfilter([1.0], [1.0, -2.0 * radius * np.cos(2.0 * np.pi * frequency), radius**2], found)
    voiced = np.convolve(spells(rng, n, 1500.0, 5000.0), np.hanning(400) / 200.0, mode="same")
    return np.rint(3000.0 * voiced * found / found.std() + 6.0 * rng.standard_normal(n))[:, None]


def seismic(rng: np.random.Generator) -> FloatArray:
    """Simulate three axes of a seismometer: coloured noise of the ground, and one quake."""
    n = 8000
    ground = np.column_stack([_resonant(rng, n, [(0.02, 0.97), (0.002, 0.9)]) for _ in range(3)])
    since = np.clip(np.arange(n) - int(rng.uniform(3000.0, 5000.0)), 0.0, None)
    quake = np.column_stack([_resonant(rng, n, [(0.06, 0.9)]) for _ in range(3)])
    quake *= (since / 60.0 * np.exp(1.0 - since / 400.0))[:, None]
    return np.rint(120.0 * ground + 2500.0 * quake + 4.0 * rng.standard_normal((n, 3)))


RECIPES = (
    Recipe("GPS walk", "position", TUNE, gps, 2e-6, 1e-7),
    Recipe("GPS, three vans", "position", REPORT, gps_fleet, 5e-6, 1e-6),
    Recipe("exchange rates", "price", REPORT, exchange, 5e-5, 1e-5),
    Recipe("price in ticks", "price", TUNE, price, 0.1, 0.25),
    Recipe("ECG, two leads", "high rate", TUNE, ecg, 2.0, 1.0),
    Recipe("vibration", "high rate", REPORT, vibration, 0.001, 0.0),
    Recipe("IMU, six axes", "high rate", TUNE, imu, (0.02, 0.02, 0.02, 0.005, 0.005, 0.005), 0.0),
    Recipe("audio", "high rate", REPORT, audio, 8.0, 1.0),
    Recipe("seismometer", "high rate", REPORT, seismic, 10.0, 1.0),
)
