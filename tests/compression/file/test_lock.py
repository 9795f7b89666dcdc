"""One writer of a file at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression import OstReader, OstWriter, Schema

ROWS = np.zeros((5, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.ost"
    with OstWriter(path, Schema.of(1), max_error=1) as writer:
        writer.write(ROWS)
    return path


def n_samples(path: Path) -> int:
    with OstReader(path) as reader:
        count = sum(len(part.values) for part in reader)
        assert reader.complete
    return count


def test_two_appenders(path: Path) -> None:
    with OstWriter(path, Schema.of(1), append=True) as writer:
        writer.write(ROWS)
        with pytest.raises(OSError, match=f"another program is writing to this file.*{path.name}"):
            OstWriter(path, Schema.of(1), append=True)
        writer.write(ROWS)
    assert n_samples(path) == 15
    with OstWriter(path, Schema.of(1), append=True) as writer:
        writer.write(ROWS)
    assert n_samples(path) == 20


def test_two_writers_of_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new.ost"
    with OstWriter(path, Schema.of(1), max_error=1) as writer:
        writer.write(ROWS)
        with pytest.raises(OSError, match=r"new\.ost\.part"):
            OstWriter(path, Schema.of(1), max_error=1)
        writer.write(ROWS)
    assert n_samples(path) == 10
    assert [each.name for each in tmp_path.iterdir()] == ["new.ost"]


def test_a_lock_ends_with_its_writer(path: Path) -> None:
    OstWriter(path, Schema.of(1), append=True).abandon()
    OstWriter(path, Schema.of(1), max_error=1).abandon()
    with pytest.raises(ValueError, match="other columns"):
        OstWriter(path, Schema.of(2), append=True)
    with pytest.raises(ValueError, match="samples_per_frame"):
        OstWriter(path, Schema.of(1), append=True, samples_per_frame=0)
    with OstWriter(path, Schema.of(1), append=True) as writer:
        writer.write(ROWS)
    assert n_samples(path) == 10


def test_another_process(path: Path) -> None:
    program = f"""
from orthostream.compression import OstWriter, Schema
try:
    OstWriter({str(path)!r}, Schema.of(1), append=True)
except OSError as error:
    print(error.strerror)
"""
    with OstWriter(path, Schema.of(1), append=True):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "another program is writing" in done.stdout


def test_a_part_that_was_left_behind_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "new.ost"
    (tmp_path / "new.ost.part").write_bytes(b"old" * 1000)
    with OstWriter(path, Schema.of(1), max_error=1) as writer:
        writer.write(ROWS)
    assert n_samples(path) == 5
