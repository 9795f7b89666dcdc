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

from orthostream.compression import Column, Decoder, OstReader, OstWriter, Schema, TimeAxis
from orthostream.compression.kernel.group_state import Group
from orthostream.compression.kernel.logistic import LARGEST_LOGIT, LOGIT, SQUASH, log2_of
from orthostream.compression.kernel.mixture import hash_of
from orthostream.compression.kernel.student import FOUR, TEN, below, density
from orthostream.compression.stream.adaptive_times import AdaptiveTimes
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import Unchecked, VersionTwo
from orthostream.compression.stream.checksums import crc_12
from orthostream.compression.stream.frame import DICTIONARY, READINGS, RESTART, Frame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.header_text import DICTIONARY as TEXT_DICTIONARY
from orthostream.compression.varint import Reader

_TEXT = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    return re.split(rf"\n##+ {heading}\n", _TEXT)[1].split("\n## ")[0]


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


def test_links_lead_to_headings() -> None:
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"\n#+ (.+)", _TEXT)}
    assert set(re.findall(r"\]\(#([^)]+)\)", _TEXT)) <= anchors


def test_the_worked_example_is_the_file_that_the_document_says() -> None:
    values, times = _table()
    reader = OstReader(io.BytesIO(_example()))
    parts = list(reader)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), values)
    assert [int(time) for part in parts if part.times is not None for time in part.times] == times
    assert [column.name for column in reader.schema.columns] == ["in", "out"]
    assert reader.complete and reader.end is not None
    assert reader.end.n_samples == 3 and reader.end.max_error == 0.05000000074505806


def test_the_worked_example_is_what_a_writer_writes() -> None:
    file = io.BytesIO()
    schema = Schema((Column("in", "degC"), Column("out", "degC")), TimeAxis("time", "s"))
    with OstWriter(file, schema, max_error=0.1, samples_per_frame=2) as writer:
        writer.write([[20.5, 11.0], [20.8, np.nan], [21.0, 11.4]], 1500000000 + 3600 * np.arange(3))
    assert file.getvalue() == _example()


def _decoded() -> Group:
    """Return the state of the group after the worked example."""
    reader = OstReader(io.BytesIO(_example()))
    list(reader)
    return reader.decoder.codec._groups[0]  # type: ignore[attr-defined, no-any-return]


def test_its_frames_are_messages_and_leave_the_chain_that_the_document_says() -> None:
    data = _example()
    header, size = StreamHeader.read(data)
    assert f"bind is {header.bind:#010x}" in _TEXT and f"stream {header.stream:#x}" in _TEXT
    decoder, reader = Decoder(), Reader(data, size)
    decoder.push(data[:size])
    for _, digest, *chain in _rows(_section("Worked example"), "after | digest | seed | number"):
        decoder.push(reader.take(reader.varint()))
        assert decoder.codec.digest == int(digest, 16)
        assert decoder.chain == Chain(*(int(each, 0) for each in chain))


def test_it_leaves_the_state_that_the_document_says() -> None:
    group = _decoded()
    for name, *numbers in _rows(_section("Worked example"), "state after sample 2 | in | out")[:4]:
        assert [float(number) for number in numbers] == getattr(group, name).tolist()
    for number in (*group.mixture.account, group.shape_account[0], *group.memory.errors[:, 0]):
        assert repr(float(number)) in _section("Worked example")
    for trail in group.mixture.trail:
        assert f"`{int(trail):#010x}`" in _section("Worked example")
    weights = re.search(r"`weights` are then (.*)\.\n", _section("Worked example"))
    assert weights and [float(each) for each in weights[1].split(", ")] == group.weights.tolist()


def test_the_json_of_the_example_is_that_of_its_header() -> None:
    written = _section("Worked example").split("```json\n")[1].split("\n```")[0]
    assert StreamHeader.read(_example())[0].text.decode() == written


def test_the_dictionary() -> None:
    assert _section("The dictionary").split("```text\n")[1].split("\n```")[0].encode() == TEXT_DICTIONARY
    assert f"{len(TEXT_DICTIONARY)} bytes (CRC of 32 bits: `{zlib.crc32(TEXT_DICTIONARY):#x}`)" in _TEXT


def test_checksums() -> None:
    expected = {bits: int(value, 16) for bits, value in _rows(_section("Test values"), "checksum | value")}
    data = b"123456789"
    assert expected == {
        "12 bits": crc_12(data),
        "16 bits": binascii.crc_hqx(data, 0xFFFF),
        "32 bits": zlib.crc32(data),
    }


def test_frames() -> None:
    checks, unchecked, chain = VersionTwo(0x13579BDF), Unchecked(0x13579BDF), Chain(0x12345678, 5)
    body, long = b"123456789", b"123456789" * 8
    assert [row[1] for row in _rows(_section("Test values"), "payload | frame")] == [
        checks.pack_plain(b"12345", chain).hex(" "),
        checks.pack_plain(body, chain).hex(" "),
        f"the payload, then `{checks.pack_plain(long, chain).removeprefix(long).hex(' ')}",
        checks.pack_marked(DICTIONARY, 0, body, chain).hex(" "),
        checks.pack_marked(READINGS, RESTART, body, chain).hex(" "),
        unchecked.pack_marked(DICTIONARY, 0, body, chain).hex(" "),
        unchecked.pack_marked(READINGS, RESTART, body, chain).hex(" "),
    ]
    assert f"`{checks.after(chain, Frame(READINGS, 0, body), b'', 0x55AA55AA).seed:#x}`." in _TEXT


def test_the_smallest_header() -> None:
    data = bytes.fromhex(re.findall(r"`(4f 53 54 02 12 [0-9a-f ]+)`", _TEXT)[0])
    header = StreamHeader.read(data)[0]
    assert header.stream == 0x0123456789ABCDEF and header.target == {"max_error": 0.5}
    assert f"`bind` is `{header.bind:#x}`" in _TEXT


_CURVES = _rows(_section("Test values"), "x | below(x), FOUR | density(x), FOUR | below(x), TEN | density(x), TEN")


@pytest.mark.parametrize("row", _CURVES, ids=lambda row: row[0])
def test_the_distribution(row: list[str]) -> None:
    x = float(row[0])
    found = (below(x, FOUR), density(x, FOUR), below(x, TEN), density(x, TEN))
    assert found == tuple(map(float, row[1:]))
    assert math.isclose(below(x, FOUR) + below(-x, FOUR), 1.0)


def test_logits_and_hashes() -> None:
    for logit, chance in _rows(_section("Test values"), "logit | squash(logit)"):
        assert SQUASH[int(logit) + LARGEST_LOGIT] == int(chance)
    for chance, logit in _rows(_section("Test values"), "p | logit_of(p)"):
        assert LOGIT[int(chance)] == int(logit)
    assert f"`mixed_hash(1, 2)` is `{hash_of(1, 2):#010x}`" in _TEXT
    assert f"`mixed_hash(-3, 0xffffffff)` is `{hash_of(-3, 0xFFFFFFFF):#010x}`" in _TEXT
    assert f"`log2_of(0.3)` is {log2_of(0.3)!r}" in _TEXT


def test_times() -> None:
    match = re.search(r"first frame of a stream with ([-0-9, ]+) has the section `([0-9a-f ]+)`", _TEXT)
    assert match
    section = AdaptiveTimes().encode([int(time) for time in match[1].split(",")])
    assert section is not None and section.hex(" ") == match[2]
