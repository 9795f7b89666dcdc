"""Whole arrays in one call, both ways."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression import FrameError, OstReader, compress, decompress

Check = Callable[..., None]

REALS = ["float64", "float32"]
WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]


def of_type(dtype: str, size: int = 60) -> np.ndarray:
    generator = np.random.default_rng(0)
    if dtype == "bool":
        return generator.random((size, 3)) < 0.3
    if dtype in WHOLE:
        # Clear of the ends of the type, where a decoded number may lie beyond what was given.
        return generator.integers(10, 110, (size, 3)).astype(dtype)
    return (generator.normal(size=(size, 3)) * 100).astype(dtype)


@pytest.mark.parametrize("dtype", REALS + WHOLE)
@pytest.mark.parametrize("error", [0, 0.3, 1, 3.7])
def test_types_survive(assert_within: Check, dtype: str, error: float) -> None:
    rows = of_type(dtype)
    decoded = decompress(compress(rows, max_error=error))
    assert decoded.dtype == rows.dtype
    assert_within(decoded, rows, error)
    if error == 0:
        np.testing.assert_array_equal(decoded, rows)


@settings(max_examples=60, deadline=None)
@given(arrays(np.int32, st.tuples(st.integers(0, 20), st.integers(1, 3)), elements=st.integers(-(2**31), 2**31 - 1)))
def test_integers_without_any_error(rows: np.ndarray) -> None:
    np.testing.assert_array_equal(decompress(compress(rows, max_error=0)), rows)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(0, 20), st.integers(1, 3)), elements=st.floats(width=32)))
def test_single_precision_without_any_error(rows: np.ndarray) -> None:
    np.testing.assert_array_equal(decompress(compress(rows, max_error=0)), rows)


def test_decimals_without_any_error_to_the_bit() -> None:
    rows = np.round(np.random.default_rng(0).normal(size=(300, 4)) * 30, 2) + 0.0
    assert decompress(compress(rows, max_error=0)).tobytes() == rows.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_the_ends_of_a_type(assert_within: Check, dtype: str) -> None:
    ends = np.iinfo(dtype)
    rows = np.random.default_rng(0).integers(ends.min, ends.max, (60, 3), dtype=dtype, endpoint=True)
    assert_within(decompress(compress(rows, max_error=3)), rows, 3)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"relative_error": 0.001}, "relative_error"),
        ({"rmse": 0.1}, "rmse"),
        ({"bits_per_reading": 1}, "bits_per_reading"),
        ({"max_error": 0.6, "resolution": 0.1}, "resolution"),
    ],
)
def test_targets_that_integers_cannot_keep(words: dict[str, float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        compress(np.arange(50)[:, None], **words)


def test_half_precision() -> None:
    with pytest.raises(ValueError, match="float16"):
        compress(np.ones((5, 2), dtype=np.float16), max_error=0.3)


def test_masked_arrays_keep_their_gaps() -> None:
    rows = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(decompress(compress(rows, max_error=0)), [[1.0, np.nan], [3.0, 4.0]])


def test_extremes(assert_within: Check) -> None:
    rows = np.array([[1e308, -0.0, 5e-324], [-1e308, np.inf, np.nan], [np.finfo(float).max, -np.inf, 0.1]])
    for error in (0, 0.05, 1e300):
        assert_within(decompress(compress(rows, max_error=error)), rows, error)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [">f8", "<f4", ">i2"])
def test_layouts(order: str, dtype: str) -> None:
    rows = np.array(np.arange(60).reshape(20, 3), dtype=dtype, order=order)[::2]  # type: ignore[call-overload]
    decoded = decompress(compress(rows, max_error=0))
    np.testing.assert_array_equal(decoded, rows)
    assert decoded.dtype == rows.dtype.newbyteorder("=")


def test_no_samples() -> None:
    decoded = decompress(compress(np.empty((0, 3), dtype=np.float32), max_error=1))
    assert decoded.shape == (0, 3) and decoded.dtype == np.float32


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s", "m", "h", "D"])
def test_times(unit: str) -> None:
    stamps = np.datetime64("2020-02-03") + np.arange(30).astype(f"timedelta64[{unit}]")
    stamps = stamps.astype(f"datetime64[{unit}]")
    reader = OstReader(io.BytesIO(compress(np.zeros((30, 1)), max_error=1, time=stamps)))
    axis = reader.schema.time
    assert axis is not None
    found = np.concatenate([part.times for part in reader if part.times is not None])
    np.testing.assert_array_equal(found.astype(f"datetime64[{axis.unit}]"), stamps)


def test_integers_as_times() -> None:
    packed = compress(np.zeros((30, 1)), max_error=1, time=np.arange(30) * 5)
    found = np.concatenate([part.times for part in OstReader(io.BytesIO(packed)) if part.times is not None])
    np.testing.assert_array_equal(found, np.arange(30) * 5)


@pytest.mark.parametrize("rows", [np.zeros(3), np.zeros((3, 0)), np.zeros((2, 2, 2)), 5.0])
def test_shapes(rows: object) -> None:
    with pytest.raises(ValueError, match=r"expected an array of shape \(n_samples, n_sensors\), got"):
        compress(rows, max_error=1)


@pytest.mark.parametrize("rows", [[["a"]], [[None]], [[1j]]])
def test_what_is_no_number(rows: object) -> None:
    with pytest.raises(ValueError, match="must be numbers, got"):
        compress(rows, max_error=1)


@pytest.mark.parametrize("time", [[1, 2], [1.0, 2.0, 3.0], np.zeros((3, 1), dtype=int), np.arange(3).astype("m8[s]")])
def test_times_that_do_not_fit(time: object) -> None:
    with pytest.raises(ValueError, match="time must be 3 integers"):
        compress(np.zeros((3, 1)), max_error=1, time=time)  # type: ignore[arg-type]


def test_more_times_than_samples() -> None:
    with pytest.raises(ValueError, match="time"):
        compress(np.zeros((4096, 1)), max_error=1, time=np.arange(5000))


def test_a_missing_time() -> None:
    with pytest.raises(ValueError, match="time") as caught:
        compress(
            np.zeros((3, 1)), max_error=1, time=np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[s]")
        )
    assert not isinstance(caught.value, FrameError)


def test_every_truncation_is_refused() -> None:
    packed = compress(np.arange(20.0)[:, None], max_error=0.1)
    for size in range(len(packed)):
        with pytest.raises(FrameError):
            decompress(packed[:size])


def test_a_target_is_needed() -> None:
    with pytest.raises(ValueError, match="exactly one of max_error"):
        compress(np.zeros((3, 1)))
