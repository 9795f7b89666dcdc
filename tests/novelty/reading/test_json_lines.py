"""JSON lines, whatever they contain."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from orthostream.novelty.document import Document
from orthostream.novelty.reading import DocumentError, DocumentReader

GOOD = b'{"text": "good", "id": "good"}\n'


def read(data: bytes, **options: Any) -> tuple[list[Document], dict[str, int]]:
    reader = DocumentReader(BytesIO(data), "jsonl", **options)
    return list(reader), dict(reader.problems)


def only(record: Any, **options: Any) -> Document:
    (document,), problems = read(json.dumps(record).encode(), **options)
    assert problems == {}
    return document


def test_title_and_body_identifier_and_time() -> None:
    record = {"title": "Cocoa", "body": "Prices rose.", "id": "a7", "date": "26-FEB-1987 15:01"}
    assert only(record) == Document("Cocoa\nPrices rose.", "Cocoa", "a7", "26-FEB-1987 15:01")


def test_without_identifier_it_is_the_number_of_the_line() -> None:
    documents, problems = read(b'\n{"text": "a"}\n\n"b"\n{"text": "c"}')
    assert [(document.text, document.id) for document in documents] == [("a", "2"), ("b", "4"), ("c", "5")]
    assert problems == {"empty lines": 2}


def test_numbers_stay_as_they_are_written() -> None:
    digits = "7" * 10_000
    (document,), problems = read(b'{"text": 1.50, "id": %s, "time": 1e3}' % digits.encode())
    assert document == Document("1.50", "1.50", digits, "1e3") and problems == {}


def test_lists_of_texts_are_joined() -> None:
    assert only({"text": ["one", None, "two", 3]}).text == "one two 3"


@pytest.mark.parametrize("empty", ["null", "NaN", "-Infinity", '""', '" \\n"', "[]", "[null]"])
def test_what_is_empty_is_absent(empty: str) -> None:
    documents, problems = read(b'{"text": %s, "title": %s, "id": 1}\n' % ((empty.encode(),) * 2) + GOOD)
    assert [document.id for document in documents] == ["good"] and problems == {"no text": 1}
    documents, problems = read(b'{"text": "a", "title": %s, "id": %s, "date": %s}' % ((empty.encode(),) * 3))
    assert documents == [Document("a", "a", "1", "")] and problems == {}
    documents, _ = read(b'{"text": %s, "body": "b", "title": "t"}' % empty.encode())
    assert documents[0].text == "t\nb"


@pytest.mark.parametrize("value", ['{"a": 1}', "true", "[[1]]", '["a", {"b": 1}]', "[true]"])
def test_an_object_is_no_text_but_a_document_does_not_need_the_other_fields(value: str) -> None:
    documents, problems = read(b'{"text": %s, "title": "t"}\n' % value.encode() + GOOD)
    assert [document.id for document in documents] == ["good"] and problems == {"malformed lines": 1}
    documents, problems = read(b'{"text": "a", "_id": %s, "title": %s}\n' % ((value.encode(),) * 2))
    assert documents == [Document("a", "a", "1", "")] and problems == {"fields ignored": 2}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"42", "a number or constant, not an object"),
        (b"null", "a number or constant, not an object"),
        (b"NaN", "a number or constant, not an object"),
        (b'[{"text": "a"}]', "an array, not an object"),
        (b'{"text": "a"', "Expecting ',' delimiter at column 13"),
        (b'{"text": "a"} {}', "Extra data at column 15"),
        (b"\x00", "Expecting value at column 1"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "it is nested too deeply"),
        (b"[" * 1_000_000, "it is nested too deeply"),
        (b'{"text": [' + b'"",' * 4_000_001 + b'""]}', "there are more than 4,000,000 values or commas"),
    ],
    ids=["number", "null", "NaN", "array", "half", "two", "NUL", "deep", "deeper", "many"],
)
def test_malformed_lines_are_left_out_and_the_rest_goes_on(line: bytes, reason: str) -> None:
    reader = DocumentReader(BytesIO(GOOD + line + b"\n" + GOOD.replace(b'"good"}', b'"2"}')), "jsonl")
    assert [document.id for document in reader] == ["good", "2"]
    assert reader.problems.messages() == [f"malformed lines: 1 (first: line 2: {reason})"]


def test_a_repeated_key_counts_where_it_comes_last() -> None:
    assert read(b'{"text": "a", "text": "b"}')[0][0].text == "b"


@pytest.mark.parametrize("field", ["text", "title", "id", "date"])
def test_halves_of_surrogate_pairs_are_replaced(field: str) -> None:
    record = {"text": "a", "title": "b", "id": "c", "date": "d"} | {field: "x\ud800y"}
    (document,), problems = read(json.dumps(record).encode())
    "".join(document).encode()
    assert "x�y" in "".join(document) and problems == {"broken encodings": 1}


def test_whole_surrogate_pairs_and_other_scripts_stay() -> None:
    assert only({"text": "😀 漢字"}).text == "😀 漢字"


def test_control_characters_in_strings_are_forgiven() -> None:
    assert read(b'{"text": "a\tb\0c"}') == ([Document("a\tb\0c", "a b c", "1")], {})


def test_identifiers_that_come_again_are_counted_and_read() -> None:
    documents, problems = read(GOOD * 3 + b'{"text": "a"}\n{"text": "b"}\n')
    assert len(documents) == 5 and problems == {"duplicate ids": 2}


def test_fields_can_differ_from_line_to_line() -> None:
    lines = [{"Body": "a"}, {"summary": "b"}, {"headline": "c"}]
    documents, _ = read("\n".join(map(json.dumps, lines)).encode())
    assert [document.text for document in documents] == ["a", "b", "c"]


def test_given_names_win() -> None:
    record = {
        "text": "no",
        "story": "yes",
        "id": "no",
        "key": "k",
        "title": "no",
        "head": "h",
        "day": "d",
        "date": "no",
    }
    assert only(record, text="story", title="head", id="key", time="day") == Document("h\nyes", "h", "k", "d")


def test_one_error_if_no_field_has_text() -> None:
    data = b'{"story": "a", "key": 1}\n{"plot": "b"}\n'
    with pytest.raises(DocumentError, match=r"no field is named like a text .* there are 'story', 'key', 'plot'"):
        read(data)
    assert [document.text for document in read(data, text="story")[0]] == ["a"]
    with pytest.raises(DocumentError, match=r"there is no field 'nope' for the title; there are 'text', 'id'"):
        read(GOOD, title="nope")


def test_other_objects_before_the_first_document_are_no_error() -> None:
    documents, problems = read(b'{"status": "connected"}\n' + GOOD)
    assert len(documents) == 1 and problems == {"no text": 1}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"text": "a"}, {"text": "b"}]),
        json.dumps([{"text": "a"}, {"text": "b"}], indent=1),
        '[\n{"text": "a"},\n{"text": "b"}\n]',
        '[\n{"text": "a"}\n]',
        '["a", "b"]',
        "[",
        "[]",
        '[{"text": "' + "a" * 5000 + '"}]',
    ],
)
@pytest.mark.parametrize("kind", ["auto", "jsonl"])
def test_one_big_array_is_refused_and_the_message_says_what_to_do(text: str, kind: str) -> None:
    with pytest.raises(DocumentError, match=r"this is one JSON array, .*jq -c '\.\[\]' FILE"):
        list(DocumentReader(BytesIO(text.encode()), kind, max_bytes=1000))


def test_one_object_over_several_lines_is_refused() -> None:
    with pytest.raises(DocumentError, match=r"this is one JSON object, .*jq -c \. FILE"):
        read(json.dumps({"text": "a", "id": 1}, indent=2).encode())


def test_a_first_line_that_is_an_array_is_only_malformed() -> None:
    documents, problems = read(b"[1, 2]\n" + GOOD)
    assert len(documents) == 1 and problems == {"malformed lines": 1}


def test_a_document_of_ten_megabytes() -> None:
    text = "long " * 2_000_000
    assert only({"text": text}).text == text
