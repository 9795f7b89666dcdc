"""Version 2 of the format: lattices of all kinds, which change as the stream goes on; both sides stay alike."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.codecs.codec import READINGS, UPDATE, Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.lattices import Floats, Levels, Linear
from orthostream.compression.codecs.conditional.lattices.changes import Change, put_changes
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS
from orthostream.compression.codecs.conditional.work import WorkPerFrame
from orthostream.compression.errors import FrameError
from orthostream.compression.targets import ErrorBound

RNG = np.random.default_rng(1)
WALK = np.cumsum(RNG.integers(-5, 6, (600, 3)), axis=0).astype(float)


def codecs(n: int, error: float = 0.0) -> tuple[ConditionalCodec, ConditionalCodec]:
    none = np.zeros(n, dtype=bool)
    bound = ErrorBound(np.full(n, error), None, none, none)
    return ConditionalCodec(n, bound=bound, version=2, accelerate=False), ConditionalCodec(
        n, version=2, accelerate=False
    )


def sent(rows: np.ndarray, frame: int, error: float = 0.0) -> tuple[ConditionalCodec, list[Payload]]:
    """Return the encoder and the payloads of some samples, all of which came back."""
    encoder, decoder = codecs(rows.shape[1], error)
    payloads = []
    for start in range(0, len(rows), frame):
        part = rows[start : start + frame]
        found = encoder.encode(part)
        back = np.concatenate([decoder.decode(payload) for payload in found])
        assert encoder.digest == decoder.digest
        if error == 0.0:
            np.testing.assert_array_equal(back, part)
        else:
            np.testing.assert_array_less(np.abs(back - part), np.asarray(error) * (1.0 + 1e-12))
        assert encoder.lattices == decoder.lattices
        payloads += found
    return encoder, payloads


def bits(payloads: list[Payload], rows: np.ndarray) -> float:
    return 8.0 * sum(len(payload.body) for payload in payloads) / rows.size


def change(*changes: Change) -> Payload:
    out = bytearray()
    n_levels = put_changes(out, changes)
    return Payload(UPDATE, bytes(out).ljust(n_levels // 64, b"\0"))


def test_finer_later() -> None:
    rows = WALK.copy()
    rows[200:] /= 10
    encoder, payloads = sent(rows, 25)
    assert encoder.lattices == [Linear(1, 1.0, 10.0)] * 3
    assert sum(payload.kind == UPDATE for payload in payloads) == 1
    assert bits(payloads, rows) < 6.0


def test_counts_times_a_constant() -> None:
    rows = WALK * (9.80665 / 16384)
    encoder, payloads = sent(rows, 60)
    assert encoder.lattices == [Linear(1, 9.80665 / 16384)] * 3
    assert bits(payloads, rows) < 6.0


def test_floats() -> None:
    rows = 20.0 + 0.01 * np.cumsum(RNG.standard_normal((300, 2)), axis=0)
    rows[5, 0], rows[7, 1], rows[9, 0], rows[11, 0] = 0.0, np.inf, np.nan, -0.0
    encoder, payloads = sent(rows, 50)
    assert all(isinstance(lattice, Floats) for lattice in encoder.lattices)
    assert bits(payloads, rows) < 50.0


def test_levels_are_learnt() -> None:
    rows = RNG.choice(RNG.random(40), (400, 2))
    encoder, payloads = sent(rows, 20)
    assert all(isinstance(lattice, Levels) and len(lattice.levels) >= 20 for lattice in encoder.lattices)
    assert bits(payloads[-5:], rows[-100:]) < 8.0


def test_levels_that_were_sent_as_they_are_need_no_telling() -> None:
    encoder, decoder = codecs(1)
    rows = RNG.choice(RNG.random(5), (300, 1))
    decoder.decode(encoder.encode(rows)[0])
    rows[7] = 0.123456789
    (payload,) = encoder.encode(rows)
    np.testing.assert_array_equal(decoder.decode(payload), rows)
    (lattice,) = decoder.lattices
    assert isinstance(lattice, Levels) and 0.123456789 in lattice.levels
    assert encoder.digest == decoder.digest


def test_many_new_levels_are_told_before() -> None:
    encoder, decoder = codecs(1)
    decoder.decode(encoder.encode(RNG.choice(RNG.random(5), (300, 1)))[0])
    rows = RNG.choice(RNG.random(30), (300, 1))
    first, second = encoder.encode(rows)
    assert (first.kind, second.kind) == (UPDATE, READINGS)
    assert len(decoder.decode(first)) == 0
    np.testing.assert_array_equal(decoder.decode(second), rows)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.sampled_from(["whole", "tenths", "kelvin", "levels", "floats", "counts", "odd"]), min_size=1, max_size=6
    ),
    st.integers(5, 40),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_whatever_comes_both_sides_stay_alike(kinds: list[str], frame: int, error: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = []
    for kind in kinds:
        walk = np.cumsum(rng.integers(-4, 5, (60, 2)), axis=0).astype(float)
        parts.append(
            {
                "whole": walk,
                "tenths": walk / 10,
                "kelvin": (walk * 10 + 27315) / 100,
                "levels": rng.choice(rng.random(6), (60, 2)),
                "floats": rng.standard_normal((60, 2)),
                "counts": walk * np.pi,
                "odd": rng.choice([np.inf, 1e300, 5e-324, -1e-300, 2.0**60], (60, 2)),
            }[kind]
        )
    rows = np.concatenate(parts)
    encoder, decoder = codecs(2, error)
    for start in range(0, len(rows), frame):
        part = rows[start : start + frame]
        back = np.concatenate([decoder.decode(payload) for payload in encoder.encode(part)])
        same = back == part
        with np.errstate(invalid="ignore"):
            assert (same | (np.abs(back - part) <= error)).all()
        assert encoder.digest == decoder.digest
        assert encoder.lattices == decoder.lattices


def test_within_a_bound() -> None:
    rows = (WALK * 10 + 27315) / 100
    encoder, _ = sent(rows, 40, 0.3)
    assert encoder.lattices == [Linear(6, 4.0, 40.0, 4.0)] * 3


@cache
def two_with_levels() -> Payload:
    """Return a first payload, of two sensors with few levels."""
    rng = np.random.default_rng(2)
    return codecs(2)[0].encode(rng.choice(rng.random(5), (300, 2)))[0]


@cache
def levels_and_floats() -> bytes:
    """Return a first payload, of a sensor with few levels and one without any."""
    rng = np.random.default_rng(2)
    rows = np.stack([rng.choice(rng.random(5), 200), rng.standard_normal(200)], axis=1)
    return codecs(2)[0].encode(rows)[0].body


class TestRefusal:
    def test_changes_before_the_first_samples(self) -> None:
        with pytest.raises(FrameError, match="before there are any"):
            codecs(1)[1].decode(change(Change(0, Linear())))

    def test_version_1_has_no_changes(self) -> None:
        with pytest.raises(FrameError, match="kind"):
            ConditionalCodec(1, accelerate=False, version=1).decode(change(Change(0, Linear())))

    @pytest.mark.parametrize(
        ("payload", "message"),
        [
            (Payload(UPDATE, b""), "changes nothing"),
            (Payload(UPDATE, bytes(9)), "changes nothing"),
            (change(Change(3, Linear())), "more than"),
            (change(Change(0, Levels(np.array([1.0])), added=True)), "has none"),
            (Payload(UPDATE, b"\x02\x00\x00\x01"), "no sensor"),
            (Payload(UPDATE, b"\x02\x00\x01\x04\x01\x01\x01\x00" * 2), "twice"),
        ],
    )
    def test_impossible_changes(self, payload: Payload, message: str) -> None:
        encoder, decoder = codecs(3)
        decoder.decode(encoder.encode(WALK[:20])[0])
        with pytest.raises(FrameError, match=message):
            decoder.decode(payload)

    def test_too_many_levels(self) -> None:
        encoder, decoder = codecs(1)
        decoder.decode(encoder.encode(WALK[:20, :1])[0])
        decoder.decode(change(Change(0, Levels(np.arange(float(MOST_LEVELS))))))
        with pytest.raises(FrameError, match="more than"):
            decoder.decode(change(Change(0, Levels(np.array([0.5])), added=True)))

    def test_changes_of_many_sensors_in_few_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        encoder, decoder = codecs(1000)
        decoder.decode(encoder.encode(np.zeros((1, 1000)))[0])
        monkeypatch.setattr(WorkPerFrame, "free", 100)
        with pytest.raises(FrameError, match="cannot change"):
            decoder.decode(change(*(Change(i, Linear(1, 1.0, 10.0)) for i in range(1000))))

    @settings(max_examples=10, deadline=None)
    @given(st.binary(max_size=40), st.sampled_from([READINGS, UPDATE]))
    def test_any_bytes_are_refused_or_understood(self, body: bytes, kind: int) -> None:
        decoder = codecs(2)[1]
        decoder.decode(two_with_levels())
        try:
            found = decoder.decode(Payload(kind, body))
        except FrameError:
            return
        assert found.shape[1] == 2

    @settings(max_examples=10, deadline=None)
    @given(st.data())
    def test_damaged_payloads_are_refused_or_understood(self, data: st.DataObject) -> None:
        first = bytearray(levels_and_floats())
        at = data.draw(st.integers(0, len(first) - 1))
        first[at] ^= data.draw(st.integers(1, 255))
        try:
            codecs(2)[1].decode(Payload(READINGS, bytes(first)))
        except FrameError:
            return
