"""Whatever is sent comes out within its target, on both sides alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream._compile import can_compile
from orthostream.compression.codecs.codec import DICTIONARY, MOST_READINGS_PER_BYTE, READINGS, UPDATE, Payload
from orthostream.compression.codecs.paper.dictionary_update import QuantisedDictionary
from orthostream.compression.codecs.transform import TransformCodec, dictionary_offer
from orthostream.compression.codecs.transform.budget_control import FRAME_BITS, START_UP_BITS


def sensors(n_rows: int = 480, n_sensors: int = 8, seed: int = 0) -> np.ndarray:
    """Days of correlated sensors with gaps."""
    generator = np.random.default_rng(seed)
    hours = np.arange(n_rows)[:, None]
    common = (
        10.0 + 6.0 * np.sin(hours * (2.0 * np.pi / 24.0)) + np.cumsum(generator.normal(size=(n_rows, 1)) * 0.3, axis=0)
    )
    rows = common + generator.normal(size=n_sensors) + generator.normal(size=(n_rows, n_sensors)) * 0.4
    gone = np.cumsum(generator.random((n_rows, n_sensors)) < 0.02, axis=0) % 5 == 1
    return np.where(gone, np.nan, rows)


def sent(rows: np.ndarray, size: int, **target) -> tuple[np.ndarray, list[Payload], TransformCodec]:
    """Send samples in batches and return what arrives, checking that both sides stay alike."""
    edge, cloud = (TransformCodec(rows.shape[1], **target) for _ in range(2))
    given, received, payloads = rows.copy(), [], []
    for start in range(0, len(rows), size):
        for payload in edge.encode(rows[start : start + size]):
            payloads.append(payload)
            received.append(cloud.decode(payload))
        assert edge.digest == cloud.digest
    np.testing.assert_array_equal(rows, given)
    return np.concatenate(received), payloads, edge


def squares(rows: np.ndarray, decoded: np.ndarray) -> tuple[float, int]:
    seen = np.isfinite(rows)
    return float(np.square(rows[seen] - decoded[seen]).sum()), int(seen.sum())


@pytest.mark.parametrize("size", [1, 6, 24, 100])
@pytest.mark.parametrize("rmse", [0.02, 0.3, 1.0, 20.0])
def test_the_error_is_kept_after_every_payload(rmse: float, size: int) -> None:
    rows = sensors(192)
    edge, cloud = TransformCodec(8, rmse=rmse), TransformCodec(8, rmse=rmse)
    total, readings, done = 0.0, 0, 0
    for start in range(0, len(rows), size):
        for payload in edge.encode(rows[start : start + size]):
            decoded = cloud.decode(payload)
            error, count = squares(rows[done : done + len(decoded)], decoded)
            total, readings, done = total + error, readings + count, done + len(decoded)
            assert total <= rmse * rmse * readings
    assert done == len(rows)


def test_a_large_error_costs_little() -> None:
    rows = sensors()
    bits = [
        8 * sum(len(p.body) for p in sent(rows, 24, rmse=rmse)[1]) / np.isfinite(rows).sum() for rmse in (0.1, 0.5, 2.0)
    ]
    assert bits[0] < 4.5
    assert bits[1] < 1.5
    assert bits[2] < 0.6


@pytest.mark.parametrize("size", [6, 24])
@pytest.mark.parametrize("budget", [0.5, 1.0, 3.0])
def test_the_budget_is_kept_after_every_payload(budget: float, size: int) -> None:
    rows = sensors(1440, 16)
    decoded, payloads, _ = sent(rows, size, bits_per_reading=budget)
    readings = np.cumsum(np.isfinite(rows).sum(axis=1))[size - 1 :: size]
    bits = np.cumsum([8 * len(payload.body) + FRAME_BITS for payload in payloads])
    assert (bits <= np.maximum(START_UP_BITS, budget * readings)).all()
    assert bits[-1] > 0.8 * budget * readings[-1] or np.sqrt(np.nanmean((rows - decoded) ** 2)) < 0.05


def test_a_larger_budget_makes_a_smaller_error() -> None:
    rows = sensors(960, 16)
    errors = []
    for budget in (0.5, 1.0, 2.0, 4.0):
        decoded, _, _ = sent(rows, 24, bits_per_reading=budget)
        errors.append(np.sqrt(np.nanmean((rows - decoded) ** 2)))
    assert errors == sorted(errors, reverse=True)


readings = st.one_of(
    st.floats(-100.0, 100.0),
    st.floats(),
    st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, -10157.0]),
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.tuples(st.integers(1, 40), st.integers(1, 5)).flatmap(
        lambda shape: arrays(float, shape, elements=readings)
    ),
    size=st.integers(1, 40),
    rmse=st.sampled_from([1e-3, 0.5, 1e4]),
)
def test_anything_survives_under_an_error(rows: np.ndarray, size: int, rmse: float) -> None:
    decoded, _, _ = sent(rows, size, rmse=rmse, fast=False)
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows))
    infinite = np.isinf(rows)
    np.testing.assert_array_equal(decoded[infinite], rows[infinite])
    error, count = squares(rows, decoded)
    assert error <= rmse * rmse * count


@settings(max_examples=30, deadline=None)
@given(
    rows=st.tuples(st.integers(1, 30), st.integers(1, 4)).flatmap(
        lambda shape: arrays(float, shape, elements=readings)
    ),
    size=st.integers(1, 40),
    budget=st.sampled_from([0.1, 2.0, 50.0]),
)
@example(rows=np.full((24, 1), 8.4e78), size=1, budget=0.1)
@example(rows=np.full((24, 2), 1e-90), size=1, budget=0.1)
@example(rows=np.where(np.arange(48).reshape(24, 2) == 2, 37.0, np.nan), size=1, budget=0.1)
def test_anything_survives_under_a_budget(rows: np.ndarray, size: int, budget: float) -> None:
    decoded, _, _ = sent(rows, size, bits_per_reading=budget, fast=False)
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows))
    infinite = np.isinf(rows)
    np.testing.assert_array_equal(decoded[infinite], rows[infinite])
    assert np.isfinite(decoded[np.isfinite(rows)]).all()


@pytest.mark.parametrize("target", [{"rmse": 0.5}, {"bits_per_reading": 1.0}])
@pytest.mark.parametrize(
    "rows",
    [
        np.full((50, 3), 7.25),
        np.zeros((50, 3)),
        np.full((50, 3), np.nan),
        np.full((30, 2), np.inf),
        sensors(1),
        sensors(100, 1),
        sensors(300, 60),
    ],
    ids=["constant", "zero", "missing", "infinite", "one sample", "one sensor", "many sensors"],
)
def test_special_streams(rows: np.ndarray, target: dict[str, float]) -> None:
    decoded, _, _ = sent(rows, 12, **target)
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows))
    if "rmse" in target:
        error, count = squares(rows, decoded)
        assert error <= 0.25 * count


def test_what_never_changes_costs_next_to_nothing() -> None:
    _, payloads, _ = sent(np.full((2400, 20), 7.25), 24, rmse=0.5)
    assert max(len(payload.body) for payload in payloads[5:]) <= -(-24 * 20 // MOST_READINGS_PER_BYTE)


def test_a_reading_far_off_arrives_exactly_and_harms_no_other() -> None:
    rows = sensors(240)
    rows[100, 3] = -10157.0
    rows[150, 2] = 1e17
    decoded, payloads, _ = sent(rows, 24, rmse=0.5)
    assert decoded[100, 3] == -10157.0
    assert decoded[150, 2] == 1e17
    clean = sensors(240)
    plain = sent(clean, 24, rmse=0.5)[1]
    assert sum(len(p.body) for p in payloads) < sum(len(p.body) for p in plain) + 60


def test_a_sensor_that_moves_for_good_is_believed() -> None:
    rows = sensors(720)
    rows[240:, 3] += 5000.0
    _, payloads, _ = sent(rows, 24, rmse=0.5)
    _, plain, _ = sent(sensors(720), 24, rmse=0.5)
    assert sum(len(p.body) for p in payloads[14:]) < 2.0 * sum(len(p.body) for p in plain[14:])


@pytest.mark.skipif(not can_compile(), reason="Numba is not installed")
@pytest.mark.parametrize("target", [{"rmse": 0.3}, {"bits_per_reading": 0.7}])
def test_compiled_loops_make_the_same_bytes(target: dict[str, float]) -> None:
    rows = sensors(240)
    rows[50, 1] = np.inf
    slow, quick = (sent(rows, 24, fast=fast, **target) for fast in (False, True))
    assert slow[1] == quick[1]
    np.testing.assert_array_equal(slow[0], quick[0])


def test_restart_forgets_everything() -> None:
    rows = sensors(96)
    codec = TransformCodec(8, rmse=0.5)
    digest = codec.digest
    first = codec.encode(rows)
    assert codec.digest != digest
    codec.restart()
    assert codec.digest == digest
    assert codec.encode(rows) == first


@pytest.mark.parametrize("n_sensors", [8, pytest.param(2048, marks=pytest.mark.slow)])
def test_only_very_many_samples_are_sent_as_several_payloads(n_sensors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if n_sensors != 2048:
        monkeypatch.setattr("orthostream.compression.codecs.transform.codec.MOST_READINGS", 64 * n_sensors)
    for n_rows, expected in ((64, 1), (65, 2)):
        codec = TransformCodec(n_sensors, rmse=0.5)
        payloads = codec.encode(np.zeros((n_rows, n_sensors)))
        assert [payload.kind for payload in payloads] == [READINGS] * expected


@pytest.mark.parametrize(
    "words",
    [
        {"rmse": None},
        {"bits_per_reading": 1.0},
        {"rmse": 0.0},
        {"rmse": -1.0},
        {"rmse": np.nan},
        {"rmse": np.inf},
        {"n_sensors": 0},
        {"n_sensors": 2.5},
        {"n_sensors": 100_000},
        {"period": 0},
    ],
)
def test_bad_words(words: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be|give either"):
        TransformCodec(**({"n_sensors": 3, "rmse": 1.0} | words))


@pytest.mark.parametrize("shape", [(0, 3), (2, 2), (3,)])
def test_bad_rows(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="rows must have shape"):
        TransformCodec(3, rmse=1.0).encode(np.zeros(shape))


def mixed(n_rows: int, n_sensors: int = 30) -> np.ndarray:
    """Three courses, each in all sensors at once, so that a few dense atoms say everything."""
    generator = np.random.default_rng(7)
    atoms = np.linalg.qr(generator.normal(size=(n_sensors, 3)))[0]
    courses = generator.normal(size=(n_rows, 3)) * [9.0, 7.0, 5.0]
    return courses @ atoms.T + 0.05 * generator.normal(size=(n_rows, n_sensors))


@pytest.mark.parametrize("target", [{"rmse": 0.5}, {"bits_per_reading": 0.5}])
def test_a_dictionary_is_not_sent_where_it_does_not_pay(target: dict[str, float]) -> None:
    rows = mixed(720)
    _, payloads, edge = sent(rows, 24, learn=True, **target)
    assert payloads == sent(rows, 24, **target)[1]
    assert edge.basis == "adapted"


@pytest.mark.parametrize("target", [{"rmse": 0.5}, {"bits_per_reading": 1.5}])
def test_dictionaries_are_followed_by_the_other_side(target: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary_offer, "_FRAME_BITS", -(10**9))
    rows = mixed(720)
    decoded, payloads, edge = sent(rows, 24, learn=True, **target)
    kinds = [payload.kind for payload in payloads]
    assert kinds.count(DICTIONARY) == 1
    assert kinds.count(UPDATE) >= 1
    assert edge.basis == "learnt"
    assert decoded.shape == rows.shape
    if "rmse" in target:
        assert np.mean((rows - decoded) ** 2) <= 0.25


def test_atoms_that_were_sent_lead_the_basis_of_both_sides() -> None:
    rows = mixed(48, 12)
    edge, cloud = TransformCodec(12, rmse=0.5), TransformCodec(12, rmse=0.5)
    cloud.decode(edge.encode(rows)[0])
    atoms = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 8)))[0].T
    payload = QuantisedDictionary(8, 12).key(atoms, relative_error=0.01)
    edge._state.take(payload)
    assert cloud.decode(payload).shape == (0, 12)
    assert edge.digest == cloud.digest
    assert cloud.basis == "learnt"
    basis = cloud._state.basis.components
    np.testing.assert_allclose(basis @ basis.T, np.eye(12), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(basis[:8] @ atoms.T, axis=1), 1.0, atol=0.01)
    np.testing.assert_array_equal(cloud.decode(edge.encode(rows)[0]).shape, rows.shape)
    assert edge.digest == cloud.digest
