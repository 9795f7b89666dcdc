"""The document of frames of version 2 is right: its worked example decodes, and its test values hold."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path

import numpy as np

from orthostream.compression import OstReader, OstWriter, Schema
from orthostream.compression.schema import Column, TimeAxis
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import Unchecked, VersionTwo
from orthostream.compression.stream.frame import DICTIONARY, READINGS, RESTART, Frame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.header_text import DICTIONARY as TEXT_DICTIONARY

_TEXT = (Path(__file__).parents[2] / "docs" / "format-v2-draft-frames.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    return re.split(rf"\n##+ {heading}\n", _TEXT)[1].split("\n## ")[0]


def _rows(section: str, header: str) -> list[list[str]]:
    lines = section.split(f"| {header} |\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in line.strip()[1:-1].split("|")] for line in lines]


def _example() -> bytes:
    data = b""
    for line in _section("Worked example").split("```text\n")[1].split("```")[0].splitlines():
        assert int(line[:4]) == len(data), f"the offset of {line!r} is wrong"
        data += bytes.fromhex(line[6:53])
    return data


def test_the_dictionary() -> None:
    assert _section("The dictionary").split("```text\n")[1].split("\n```")[0].encode() == TEXT_DICTIONARY
    assert f"{len(TEXT_DICTIONARY)} bytes (CRC of 32 bits: `{zlib.crc32(TEXT_DICTIONARY):#x}`)" in _TEXT


def test_the_worked_example() -> None:
    data = _example()
    header, size = StreamHeader.read(data)
    assert header.text.decode() == _section("Worked example").split("```json\n")[1].split("\n```")[0]
    assert f"bind is {header.bind:#010x}" in _TEXT and f"stream {header.stream:#x}" in _TEXT
    reader = OstReader(io.BytesIO(data))
    chains = []
    values = []
    for part in reader:
        values.append(part.values)
        chain = reader.decoder.chain
        chains.append([f"{reader.decoder.codec.digest:#010x}", f"{chain.seed:#010x}", str(chain.number)])
    assert chains == [row[1:] for row in _rows(_section("Worked example"), "after | digest | seed | number")]
    np.testing.assert_array_equal(np.concatenate(values), [[20.55, 11.05], [20.75, np.nan], [20.95, 11.45]])
    assert reader.complete and size == 46


def test_the_worked_example_is_what_a_writer_writes() -> None:
    file = io.BytesIO()
    schema = Schema((Column("in", "degC"), Column("out", "degC")), TimeAxis("time", "s"))
    with OstWriter(file, schema, max_error=0.1, samples_per_frame=2) as writer:
        writer.write([[20.5, 11.0], [20.8, np.nan], [21.0, 11.4]], 1500000000 + 3600 * np.arange(3))
    assert file.getvalue() == _example()


def test_values() -> None:
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
    data = bytes.fromhex(re.findall(r"`(4f 53 54 02 12 [0-9a-f ]+)`", _TEXT)[0])
    header = StreamHeader.read(data)[0]
    assert header.stream == 0x0123456789ABCDEF and header.target == {"max_error": 0.5}
    assert f"`bind` is `{header.bind:#x}`" in _TEXT
