"""The decoder in C, written from docs/format.md, gives the same bits as ours."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.compression import Column, OstReader, OstWriter, Schema, TimeAxis
from orthostream.compression import compress as compress_newest

_SOURCES = sorted((Path(__file__).parents[2] / "examples" / "c").glob("*.c"))
_PROBE = "#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }\n"

Decode = Callable[[bytes], subprocess.CompletedProcess[str]]


def compress(*readings: np.ndarray, **words: Any) -> bytes:
    """Write the version of the format that the decoder knows."""
    return compress_newest(*readings, version=1, **words)


@pytest.fixture(scope="module")
def decode(tmp_path_factory: pytest.TempPathFactory) -> Decode:
    """Return a function that runs the program, compiled for the tests of this module, on the bytes of a file."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("c")
    (folder / "probe.c").write_text(_PROBE)
    probe = [compiler, "-o", folder / "probe", folder / "probe.c", "-lz"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("zlib.h is not installed")
    program = folder / "ost_decode"
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-o", program]
    made = subprocess.run([*command, *_SOURCES, "-lz", "-lm"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr

    def run(data: bytes) -> subprocess.CompletedProcess[str]:
        (folder / "readings.ost").write_bytes(data)
        arguments = [program, folder / "readings.ost"]
        return subprocess.run(arguments, capture_output=True, encoding="utf-8", timeout=60, check=False)

    return run


def _walks(n_samples: int, n_sensors: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    shared = np.cumsum(generator.normal(size=(n_samples, 1)), axis=0)
    return 20.0 + shared + 0.3 * generator.normal(size=(n_samples, n_sensors))


def _dirty(n_samples: int, n_sensors: int) -> np.ndarray:
    """Return readings with gaps, infinities, jumps, and sensors that come late and leave early."""
    generator = np.random.default_rng(1)
    rows = _walks(n_samples, n_sensors)
    rows[generator.random(rows.shape) < 0.1] = np.nan
    rows[generator.random(rows.shape) < 0.01] = np.inf
    rows[generator.random(rows.shape) < 0.01] = -np.inf
    rows[generator.random(rows.shape) < 0.01] *= 1e200
    rows[n_samples // 2 :, 0] = np.nan
    rows[: n_samples // 3, 1] = np.nan
    rows[n_samples // 2 :, 2] += 1e6
    return rows


def _irregular(n_samples: int) -> np.ndarray:
    generator = np.random.default_rng(2)
    times = np.cumsum(60 * generator.integers(1, 3, n_samples))
    times[n_samples // 2 :] += 7
    return times


_FILES = {
    "times": lambda: compress(np.round(_walks(400, 6), 1), max_error=0.5, time=3600 * np.arange(400), period=24),
    "irregular times": lambda: compress(
        _walks(150, 3), max_error=0.5, time=_irregular(150), samples_per_frame=7, key_every=200
    ),
    "times backwards": lambda: compress(_walks(9, 3), max_error=0.5, time=-5 * np.arange(9), samples_per_frame=2),
    "frames of one": lambda: compress(_dirty(200, 4), max_error=2.0, samples_per_frame=1, key_every=300),
    "dirty": lambda: compress(_dirty(300, 9), max_error=0.01),
    "lossless": lambda: compress(_dirty(60, 4), max_error=0.0),
    "relative": lambda: compress(_dirty(200, 5), relative_error=0.02),
    "float32": lambda: compress(_walks(200, 5).astype(np.float32), max_error=0.01),
    "relative float32": lambda: compress(_walks(200, 5).astype(np.float32), relative_error=0.001),
    "integers": lambda: compress((1000.0 * _walks(200, 4)).astype(np.int32), max_error=37),
    "wide": lambda: compress(1e5 * _walks(200, 3), max_error=0.01),
    "groups": lambda: compress(_walks(60, 200), max_error=0.1),
    "constant": lambda: compress(np.ones((5000, 3)), max_error=0.5),
    "missing": lambda: compress(np.full((300, 3), np.nan), max_error=0.5),
    "empty": lambda: compress(np.empty((0, 3)), max_error=0.5),
}


@pytest.mark.parametrize("name", _FILES)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_same_bits(decode: Decode, name: str) -> None:
    data = _FILES[name]()
    done = decode(data)
    assert done.returncode == 0, done.stderr
    reader = OstReader(io.BytesIO(data))
    parts = list(reader)
    lines = list(csv.reader(io.StringIO(done.stdout)))[1:]
    if reader.schema.time is not None:
        assert [int(line[0]) for line in lines] == [int(time) for part in parts for time in part.times]
        lines = [line[1:] for line in lines]
    values = np.concatenate([np.empty((0, len(reader.schema.columns))), *(part.values for part in parts)])
    decoded = np.array([[float(cell or "nan") for cell in line] for line in lines]).reshape(values.shape)
    np.testing.assert_array_equal(decoded.view(np.int64), values.view(np.int64))


def test_names_are_kept(decode: Decode) -> None:
    names = ['say "so"', "a,b", "Zürich €", "\N{GRINNING FACE}", "back\\slash", "tab\there"]
    file = io.BytesIO()
    with OstWriter(file, Schema(tuple(map(Column, names)), TimeAxis("när", "s")), max_error=0.5, version=1) as writer:
        writer.write(_walks(5, len(names)), np.arange(5))
    assert next(csv.reader(io.StringIO(decode(file.getvalue()).stdout))) == ["när", *names]


def test_a_file_that_was_cut_short_is_printed_up_to_its_last_whole_frame(decode: Decode) -> None:
    data = compress(_walks(40, 3), max_error=0.1, samples_per_frame=10)
    whole = decode(data).stdout
    for end in range(len(data) - 1, 0, -7):
        done = decode(data[:end])
        assert done.returncode in (1, 2) and done.stderr
        assert whole.startswith(done.stdout)


def test_a_flipped_bit_is_found(decode: Decode) -> None:
    data = compress(_walks(40, 3), max_error=0.1, samples_per_frame=10)
    whole = decode(data).stdout
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        done = decode(bytes(damaged))
        assert done.returncode in (1, 2) and done.stderr
        assert whole.startswith(done.stdout)


def test_another_codec_is_refused(decode: Decode) -> None:
    done = decode(compress(_walks(40, 3), rmse=0.5))
    assert done.returncode == 1 and "codec" in done.stderr
