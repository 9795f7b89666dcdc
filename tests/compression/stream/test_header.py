"""The first bytes of a stream."""

from __future__ import annotations

import json
import time
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression import Column, Decoder, Encoder, FrameError, Schema
from orthostream.compression.stream.checks import VersionTwo
from orthostream.compression.stream.frame import HEADER, READINGS, RESTART, with_length
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.header_text import DICTIONARY, LONGEST_TEXT, deflated, inflated

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def with_body(body: bytes, version: int, kind: int = HEADER, flags: int = 0) -> bytes:
    return MAGIC + bytes([version]) + with_length(VersionTwo(0).pack_marked(kind, flags, body))


def with_text(text: bytes, version: int) -> bytes:
    body = zlib.compress(text) if version == 1 else b"\1" + bytes(8) + deflated(text)
    return with_body(body, version)


@VERSIONS
def test_a_header_comes_back(named_schema: Schema, version: int) -> None:
    header = StreamHeader(named_schema, "conditional", {"period": 24}, {"max_error": [0.5, 1.0, 0.1]}, version)
    data = header.to_bytes()
    assert data[:4] == MAGIC + bytes([version])
    assert StreamHeader.read(data + b"more") == (header, len(data))


@pytest.mark.parametrize("checksums", [True, False])
def test_what_version_2_adds(checksums: bool) -> None:
    header = StreamHeader(Schema.of(3), stream=2**64 - 5, checksums=checksums)
    assert StreamHeader.read(header.to_bytes())[0] == header


@VERSIONS
def test_names_of_any_letters(version: int) -> None:
    schema = Schema((Column("żółć \N{SNOWMAN}", "µg/m³"), Column("\N{GRINNING FACE}", "")))
    assert StreamHeader.read(StreamHeader(schema, version=version).to_bytes())[0].schema == schema


@VERSIONS
def test_every_flip_and_every_cut_is_noticed(named_schema: Schema, version: int) -> None:
    header = StreamHeader(named_schema, options={"period": 24}, target={"max_error": 0.5}, version=version)
    data = header.to_bytes()
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


class TestSize:
    @pytest.mark.parametrize("error", [0, 0.5, 0.25, 1.0, 0.001, 12.75])
    def test_of_one_column(self, error: float) -> None:
        assert len(Encoder(1, max_error=error).header) <= 30

    @pytest.mark.parametrize("words", [{"relative_error": 0.01}, {"rmse": 0.1}, {"bits_per_reading": 2}])
    def test_of_other_targets(self, words: dict[str, float]) -> None:
        assert len(Encoder(1, **words).header) <= 32  # type: ignore[arg-type]

    def test_a_text_that_does_not_pack_is_stored(self) -> None:
        names = ["\u00e5\u00df", "\u0416"]
        header = StreamHeader(Schema(tuple(map(Column, names))))
        found = StreamHeader.read(header.to_bytes())[0]
        assert found == header

    def test_as_many_columns_as_there_can_be(self) -> None:
        schema = Schema(tuple(Column(f"sensor {i}", f"u{i}", "float32") for i in range(10_000)))
        assert StreamHeader.read(StreamHeader(schema).to_bytes())[0].schema == schema

    def test_too_many_letters(self) -> None:
        with pytest.raises(ValueError, match="names and units"):
            StreamHeader(Schema((Column("a" * LONGEST_TEXT),))).to_bytes()

    def test_the_dictionary_never_changes(self) -> None:
        assert (len(DICTIONARY), zlib.crc32(DICTIONARY)) == DICTIONARY_OF_VERSION_2
        assert inflated(deflated(DICTIONARY)) == DICTIONARY


#: Its length and checksum: streams that were deflated with it could not be read with another one.
DICTIONARY_OF_VERSION_2 = (936, 0x2A0CE230)


class TestBinding:
    def test_every_part_of_a_header_changes_what_it_binds(self, named_schema: Schema) -> None:
        headers = [
            StreamHeader(Schema.of(1)),
            StreamHeader(Schema.of(2)),
            StreamHeader(Schema.of(1), stream=1),
            StreamHeader(Schema.of(1), checksums=False),
            StreamHeader(Schema.of(1), options={"period": 24}),
            StreamHeader(Schema.of(1), target={"max_error": 0.5}),
            StreamHeader(named_schema),
        ]
        assert len({header.bind for header in headers}) == len(headers)

    def test_headers_of_one_length_bind_differently(self) -> None:
        """A CRC over bytes that end with their own CRC would be the same for all of them."""
        assert len({StreamHeader(Schema.of(1), stream=k).bind for k in range(100)}) == 100

    def test_it_is_made_of_the_bytes_that_were_read(self) -> None:
        """Another library may deflate the same text to other bytes."""
        header = StreamHeader(Schema.of(2), target={"max_error": 0.5}, stream=9)
        packer = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_FIXED)
        data = with_body(b"\1" + (9).to_bytes(8, "little") + packer.compress(header.text) + packer.flush(), 2)
        found = StreamHeader.read(data)[0]
        assert found == header and found.to_bytes() == data and found.bind != header.bind


OTHER_TEXTS = [
    b"",
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b"{",
    b"\xff\xfe",
    b'{"n":1}'.decode().encode("utf-16"),
    b"[" * 100_000,
    b"{" + b'"a":{' * 100_000,
    b"1" * 10_000,
    b'{"n":' + b"1" * 21 + b"}",
    b'{"n":1,"n":1}',
    b'{"n":1,"options":{"period":1,"period":2}}',
    b'{"n":NaN}',
    b'{"n":-Infinity}',
    b'{"n":1e400}',
    b'{"n":1,}',
    b"{'n':1}",
    b'{"n":01}',
    b'{"n":+1}',
    b'{"n":1} x',
    b'{"n":1}{"n":1}',
    b'{"n":1,"unit":"\x01"}',
    b'{"n":1,"unit":"\\q"}',
    b'{"n":1,"unit":"\\ud800"}',
    b'{"n":1,"name":["\\udc00"]}',
    b'{"n":1.0}',
    b'{"n":true}',
    b'{"n":1,"codec":1}',
    b'{"n":1,"options":[]}',
    b'{"n":1,"target":null}',
    b'{"n":0}',
    b'{"n":65537}',
    b'{"n":2,"name":["a"]}',
    b'{"n":1,"name":[1]}',
    b'{"n":1,"time":["a","b","c"]}',
    b'{"n":1,"kind":"frame"}',
    b'{"n":1,"dtype":"float16"}',
]


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_other_texts(text: bytes) -> None:
    StreamHeader.read(with_text(b'{"n":1}', 2))
    with pytest.raises(FrameError):
        StreamHeader.read(with_text(text, 2))
    if not any(key in text for key in (b'"codec"', b'"options"', b'"target"')):
        with pytest.raises(FrameError):
            StreamHeader.read(with_text(b'{"codec":"conditional","options":{},"target":{},"schema":' + text + b"}", 1))


@pytest.mark.parametrize("left_out", ["schema", "codec", "options", "target"])
def test_version_1_leaves_nothing_out(left_out: str) -> None:
    plain = {"schema": {"n": 1}, "codec": "conditional", "options": {}, "target": {}}
    StreamHeader.read(with_text(json.dumps(plain).encode(), 1))
    del plain[left_out]
    with pytest.raises(FrameError):
        StreamHeader.read(with_text(json.dumps(plain).encode(), 1))


def test_other_keys_are_ignored() -> None:
    header = StreamHeader.read(with_text(b' {"colour": [1, {"a": null}], "n": 3} ', 2))[0]
    assert header == StreamHeader(Schema.of(3))


def test_bytes_that_are_not_packed() -> None:
    plain = json.dumps({"schema": {"n": 1}, "codec": "conditional", "options": {}, "target": {}}).encode()
    packed = zlib.compress(plain)
    StreamHeader.read(with_body(packed, 1))
    for body in (b"", plain, packed[:-1], packed + b"x", packed + packed):
        with pytest.raises(FrameError):
            StreamHeader.read(with_body(body, 1))
    raw, head = deflated(b'{"n":1}'), bytes(8)
    StreamHeader.read(with_body(b"\1" + head + raw, 2))
    StreamHeader.read(with_body(b"\0" + head + b'{"n":1}', 2))
    for body in (b"", b"\1", b"\1" + head, b"\0" + head + raw, b"\1" + head + raw + b"x", b"\4" + head + raw):
        with pytest.raises(FrameError):
            StreamHeader.read(with_body(body, 2))
    with pytest.raises(FrameError):
        StreamHeader.read(with_body(packed, 1, READINGS, RESTART))


BOMBS = {
    "spaces": b" " * 10_000_000,
    "brackets": b'{"n":1,"a":' + b"[]," * 300_000 + b"1}",
    "commas": b'{"n":1,"a":[' + b"1," * 500_000 + b"1]}",
    "texts": b'{"n":65536,"name":["' + b'a","' * 200_000 + b'"]}',
    "columns": b'{"n":65536}',
    "names": b'{"n":65536,"name":[' + b",".join(b'"%d"' % i for i in range(65536)) + b"]}",
    "keys": b"{" + b",".join(b'"%d":1' % i for i in range(80_000)) + b"}",
    "escapes": b'{"n":1,"unit":"' + b"\\" * 500_000 + b'"}',
    "open text": b'{"n":1,"unit":"' + b'\\"' * 500_000,
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_little(name: str, version: int) -> None:
    text = BOMBS[name]
    if version == 1:
        text = b'{"codec":"conditional","options":{},"target":{},"schema":' + text + b"}"
    data = with_text(text, version)
    tracemalloc.start()
    try:
        with suppress(FrameError):
            Decoder().push(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    start = time.process_time()
    with suppress(FrameError):
        Decoder().push(data)
    # A hundredth of a second or so; machines that are busy may take longer.
    assert time.process_time() - start < 0.2


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_hostile_bytes(data: bytes) -> None:
    for head in (b"", b"OST", b"OST\1", b"OST\2"):
        with pytest.raises(FrameError):
            StreamHeader.read(head + data)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
def test_hostile_texts(data: bytes) -> None:
    for body in (data, b"\0" + bytes(8) + data, b"\1" + bytes(8) + deflated(data), b"\0" + bytes(8) + b"{" + data):
        for version in (1, 2):
            try:
                StreamHeader.read(with_body(body, version))
            except FrameError:
                continue
