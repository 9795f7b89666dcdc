"""Frames in, samples out; and everything that is no frame, or not the next one, refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression import Decoder, Encoder, FrameError, Schema
from orthostream.compression.codecs.conditional.work import WorkPerFrame
from orthostream.compression.codecs.registry import MOST_SENSORS
from orthostream.compression.stream.frame import INDEX, READINGS, RESTART, TIMED
from orthostream.compression.stream.framing import SentFrame
from orthostream.compression.stream.header import StreamHeader

Make = Callable[..., np.ndarray]
Stream = tuple[bytes, list[bytes]]

CASES = {
    "frames of 1": {"max_error": 0.1, "samples_per_frame": 1, "n_samples": 8},
    "frames of 6": {"max_error": 0.1, "samples_per_frame": 6, "n_samples": 30},
    "frames of 24": {"max_error": 0.1, "samples_per_frame": 24, "n_samples": 72},
    "with times": {"max_error": 0.1, "samples_per_frame": 6, "n_samples": 30, "timed": True},
    "relative": {"relative_error": 0.01, "samples_per_frame": 6, "n_samples": 24},
    "transform": {"rmse": 0.3, "samples_per_frame": 12, "n_samples": 60},
    "paper": {"n_nonzero": 1, "samples_per_frame": 12, "n_samples": 120},
}


def stream_of(make_readings: Make, timed_schema: Callable[..., Schema], case: str) -> Stream:
    """Return the header and the frames of a small stream; keys come up again and again."""
    words = dict(CASES[case])
    timed, n_samples = words.pop("timed", False), int(words.pop("n_samples"))  # type: ignore[call-overload]
    # A given number of the stream: short checksums pass by accident now and then.
    encoder = Encoder(timed_schema(3) if timed else 3, key_every=3 * n_samples // 2, stream=1, **words)  # type: ignore[arg-type]
    times = np.cumsum(np.random.default_rng(0).integers(1, 50, n_samples)) if timed else None
    frames = [*encoder.push(make_readings(n_samples), times), *encoder.flush()]
    return encoder.header, frames


@pytest.fixture(params=list(CASES))
def stream(request: pytest.FixtureRequest, make_readings: Make, timed_schema: Callable[..., Schema]) -> Stream:
    return stream_of(make_readings, timed_schema, request.param)


@pytest.fixture
def plain_stream(make_readings: Make, timed_schema: Callable[..., Schema]) -> Stream:
    return stream_of(make_readings, timed_schema, "frames of 6")


def decoded(stream: Stream) -> list[np.ndarray]:
    decoder = Decoder()
    decoder.push(stream[0])
    return [decoder.push(frame).values for frame in stream[1]]


def test_every_flip_of_every_bit_is_refused_and_changes_nothing(stream: Stream) -> None:
    decoder = Decoder()
    decoder.push(stream[0])
    for frame, expected in zip(stream[1], decoded(stream), strict=True):
        for bit in range(8 * len(frame)):
            damaged = bytearray(frame)
            damaged[bit // 8] ^= 1 << bit % 8
            with pytest.raises(FrameError):
                decoder.push(bytes(damaged))
        np.testing.assert_array_equal(decoder.push(frame).values, expected)


def test_every_flip_of_the_header_is_refused_and_changes_nothing(stream: Stream) -> None:
    header, frames = stream
    decoder = Decoder()
    for bit in range(8 * len(header)):
        damaged = bytearray(header)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FrameError):
            decoder.push(bytes(damaged))
    assert decoder.header is None
    decoder.push(header)
    np.testing.assert_array_equal(decoder.push(frames[0]).values, decoded(stream)[0])


def test_every_cut_is_refused_and_changes_nothing(stream: Stream) -> None:
    decoder = Decoder()
    decoder.push(stream[0])
    for frame, expected in zip(stream[1], decoded(stream), strict=True):
        for size in range(len(frame)):
            with pytest.raises(FrameError):
                decoder.push(frame[:size])
        with pytest.raises(FrameError):
            decoder.push(frame + b"\0")
        np.testing.assert_array_equal(decoder.push(frame).values, expected)


def restarts(frame: bytes, header: bytes) -> bool:
    decoder = Decoder()
    decoder.push(header)
    try:
        decoder.push(frame)
    except FrameError:
        return False
    return True


def test_a_lost_frame_is_noticed_until_the_next_key(stream: Stream) -> None:
    header, frames = stream
    expected = decoded(stream)
    keys = [i for i, frame in enumerate(frames) if restarts(frame, header)]
    assert keys[0] == 0 and len(keys) >= 2
    for lost in range(len(frames)):
        decoder = Decoder()
        decoder.push(header)
        for i, frame in enumerate(frames):
            if i == lost:
                continue
            if i < lost or any(lost < key <= i for key in keys) or i in keys:
                np.testing.assert_array_equal(decoder.push(frame).values, expected[i])
            else:
                with pytest.raises(FrameError):
                    decoder.push(frame)


def test_a_repeated_frame_is_refused_and_changes_nothing(stream: Stream) -> None:
    header, frames = stream
    expected = decoded(stream)
    decoder = Decoder()
    decoder.push(header)
    for i, frame in enumerate(frames):
        np.testing.assert_array_equal(decoder.push(frame).values, expected[i])
        if not restarts(frame, header):
            with pytest.raises(FrameError, match="damaged, or does not follow"):
                decoder.push(frame)


def test_swapped_frames_are_put_right(plain_stream: Stream) -> None:
    header, frames = plain_stream
    expected = decoded(plain_stream)
    decoder = Decoder()
    decoder.push(header)
    decoder.push(frames[0])
    with pytest.raises(FrameError):
        decoder.push(frames[2])
    np.testing.assert_array_equal(decoder.push(frames[1]).values, expected[1])
    np.testing.assert_array_equal(decoder.push(frames[2]).values, expected[2])


def test_frames_of_another_stream_are_refused(make_readings: Make) -> None:
    streams = []
    for seed in range(2):
        encoder = Encoder(3, max_error=0.1, samples_per_frame=6)
        streams.append((encoder.header, encoder.push(make_readings(18, seed=seed))))
    decoder = Decoder()
    decoder.push(streams[0][0])
    decoder.push(streams[0][1][0])
    with pytest.raises(FrameError):
        decoder.push(streams[1][1][1])


def test_a_restart_is_always_welcome(make_readings: Make) -> None:
    encoder, decoder = Encoder(3, max_error=0.1, samples_per_frame=6), Decoder()
    decoder.push(encoder.header)
    assert decoder.lost
    first, lost, late = encoder.push(make_readings(18))
    decoder.push(first)
    assert not decoder.lost
    with pytest.raises(FrameError):
        decoder.push(late)
    encoder.restart()
    rows = make_readings(6, seed=9)
    assert np.nanmax(np.abs(decoder.push(encoder.push(rows)[0]).values - rows)) <= 0.1
    with pytest.raises(FrameError):
        decoder.push(lost)


def test_joining_late(plain_stream: Stream) -> None:
    header, frames = plain_stream
    expected = decoded(plain_stream)
    decoder = Decoder()
    decoder.push(header)
    with pytest.raises(FrameError, match="restarts the state is needed"):
        decoder.push(frames[1])
    key = next(i for i in range(1, len(frames)) if restarts(frames[i], header))
    for i in range(key, len(frames)):
        np.testing.assert_array_equal(decoder.push(frames[i]).values, expected[i])


def test_the_header_comes_first(plain_stream: Stream) -> None:
    header, frames = plain_stream
    decoder = Decoder()
    with pytest.raises(FrameError, match="before the header"):
        decoder.push(frames[0])
    assert decoder.push(header).values.shape == (0, 3)
    assert decoder.header == StreamHeader.read(header)[0]
    with pytest.raises(FrameError, match="follow the header"):
        decoder.push(header + frames[0])
    with pytest.raises(FrameError, match="damaged"):
        decoder.push(header[5:])


def test_a_header_begins_a_new_stream(plain_stream: Stream) -> None:
    decoder = Decoder()
    for _ in range(2):
        decoder.push(plain_stream[0])
        for frame, expected in zip(plain_stream[1], decoded(plain_stream), strict=True):
            np.testing.assert_array_equal(decoder.push(frame).values, expected)


@pytest.mark.parametrize("data", [bytearray, memoryview])
def test_bytes_of_any_kind(plain_stream: Stream, data: Callable[[bytes], bytes]) -> None:
    decoder = Decoder()
    decoder.push(data(plain_stream[0]))
    assert len(decoder.push(data(plain_stream[1][0])).values) == 6


def test_frames_of_files_hold_no_samples(plain_stream: Stream) -> None:
    decoder = Decoder()
    decoder.push(plain_stream[0])
    with pytest.raises(FrameError, match="end of a file"):
        decoder.push(decoder.checks.pack_marked(INDEX, 0, b""))


def test_times_where_there_are_none(plain_stream: Stream) -> None:
    decoder = Decoder()
    decoder.push(plain_stream[0])
    decoder.push(plain_stream[1][0])
    with pytest.raises(FrameError, match="times where there are none"):
        decoder.push(decoder.checks.pack_marked(READINGS, TIMED, b"\0\0\0", decoder.chain))


def test_how_many_sensors_are_accepted() -> None:
    header = Encoder(MOST_SENSORS + 1, max_error=1).header
    with pytest.raises(FrameError, match="max_sensors"):
        Decoder().push(header)
    Decoder(max_sensors=MOST_SENSORS + 1).push(header)
    with pytest.raises(FrameError, match="to allow more than 2"):
        Decoder(max_sensors=2).push(Encoder(3, max_error=1).header)


@pytest.mark.parametrize("codec", ["", "zip", "Conditional"])
def test_unknown_codecs(codec: str) -> None:
    with pytest.raises(FrameError, match="no codec called"):
        Decoder().push(StreamHeader(Schema.of(1), codec).to_bytes())


@pytest.mark.parametrize("period", [-1, 10**9, 1.5, "24", None, True])
def test_impossible_periods(period: object) -> None:
    with pytest.raises(FrameError, match="period"):
        Decoder().push(StreamHeader(Schema.of(1), options={"period": period}).to_bytes())


class TestBinding:
    """Another stream with the same columns, target and even readings is another stream."""

    @pytest.fixture
    def two(self, make_readings: Make) -> list[Stream]:
        streams = []
        for number in range(2):
            encoder = Encoder(3, max_error=0.1, samples_per_frame=6, key_every=36, stream=number)
            streams.append((encoder.header, encoder.push(make_readings(36))))
        return streams

    def test_key_frames_of_another_stream_are_refused_and_change_nothing(self, two: list[Stream]) -> None:
        (header, frames), (_, others) = two
        decoder = Decoder()
        decoder.push(header)
        for other in others:
            with pytest.raises(FrameError):
                decoder.push(other)
        for frame, expected in zip(frames, decoded(two[0]), strict=True):
            np.testing.assert_array_equal(decoder.push(frame).values, expected)
            for other in others:
                with pytest.raises(FrameError):
                    decoder.push(other)

    def test_a_stream_has_a_number_of_its_own(self) -> None:
        headers = {Encoder(3, max_error=0.1).header for _ in range(5)}
        assert len(headers) == 5

    @pytest.mark.parametrize("stream", [-1, 2**64, 1.5, "mine", None, True])
    def test_bad_numbers(self, stream: object) -> None:
        with pytest.raises(ValueError, match="stream"):
            Encoder(3, max_error=0.1, stream=stream)  # type: ignore[arg-type]


def test_a_restart_that_is_an_error_leaves_the_state_before_it(plain_stream: Stream) -> None:
    """Its checksum fits, so that somebody has made it; all the same the stream goes on."""
    header, frames = plain_stream
    expected = decoded(plain_stream)
    decoder = Decoder()
    decoder.push(header)
    decoder.push(frames[0])
    for body in (b"", b"\0", b"\0\xff\xff\xff", b"\xff" * 20):
        with pytest.raises(FrameError):
            decoder.push(decoder.checks.pack_marked(READINGS, RESTART, body, decoder.chain))
        assert not decoder.lost
    np.testing.assert_array_equal(decoder.push(frames[1]).values, expected[1])


def test_a_frame_that_is_an_error_but_fits_loses_the_state(plain_stream: Stream) -> None:
    header, frames = plain_stream
    decoder = Decoder()
    decoder.push(header)
    decoder.push(frames[0])
    with pytest.raises(FrameError):
        decoder.push(decoder.checks.pack_marked(READINGS, TIMED, b"\0\0", decoder.chain))
    assert decoder.lost
    with pytest.raises(FrameError, match="restarts the state"):
        decoder.push(frames[1])
    decoder.push(frames[0])


def test_damage_that_passes_is_noticed_with_the_next_frame(make_readings: Make) -> None:
    """Of frames of a few bytes one in 4,096 passes damaged; here all do, and the one after it is refused."""
    noticed = 0
    for seed in range(60):
        encoder, decoder = Encoder(1, max_error=0.05, samples_per_frame=1, resolution=None), Decoder()
        decoder.push(encoder.header)
        first, second, third = encoder.push(make_readings(3, 1, seed=seed, missing=0.0))
        decoder.push(first)
        payload = decoder.open_frame(second).body
        damaged = decoder.checks.pack_plain(bytes([payload[0] ^ 16]) + payload[1:], decoder.chain)
        try:
            decoder.push(damaged)
            decoder.push(third)
            noticed += third.key is not None
        except FrameError:
            noticed += 1
    assert noticed >= 59


class TestNumbers:
    """What a transport says of the order of frames."""

    @pytest.fixture(params=[True, False], ids=["checksums", "no checksums"])
    def sent(self, request: pytest.FixtureRequest, make_readings: Make) -> tuple[bytes, list[SentFrame]]:
        encoder = Encoder(3, max_error=0.1, samples_per_frame=4, key_every=60, checksums=request.param)
        frames = [*encoder.push(make_readings(40)), *encoder.flush()]
        assert [frame.number for frame in frames] == list(range(10))
        assert [frame.key is not None for frame in frames] == [True, *[False] * 4, True, *[False] * 4]
        return encoder.header, frames

    def test_in_order(self, sent: tuple[bytes, list[SentFrame]], make_readings: Make) -> None:
        decoder = Decoder()
        decoder.push(sent[0])
        values = np.concatenate([decoder.push(frame, frame.number).values for frame in sent[1]])
        assert np.nanmax(np.abs(values - make_readings(40))) <= 0.1

    def test_a_repeat_changes_nothing(self, sent: tuple[bytes, list[SentFrame]]) -> None:
        decoder = Decoder()
        decoder.push(sent[0])
        for frame in sent[1]:
            decoder.push(frame, frame.number)
            for old in range(frame.number + 1):
                with pytest.raises(FrameError, match="came already"):
                    decoder.push(sent[1][old], old)
            assert not decoder.lost

    def test_what_comes_too_early_changes_nothing(self, sent: tuple[bytes, list[SentFrame]]) -> None:
        decoder = Decoder()
        decoder.push(sent[0])
        for k in range(10):
            for early in range(k + 1, 10):
                if sent[1][early].key is None:
                    with pytest.raises(FrameError, match=f"frame {k} is missing before frame {early}"):
                        decoder.push(sent[1][early], early)
            assert len(decoder.push(sent[1][k], k).values) == 4

    def test_numbers_are_integers(self, sent: tuple[bytes, list[SentFrame]]) -> None:
        decoder = Decoder()
        decoder.push(sent[0])
        with pytest.raises(ValueError, match="must be an integer, got '0'"):
            decoder.push(sent[1][0], "0")  # type: ignore[arg-type]

    def test_a_restart_after_a_gap(self, sent: tuple[bytes, list[SentFrame]]) -> None:
        decoder = Decoder()
        decoder.push(sent[0])
        decoder.push(sent[1][0], 0)
        for k in range(5, 10):
            assert len(decoder.push(sent[1][k], k).values) == 4
        assert decoder.next_sample == 40

    def test_a_stream_without_checksums_needs_them(self, make_readings: Make) -> None:
        encoder, decoder = Encoder(3, max_error=0.1, samples_per_frame=4, checksums=False), Decoder()
        decoder.push(encoder.header)
        with pytest.raises(ValueError, match="number of every frame"):
            decoder.push(encoder.push(make_readings(4))[0])
        assert decoder.header is not None and not decoder.header.checksums

    def test_it_costs_less(self, make_readings: Make) -> None:
        rows = make_readings(200, 1)
        sizes = []
        for checksums in (True, False):
            encoder = Encoder(1, max_error=0.1, samples_per_frame=1, checksums=checksums)
            sizes.append(sum(map(len, encoder.push(rows))))
        assert sizes[1] < sizes[0] - 199

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.binary(max_size=40), min_size=1, max_size=4))
    @example([b"\x01", b"\x01"])
    @example([b"", b""])
    def test_anything_without_checksums(self, bodies: list[bytes]) -> None:
        """Bytes that nobody checked yield no more samples than the work of a frame allows."""
        encoder, decoder = Encoder(2, max_error=0.1, samples_per_frame=1, checksums=False), Decoder()
        decoder.push(encoder.header)
        decoder.push(encoder.push([[1.0, 2.0]])[0], 0)
        for number, body in enumerate(bodies):
            try:
                values = decoder.push(body, number + 1).values
            except FrameError:
                continue
            assert len(values) * WorkPerFrame().of_sample([2]) <= WorkPerFrame().afforded(len(body))


def test_payloads_that_begin_like_a_mark_or_a_header() -> None:
    """Such payloads are sent as marked frames."""
    for checksums in (True, False):
        encoder, decoder = Encoder(1, max_error=0, samples_per_frame=1, checksums=checksums), Decoder()
        decoder.push(encoder.header)
        rows = np.random.default_rng(0).integers(-(2**40), 2**40, (3000, 1))
        frames = encoder.push(rows)
        assert not any(frame.startswith(b"OST") for frame in frames)
        decoded = [decoder.push(frame, frame.number).values[0, 0] for frame in frames]
        assert decoded == rows.ravel().tolist()
