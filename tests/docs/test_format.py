"""The document of the format is right: its worked example decodes, and its test values hold."""

from __future__ import annotations

import binascii
import io
import math
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression import Decoder, OstReader
from orthostream.compression.kernel.student import below, density
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import VersionOne
from orthostream.compression.stream.checksums import crc_12
from orthostream.compression.stream.frame import DICTIONARY, READINGS, RESTART, Frame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.varint import Reader

_TEXT = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    return _TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def _rows(section: str, header: str) -> list[list[str]]:
    """Return the cells of the table that has such a header."""
    lines = section.split(f"| {header} |\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in line.strip()[1:-1].split("|")] for line in lines]


def _example() -> bytes:
    data = b""
    for line in _section("Worked example").split("```text\n")[1].split("```")[0].splitlines():
        offset, digits = line[:4], line[6:53]
        assert int(offset) == len(data), f"the offset of {line!r} is wrong"
        data += bytes.fromhex(digits)
    return data


def _table() -> tuple[np.ndarray, list[int]]:
    rows = _rows(_section("Worked example"), "time | in | out")
    return np.array([[float(cell or "nan") for cell in row[1:]] for row in rows]), [int(row[0]) for row in rows]


def test_the_worked_example_is_the_file_that_the_document_says() -> None:
    values, times = _table()
    reader = OstReader(io.BytesIO(_example()))
    parts = list(reader)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), values)
    assert [int(time) for part in parts if part.times is not None for time in part.times] == times
    assert [column.name for column in reader.schema.columns] == ["in", "out"]
    assert reader.complete and reader.end is not None
    assert reader.end.n_samples == 3 and reader.end.max_error == 0.05000000000000071


def test_its_frames_are_messages_and_leave_the_chain_that_the_document_says() -> None:
    data = _example()
    _, size = StreamHeader.read(data)
    decoder, reader = Decoder(), Reader(data, size)
    decoder.push(data[:size])
    for _, digest, *chain in _rows(_section("Worked example"), "after | digest | seed | number | anchor"):
        decoder.push(reader.take(reader.varint()))
        assert decoder.codec.digest == int(digest, 16)
        assert decoder.chain == Chain(*(int(each, 0) for each in chain))


def test_the_json_of_the_example_is_that_of_its_header() -> None:
    written = _section("Worked example").split("```json\n")[1].split("\n```")[0]
    assert zlib.decompress(_example()[6:127]).decode() == written


def test_checksums() -> None:
    expected = {bits: int(value, 16) for bits, value in _rows(_section("Test values"), "checksum | value")}
    data = b"123456789"
    assert expected == {
        "12 bits": crc_12(data),
        "16 bits": binascii.crc_hqx(data, 0xFFFF),
        "32 bits": zlib.crc32(data),
    }


def test_frames() -> None:
    chain, checks = Chain(0x12345678, 5, 0x9ABCDEF0), VersionOne()
    frames = [row[1] for row in _rows(_section("Test values"), "payload | frame")]
    long = b"123456789" * 8
    assert frames == [
        checks.pack_plain(b"12345", chain).hex(" "),
        checks.pack_plain(b"123456789", chain).hex(" "),
        f"the payload, then `{checks.pack_plain(long, chain).removeprefix(long).hex(' ')}",
        checks.pack_marked(DICTIONARY, 0, b"123456789", chain).hex(" "),
        checks.pack_marked(READINGS, RESTART, b"123456789", chain).hex(" "),
    ]
    match = re.search(r"a digest of `0x55aa55aa`: `(0x[0-9a-f]{8})`", _TEXT)
    assert match and int(match[1], 16) == checks.after(chain, Frame(READINGS, 0, b""), b"123456789", 0x55AA55AA).seed


@pytest.mark.parametrize("row", _rows(_section("Test values"), "x | below(x) | density(x)"), ids=lambda row: row[0])
def test_the_distribution(row: list[str]) -> None:
    x = float(row[0])
    assert (below(x), density(x)) == (float(row[1]), float(row[2]))
    assert math.isclose(below(x) + below(-x), 1.0)
