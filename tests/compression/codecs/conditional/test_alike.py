"""Plain and compiled code, encoder and decoder: the same bytes and the same states, whatever comes."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream._compile import can_compile
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.errors import FrameError

from ...kernel.groups import assert_same_state
from .crafted import body_of, bound_of, opening

needs_numba = pytest.mark.skipif(not can_compile(), reason="Numba is not installed: there is only one path")

KINDS = ["walk", "constant", "jumps", "infinities", "levels", "floats", "noise", "switch", "drift", "nothing", "zeros"]


def column(kind: str, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the readings of a nasty sensor."""
    walk = np.cumsum(rng.integers(-4, 5, n_samples)).astype(float)
    if kind == "drift":
        # It runs away, and is then missing for long.
        gone = 2.0 ** np.minimum(np.arange(n_samples), 37)
        gone[n_samples // 4 : -2] = np.nan
        return gone
    return {
        "walk": walk / 10,
        "constant": np.full(n_samples, 21.7),
        "jumps": np.where(rng.random(n_samples) < 0.1, rng.choice([1e12, -1e15, 3e300], n_samples), walk),
        "infinities": np.where(rng.random(n_samples) < 0.2, rng.choice([np.inf, -np.inf], n_samples), walk),
        "levels": rng.choice(rng.random(6), n_samples),
        "floats": rng.normal(size=n_samples),
        "noise": np.rint(1e9 * rng.normal(size=n_samples)),
        "switch": 37.0 * (np.cumsum(rng.random(n_samples) < 0.1) % 2),
        "nothing": np.full(n_samples, np.nan),
        "zeros": rng.choice([0.0, -0.0, 5e-324, 1e308], n_samples),
    }[kind]


@st.composite
def streams(draw: st.DrawFn) -> np.ndarray:
    """Return 48 samples of 1 to 40 sensors, of a few kinds, with gaps."""
    n_sensors = draw(st.integers(1, 8) | st.integers(20, 40))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = np.stack([column(kinds[i % len(kinds)], 48, rng) for i in range(n_sensors)], axis=1)
    rows[rng.random(rows.shape) < draw(st.sampled_from([0.0, 0.05, 0.5]))] = np.nan
    return rows


def all_kinds() -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.stack([column(kind, 48, rng) for kind in KINDS], axis=1)


def assert_same_codecs(one: ConditionalCodec, other: ConditionalCodec, *, halves: bool = False) -> None:
    assert one.digest == other.digest
    assert one.lattices == other.lattices
    for mine, yours in zip(one._groups, other._groups, strict=True):
        assert_same_state(mine, yours, halves=halves)


def frames(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


some_errors, sizes = st.sampled_from([0.0, 0.05, 0.7]), st.sampled_from([1, 7, 24])


@settings(max_examples=15, deadline=None)
@given(streams(), some_errors, sizes, st.sampled_from([0, 6]))
@example(all_kinds(), 0.0, 7, 6)
def test_the_decoder_knows_what_the_encoder_knows(rows: np.ndarray, error: float, size: int, period: int) -> None:
    """After each frame; without loss every reading comes back to the bit."""
    n = rows.shape[1]
    sender = ConditionalCodec(n, bound=bound_of(n, error), period=period)
    reader = ConditionalCodec(n, period=period)
    for part in frames(rows, size):
        back = np.concatenate([reader.decode(payload) for payload in sender.encode(part)])
        assert_same_codecs(sender, reader)
        gone = np.isnan(part)
        np.testing.assert_array_equal(np.isnan(back), gone)
        if error == 0.0:
            assert back[~gone].tobytes() == part[~gone].tobytes()


@needs_numba
@settings(max_examples=15, deadline=None)
@given(streams(), some_errors, sizes, st.sampled_from([0, 6]), st.sampled_from([1, 2]))
@example(all_kinds(), 0.0, 7, 6, 2)
def test_plain_and_compiled_code_know_the_same(
    rows: np.ndarray, error: float, size: int, period: int, version: int
) -> None:
    n = rows.shape[1]
    plain, fast = (
        ConditionalCodec(n, bound=bound_of(n, error), period=period, accelerate=accelerate, version=version)
        for accelerate in (False, True)
    )
    for part in frames(rows, size):
        assert plain.encode(part) == fast.encode(part)
        assert_same_codecs(plain, fast, halves=True)


@needs_numba
@settings(max_examples=15, deadline=None)
@given(st.binary(max_size=200), st.integers(1, 40))
def test_plain_and_compiled_code_read_the_same_from_any_bytes(data: bytes, n_sensors: int) -> None:
    start = opening(n_sensors, 1) + body_of(9, "zeros")
    found = []
    for accelerate in (False, True):
        codec = ConditionalCodec(n_sensors, accelerate=accelerate)
        try:
            found.append(codec.decode(Payload(READINGS, start + data)).tobytes())
        except FrameError as error:
            found.append(str(error))
    assert found[0] == found[1]


class TestStates:
    """A state that is saved and taken over goes on to the same bytes."""

    @staticmethod
    def moved(codec: ConditionalCodec, **words: object) -> ConditionalCodec:
        other = ConditionalCodec(codec.n_sensors, period=codec.period, version=codec.version, **words)  # type: ignore[arg-type]
        other.set_state(copy.deepcopy(codec.state()))
        return other

    @pytest.mark.parametrize("version", [1, 2])
    @pytest.mark.parametrize("error", [0.0, 0.05])
    def test_an_encoder_goes_on(self, error: float, version: int) -> None:
        rows = all_kinds()
        bound = bound_of(rows.shape[1], error)
        sender = ConditionalCodec(rows.shape[1], bound=bound, version=version)
        other = self.moved(sender, bound=bound)
        for part in frames(rows, 12):
            assert other.encode(part) == sender.encode(part)
            other = self.moved(other, bound=bound)
            assert_same_codecs(sender, other)

    def test_an_encoder_remembers_readings_for_its_next_lattices(self) -> None:
        rows = np.concatenate([np.arange(60.0), np.arange(60.0) / 4, np.arange(80) / 3])[:, None]
        sender = ConditionalCodec(1, bound=bound_of(1))
        other = sender
        for part in frames(rows, 5):
            other = self.moved(other, bound=bound_of(1))
            assert other.encode(part) == sender.encode(part)

    def test_a_decoder_goes_on(self) -> None:
        rows = all_kinds()
        sender, reader = ConditionalCodec(rows.shape[1], bound=bound_of(rows.shape[1])), ConditionalCodec(rows.shape[1])
        for part in frames(rows, 12):
            back = np.concatenate([reader.decode(payload) for payload in sender.encode(part)])
            gone = np.isnan(part)
            assert back[~gone].tobytes() == part[~gone].tobytes()
            reader = self.moved(reader)

    def test_an_encoder_takes_over_from_a_decoder(self) -> None:
        rows = all_kinds()
        bound = bound_of(rows.shape[1])
        sender, reader = ConditionalCodec(rows.shape[1], bound=bound), ConditionalCodec(rows.shape[1])
        for payload in sender.encode(rows):
            reader.decode(payload)
        next_one = self.moved(reader, bound=bound)
        for payload in next_one.encode(rows):
            back = reader.decode(payload)
        gone = np.isnan(rows)
        assert back[~gone].tobytes() == rows[~gone].tobytes()

    def test_a_new_codec_has_a_state(self) -> None:
        codec: Codec = ConditionalCodec(2)
        codec.set_state(ConditionalCodec(2).state())
        assert codec.digest == ConditionalCodec(2).digest

    def test_states_that_do_not_fit(self) -> None:
        sender = ConditionalCodec(2, bound=bound_of(2))
        sender.encode(np.zeros((3, 2)))
        for change in (
            {"groups": []},
            {"shared": {}},
            {"opening": np.zeros(3)},
            {"opening": np.zeros(3, dtype=np.uint8)},
        ):
            with pytest.raises((ValueError, FrameError)):
                ConditionalCodec(2).set_state(sender.state() | change)
        watch = sender.state()["watch"]
        for change in ({"remembered": np.zeros((3, 5))}, {"remembered": None}, {"counts": {}}):
            with pytest.raises(ValueError, match=r"must be|does not have"):
                ConditionalCodec(2, bound=bound_of(2)).set_state(sender.state() | {"watch": watch | change})

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("clock", 7),
            ("precision", 60),
            ("width", 0.5),
            ("stir", -1.0),
            ("stir", np.nan),
            ("presence.missing", 2),
            ("presence.restless", -1),
            ("mixture.shared", 1 << 40),
            ("mixture.length", -9),
            ("mixture.trained", -2),
        ],
    )
    def test_groups_that_cannot_be(self, path: str, value: float) -> None:
        """Compiled code would read or write beside its arrays."""
        sender = ConditionalCodec(2, bound=bound_of(2))
        sender.encode(np.zeros((3, 2)))
        state = sender.state()
        part = state["groups"][0]
        for name in path.split("."):
            part = part[name]
        part.flat[-1] = value
        with pytest.raises(ValueError, match=r"must|is not that"):
            ConditionalCodec(2).set_state(state)
