"""What tests of the codec share: readings, a way there and back, and what "within the bound" means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from orthostream.compression import Column, Decoder, Encoder, Readings, Schema, TimeAxis


def make_readings(n_samples: int = 60, n_sensors: int = 3, seed: int = 0, missing: float = 0.05) -> np.ndarray:
    """Return readings in tenths that go together and have gaps."""
    generator = np.random.default_rng(seed)
    shared = np.cumsum(generator.normal(size=(n_samples, 1)), axis=0)
    rows = np.round(20.0 + shared + 0.3 * generator.normal(size=(n_samples, n_sensors)), 1)
    rows[generator.random(rows.shape) < missing] = np.nan
    return rows


def timed_schema(n_sensors: int, unit: str = "s") -> Schema:
    """Return a schema of numbered columns with times."""
    return Schema(Schema.of(n_sensors).columns, TimeAxis("time", unit))


def send(rows: np.ndarray, times: np.ndarray | None = None, *, push: int | None = None, **settings: object) -> Readings:
    """Return what a decoder makes of readings that an encoder was given, ``push`` samples at a time."""
    rows = np.asarray(rows)
    schema = settings.pop("schema", None) or (
        Schema.of(rows.shape[1]) if times is None else timed_schema(rows.shape[1])
    )
    encoder, decoder = Encoder(schema, **settings), Decoder()  # type: ignore[arg-type]
    frames: list[bytes] = []
    for start in range(0, len(rows), push or len(rows)):
        part = slice(start, start + (push or len(rows)))
        frames += encoder.push(rows[part], None if times is None else times[part])
    frames += encoder.flush()
    decoder.push(encoder.header)
    parts = [decoder.push(frame) for frame in frames]
    values = np.concatenate([part.values for part in parts])
    if times is None:
        assert all(part.times is None for part in parts)
        return Readings(values, None)
    return Readings(values, np.concatenate([part.times for part in parts if part.times is not None]))


def assert_within(decoded: np.ndarray, rows: np.ndarray, limits: object) -> None:
    """Check that missing stays missing, infinite stays infinite, and everything else is near enough."""
    decoded, rows = np.asarray(decoded, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    assert decoded.shape == rows.shape
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows))
    infinite, finite = np.isinf(rows), np.isfinite(rows)
    np.testing.assert_array_equal(decoded[infinite], rows[infinite])
    errors = np.abs(decoded[finite] - rows[finite])
    assert np.all(errors <= np.broadcast_to(np.asarray(limits), rows.shape)[finite]), errors.max()


@pytest.fixture(name="make_readings")
def make_readings_fixture() -> Callable[..., np.ndarray]:
    return make_readings


@pytest.fixture(name="timed_schema")
def timed_schema_fixture() -> Callable[..., Schema]:
    return timed_schema


@pytest.fixture(name="send")
def send_fixture() -> Callable[..., Readings]:
    return send


@pytest.fixture(name="assert_within")
def assert_within_fixture() -> Callable[..., None]:
    return assert_within


@pytest.fixture
def named_schema() -> Schema:
    """Three named sensors with units and times."""
    columns = (Column("roof", "degC"), Column("cellar", "degC"), Column("garden", "degC"))
    return Schema(columns, TimeAxis("time", "s"))
