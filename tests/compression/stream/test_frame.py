"""Frames: a payload with a checksum that only fits the state it was made for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.frame import (
    DICTIONARY,
    END,
    HEADER,
    INDEX,
    LONGEST,
    READINGS,
    RESTART,
    TIMED,
    UPDATE,
    Chain,
    Frame,
    open_frame,
    pack_marked,
    pack_plain,
)

CHAIN = Chain(0xDEADBEEF, 77, 0xCAFEBABE)
words = st.integers(0, 2**32 - 1)
chains = st.builds(Chain, words, st.integers(0, 2**40), words)
following = st.tuples(st.sampled_from([READINGS, DICTIONARY, UPDATE]), st.sampled_from([0, TIMED]))
alone = st.tuples(st.sampled_from([READINGS, DICTIONARY]), st.sampled_from([RESTART, RESTART | TIMED]))
alone |= st.tuples(st.sampled_from([HEADER, INDEX, END]), st.just(0))
#: Around the lengths at which the checksum grows.
sizes = [0, 1, 4, 5, 6, 7, 8, 9, 30, 60, 61, 62, 63, 64, 65, 130]


def flips(data: bytes) -> list[bytes]:
    whole = int.from_bytes(data, "little")
    return [(whole ^ 1 << bit).to_bytes(len(data), "little") for bit in range(8 * len(data))]


def accepted(data: bytes, chain: Chain | None) -> bool:
    try:
        open_frame(data, chain)
    except FrameError:
        return False
    return True


@given(st.binary(max_size=100), chains)
def test_a_plain_frame_comes_back(body: bytes, chain: Chain) -> None:
    """Zeros may be added to the end of a payload, where they mean nothing."""
    frame = open_frame(pack_plain(body, chain), chain)
    assert (frame.kind, frame.flags) == (READINGS, 0)
    assert frame.body.rstrip(b"\0") == body.rstrip(b"\0")
    assert len(frame.body) >= len(body) or not any(body[len(frame.body) :])


@given(following, st.binary(max_size=100), chains)
def test_a_marked_frame_comes_back(mark: tuple[int, int], body: bytes, chain: Chain) -> None:
    assert open_frame(pack_marked(*mark, body, chain), chain) == Frame(*mark, body)


@given(alone, st.binary(max_size=100), chains)
def test_a_frame_that_stands_alone_is_known_in_any_state(mark: tuple[int, int], body: bytes, chain: Chain) -> None:
    data = pack_marked(*mark, body, chain)
    assert open_frame(data, chain) == open_frame(data, None) == Frame(*mark, body)


@pytest.mark.parametrize("size", sizes)
def test_overhead(size: int) -> None:
    more = len(pack_plain(b"\xff" * size, CHAIN)) - size
    assert more <= (2 if size <= 62 else 4)
    assert len(pack_marked(READINGS, RESTART, bytes(size))) == size + 5


@pytest.mark.parametrize("size", sizes)
def test_every_flip_of_a_plain_frame_is_noticed(size: int) -> None:
    data = pack_plain(bytes(i * 37 % 256 for i in range(size)), CHAIN)
    assert accepted(data, CHAIN)
    assert not any(accepted(damaged, CHAIN) for damaged in flips(data))


@pytest.mark.parametrize("size", sizes)
def test_every_flip_of_a_marked_frame_is_noticed_by_who_knows_nothing(size: int) -> None:
    data = pack_marked(READINGS, RESTART, bytes(i * 37 % 256 for i in range(size)))
    assert not any(accepted(damaged, None) for damaged in flips(data))


def test_every_flip_of_a_marked_frame_is_noticed() -> None:
    generator = np.random.default_rng(0)
    for _ in range(300):
        chain, body = (
            Chain(*generator.integers(2**32, size=3).tolist()),
            generator.bytes(int(generator.integers(4, 40))),
        )
        data = pack_marked(READINGS, TIMED, body, chain)
        assert not any(accepted(damaged, chain) for damaged in flips(data))


def test_another_state_is_told_apart_as_often_as_the_checksum_allows() -> None:
    """Twelve bits for the tiniest frames, which is one mistake in 4,096."""
    generator = np.random.default_rng(0)
    for size, bits in ((4, 12), (20, 16), (80, 32)):
        data = pack_plain(b"\xff" * size, CHAIN)
        wrong = sum(accepted(data, Chain(*other)) for other in generator.integers(0, 2**32, (4096, 3)).tolist())
        assert wrong <= 4096 / 2**bits + 5


def test_a_marked_frame_is_never_taken_for_a_plain_one() -> None:
    generator = np.random.default_rng(1)
    for _ in range(3000):
        chain, body = Chain(*generator.integers(2**32, size=3).tolist()), generator.bytes(int(generator.integers(0, 4)))
        assert open_frame(pack_marked(READINGS, RESTART, body, chain), chain) == Frame(READINGS, RESTART, body)


@pytest.mark.parametrize("mark", [6, 7, HEADER | RESTART, END | TIMED, 64, 128, 255])
def test_unknown_kinds(mark: int) -> None:
    data = pack_marked(mark & 7, mark & ~7, b"12345678")
    with pytest.raises(FrameError):
        open_frame(data, None)


@pytest.mark.parametrize("size", [0, 1, LONGEST + 1])
def test_sizes_that_no_frame_has(size: int) -> None:
    with pytest.raises(FrameError, match=f"{size} bytes are no frame"):
        open_frame(bytes(size), CHAIN)


def test_chains_tell_the_order_of_frames() -> None:
    one, other = pack_plain(b"one", Chain()), pack_plain(b"other", Chain())
    assert Chain().after(one, 1).after(other, 2) != Chain().after(other, 2).after(one, 1)


@pytest.mark.parametrize("size", [0, 1, 3, 6, 7, 20, 62])
def test_a_frame_after_a_lost_one_never_fits(size: int) -> None:
    """A short checksum holds the number of the frame: no chance is left, whatever the payload."""
    generator = np.random.default_rng(size)
    for _ in range(200):
        chain = Chain(*generator.integers(2**32, size=3).tolist())
        data = pack_plain(generator.bytes(size), chain)
        for lost in (1, 2, 3, 63, 64, 4095):
            assert not accepted(data, chain._replace(number=chain.number - lost))
            assert not accepted(data, chain._replace(number=chain.number + lost))


def test_the_seed_of_a_state_reaches_short_checksums_every_64_frames() -> None:
    chain = Chain()
    for number in range(1, 130):
        chain = chain.after(b"frame", number)
        assert (chain.number, chain.anchor == chain.seed) == (number, number == 1 or number % 64 == 0)


@settings(max_examples=300)
@given(st.binary(max_size=60), st.none() | chains)
def test_hostile_bytes(data: bytes, chain: Chain | None) -> None:
    try:
        frame = open_frame(data, chain)
    except FrameError:
        return
    assert len(frame.body) < len(data)
