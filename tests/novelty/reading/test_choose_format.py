"""The format by the name of the file, or by the first line."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import pytest

from orthostream.novelty.reading import DocumentError, DocumentReader
from orthostream.novelty.reading.choose_format import format_of_name

JSON, TABLE, PLAIN = b'{"text": "json", "id": 5}\n', b"id,text\n5,table\n", b"id, text and more\n5,table\n"


def texts(data: bytes, **options: str) -> list[str]:
    return [document.text for document in DocumentReader(BytesIO(data), **options)]


def test_by_the_first_line() -> None:
    assert texts(JSON) == texts(b"\n \n" + JSON) == texts(b"\xef\xbb\xbf" + JSON) == ["json"]
    assert texts(b'"json"\n') == ["json"]
    assert texts(TABLE) == texts(b"\r\n" + TABLE) == texts(TABLE.replace(b",", b"\t")) == ["table"]
    assert texts(b'"id","text"\n"5","table"\n') == ["table"]
    assert texts(PLAIN) == ["id, text and more", "5,table"]
    assert texts(b'"Yes", she said.\n') == ['"Yes", she said.']
    assert texts(b"[Reuters] Cocoa rose.\n") == ["[Reuters] Cocoa rose."]
    assert texts(b"text\n") == ["text"]
    assert texts(b"Text, drugs and rock\n") == ["Text, drugs and rock"]


def test_a_given_name_makes_a_table() -> None:
    assert texts(b"story\na\n", text="story") == ["a"]
    assert texts(b"my story;day\na;b\n", text="my story") == ["a"]
    with pytest.raises(DocumentError, match=r"there is no field 'story' for the text in plain lines"):
        texts(b"Cocoa rose.\n", text="story")


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".JSONL"])
@pytest.mark.parametrize("compressed", [False, True])
def test_by_the_name(tmp_path: Path, suffix: str, compressed: bool) -> None:
    path = tmp_path / f"a{suffix}{'.gz' if compressed else ''}"
    # The first line looks like a table.
    data = b"id,text\n" + JSON
    path.write_bytes(gzip.compress(data) if compressed else data)
    assert [document.text for document in DocumentReader(path)] == ["json"]
    with path.open("rb") as file:
        assert [document.text for document in DocumentReader(file)] == ["json"]
    assert len(list(DocumentReader(path, "lines"))) == 2


def test_names() -> None:
    assert [format_of_name(name) for name in ("a.tsv", "a.csv.gz", "a.txt", "a.log", "a.gz", "<stdin>", "0", "")] == [
        *("csv", "csv", "lines"),
        *(["auto"] * 5),
    ]


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"format must be one of auto, jsonl, csv, lines, got 'xml'"):
        DocumentReader(BytesIO(), "xml")
