"""Example 1 of the paper, from the edge to the cloud."""

from __future__ import annotations

import zlib
from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression.codecs.codec import DICTIONARY, MOST_READINGS_PER_BYTE, READINGS, UPDATE, Payload
from orthostream.compression.codecs.paper.codec import PaperCodec
from orthostream.compression.errors import FrameError
from orthostream.datasets import load_airly, make_bernoulli_gaussian

Sent = list[Payload]


def transmit(rows: np.ndarray, edge: PaperCodec, cloud: PaperCodec, size: int = 6) -> tuple[np.ndarray, Sent]:
    """Send rows in mini-batches; both sides must agree after each."""
    received, sent = [], []
    for start in range(0, len(rows), size):
        for payload in edge.encode(rows[start : start + size]):
            received.append(cloud.decode(payload))
            sent.append(payload)
        assert edge.digest == cloud.digest
        assert (edge.components == cloud.components).all()
    return np.concatenate(received), sent


def pair(n_sensors: int, n_nonzero: int = 2, **words: object) -> tuple[PaperCodec, PaperCodec]:
    return tuple(PaperCodec(n_sensors, n_nonzero, **words) for _ in range(2))  # type: ignore[arg-type,return-value]


def relative(rows: np.ndarray, received: np.ndarray) -> float:
    known = ~np.isnan(rows)
    return float(np.linalg.norm((received - rows)[known]) / np.linalg.norm(rows[known]))


@pytest.fixture
def sparse_rows() -> np.ndarray:
    """Samples that are sparse, at most three atoms of eight, in a dictionary that nobody has."""
    data = make_bernoulli_gaussian(3000, 8, sparsity=0.15, random_state=1)
    return data.samples  # type: ignore[no-any-return]


@pytest.mark.parametrize("words", [{}, {"rotation_error": 0.01}, {"memory": 1}, {"value_bits": 16, "angle_bits": 12}])
def test_a_dictionary_is_learnt_and_sent(sparse_rows: np.ndarray, words: dict[str, float]) -> None:
    edge, cloud = pair(8, 3, preset="exact", **words)
    received, sent = transmit(sparse_rows, edge, cloud, 10)
    assert received.shape == sparse_rows.shape
    assert sent[0].kind == READINGS
    kinds = [payload.kind for payload in sent]
    assert kinds.count(DICTIONARY) >= 1
    assert kinds.count(UPDATE) == 0 if "rotation_error" not in words else kinds.count(DICTIONARY) == 1
    assert relative(sparse_rows[-1000:], received[-1000:]) < 0.25 * relative(sparse_rows[:10], received[:10])


def test_costs_add_up(sparse_rows: np.ndarray) -> None:
    rows = sparse_rows.copy()
    rows[100:140, 3] = np.nan
    edge, cloud = pair(8, 3, value_bits=9)
    _, sent = transmit(rows, edge, cloud)
    dictionaries = [payload for payload in sent if payload.kind != READINGS]
    assert sum(edge.bytes_sent.values()) == pytest.approx(sum(len(payload.body) for payload in sent))
    assert edge.bytes_sent["dictionary"] == sum(len(payload.body) for payload in dictionaries)
    assert edge.bytes_sent["values"] == 3000 * 3 * 9 / 8
    assert edge.bytes_sent["indices"] == 3000 * np.ceil(np.log2(comb(8, 3))) / 8
    assert 0 < edge.bytes_sent["mask"] < 20
    assert edge.values_sent["values"] == edge.values_sent["indices"] == 9000
    assert edge.values_sent["dictionary"] == 28 * len(dictionaries)


def test_a_lower_threshold_sends_more_dictionaries_and_makes_smaller_errors(sparse_rows: np.ndarray) -> None:
    counts, errors = [], []
    for threshold in (0.05, 0.5, np.inf):
        received, sent = transmit(sparse_rows, *pair(8, 3, threshold=threshold))
        counts.append(sum(payload.kind != READINGS for payload in sent))
        errors.append(relative(sparse_rows, received))
    assert counts == sorted(counts, reverse=True) and counts[-1] == 0
    assert errors == sorted(errors)


def test_missing_readings_stay_missing_and_do_no_harm(sparse_rows: np.ndarray) -> None:
    gaps = np.random.default_rng(0).random(sparse_rows.shape) < 0.1
    gaps[50] = True
    gaps[60:66] = True
    rows = np.where(gaps, np.nan, sparse_rows)
    received, _ = transmit(rows, *pair(8, 3, preset="exact"))
    assert (np.isnan(received) == gaps).all()
    whole, _ = transmit(sparse_rows, *pair(8, 3, preset="exact"))
    assert relative(rows[1000:], received[1000:]) < relative(sparse_rows[1000:], whole[1000:]) + 0.05


def test_all_coefficients_are_as_good_as_their_bits() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 5))
    received, _ = transmit(rows, *pair(5, 5, value_bits=20))
    assert np.abs(received - rows).max() < 1e-4


def test_fewer_atoms_than_sensors() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(600, 2)) @ random.normal(size=(2, 9))
    received, sent = transmit(rows, *pair(9, 2, n_components=3, angle_bits=12, preset="compression"))
    assert relative(rows[300:], received[300:]) < 0.05
    assert any(payload.kind == DICTIONARY for payload in sent)


def test_rows_are_not_written_to() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 4))
    rows[3, 1] = np.nan
    before = rows.copy()
    rows.flags.writeable = False
    PaperCodec(4, 2).encode(rows)
    assert np.array_equal(rows, before, equal_nan=True)


def test_infinite_readings_are_refused_before_anything_has_changed() -> None:
    codec, other = pair(4)
    rows = np.zeros((5, 4))
    rows[3, 2] = -np.inf
    with pytest.raises(ValueError, match="sensor 2 reads -inf in row 3"):
        codec.encode(rows)
    assert codec.digest == other.digest and sum(codec.bytes_sent.values()) == 0


def test_restart_forgets_everything(sparse_rows: np.ndarray) -> None:
    codec, new = pair(8, 3)
    rows = sparse_rows[:300].copy()
    rows[-1, 2] = np.nan
    first = [codec.encode(rows[start : start + 6]) for start in range(0, 300, 6)]
    assert codec.digest != new.digest
    codec.restart()
    assert codec.digest == new.digest and sum(codec.values_sent.values()) == 0
    assert [codec.encode(rows[start : start + 6]) for start in range(0, 300, 6)] == first


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (7, 3), elements=st.floats(allow_infinity=False) | st.sampled_from([np.nan, 0.0, 5e-324, 1.7e308])),
    st.integers(1, 3),
)
@example(np.full((7, 3), 1.7976931348623157e308), 1)
@example(np.full((7, 3), -5e-324), 3)
@example(np.full((7, 3), np.nan), 2)
@example(np.zeros((7, 3)), 2)
def test_any_readings(rows: np.ndarray, n_nonzero: int) -> None:
    received, _ = transmit(rows, *pair(3, n_nonzero), 2)
    assert (np.isnan(received) == np.isnan(rows)).all()
    assert not np.isinf(received).any()
    if n_nonzero == 3:
        scale = np.maximum.reduceat(np.nanmax(np.abs(rows), axis=1, initial=0.0), [0, 2, 4, 6]).repeat(2)[:7, None]
        assert (np.abs(received / 8 - rows / 8) <= 0.01 * scale / 8 + 5e-324)[~np.isnan(rows)].all()


def test_long_batches_are_cut() -> None:
    rows = np.zeros((500, 40))
    edge, cloud = pair(40, 1)
    received, sent = transmit(rows, edge, cloud, 500)
    assert len(sent) == 3 and received.shape == rows.shape
    assert max(len(payload.body) for payload in sent) <= rows.size / MOST_READINGS_PER_BYTE


@pytest.fixture
def recorded(sparse_rows: np.ndarray) -> Sent:
    rows = sparse_rows[:120].copy()
    rows[30:50, 1] = np.nan
    return transmit(rows, *pair(8, 3))[1]


def test_truncated_and_longer_bytes(recorded: Sent) -> None:
    cloud = PaperCodec(8, 3)
    for payload in recorded:
        for body in (*(payload.body[:size] for size in range(len(payload.body))), payload.body + b"\0"):
            digest = cloud.digest
            with pytest.raises(FrameError):
                cloud.decode(Payload(payload.kind, body))
            assert cloud.digest == digest
        cloud.decode(payload)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([READINGS, DICTIONARY, UPDATE, 9]), st.binary(max_size=80))
@example(READINGS, b"\xff\xff\x00\x00\x00\x00\x00")
@example(READINGS, b"\x03\x00\x09\x00\x01\x00\x00" + b"\xff" * 40)
@example(READINGS, b"\x01\x00\x00\x00\xff\xb0\x04" + b"\x7f" * 4)
def test_hostile_bytes(kind: int, body: bytes) -> None:
    cloud = PaperCodec(8, 3)
    try:
        rows = cloud.decode(Payload(kind, body))
    except FrameError:
        return
    assert rows.shape[1] == 8 and rows.nbytes <= 1 << 16 and not np.isinf(rows).any()


#: Payloads of six sensors, made of 12 samples in mini-batches of four.
CONFORMANCE = [
    (READINGS, "04000200f8f3ffa717569fa76973eefd0fba7e07c3fec757d87680"),
    (DICTIONARY, "010000000806b9a25a965ad198866c920515245280"),
    (READINGS, "04000200b0f4ff59101702dc4544ca243bacbc03119d97fd44fa40"),
    (UPDATE, "01000000c6004e5591960000006298a96d8670b203bd"),
    (READINGS, "04000200d1f4ffa5c22ffc9f6c05ed57dcc0ba0bc56c00"),
]


def test_bits_that_never_change() -> None:
    cloud = PaperCodec(6, 3, rotation_error=0.05)
    received = np.concatenate([cloud.decode(Payload(kind, bytes.fromhex(body))) for kind, body in CONFORMANCE])
    assert cloud.digest == 0x145B783F
    # NaN may have any of many bit patterns.
    assert np.isnan(received).sum() == 8
    assert zlib.crc32(np.nan_to_num(received).astype("<f8").tobytes()) == 0x546C4F4C


@pytest.mark.parametrize(
    "words",
    [
        {"n_sensors": 0},
        {"n_sensors": 2.0},
        {"n_nonzero": 0},
        {"n_nonzero": 6},
        {"n_components": 7},
        {"value_bits": 1},
        {"value_bits": 25},
        {"angle_bits": 1},
        {"threshold": -0.1},
        {"threshold": np.nan},
        {"memory": 0.5},
        {"preset": "best"},
        {"rotation_error": 0.0},
    ],
)
def test_bad_words(words: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        PaperCodec(**({"n_sensors": 5, "n_nonzero": 3} | words))  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(0, 4), (3, 5), (4,), (1, 1, 4)])
def test_bad_rows(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="rows must have shape"):
        PaperCodec(4, 2).encode(np.zeros(shape))


@pytest.mark.slow
def test_airly_temperature(airly_folder: object) -> None:
    """Three months of the paper's data, all bytes counted."""
    rows = load_airly(airly_folder).data[:2160]  # type: ignore[arg-type]
    edge, cloud = pair(56, 8, preset="compression")
    received, sent = transmit(rows, edge, cloud)
    known = ~np.isnan(rows)
    bits = 8 * sum(len(payload.body) for payload in sent) / known.sum()
    assert bits < 6.0
    assert np.sqrt(((received - rows)[known] ** 2).mean()) < 1.0


class TestReports:
    def test_the_gap_falls_as_the_dictionary_is_learnt(self) -> None:
        rng = np.random.default_rng(3)
        basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
        rows = np.where(rng.random((6000, 6)) < 0.2, rng.normal(size=(6000, 6)), 0.0) @ basis
        edge = PaperCodec(6, n_nonzero=3)
        assert edge.frank_wolfe_gap is None
        gaps = []
        for start in range(0, 6000, 100):
            edge.encode(rows[start : start + 100])
            gaps.append(edge.frank_wolfe_gap)
        assert min(gaps) >= 0.0 and np.mean(gaps[-10:]) < 0.25 * gaps[0] and np.mean(gaps[-10:]) < 0.05
        # A stationary point up to noise, so the atoms are those that made the samples.
        assert np.abs(edge.components @ basis.T).max(axis=1).min() > 0.9

    def test_scale_and_gaps_of_readings_do_not_matter(self) -> None:
        rng = np.random.default_rng(3)
        rows = rng.laplace(size=(50, 4))
        found = []
        for factor in (1.0, 2.0**300, 2.0**-300):
            edge = PaperCodec(4, n_nonzero=2)
            edge.encode(factor * rows)
            found.append(edge.frank_wolfe_gap)
        np.testing.assert_allclose(found, found[0])
        rows[::3, 1] = np.nan
        edge = PaperCodec(4, n_nonzero=2)
        edge.encode(rows)
        assert 0.0 <= edge.frank_wolfe_gap <= 2.0
        edge.restart()
        assert edge.frank_wolfe_gap is None
        edge.encode(np.full((3, 4), np.nan))
        assert edge.frank_wolfe_gap is None
        edge.encode(np.zeros((3, 4)))
        assert edge.frank_wolfe_gap == 0.0

    def test_epochs_and_bits(self) -> None:
        rows = np.outer(np.sin(np.arange(60)), [1.0, 2.0, 3.0]) + 10.0
        edge, cloud = PaperCodec(3, n_nonzero=1), PaperCodec(3, n_nonzero=1)
        assert edge.dictionary.epoch == 0 and edge.bits == {}
        payloads = [payload for start in range(0, 60, 6) for payload in edge.encode(rows[start : start + 6])]
        for payload in payloads:
            cloud.decode(payload)
        assert edge.dictionary.epoch == cloud.dictionary.epoch == sum(each.kind != 0 for each in payloads) >= 1
        np.testing.assert_array_equal(edge.dictionary.components, cloud.dictionary.components)
        assert sum(edge.bits.values()) == pytest.approx(8 * sum(len(each.body) for each in payloads))
        assert cloud.frank_wolfe_gap is None
