"""Plain text, one document in each line."""

from __future__ import annotations

from io import BytesIO

import pytest

from orthostream.novelty.document import Document
from orthostream.novelty.reading import DocumentError, DocumentReader


def test_a_document_in_each_line() -> None:
    reader = DocumentReader(BytesIO(b'one\r\n\n  \ntwo, "three"\n\x0bfour\x85\xe2\x80\xa8five'), "lines")
    assert list(reader) == [
        Document("one", "one", "1"),
        Document('two, "three"', 'two, "three"', "4"),
        Document("\x0bfour�\u2028five", "four�\u2028five".replace("\u2028", " "), "5"),
    ]
    assert reader.problems == {"empty lines": 2, "broken encodings": 1}
    assert reader.n_lines == 5


def test_plain_lines_have_no_fields() -> None:
    with pytest.raises(DocumentError, match="there is no field 'body' for the text in plain lines"):
        list(DocumentReader(BytesIO(b"one"), "lines", text="body"))


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\n \n", b"\xef\xbb\xbf", b"\xff\xfe"])
@pytest.mark.parametrize("kind", ["auto", "lines", "jsonl", "csv"])
def test_an_empty_input_has_no_documents(data: bytes, kind: str) -> None:
    assert list(DocumentReader(BytesIO(data), kind)) == []
