"""What the golden files hold: readings that were made once, and the targets that they were written with.

Run as a program, it writes the files of the current format version; those of a version are never written again once it
is released.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from orthostream.compression import compress, decompress

FOLDER = Path(__file__).parent / "golden"


def readings(n_sensors: int, seed: int) -> np.ndarray:
    """Return 96 samples of tenths, with gaps and a step."""
    steps = np.random.default_rng(seed).integers(-3, 4, (96, n_sensors + 1))
    rows = (200 + steps[:, :1].cumsum(axis=0) + steps[:, 1:]) / 10.0
    rows[40:] += 5.0
    rows[20:30, 0] = np.nan
    return np.asarray(rows)


def cases() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return the readings and the parameters of `compress` for each golden file that both versions have."""
    plain, mixed = readings(6, 1), readings(6, 2)
    mixed[:, 3:] = np.round(mixed[:, 3:] * 1000.0 - 15000.0)
    strange = readings(3, 3)
    strange[50, 1], strange[51, 1], strange[52, 2] = np.inf, -np.inf, 1e300
    hours = np.datetime64("2026-01-01T00", "s") + np.arange(96) * np.timedelta64(3600, "s")
    uneven = np.arange(96) * 1000 + np.random.default_rng(4).integers(0, 9, 96)
    return {
        "max_error": (plain, {"max_error": 0.25, "time": hours, "samples_per_frame": 24}),
        "frames_of_one": (plain, {"max_error": 0.25, "samples_per_frame": 1}),
        "uneven_times": (plain, {"max_error": 0.25, "time": uneven, "samples_per_frame": 12}),
        "lossless": (strange, {"max_error": 0}),
        "groups": (mixed, {"max_error": [0.1] * 3 + [10.0] * 3}),
        "relative_error": (plain - 20.0, {"relative_error": 0.2}),
        "single": (plain.astype(np.float32), {"max_error": 0.01}),
        "integers": (np.nan_to_num(plain * 10).astype(np.int32), {"max_error": 1}),
        "no_resolution": (plain, {"max_error": 0.11, "resolution": None, "key_every": 200, "samples_per_frame": 10}),
        "rmse": (plain, {"rmse": 0.3, "time": hours}),
        "budget": (plain, {"bits_per_reading": 2.0}),
        "paper": (plain, {"n_nonzero": 2, "samples_per_frame": 6}),
    }


def second_cases() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return what format version 2 can do better: signals that repeat, remember, and have lattices of their own.

    Integers and exact quotients only, so that every machine makes the same readings.
    """
    rng = np.random.default_rng(5)
    noise = rng.integers(-9, 10, (400, 30))
    wet = np.repeat(rng.integers(0, 4, (40, 1)) == 0, 10, axis=0)
    rain = np.where(wet & (noise[:, :4] > 0), noise[:, :4], 0) / 5.0
    switch = (np.cumsum(rng.integers(0, 40, 400) == 0) % 2)[:, None] * 3.0
    periodic = np.tile(rng.integers(0, 1000, (37, 2)), (8, 1)).astype(float)
    echo = [0, 0]
    for shock in noise[:, 0].tolist():
        echo.append(15 * echo[-1] // 8 - 15 * echo[-2] // 16 + shock)
    walk = np.cumsum(noise, axis=0)
    floats = walk[:200, :3] / 16.0 + rng.integers(0, 2**40, (200, 3)) / 2.0**44 + 300.0
    strange = floats[:40].copy()
    strange[3, 0], strange[5, 1], strange[7, 2], strange[9, 0] = -0.0, np.inf, 5e-324, 1e308
    finer = np.where(np.arange(200)[:, None] < 90, walk[:200, :3], walk[:200, :3] / 10.0)
    gaps = np.cumsum(rng.integers(990, 1010, 120)) + 5000 * np.cumsum(rng.integers(0, 20, 120) == 0)
    tenths = walk / 10.0
    other = np.random.default_rng(14)
    jumps = np.cumsum(other.integers(-1, 2, (900, 2)) + 900 * (other.integers(0, 15, (900, 2)) == 0), axis=0)
    spikes = other.integers(-4, 5, 400) + 3000 * (other.integers(0, 30, 400) == 0)
    digits = np.cumsum(np.rint(1e8 * other.standard_normal((500, 1))), axis=0) + 80e9
    programme = np.tile(np.repeat(other.integers(0, 2, 60), 8), 4).astype(float)[:, None]
    return {
        "rain": (rain, {"max_error": 0.05}),
        "switch": (switch, {"max_error": 0.5}),
        "periodic": (periodic, {"max_error": 2}),
        "echo": (np.array(echo, dtype=float)[:, None], {"max_error": 1}),
        "kelvin": ((27315 + 10 * walk[:200, :4]) / 100.0, {"max_error": 0}),
        "multiples": (walk[:200, :2] * 0.000598754, {"max_error": 0}),
        "levels": ((rng.integers(0, 9, (200, 2)) ** 2) / 7.0, {"max_error": 0, "samples_per_frame": 40}),
        "floats": (floats, {"max_error": 0}),
        "float32_decimals": (tenths[:200, :2].astype(np.float32).astype(float), {"max_error": 0}),
        "strange_floats": (strange, {"max_error": 0}),
        "finer_later": (finer, {"max_error": 0, "samples_per_frame": 24}),
        "large_group": (tenths[:120], {"max_error": 0.25}),
        "jumps": (jumps / 10.0, {"max_error": 0.1}),
        "spikes": (spikes[:, None] / 10.0, {"max_error": 0}),
        "many_digits": (digits / 1e9, {"max_error": 0}),
        "programme": (programme, {"max_error": 0.25}),
        "gaps_in_time": (tenths[:120, :3], {"max_error": 0.1, "time": gaps, "samples_per_frame": 10, "key_every": 100}),
    }


def all_cases() -> dict[int, dict[str, tuple[Any, dict[str, Any]]]]:
    """Return the cases of each version of the format."""
    return {1: cases(), 2: cases() | second_cases()}


def checksum(values: np.ndarray) -> int:
    """Return a checksum of what was decoded, type and all."""
    return zlib.crc32(values.astype(values.dtype.newbyteorder("<")).tobytes(), zlib.crc32(str(values.dtype).encode()))


def main(version: int = 2) -> None:
    sums = {}
    for name, (rows, words) in all_cases()[version].items():
        data = compress(rows, version=version, **words)
        (FOLDER / f"{name}.v{version}.ost").write_bytes(data)
        sums[name] = checksum(decompress(data))
    (FOLDER / f"checksums.v{version}.json").write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
