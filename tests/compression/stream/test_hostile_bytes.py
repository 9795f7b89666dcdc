"""Bytes made to do harm: nothing but FrameError, and never more than a little out of a little."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression import Decoder, Encoder, FrameError, OstReader, Schema, TimeAxis, decompress
from orthostream.compression.stream.checks import VersionTwo
from orthostream.compression.stream.frame import HEADER, READINGS, RESTART, TIMED, Frame, with_length
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.header_text import deflated

Make = Callable[..., np.ndarray]

TARGETS: dict[str, dict[str, Any]] = {
    "max_error": {"max_error": 0.5},
    "relative_error": {"relative_error": 0.1},
    "rmse": {"rmse": 0.02},
    "bits_per_reading": {"bits_per_reading": 8.0},
    "n_nonzero": {"n_nonzero": 2},
}
#: Numbers, texts and shapes that a header should not hold where another is due.
ODD = [
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**40,
    2**70,
    1.5,
    1e308,
    float("inf"),
    float("nan"),
    "",
    "a",
    [],
    [1],
    [[1]],
    {},
    {"a": 1},
]


def header_of(plain: Any, version: int = 2) -> bytes:
    if version == 1:
        schema = {key: plain.pop(key) for key in [*plain] if key not in ("codec", "options", "target")}
        text = json.dumps({"codec": "conditional", "options": {}, "target": {}} | plain | {"schema": schema}).encode()
        body = zlib.compress(text)
    else:
        body = b"\1" + bytes(8) + deflated(json.dumps(plain).encode())
    return MAGIC + bytes([version]) + with_length(VersionTwo(0).pack_marked(HEADER, 0, body))


def plain_header(**words: Any) -> Any:
    return json.loads(StreamHeader.read(Encoder(4, **words).header)[0].text)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    decoder = Decoder()
    with pytest.raises(FrameError):
        decoder.push(data)
    with pytest.raises(FrameError):
        OstReader(io.BytesIO(data))
    with pytest.raises(FrameError):
        decompress(MAGIC + data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_after_a_header(data: bytes) -> None:
    header = Encoder(2, max_error=0.1).header
    decoder = Decoder()
    decoder.push(header)
    with pytest.raises(FrameError):
        decoder.push(data)
    reader = OstReader(io.BytesIO(header + data))
    try:
        assert list(reader) == []
    except FrameError:
        return
    assert not reader.complete


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_odd_headers(target: str, version: int) -> None:
    base = json.dumps(plain_header(**TARGETS[target]))
    places = [(key,) for key in ("codec", "options", "target", "n", "name", "unit", "dtype", "time", "kind")]
    options = {
        *json.loads(base).get("options", {}),
        "period",
        "n_sensors",
        "rmse",
        "n_nonzero",
        "value_bits",
        "angle_bits",
    }
    places += [("options", key) for key in sorted(options)]
    for place in places:
        for value in ODD:
            plain = json.loads(base)
            inner = plain
            for key in place[:-1]:
                inner = inner.setdefault(key, {})
            inner[place[-1]] = value
            decoder = Decoder()
            try:
                decoder.push(header_of(plain, version))
            except FrameError:
                assert decoder.header is None


def mutated(body: bytes, chooser: random.Random) -> bytes:
    """Return bytes like others: with bits flipped, cut, replaced, or followed by more."""
    data = bytearray(body)
    way = chooser.randrange(6)
    if way == 0:
        for _ in range(chooser.randrange(1, 4)):
            data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)
    elif way == 1:
        del data[chooser.randrange(len(data)) :]
    elif way == 2:
        data = bytearray(chooser.randbytes(chooser.randrange(200)))
    elif way == 3:
        data += chooser.randbytes(chooser.randrange(50))
    elif way == 4:
        data = bytearray([chooser.choice([0, 255])]) * chooser.randrange(300)
    else:
        data[8:] = b"\xff" * chooser.randrange(300)
    return bytes(data)


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_frames_with_a_right_checksum(target: str, timed: bool, make_readings: Make) -> None:
    schema = Schema(Schema.of(4).columns, TimeAxis("time", "s") if timed else None)
    encoder = Encoder(schema, samples_per_frame=None, period=3, **TARGETS[target])
    rows = make_readings(40, 4)
    frames = []
    decoder = Decoder()
    decoder.push(encoder.header)
    opened: list[Frame] = []
    for start in range(0, 40, 5):
        for data in encoder.push(rows[start : start + 5], np.arange(start, start + 5) ** 2 if timed else None):
            opened.append(decoder.open_frame(data))
            decoder.push(data)
            frames.append(data)
    chooser = random.Random(1)
    for _ in range(120):
        place = chooser.randrange(len(frames))
        decoder.push(encoder.header)
        for data in frames[:place]:
            decoder.push(data)
        kind, flags, body = opened[place]
        if chooser.random() < 0.2:
            flags = chooser.choice([0, RESTART, TIMED, RESTART | TIMED])
        if chooser.random() < 0.1:
            kind = chooser.randrange(3)
        body = mutated(body or b"\0", chooser)
        if kind == READINGS and not flags:
            data = decoder.checks.pack_plain(body, decoder.chain)
        else:
            data = decoder.checks.pack_marked(kind, flags, body, decoder.chain)
        try:
            values, _ = decoder.push(data)
        except FrameError:
            # Whatever it was, a stream can begin again.
            assert len(decoder.push(frames[0]).values) == (5 if opened[0].kind == READINGS else 0)
            continue
        assert values.nbytes <= 1000 * len(data)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fill", [0, 255, None])
def test_a_kilobyte_is_never_a_megabyte(target: str, fill: int | None) -> None:
    """Whatever a first frame of 1 kB holds: little comes out, and little is held on the way."""
    body = random.Random(0).randbytes(1000) if fill is None else bytes([fill]) * 1000
    prefix = open_first_body(**TARGETS[target])[:16]
    decoder = Decoder()
    decoder.push(Encoder(4, **TARGETS[target]).header)
    for crafted in (body, prefix + body[16:]):
        tracemalloc.start()
        try:
            values, _ = decoder.push(decoder.checks.pack_marked(READINGS, RESTART, b"\0" + crafted))
            assert values.nbytes <= 1_000_000
        except FrameError:
            pass
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 20_000_000


def open_first_body(**words: Any) -> bytes:
    """Return the payload of the first frame of a stream of four sensors at rest."""
    encoder = Encoder(4, samples_per_frame=None, **words)
    decoder = Decoder()
    decoder.push(encoder.header)
    for data in encoder.push(np.ones((3, 4))):
        frame = decoder.open_frame(data)
        if frame.kind == READINGS:
            return frame.body[1:]
        decoder.push(data)
    raise AssertionError


def test_a_frame_never_becomes_more_than_a_megabyte() -> None:
    """Sensors at rest: a few bytes hold as many samples as the work of a frame allows."""
    encoder, decoder = Encoder(4, max_error=1.0, samples_per_frame=None, verify=False), Decoder()
    decoder.push(encoder.header)
    sizes = []
    for frame in encoder.push(np.zeros((4000, 4))):
        values, _ = decoder.push(frame)
        assert values.nbytes <= 2**20
        sizes.append(len(values))
    assert sum(sizes) == 4000 and max(sizes) > 1000


def test_a_lattice_of_huge_numbers() -> None:
    body = bytearray([0, 1, 1, 0])
    body += np.array([1e308, 1e-308, 0.0]).tobytes() + b"\1"
    chooser = random.Random(0)
    for _ in range(50):
        decoder = Decoder()
        decoder.push(Encoder(1, max_error=1.0).header)
        try:
            decoder.push(decoder.checks.pack_marked(READINGS, RESTART, bytes(body) + chooser.randbytes(40)))
        except FrameError:
            continue


@pytest.mark.parametrize(
    ("dtype", "missing"),
    [("int16", True), ("boolean", False)],
)
def test_arrays_of_impossible_types(dtype: str, missing: bool) -> None:
    from orthostream.compression import OstWriter

    file = io.BytesIO()
    with OstWriter(file, Schema.of(1, dtype), max_error=0) as writer:
        writer.write(np.array([[1.0], [np.nan if missing else 0.0]]))
    try:
        decoded = decompress(file.getvalue())
    except FrameError:
        return
    assert decoded.ravel().tolist() == [1, 0]


def test_memory_of_the_largest_stream() -> None:
    """Sensors and samples to remember have a limit of their own each, and one together."""
    with pytest.raises(FrameError, match="remember"):
        Decoder().push(StreamHeader(Schema.of(8192), options={"period": 4096}).to_bytes())
    encoder = Encoder(8192, max_error=1.0, samples_per_frame=None, verify=False, period=500)
    frame = encoder.push(np.zeros((1, 8192)))[0]
    decoder = Decoder()
    decoder.push(encoder.header)
    tracemalloc.start()
    try:
        decoder.push(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000_000
