"""The default codec: every reading within its bound, and the same bytes from plain and from compiled code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream._compile import can_compile
from orthostream.compression.codecs.codec import DICTIONARY, READINGS, UPDATE, Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.groups import LARGEST_GROUP
from orthostream.compression.codecs.conditional.resolution import NO_RESOLUTION, Resolution
from orthostream.compression.codecs.conditional.work import WorkPerByte
from orthostream.compression.errors import FrameError
from orthostream.compression.schema import Column
from orthostream.compression.targets import ErrorBound
from orthostream.compression.targets.keywords import choose_target
from orthostream.datasets import load_airly

needs_numba = pytest.mark.skipif(not can_compile(), reason="Numba is not installed: there is only one path")

Check = Callable[..., None]

#: What a sensor should never say, and what is hard to be near to.
EXTREMES = [
    0.0,
    -0.0,
    5e-324,
    -2e-310,
    1e-300,
    1.0,
    -1.0,
    0.1,
    0.3,
    1e15,
    2.0**53,
    1e17,
    1e308,
    -1e308,
    np.finfo(float).max,
]
EXTREMES += [np.nan, np.inf, -np.inf]

anything = st.floats(width=64) | st.sampled_from(EXTREMES)
decimals = st.integers(-500, 500).map(lambda count: count / 10) | st.just(np.nan)
shapes = st.tuples(st.integers(1, 10), st.integers(1, 4))
samples = arrays(np.float64, shapes, elements=anything) | arrays(np.float64, shapes, elements=decimals)
bounds = st.sampled_from([0.0, 1e-300, 1e-9, 0.05, 0.1, 0.5, 1.0, 7.3, 1e6, 1e300])


def error_bound(n_sensors: int, dtypes: list[str] | None = None, **target: object) -> ErrorBound:
    names = dtypes or ["float64"] * n_sensors
    bound = choose_target(None, target).bound([Column(str(i), dtype=name) for i, name in enumerate(names)])
    assert bound is not None
    return bound


def transmit(rows: np.ndarray, bound: ErrorBound, size: int = 24, **words: object) -> np.ndarray:
    """Send rows from one codec to another; both must agree after every payload."""
    accelerate = words.pop("accelerate", None)
    sender = ConditionalCodec(rows.shape[1], bound=bound, accelerate=accelerate, **words)  # type: ignore[arg-type]
    words.pop("resolutions", None)
    receiver = ConditionalCodec(rows.shape[1], accelerate=accelerate, **words)  # type: ignore[arg-type]
    received = []
    for start in range(0, len(rows), size):
        for payload in sender.encode(rows[start : start + size]):
            received.append(receiver.decode(payload))
        assert sender.digest == receiver.digest
    return np.concatenate(received)


@settings(max_examples=250, deadline=None)
@given(samples, bounds, st.sampled_from([1, 3, 24]))
def test_the_bound_holds_whatever_comes(rows: np.ndarray, error: float, size: int) -> None:
    bound = error_bound(rows.shape[1], max_error=error)
    check(transmit(rows, bound, size), rows, bound)


@settings(max_examples=150, deadline=None)
@given(samples, st.sampled_from([1e-15, 1e-6, 0.01, 0.3, 0.999]))
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_the_relative_bound_holds_whatever_comes(rows: np.ndarray, error: float) -> None:
    bound = error_bound(rows.shape[1], relative_error=error)
    check(transmit(rows, bound, 5), rows, bound)


def check(decoded: np.ndarray, rows: np.ndarray, bound: ErrorBound) -> None:
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows))
    infinite, finite = np.isinf(rows), np.isfinite(rows)
    np.testing.assert_array_equal(decoded[infinite], rows[infinite])
    assert np.all(np.abs(decoded[finite] - rows[finite]) <= bound.limits(rows)[finite])


@settings(max_examples=60, deadline=None)
@given(samples, st.data())
def test_each_sensor_has_its_own_bound(rows: np.ndarray, data: st.DataObject) -> None:
    errors = [data.draw(bounds) for _ in range(rows.shape[1])]
    bound = error_bound(rows.shape[1], max_error=errors)
    check(transmit(rows, bound), rows, bound)


def odd_streams() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    t = np.arange(80.0)[:, None]
    walk = np.cumsum(generator.normal(size=(80, 3)), axis=0)
    mixed = np.column_stack([np.round(walk[:, 0]), np.round(walk[:, 1], 1), np.round(walk[:, 2], 3), walk[:, 0]])
    holes = np.round(walk, 1)
    holes[generator.random(holes.shape) < 0.5] = np.nan
    return {
        "constant": np.full((80, 3), 21.7),
        "steps": np.where(t < 40, -7.3, 1e6) * np.ones(3),
        "alternating extremes": np.where(t % 2 == 0, 1e308, -1e308) * np.ones(2),
        "alternating": np.where(t % 2 == 0, 1e12, -1e12) * np.ones(2),
        "growing": 2.0 ** t[:60] * np.ones(2),
        "swinging": (-1.5) ** t * np.array([1.0, -3.0]),
        "huge offset": 1e15 + walk,
        "larger offset": 1e18 + np.round(walk * 1e3) * 256.0,
        "mixed resolutions": mixed,
        "tenths": np.round(walk, 1),
        "missing": holes,
        "nothing": np.full((30, 3), np.nan),
        "late": np.where(t < 60, np.nan, np.round(walk, 1)),
        "outliers": np.where(generator.random((80, 3)) < 0.05, -10157.0, np.round(walk, 1)),
        "denormals": 5e-324 * np.round(100 * walk),
        "infinities": np.where(generator.random((80, 3)) < 0.1, np.inf, walk),
        "zeros of both signs": np.where(t % 3 == 0, -0.0, 0.0) * np.ones(2),
    }


@pytest.mark.parametrize("name", odd_streams())
@pytest.mark.parametrize("error", [0.0, 0.05, 0.1, 1.0])
@pytest.mark.parametrize("resolutions", ["looked for", "none", "tenths"])
def test_odd_streams(name: str, error: float, resolutions: str) -> None:
    rows = odd_streams()[name]
    n = rows.shape[1]
    declared = {"looked for": None, "none": [NO_RESOLUTION] * n, "tenths": [Resolution(1, 10)] * n}[resolutions]
    bound = error_bound(n, max_error=error)
    check(transmit(rows, bound, 7, resolutions=declared, period=5), rows, bound)


@needs_numba
@pytest.mark.parametrize("name", odd_streams())
@pytest.mark.parametrize("words", [{"max_error": 0.1}, {"relative_error": 0.01}, {"max_error": 0.0}])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_plain_and_compiled_code_agree_to_the_bit(name: str, words: dict[str, float]) -> None:
    rows = odd_streams()[name][:40]
    n = rows.shape[1]
    plain, fast = (
        ConditionalCodec(n, bound=error_bound(n, **words), period=6, accelerate=accelerate)
        for accelerate in (False, True)
    )
    readers = [ConditionalCodec(n, period=6, accelerate=accelerate) for accelerate in (False, True)]
    for start in range(0, len(rows), 8):
        payloads = [codec.encode(rows[start : start + 8]) for codec in (plain, fast)]
        assert payloads[0] == payloads[1]
        for payload in payloads[0]:
            decoded = [reader.decode(payload) for reader in readers]
            assert decoded[0].tobytes() == decoded[1].tobytes()
        assert len({codec.digest for codec in (plain, fast, *readers)}) == 1


@needs_numba
@settings(max_examples=40, deadline=None)
@given(samples, bounds)
def test_plain_and_compiled_code_agree_whatever_comes(rows: np.ndarray, error: float) -> None:
    bound = error_bound(rows.shape[1], max_error=error)
    plain, fast = (ConditionalCodec(rows.shape[1], bound=bound, accelerate=accelerate) for accelerate in (False, True))
    for row in rows[:, None, :]:
        assert plain.encode(row) == fast.encode(row)


@pytest.mark.parametrize("places", [0, 1, 3])
def test_no_error_at_all_for_integers_and_decimals(places: int) -> None:
    rows = np.round(np.cumsum(np.random.default_rng(places).normal(size=(100, 3)), axis=0), places)
    assert transmit(rows, error_bound(3, max_error=0)).tobytes() == rows.tobytes()


@settings(max_examples=150, deadline=None)
@given(samples, st.sampled_from([1, 3, 24]))
@example(np.array([EXTREMES[:-3]] * 3), 1)
@example(np.array([EXTREMES[:-3]] * 3).T, 3)
def test_no_error_is_the_same_bits(rows: np.ndarray, size: int) -> None:
    """Zeros of either sign, subnormals, infinities and all; only the bits of a missing reading are not kept."""
    decoded = transmit(rows, error_bound(rows.shape[1], max_error=0), size)
    gone = np.isnan(rows)
    np.testing.assert_array_equal(np.isnan(decoded), gone)
    assert decoded[~gone].tobytes() == rows[~gone].tobytes()


def test_every_pattern_of_nan_is_a_missing_reading() -> None:
    patterns = np.array(
        [0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8DEADBEEF0000, 0x7FFFFFFFFFFFFFFF], dtype=np.uint64
    )
    rows = np.concatenate([[1.0], patterns.view(np.float64), [2.0]])[:, None]
    decoded = transmit(rows, error_bound(1, max_error=0))
    assert np.isnan(decoded[1:-1]).all()
    assert decoded[[0, -1], 0].tolist() == [1.0, 2.0]


def test_a_bound_makes_zero_of_minus_zero() -> None:
    """Within a bound its sign is not worth a reading that is sent as it is."""
    rows = np.round(np.sin(np.arange(200.0))[:, None] / 8, 1)
    assert (np.signbit(rows) & (rows == 0.0)).any()
    codec = ConditionalCodec(1, bound=error_bound(1, max_error=0.02), accelerate=False)
    codec.encode(rows)
    assert codec.bits["exact"] == 0.0


def test_whole_and_single_types() -> None:
    generator = np.random.default_rng(3)
    rows = np.column_stack([generator.integers(-50, 50, 60), generator.normal(size=60).astype(np.float32)]).astype(
        float
    )
    bound = error_bound(2, max_error=[1.7, 0.01], dtypes=["int8", "float32"])
    decoded = transmit(rows, bound)
    check(decoded, rows, bound)
    np.testing.assert_array_equal(decoded[:, 0], np.rint(decoded[:, 0]))
    np.testing.assert_array_equal(decoded[:, 1], decoded[:, 1].astype(np.float32))


def test_more_sensors_than_a_group_holds() -> None:
    generator = np.random.default_rng(1)
    rows = np.round(np.cumsum(generator.normal(size=(12, 2 * LARGEST_GROUP + 3)), axis=0), 1)
    rows[generator.random(rows.shape) < 0.1] = np.nan
    rows[3, 5] = np.inf
    bound = error_bound(rows.shape[1], max_error=0.1)
    check(transmit(rows, bound, 5), rows, bound)


def test_rows_are_not_changed(make_readings: Callable[..., np.ndarray]) -> None:
    rows = make_readings()
    before = rows.tobytes()
    transmit(rows, error_bound(3, max_error=0.1))
    transmit(np.asfortranarray(rows)[::2, ::-1], error_bound(3, max_error=0.1))
    assert rows.tobytes() == before


def test_restart_is_a_new_life(make_readings: Callable[..., np.ndarray]) -> None:
    rows = make_readings()
    codec = ConditionalCodec(3, bound=error_bound(3, max_error=0.1))
    newly_made = codec.digest
    first = codec.encode(rows)
    assert codec.digest != newly_made
    assert len(codec.encode(rows)[0].body) < len(first[0].body)
    codec.restart()
    assert codec.digest == newly_made
    assert codec.lattices == []
    assert codec.encode(rows) == first


def test_leaving_the_lattice_asks_for_a_restart_in_version_1() -> None:
    codec = ConditionalCodec(1, bound=error_bound(1, max_error=0.0), version=1)
    codec.encode(np.arange(50.0)[:, None])
    assert not codec.wants_restart
    codec.encode(np.arange(50.0)[:, None] + 0.5)
    assert codec.wants_restart
    codec.restart()
    assert not codec.wants_restart


def test_leaving_the_lattice_changes_it_in_version_2() -> None:
    codec = ConditionalCodec(1, bound=error_bound(1, max_error=0.0))
    codec.encode(np.arange(50.0)[:, None])
    kinds = [payload.kind for payload in codec.encode(np.arange(50.0)[:, None] + 0.5)]
    assert kinds == [UPDATE, READINGS]
    assert not codec.wants_restart


def test_bits_are_told(make_readings: Callable[..., np.ndarray]) -> None:
    codec = ConditionalCodec(3, bound=error_bound(3, max_error=0.1))
    size = sum(len(payload.body) for payload in codec.encode(make_readings(200)))
    assert set(codec.bits) == {"missing", "readings", "exact"}
    assert abs(sum(codec.bits.values()) / 8 - size) < 24


def test_the_side_that_decodes_cannot_encode() -> None:
    with pytest.raises(ValueError, match="without a bound"):
        ConditionalCodec(1).encode(np.zeros((1, 1)))


@pytest.mark.parametrize(("kind", "version"), [(DICTIONARY, 1), (UPDATE, 1), (DICTIONARY, 2), (7, 2)])
def test_payloads_of_other_codecs(kind: int, version: int) -> None:
    with pytest.raises(FrameError, match="kind"):
        ConditionalCodec(1, version=version).decode(Payload(kind, b"123"))


def test_a_few_bytes_are_never_many_readings_in_version_1() -> None:
    """Payloads are filled up with zeros, as many as their work takes."""
    codec = ConditionalCodec(2, bound=error_bound(2, max_error=1.0), version=1)
    limit = WorkPerByte()
    for count in (1, 1000, 5000):
        payload = codec.encode(np.zeros((count, 2)))[0]
        assert count * limit.of_sample([2]) <= limit.afforded(len(payload.body))


@pytest.mark.parametrize("body", [b"", b"\x00", b"\x01", b"\xff" * 50])
def test_first_payloads_that_nobody_writes(body: bytes) -> None:
    with pytest.raises(FrameError):
        ConditionalCodec(3).decode(Payload(READINGS, body))


@pytest.mark.parametrize("error", [0.5, 1.0])
def test_real_temperatures(airly_folder: Path, error: float) -> None:
    rows = load_airly(airly_folder).data[:500]
    bound = error_bound(rows.shape[1], max_error=error)
    check(transmit(rows, bound, 24, period=24), rows, bound)
