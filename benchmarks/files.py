"""Files larger than memory: `orthostream compress` and `decompress` as commands, their time and their peak memory."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray

from .measure import SEED, Record, say, table, write_json

N_SENSORS = 56
_ROWS = 2000
#: Readings of the files, quick and in full.
SIZES: dict[bool, tuple[int, ...]] = {True: (10**5, 10**6), False: (10**6, 10**7)}
_ERROR = 0.5


def _city(n_samples: int, seed: int) -> FloatArray:
    """Return tenths of degrees: a weather that all sensors share, and what each adds; 2 % are missing."""
    rng = np.random.default_rng(seed)
    hours = np.arange(n_samples)[:, None]
    shared = 0.3 * rng.standard_normal((n_samples, 1)).cumsum(axis=0) / np.sqrt(1.0 + hours / 500.0)
    own = 0.4 * rng.standard_normal((n_samples, N_SENSORS))
    readings = np.round(10.0 + 6.0 * np.sin(2.0 * np.pi * hours / 24.0) + shared + own, 1)
    readings[rng.random(readings.shape) < 0.02] = np.nan
    return readings


def write_table(path: Path, n_samples: int) -> None:
    """Write a CSV file, a piece at a time."""
    start = np.datetime64("2020-01-01T00:00:00")
    with path.open("w", encoding="utf-8") as file:
        file.write("time," + ",".join(f"sensor {i}" for i in range(N_SENSORS)) + "\n")
        for first in range(0, n_samples, _ROWS):
            rows = _city(min(_ROWS, n_samples - first), SEED + first)
            stamps = start + (first + np.arange(len(rows))) * np.timedelta64(1, "h")
            for stamp, row in zip(stamps, rows.tolist(), strict=True):
                file.write(f"{stamp}," + ",".join("" if value != value else f"{value:.1f}" for value in row) + "\n")


def measured(command: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds and its peak memory in megabytes."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "orthostream.cli.main", *command], stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"orthostream {command[0]} failed: {errors.decode(errors='replace')}")
    # Kilobytes on Linux, bytes on a Mac.
    return time.perf_counter() - start, usage.ru_maxrss / (1024.0 if sys.platform != "darwin" else 1024.0**2)


def run(options: argparse.Namespace) -> None:
    """Measure, print and write."""
    records: list[Record] = []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for readings in SIZES[options.quick]:
            source, packed, back = (Path(folder) / name for name in ("readings.csv", "readings.ost", "back.csv"))
            say(f"a table of {readings:,} readings ...")
            write_table(source, -(-readings // N_SENSORS))
            compress = measured(["compress", str(source), str(packed), "--max-error", str(_ERROR), "--force"])
            decompress = measured(["decompress", str(packed), str(back), "--force"])
            sizes = source.stat().st_size, packed.stat().st_size
            setting = f"{readings:.0e} readings"
            for command, (seconds, memory) in (("compress", compress), ("decompress", decompress)):
                records += [
                    Record("files", command, setting, "seconds", seconds),
                    Record("files", command, setting, "peak megabytes", memory),
                ]
            records += [Record("files", "compress", setting, "bytes", float(sizes[1]))]
            rows.append(
                (
                    f"{readings:,}",
                    [f"{sizes[0] / 1e6:.1f}", f"{sizes[1] / 1e6:.2f}"]
                    + [f"{seconds:.1f} s, {memory:.0f} MB" for seconds, memory in (compress, decompress)],
                )
            )
    title = f"{N_SENSORS} sensors, tenths of a degree within {_ERROR} degrees; peak memory of the whole process"
    print(table(title, "readings", ["CSV MB", ".ost MB", "compress", "decompress"], rows))
    if options.figure is not None:
        say("this benchmark draws no figure")
    if options.json is not None:
        write_json(records, options.json)
        print(f"records: {options.json}")
