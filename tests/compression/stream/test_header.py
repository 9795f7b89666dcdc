"""The first bytes of a stream."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression import FrameError, Schema
from orthostream.compression.stream.frame import HEADER, READINGS, RESTART, pack_marked
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.varint import put_varint


def with_body(body: bytes, kind: int = HEADER, flags: int = 0) -> bytes:
    frame = pack_marked(kind, flags, body)
    out = bytearray(MAGIC)
    put_varint(out, len(frame))
    return bytes(out) + frame


def with_text(text: bytes) -> bytes:
    return with_body(zlib.compress(text))


def test_a_header_comes_back(named_schema: Schema) -> None:
    header = StreamHeader(named_schema, "conditional", {"period": 24}, {"max_error": [0.5, 1.0, 0.1]})
    data = header.to_bytes()
    assert data[:4] == MAGIC
    assert StreamHeader.read(data + b"more") == (header, len(data))


def test_names_of_any_letters() -> None:
    schema = Schema.of(2)
    schema = Schema(tuple(column.__class__("żółć \N{SNOWMAN}", "µg/m³") for column in schema.columns))
    assert StreamHeader.read(StreamHeader(schema).to_bytes())[0].schema == schema


def test_every_flip_and_every_cut_is_noticed(named_schema: Schema) -> None:
    data = StreamHeader(named_schema, options={"period": 24}, target={"max_error": 0.5}).to_bytes()
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FrameError):
            StreamHeader.read(bytes(damaged))
    for size in range(len(data)):
        with pytest.raises(FrameError):
            StreamHeader.read(data[:size])


def test_other_files_and_other_versions() -> None:
    with pytest.raises(FrameError, match=r"no \.ost stream"):
        StreamHeader.read(b"time,a,b\n1,2,3\n")
    with pytest.raises(FrameError, match=r"no \.ost stream"):
        StreamHeader.read(b"")
    with pytest.raises(FrameError, match="version 07"):
        StreamHeader.read(b"OST\x07" + StreamHeader(Schema.of(1)).to_bytes()[4:])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"7",
        b'"text"',
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"schema":{"n":1},"codec":1,"options":{},"target":{}}',
        b'{"schema":{"n":1},"codec":"conditional","options":[],"target":{}}',
        b'{"schema":{"n":1},"codec":"conditional","options":{},"target":null}',
        b'{"schema":{"n":1e400},"codec":"conditional","options":{},"target":{}}',
        b'{"codec":"conditional","options":{},"target":{}}',
    ],
)
def test_other_texts(text: bytes) -> None:
    with pytest.raises(FrameError):
        StreamHeader.read(with_text(text))


def test_bytes_that_are_not_packed() -> None:
    plain = json.dumps({"schema": {"n": 1}, "codec": "conditional", "options": {}, "target": {}}).encode()
    packed = zlib.compress(plain)
    StreamHeader.read(with_body(packed))
    for body in (b"", plain, packed[:-1], packed + b"x", packed + packed):
        with pytest.raises(FrameError):
            StreamHeader.read(with_body(body))
    with pytest.raises(FrameError):
        StreamHeader.read(with_body(packed, READINGS, RESTART))


def test_a_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(b" " * 10_000_000, 9)
    with pytest.raises(FrameError, match="longer than it may be"):
        StreamHeader.read(with_body(bomb))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_hostile_bytes(data: bytes) -> None:
    for head in (b"", b"OST", MAGIC):
        with pytest.raises(FrameError):
            StreamHeader.read(head + data)
