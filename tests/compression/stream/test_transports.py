"""Messages that are lost, repeated, reordered, damaged or of other streams: what is decoded is right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression import Decoder, Encoder, FrameError
from orthostream.compression.stream.framing import SentFrame

from ..conftest import make_readings

Make = Callable[..., np.ndarray]
ROWS = make_readings(60, 3)


def sent(stream: int, *, checksums: bool) -> tuple[bytes, list[SentFrame]]:
    encoder = Encoder(
        3, max_error=0.1, samples_per_frame=4, key_every=60, checksums=checksums, stream=stream, accelerate=False
    )
    frames = [*encoder.push(ROWS), *encoder.flush()]
    return encoder.header, frames


def expected(header: bytes, frames: list[SentFrame]) -> list[np.ndarray]:
    decoder = Decoder(accelerate=False)
    decoder.push(header)
    return [decoder.push(frame, frame.number).values for frame in frames]


OURS = {checksums: sent(1, checksums=checksums) for checksums in (True, False)}
OTHERS = {checksums: sent(2, checksums=checksums) for checksums in (True, False)}
EXPECTED = {checksums: expected(*OURS[checksums]) for checksums in (True, False)}
deliveries = st.lists(st.tuples(st.integers(0, 14), st.sampled_from(["ours"] * 6 + ["other", "flipped"])), max_size=40)


@settings(max_examples=60, deadline=None)
@given(deliveries, st.booleans())
def test_whatever_arrives_with_checksums_is_right(arriving: list[tuple[int, str]], numbered: bool) -> None:
    header, frames = OURS[True]
    decoder = Decoder(accelerate=False)
    decoder.push(header)
    for place, what in arriving:
        data = bytes(OTHERS[True][1][place] if what == "other" else frames[place])
        if what == "flipped":
            data = bytes([data[0] ^ 4]) + data[1:]
        try:
            values = decoder.push(data, place if numbered else None).values
        except FrameError:
            continue
        assert what == "ours"
        np.testing.assert_array_equal(values, EXPECTED[True][place])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 14), max_size=40))
def test_whatever_arrives_with_numbers_is_right(arriving: list[int]) -> None:
    header, frames = OURS[False]
    decoder = Decoder(accelerate=False)
    decoder.push(header)
    for place in arriving:
        try:
            values = decoder.push(frames[place], place).values
        except FrameError:
            continue
        np.testing.assert_array_equal(values, EXPECTED[False][place])


def test_key_frames_of_other_streams_are_refused_without_checksums() -> None:
    header, frames = OURS[False]
    decoder = Decoder()
    decoder.push(header)
    for number, frame in enumerate(OTHERS[False][1]):
        if frame.key is not None:
            with pytest.raises(FrameError):
                decoder.push(frame, number)
    assert len(decoder.push(frames[0], 0).values) == 4
