"""Compressed inputs, damaged ones too."""

from __future__ import annotations

import gzip
import tracemalloc
from io import BytesIO

import pytest

from orthostream.novelty.reading import DocumentReader
from orthostream.novelty.reading.gunzip import gunzipped
from orthostream.novelty.reading.problems import Problems

# Digits of varied squares, so that what is lost with the end of a file is short.
LINES = [f'{{"text": "number {number} {number**7 % 1_000_003}"}}' for number in range(5000)]
PLAIN = "\n".join(LINES).encode()


def read(data: bytes) -> tuple[list[str], dict[str, int]]:
    reader = DocumentReader(BytesIO(data))
    return [document.text for document in reader], dict(reader.problems)


ALL = read(PLAIN)[0]


def test_compression_is_recognised() -> None:
    reader = DocumentReader(BytesIO(gzip.compress(PLAIN)))
    assert [document.text for document in reader] == ALL and len(ALL) == len(LINES)
    assert reader.problems == {} and reader.bytes_read == len(gzip.compress(PLAIN))


def test_members_one_after_the_other_and_padding() -> None:
    data = b"".join(gzip.compress(PLAIN[start : start + 10_000]) for start in range(0, len(PLAIN), 10_000))
    assert read(data) == (ALL, {})
    assert read(data + b"\0" * 1000) == (ALL, {})


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_read_as_far_as_it_goes(part: float) -> None:
    data = gzip.compress(PLAIN)
    texts, problems = read(data[: int(part * len(data))])
    assert texts == ALL[: len(texts)] and len(texts) >= (part - 0.05) * len(ALL)
    assert problems.pop("damaged gzip") == 1 and problems in ({}, {"malformed lines": 1})


def test_every_end_of_a_small_file() -> None:
    data = gzip.compress(b"first\nsecond\n")
    for end in range(3, len(data)):
        assert read(data[:end])[1]["damaged gzip"] == 1
    assert read(data) == (["first", "second"], {})


def test_what_stands_before_the_damage_is_read() -> None:
    data = bytearray(gzip.compress(PLAIN))
    middle = len(data) // 2
    data[middle : middle + 100] = b"\xff" * 100
    texts, problems = read(bytes(data))
    n_good = next((place for place, pair in enumerate(zip(texts, ALL, strict=False)) if pair[0] != pair[1]), len(texts))
    assert n_good >= 0.4 * len(ALL) and problems["damaged gzip"] == 1


def test_a_wrong_checksum_is_counted() -> None:
    data = bytearray(gzip.compress(PLAIN))
    data[-6] ^= 1
    assert read(bytes(data)) == (ALL, {"damaged gzip": 1})


@pytest.mark.parametrize("rest", [b"garbage", b"\0\0\0garbage"])
def test_garbage_at_the_end_is_counted(rest: bytes) -> None:
    assert read(gzip.compress(PLAIN) + rest) == (ALL, {"damaged gzip": 1})


def test_a_bomb_takes_no_memory() -> None:
    bomb = gzip.compress(b"a" * 100_000_000)
    tracemalloc.start()
    reader = DocumentReader(BytesIO(bomb + gzip.compress(b"\nlast")), "lines", max_bytes=100_000)
    texts = [document.text for document in reader]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert texts == ["last"] and reader.problems == {"too long": 1} and peak < 3_000_000


def test_silence_is_handed_on() -> None:
    data = gzip.compress(b"text")
    pieces = [None, data[:1], None, data[1:12], None, data[12:], None]
    found = list(gunzipped(iter(pieces), Problems()))
    assert found.count(None) == 4 and b"".join(filter(None, found)) == b"text"
