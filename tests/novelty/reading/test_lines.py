"""Lines in bounded memory."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.novelty.reading import DocumentReader, Problems
from orthostream.novelty.reading.lines import text_lines


class Repeating:
    """A stream that makes up one long line between two short ones."""

    def __init__(self, begin: bytes, piece: bytes, n_pieces: int, end: bytes) -> None:
        self._begin, self._piece, self._left, self._end = begin, piece, n_pieces, end

    def read(self, size: int) -> bytes:
        if self._left:
            self._left -= 1
            begin, self._begin = self._begin, b""
            return begin + self._piece
        end, self._end = self._end, b""
        return end


@pytest.mark.parametrize(
    ("kind", "begin", "end"),
    [
        ("lines", b"first\n", b"end\nlast"),
        ("jsonl", b'{"text": "first"}\n{"text": "', b'"}\n{"text": "last"}'),
        ("csv", b"text,id\nfirst,1\n", b",2\nlast,3"),
        ("csv", b'text,id\nfirst,1\n"', b'",2\nlast,3'),
    ],
)
def test_a_line_of_a_gigabyte_is_skipped_in_bounded_memory(kind: str, begin: bytes, end: bytes) -> None:
    stream = Repeating(begin, b"a" * (1 << 20), 1000, end)
    tracemalloc.start()
    reader = DocumentReader(stream, kind, max_bytes=1 << 20)  # type: ignore[arg-type]
    texts = [document.text for document in reader]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert texts == ["first", "last"] and reader.problems == {"too long": 1}
    assert peak < 10_000_000 and reader.bytes_read > 1_000_000_000


def test_memory_does_not_grow_with_the_stream() -> None:
    line = b'{"text": "Cocoa rose again", "id": 7}\n'
    stream = Repeating(b"", line * 1000, 30, b"")
    tracemalloc.start()
    assert sum(1 for _ in DocumentReader(stream, "jsonl")) == 30_000  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_line_may_have_just_as_many_bytes() -> None:
    reader = DocumentReader(
        BytesIO(b"1234\n12345\n123456\n\xc3\xa9\xc3\xa9a\n\xc3\xa9\xc3\xa9\xc3\xa9\n12345"), "lines", max_bytes=5
    )
    assert [document.text for document in reader] == ["1234", "12345", "ééa", "12345"]
    assert [problem.line for problem in reader.problems.first["too long"]] == [3, 5]


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8), st.integers(1, 20))
def test_lines_do_not_depend_on_the_pieces(data: bytes, cuts: list[int], max_bytes: int) -> None:
    whole, cut = Problems(), Problems()
    places = [0, *sorted(cuts), 60]
    pieces = [data[begin:end] for begin, end in pairwise(places)]
    expected = list(text_lines(iter([data]), max_bytes, whole))
    assert list(text_lines(iter(pieces), max_bytes, cut)) == expected
    assert whole == cut and len(expected) == len(data.removesuffix(b"\n").split(b"\n")) * bool(data)
