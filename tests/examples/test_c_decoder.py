"""The decoder in C, written from docs/format.md, gives the same bits as ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.compression import Column, OstReader, OstWriter, Schema, TimeAxis, compress

from .conftest import Decode

_GOLDEN = Path(__file__).parents[1] / "compression" / "golden"


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


def _rain(n_samples: int, n_sensors: int) -> np.ndarray:
    generator = np.random.default_rng(3)
    wet = generator.random((n_samples, n_sensors)) < 0.1
    return np.where(wet, np.round(generator.exponential(2.0, wet.shape), 1), 0.0)


def _switches(n_samples: int, n_sensors: int) -> np.ndarray:
    generator = np.random.default_rng(4)
    return (np.cumsum(generator.random((n_samples, n_sensors)) < 0.02, axis=0) % 2).astype(float)


def _steps(n_samples: int) -> np.ndarray:
    generator = np.random.default_rng(5)
    return np.round(np.repeat(generator.normal(20.0, 3.0, (n_samples // 20, 2)), 20, axis=0), 1)


def _periodic(n_samples: int) -> np.ndarray:
    day = np.round(10.0 * np.sin(np.arange(48) / 7.0), 2)
    return np.resize(day, n_samples)[:, None] + np.array([0.0, 3.0])


def _vibration(n_samples: int) -> np.ndarray:
    generator = np.random.default_rng(6)
    return (100.0 * np.sin(np.arange(n_samples) / 3.0) + 3.0 * generator.normal(size=n_samples))[:, None]


def _levels(n_samples: int, seed: int = 7) -> np.ndarray:
    """Return readings that are some of 30 numbers; a few more come later."""
    generator = np.random.default_rng(seed)
    rows = generator.choice(generator.normal(size=30), size=(n_samples, 3))
    rows[n_samples // 2 :: 9] = generator.choice(generator.normal(size=8), size=rows[n_samples // 2 :: 9].shape)
    return rows


def _fractions(n_samples: int) -> np.ndarray:
    generator = np.random.default_rng(8)
    return generator.integers(0, 400, (n_samples, 2)) / generator.integers(1, 12, (n_samples, 2))


def _finer(n_samples: int) -> np.ndarray:
    half = n_samples // 2
    return np.concatenate([np.round(_walks(half, 2)), np.round(_walks(half, 2, 5), 2)])


#: What readings are compressed, and how.
_CASES: dict[str, tuple[Callable[[], np.ndarray], dict[str, Any]]] = {
    "times": (lambda: np.round(_walks(400, 6), 1), {"max_error": 0.5, "time": 3600 * np.arange(400), "period": 24}),
    "irregular times": (
        lambda: _walks(150, 3),
        {"max_error": 0.5, "time": _irregular(150), "samples_per_frame": 7, "key_every": 200},
    ),
    "times backwards": (lambda: _walks(9, 3), {"max_error": 0.5, "time": -5 * np.arange(9), "samples_per_frame": 2}),
    "frames of one": (lambda: _dirty(200, 4), {"max_error": 2.0, "samples_per_frame": 1, "key_every": 300}),
    "dirty": (lambda: _dirty(300, 9), {"max_error": 0.01}),
    "dirty, lossless": (lambda: _dirty(60, 4), {"max_error": 0.0}),
    "relative": (lambda: _dirty(200, 5), {"relative_error": 0.02}),
    "float32": (lambda: _walks(200, 5).astype(np.float32), {"max_error": 0.01}),
    "float32, lossless": (lambda: _walks(200, 5).astype(np.float32), {"max_error": 0.0}),
    "float64, lossless": (lambda: _walks(300, 3), {"max_error": 0.0}),
    "relative float32": (lambda: _walks(200, 5).astype(np.float32), {"relative_error": 0.001}),
    "integers": (lambda: (1000.0 * _walks(200, 4)).astype(np.int32), {"max_error": 37}),
    "wide": (lambda: 1e5 * _walks(200, 3), {"max_error": 0.01}),
    "groups": (lambda: _walks(60, 200), {"max_error": 0.1}),
    "a large group": (lambda: np.round(2.0 * _walks(600, 40)) / 2.0, {"max_error": 0.3}),
    "constant": (lambda: np.ones((5000, 3)), {"max_error": 0.5}),
    "missing": (lambda: np.full((300, 3), np.nan), {"max_error": 0.5}),
    "empty": (lambda: np.empty((0, 3)), {"max_error": 0.5}),
    "rain": (lambda: _rain(800, 4), {"max_error": 0.05}),
    "rain, lossless": (lambda: _rain(800, 4), {"max_error": 0.0}),
    "switches": (lambda: _switches(900, 5), {"max_error": 0.0}),
    "steps": (lambda: _steps(800), {"max_error": 0.0, "samples_per_frame": 10}),
    "periodic": (lambda: _periodic(960), {"max_error": 0.01, "period": 48}),
    "high rate": (lambda: _vibration(2000), {"max_error": 0.5, "samples_per_frame": 100}),
    "one sensor": (lambda: np.round(_walks(1500, 1), 2), {"max_error": 0.05}),
    "finer later": (lambda: _finer(600), {"max_error": 0.0, "samples_per_frame": 20}),
    "levels": (lambda: _levels(400), {"max_error": 0.0, "samples_per_frame": 25}),
    "fractions": (lambda: _fractions(500), {"max_error": 0.0}),
    "Kelvin": (lambda: np.round(_walks(300, 3), 1) + 273.15, {"max_error": 0.0, "samples_per_frame": 50}),
}
_FILES = [(name, version) for name in _CASES for version in (1, 2)]


@cache
def _file(name: str, version: int) -> bytes:
    rows, words = _CASES[name]
    return compress(rows(), version=version, **words)


def _check_same_bits(decode: Decode, data: bytes) -> None:
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


@pytest.mark.parametrize(("name", "version"), _FILES)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_same_bits(decode: Decode, name: str, version: int) -> None:
    _check_same_bits(decode, _file(name, version))


@pytest.mark.parametrize("path", sorted(_GOLDEN.glob("*.ost")), ids=lambda path: path.name)
def test_the_same_bits_of_golden_files(decode: Decode, path: Path) -> None:
    if path.name.startswith(("rmse", "budget", "paper")):
        assert "codec" in decode(path.read_bytes()).stderr
    else:
        _check_same_bits(decode, path.read_bytes())


@pytest.mark.parametrize("version", [1, 2])
def test_names_are_kept(decode: Decode, version: int) -> None:
    names = ['say "so"', "a,b", "Zürich €", "\N{GRINNING FACE}", "back\\slash", "tab\there"]
    file = io.BytesIO()
    schema = Schema(tuple(map(Column, names)), TimeAxis("när", "s"))
    with OstWriter(file, schema, max_error=0.5, version=version) as writer:
        writer.write(_walks(5, len(names)), np.arange(5))
    assert next(csv.reader(io.StringIO(decode(file.getvalue()).stdout))) == ["när", *names]


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_that_was_cut_short_is_printed_up_to_its_last_whole_frame(decode: Decode, version: int) -> None:
    data = compress(_walks(40, 3), max_error=0.1, samples_per_frame=10, version=version)
    whole = decode(data).stdout
    for end in range(len(data) - 1, 0, -7):
        done = decode(data[:end])
        assert done.returncode in (1, 2) and done.stderr
        assert whole.startswith(done.stdout)


@pytest.mark.parametrize("version", [1, 2])
def test_a_flipped_bit_is_found(decode: Decode, version: int) -> None:
    data = compress(_walks(40, 3), max_error=0.1, samples_per_frame=10, version=version)
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
