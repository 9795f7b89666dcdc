"""Encodings, broken ones too."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from orthostream.novelty.reading import DocumentReader

TEXT = "größer\n漢字 😀\nlast"


def read(data: bytes, **options: Any) -> tuple[list[str], dict[str, int]]:
    reader = DocumentReader(BytesIO(data), "lines", **options)
    return [document.text for document in reader], dict(reader.problems)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_byte_order_marks_are_recognised(encoding: str, end: str) -> None:
    assert read(TEXT.replace("\n", end).encode(encoding)) == (TEXT.split("\n"), {})


@pytest.mark.parametrize("codec", ["utf-16-be", "utf-32-be"])
def test_byte_order_marks_of_the_other_order(codec: str) -> None:
    assert read(f"\ufeff{TEXT}".encode(codec)) == (TEXT.split("\n"), {})


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-be", "gb18030", "utf-7", "UTF8", "utf-8-sig"])
def test_given_encodings(encoding: str) -> None:
    assert read(TEXT.encode(encoding), encoding=encoding) == (TEXT.split("\n"), {})
    assert read(f"\ufeff{TEXT}".encode(encoding), encoding=encoding)[0][1:] == TEXT.split("\n")[1:]


@pytest.mark.parametrize("width", ["16", "32"])
@pytest.mark.parametrize("order", ["", "-le", "-be"])
def test_utf_16_that_is_given_does_not_need_a_mark(width: str, order: str) -> None:
    assert read(TEXT.encode(f"utf-{width}{order or '-le'}"), encoding=f"utf-{width}{order}") == (TEXT.split("\n"), {})
    if not order:
        assert read(f"\ufeff{TEXT}".encode(f"utf-{width}-be"), encoding=f"utf-{width}") == (TEXT.split("\n"), {})


def test_latin_1() -> None:
    assert read(b"gr\xf6\xdfer", encoding="latin-1") == (["größer"], {})


@pytest.mark.parametrize("encoding", ["nope", "hex", "rot13", "idna", "undefined"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match=f"encoding must be an encoding of text, such as utf-8 .* got '{encoding}'"):
        read(b"", encoding=encoding)


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
def test_broken_utf_8_is_replaced_and_counted_for_each_document(broken: bytes) -> None:
    texts, problems = read(b"good\na" + broken + b"b\nc" + broken * 3 + b"\ngood")
    assert texts[0] == texts[3] == "good" and texts[1].strip("�") == "a" + "�" * texts[1].count("�") + "b"
    assert texts[2].startswith("c�") and problems == {"broken encodings": 2}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_broken_utf_16_is_replaced_and_counted_for_each_document(encoding: str) -> None:
    data = "good\naXb\ngood".encode(encoding)
    character = "X".encode(encoding)[-4 if "32" in encoding else -2 :]
    texts, problems = read(data.replace(character, b"\x00\xd8" * (len(character) // 2)), encoding=encoding)
    assert texts[0] == texts[2] == "good" and texts[1].startswith("a�") and problems == {"broken encodings": 1}


def test_half_a_character_at_the_end() -> None:
    assert read("ab".encode("utf-16")[:-1])[1] == {"broken encodings": 1}
    assert read("aé".encode()[:-1]) == (["a�"], {"broken encodings": 1})


def test_byte_order_marks_where_files_were_joined() -> None:
    data = "a\nb\n".encode("utf-8-sig")
    assert read(data * 2) == (["a", "b", "a", "b"], {})


def test_nul_bytes_are_characters() -> None:
    assert read(b"a\0b\n\0\n") == (["a\0b", "\0"], {})
