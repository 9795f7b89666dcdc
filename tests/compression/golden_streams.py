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
    """Return the readings and the words of `compress` for each golden file."""
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


def checksum(values: np.ndarray) -> int:
    """Return a checksum of what was decoded, type and all."""
    return zlib.crc32(values.astype(values.dtype.newbyteorder("<")).tobytes(), zlib.crc32(str(values.dtype).encode()))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    sums = {}
    for name, (rows, words) in cases().items():
        data = compress(rows, version=1, **words)
        (FOLDER / f"{name}.v1.ost").write_bytes(data)
        sums[name] = checksum(decompress(data))
    (FOLDER / "checksums.v1.json").write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
