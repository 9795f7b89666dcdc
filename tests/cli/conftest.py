"""What tests of the commands share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def orthostream() -> Run:
    """Run the command in a process of its own, with bytes for standard input."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "orthostream.cli.main", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A week of hourly readings of three sensors, some of them missing."""
    random = np.random.default_rng(0)
    hours = np.arange(168)
    field = 10.0 + 5.0 * np.sin(hours / 24 * 2 * np.pi) + random.normal(0.0, 0.3, 168).cumsum()
    readings = np.round(field[:, None] + random.normal(0.0, 0.5, (168, 3)), 1)
    readings[40:50, 1] = np.nan
    lines = ["time,a [degC],b,n"]
    for hour, row in zip(hours.tolist(), readings.tolist(), strict=True):
        cells = ["" if value != value else f"{value:.1f}" for value in row[:2]]
        lines.append(f"2017-01-{1 + hour // 24:02d}T{hour % 24:02d}:00,{','.join(cells)},{round(row[2])}")
    path = tmp_path / "readings.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
