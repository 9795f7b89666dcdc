"""No bytes make the reader crash, and a damaged line costs no other one."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.novelty.document import Document
from orthostream.novelty.reading import FORMATS, DocumentError, DocumentReader

RECORDS = [
    {"id": "a1", "title": "Cocoa", "text": 'Prices rose,\nslightly; "again".', "date": "1987-02-26"},
    {"id": "a2", "title": "größer 漢字", "text": "😀 \t|", "date": None},
    {"id": "a3", "title": None, "text": ["one", "two"], "date": 7},
    {"id": "a4", "title": "Tea", "text": "", "date": ""},
]


def table() -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(RECORDS[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(RECORDS)
    return file.getvalue().encode()


JSON_LINES = "".join(json.dumps(record, ensure_ascii=bool(place % 2)) + "\n" for place, record in enumerate(RECORDS))
FILES = [JSON_LINES.encode(), table(), "\n".join(record["title"] or "-" for record in RECORDS).encode()]
FILES += [JSON_LINES.encode("utf-16"), JSON_LINES.encode("utf-8-sig"), gzip.compress(JSON_LINES.encode())]
FRAGMENTS = [
    b'"',
    b"\n",
    b"\r",
    b"\0",
    b"\\",
    b"{",
    b"[",
    b",",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
    b"\\ud800",
]
OPTIONS = st.fixed_dictionaries(
    {
        "format": st.sampled_from(FORMATS),
        "max_bytes": st.sampled_from([1, 30, 1 << 26]),
        "encoding": st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-7", "shift_jis"]),
    },
    optional={"text": st.just("title"), "id": st.just("date")},
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A valid file with some bytes changed, put in or left out, or its end cut off."""
    data = bytearray(draw(st.sampled_from(FILES)))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(len(data), begin + 10)))
        data[begin:end] = draw(st.one_of(st.binary(max_size=6), st.sampled_from(FRAGMENTS)))
    return bytes(data[: draw(st.one_of(st.just(len(data)), st.integers(0, len(data))))])


def check(data: bytes, options: dict[str, Any]) -> None:
    reader = DocumentReader(io.BytesIO(data), **options)
    try:
        for document in reader:
            assert isinstance(document, Document) and all(isinstance(text, str) for text in document)
            "".join(document).encode()
            assert document.text.strip() and document.id and "\n" not in document.title
    except DocumentError as error:
        message = str(error)
    else:
        message = "none"
    assert message.encode() and "\n" not in message
    for message in reader.problems.messages():
        assert message.isprintable() and message.encode()


@given(st.one_of(damaged(), st.binary(max_size=200)), OPTIONS)
def test_no_bytes_crash(data: bytes, options: dict[str, Any]) -> None:
    check(data, options)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(st.one_of(damaged(), st.binary(max_size=500)), OPTIONS)
def test_no_bytes_crash_at_length(data: bytes, options: dict[str, Any]) -> None:
    check(data, options)


def is_no_mark(garbage: bytes) -> bool:
    # At the beginning of a file, such bytes rightly change how all of it is read.
    return not garbage.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b"))


GARBAGE = st.one_of(st.binary(max_size=40), st.sampled_from(FRAGMENTS), damaged()).map(lambda b: b.replace(b"\n", b""))


@pytest.mark.parametrize("kind", ["jsonl", "lines"])
@given(st.integers(0, 6), GARBAGE.filter(is_no_mark), st.booleans())
def test_a_damaged_line_costs_no_other_line(kind: str, place: int, garbage: bytes, cuts_a_line: bool) -> None:
    texts = [f"text {number}, größer" for number in range(7)]
    lines = [(json.dumps({"text": text}) if kind == "jsonl" else text).encode() for text in texts]
    lines[place] = lines[place][: len(lines[place]) // 2] + garbage if cuts_a_line else garbage
    reader = DocumentReader(io.BytesIO(b"\n".join(lines)), kind)
    found = {document.id: document.text for document in reader if document.text in texts}
    expected = {str(number + 1): text for number, text in enumerate(texts) if number != place}
    assert {number: text for number, text in found.items() if number != str(place + 1)} == expected
    assert reader.n_lines == len(texts) - (place == 6 and not lines[place])
