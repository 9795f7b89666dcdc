"""Frames: a payload with a checksum that only fits the state it was made for."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import Checks, Unchecked, VersionOne, VersionTwo
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
    Frame,
)

CHAIN = Chain(0xDEADBEEF, 77, 0xCAFEBABE)
ONE, TWO, UNCHECKED = VersionOne(), VersionTwo(0x13579BDF), Unchecked(0x13579BDF)
both = pytest.mark.parametrize("checks", [ONE, TWO], ids=["version 1", "version 2"])
words = st.integers(0, 2**32 - 1)
chains = st.builds(Chain, words, st.integers(0, 2**40), words)
following = st.tuples(st.sampled_from([READINGS, DICTIONARY, UPDATE]), st.sampled_from([0, TIMED]))
alone = st.tuples(st.sampled_from([READINGS, DICTIONARY]), st.sampled_from([RESTART, RESTART | TIMED]))
alone |= st.tuples(st.sampled_from([HEADER, INDEX]), st.just(0))
#: Around the lengths at which the checksum grows.
sizes = [0, 1, 4, 5, 6, 7, 8, 9, 30, 60, 61, 62, 63, 64, 65, 130]


def flips(data: bytes) -> list[bytes]:
    whole = int.from_bytes(data, "little")
    return [(whole ^ 1 << bit).to_bytes(len(data), "little") for bit in range(8 * len(data))]


def accepted(checks: Checks, data: bytes, chain: Chain | None) -> bool:
    try:
        checks.open(data, chain)
    except FrameError:
        return False
    return True


@both
@given(body=st.binary(max_size=100), chain=chains)
def test_a_plain_frame_comes_back(checks: Checks, body: bytes, chain: Chain) -> None:
    """Zeros may be added to the end of a payload, where they mean nothing."""
    frame = checks.open(checks.pack_plain(body, chain), chain)
    assert (frame.kind, frame.flags) == (READINGS, 0)
    assert frame.body.rstrip(b"\0") == body.rstrip(b"\0")
    assert len(frame.body) >= len(body) or not any(body[len(frame.body) :])


@pytest.mark.parametrize("checks", [ONE, TWO, UNCHECKED])
@given(mark=following, body=st.binary(max_size=100), chain=chains)
def test_a_marked_frame_comes_back(checks: Checks, mark: tuple[int, int], body: bytes, chain: Chain) -> None:
    assert checks.open(checks.pack_marked(*mark, body, chain), chain) == Frame(*mark, body)


@pytest.mark.parametrize("checks", [ONE, TWO, UNCHECKED])
@given(mark=alone, body=st.binary(max_size=100), chain=chains)
def test_a_frame_that_stands_alone_is_known_in_any_state(
    checks: Checks, mark: tuple[int, int], body: bytes, chain: Chain
) -> None:
    data = checks.pack_marked(*mark, body, chain)
    assert checks.open(data, chain) == checks.open(data, None) == checks.open_alone(data) == Frame(*mark, body)


@both
@pytest.mark.parametrize("size", sizes)
def test_overhead(checks: Checks, size: int) -> None:
    more = len(checks.pack_plain(b"\xff" * size, CHAIN)) - size
    assert more <= (2 if size <= 62 else 4)
    assert len(checks.pack_marked(READINGS, RESTART, bytes(size))) == size + 5


@both
@pytest.mark.parametrize("size", sizes)
def test_every_flip_of_a_plain_frame_is_noticed(checks: Checks, size: int) -> None:
    data = checks.pack_plain(bytes(i * 37 % 256 for i in range(size)), CHAIN)
    assert accepted(checks, data, CHAIN)
    assert not any(accepted(checks, damaged, CHAIN) for damaged in flips(data))


@both
@pytest.mark.parametrize("size", sizes)
def test_every_flip_of_a_marked_frame_is_noticed_by_who_knows_nothing(checks: Checks, size: int) -> None:
    data = checks.pack_marked(READINGS, RESTART, bytes(i * 37 % 256 for i in range(size)))
    assert not any(accepted(checks, damaged, None) for damaged in flips(data))


@both
def test_every_flip_of_a_marked_frame_is_noticed(checks: Checks) -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        chain, body = (
            Chain(*generator.integers(2**32, size=3).tolist()),
            generator.bytes(int(generator.integers(4, 40))),
        )
        data = checks.pack_marked(READINGS, TIMED, body, chain)
        assert not any(accepted(checks, damaged, chain) for damaged in flips(data))


@both
def test_another_state_is_told_apart_as_often_as_the_checksum_allows(checks: Checks) -> None:
    """Twelve bits for the tiniest frames, which is one mistake in 4,096."""
    generator = np.random.default_rng(0)
    for size, bits in ((4, 12), (20, 16), (80, 32)):
        data = checks.pack_plain(b"\xff" * size, CHAIN)
        others = generator.integers(0, 2**32, (4096, 3)).tolist()
        assert sum(accepted(checks, data, Chain(*other)) for other in others) <= 4096 / 2**bits + 5


@both
def test_a_marked_frame_is_never_taken_for_a_plain_one(checks: Checks) -> None:
    generator = np.random.default_rng(1)
    for _ in range(2000):
        chain, body = Chain(*generator.integers(2**32, size=3).tolist()), generator.bytes(int(generator.integers(0, 4)))
        assert checks.open(checks.pack_marked(READINGS, RESTART, body, chain), chain) == Frame(READINGS, RESTART, body)


@pytest.mark.parametrize("mark", [6, 7, HEADER | RESTART, END | TIMED, 64, 128, 255])
@pytest.mark.parametrize("checks", [ONE, TWO, UNCHECKED])
def test_unknown_kinds(checks: Checks, mark: int) -> None:
    data = checks.pack_marked(mark & 7, mark & ~7, b"12345678")
    with pytest.raises(FrameError):
        checks.open(data, None)


def test_version_2_has_no_frame_of_the_end() -> None:
    ONE.open(ONE.pack_marked(END, 0, b""), None)
    with pytest.raises(FrameError):
        TWO.open(TWO.pack_marked(END, 0, b""), None)


@both
@pytest.mark.parametrize("size", [0, 1, LONGEST + 1])
def test_sizes_that_no_frame_has(checks: Checks, size: int) -> None:
    with pytest.raises(FrameError, match=f"{size} bytes are no frame"):
        checks.open(bytes(size), CHAIN)


@both
def test_chains_tell_the_order_of_frames(checks: Checks) -> None:
    one, other = Frame(READINGS, 0, b"one"), Frame(READINGS, 0, b"other")
    before, after = (checks.after(checks.start, frame, frame.body, 1) for frame in (one, other))
    assert checks.after(before, other, other.body, 2) != checks.after(after, one, one.body, 2)


@pytest.mark.parametrize("size", [0, 1, 3, 6, 7, 20, 62])
def test_a_frame_of_version_1_after_a_lost_one_never_fits(size: int) -> None:
    """A short checksum holds the number of the frame: no chance is left, whatever the payload."""
    generator = np.random.default_rng(size)
    for _ in range(200):
        chain = Chain(*generator.integers(2**32, size=3).tolist())
        data = ONE.pack_plain(generator.bytes(size), chain)
        for lost in (1, 2, 3, 63, 64, 4095):
            assert not accepted(ONE, data, chain._replace(number=chain.number - lost))
            assert not accepted(ONE, data, chain._replace(number=chain.number + lost))


def test_the_seed_of_version_1_reaches_short_checksums_every_64_frames() -> None:
    chain = ONE.start
    for number in range(1, 130):
        chain = ONE.after(chain, Frame(READINGS, 0, b""), b"frame", number)
        assert (chain.number, chain.anchor == chain.seed) == (number, number == 1 or number % 64 == 0)


class TestBinding:
    def test_frames_of_another_stream_are_refused(self) -> None:
        other = VersionTwo(0x2468ACE0)
        for size in sizes:
            body = bytes(range(size))
            for kind, flags in ((READINGS, RESTART), (DICTIONARY, RESTART), (INDEX, 0)):
                assert not accepted(other, TWO.pack_marked(kind, flags, body), None)
        assert not accepted(Unchecked(1), UNCHECKED.pack_marked(READINGS, RESTART, b"12345"), None)

    def test_a_chain_begins_with_the_stream(self) -> None:
        frame = Frame(READINGS, RESTART, b"same")
        one, other = (checks.after(checks.start, frame, b"", 7) for checks in (TWO, VersionTwo(0x2468ACE0)))
        assert one.seed != other.seed

    def test_a_chain_holds_what_long_frames_hold(self) -> None:
        """Bytes that end with their own CRC all leave the same one: a chain over whole frames holds no content."""
        frames = [DICTIONARY.to_bytes(1, "little") + bytes(k) * 20 for k in range(3)]
        seeds = set()
        for k in range(50):
            frame = Frame(DICTIONARY, 0, bytes([k]) * 20)
            data = TWO.pack_marked(frame.kind, frame.flags, frame.body, CHAIN)
            seeds.add(TWO.after(CHAIN, frame, data, None).seed)
        assert len(seeds) == 50 and frames
        assert len({zlib.crc32(data + zlib.crc32(data).to_bytes(4, "little")) for data in frames}) == 1

    @pytest.mark.parametrize("size", [0, 3, 20])
    def test_a_short_checksum_holds_what_was_decoded_before(self, size: int) -> None:
        """So that a damaged frame that passes by chance is noticed with the next one."""
        generator = np.random.default_rng(size)
        passed = 0
        for _ in range(4000):
            body, digests = generator.bytes(size), generator.integers(2**32, size=2).tolist()
            ours, theirs = (TWO.after(CHAIN, Frame(READINGS, 0, b"x"), b"", digest) for digest in digests)
            passed += accepted(TWO, TWO.pack_plain(body, ours), theirs)
        assert passed <= 6


class TestUnchecked:
    @given(body=st.binary(max_size=100), chain=chains)
    def test_a_plain_frame_is_its_payload(self, body: bytes, chain: Chain) -> None:
        data = UNCHECKED.pack_plain(body, chain)
        if not body.startswith(b"\x7f"):
            assert data == body
        assert UNCHECKED.open(data, chain) == Frame(READINGS, 0, body)
        assert not accepted(UNCHECKED, data, None)

    def test_frames_that_no_encoder_makes(self) -> None:
        for data in (b"\x7f", b"\x7f\x03", b"\x7f\x08abc", b"\x7f\x40abc", b"\x7f\x06abc"):
            assert not accepted(UNCHECKED, data, CHAIN)


@pytest.mark.parametrize("checks", [ONE, TWO, UNCHECKED])
@settings(max_examples=300)
@given(data=st.binary(max_size=60), chain=st.none() | chains)
def test_hostile_bytes(checks: Checks, data: bytes, chain: Chain | None) -> None:
    try:
        frame = checks.open(data, chain)
    except FrameError:
        return
    assert len(frame.body) <= len(data)
