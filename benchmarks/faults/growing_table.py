"""The source of the readings: a CSV file that grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray, IntArray

N_SENSORS = 20
SENSORS = [f"s{place:02d}" for place in range(N_SENSORS)]
_START = np.datetime64("2026-01-01T00:00:00", "s")
#: Of the readings, how many are missing.
_MISSING = 0.02


class GrowingTable:
    """A CSV file of readings that drift, with two decimals, one sample a second; each time occurs once.

    Parameters
    ----------
    path : path
    seed : int
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.n_samples = 0
        self._rng = np.random.default_rng(seed)
        self._level = self._rng.normal(15.0, 5.0, N_SENSORS)
        path.write_text("time," + ",".join(SENSORS) + "\n", encoding="utf-8")

    def append(self, count: int) -> None:
        """Write some more samples; lines may be cut in two for a moment, as other programs write them."""
        steps = self._rng.normal(0.0, 0.05, (count, N_SENSORS))
        rows = self._level + np.cumsum(steps, axis=0)
        self._level = rows[-1]
        rows = np.round(rows + self._rng.normal(0.0, 0.02, rows.shape), 2)
        rows[self._rng.random(rows.shape) < _MISSING] = np.nan
        stamps = _START + np.arange(self.n_samples, self.n_samples + count)
        text = "".join(
            f"{stamp}," + ",".join("" if value != value else f"{value:.2f}" for value in row) + "\n"
            for stamp, row in zip(stamps, rows.tolist(), strict=True)
        )
        cut = int(self._rng.integers(len(text)))
        for part in (text[:cut], text[cut:]):
            with self.path.open("a", encoding="utf-8") as file:
                file.write(part)
        self.n_samples += count


def read_table(path: Path) -> tuple[IntArray, FloatArray]:
    """Return the times of a table, in seconds since 1970, and its readings; read without the package."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines]
    times = np.array([row[0] for row in cells], dtype="datetime64[s]").astype(np.int64)
    readings = np.array([[float(cell or "nan") for cell in row[1:]] for row in cells])
    return times, readings
