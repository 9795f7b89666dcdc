"""The reader as a whole: blocks, counts, files, errors of the operating system."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from orthostream.novelty.document import Document
from orthostream.novelty.reading import DocumentReader


def test_blocks() -> None:
    data = b"\n".join(b"%d" % number for number in range(10))
    blocks = list(DocumentReader(BytesIO(data)).blocks(4))
    assert [[int(document.text) for document in block] for block in blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert list(DocumentReader(BytesIO(b"\n\n")).blocks(4)) == []
    with pytest.raises(ValueError, match="size must be a positive integer, got 0"):
        next(DocumentReader(BytesIO(data)).blocks(0))


def test_a_block_of_large_documents_is_short() -> None:
    data = (b"a" * (10 << 20) + b"\n") * 3 + b"b\n" * 3
    assert [len(block) for block in DocumentReader(BytesIO(data)).blocks(100)] == [2, 4]


def test_documents_one_by_one_and_in_blocks_are_the_same_stream() -> None:
    reader = DocumentReader(BytesIO(b"a\nb\nc\nd"))
    assert next(iter(reader)).text == "a"
    assert [document.text for document in next(reader.blocks(2))] == ["b", "c"]
    assert list(reader) == [Document("d", "d", "4")]


def test_lines_and_bytes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\ntwo\nthree")
    with DocumentReader(path) as reader:
        assert (reader.n_lines, reader.bytes_read) == (0, 0)
        assert len(list(reader)) == 3
    assert (reader.n_lines, reader.bytes_read) == (4, 14)


def test_a_file_is_closed_with_its_reader_and_a_stream_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\n")
    before = open_files()
    reader = DocumentReader(str(path))
    next(iter(reader))
    assert not before or len(open_files()) == len(before) + 1
    reader.close()
    assert len(open_files()) == len(before)
    assert list(reader) == []
    stream = BytesIO(b"one\n")
    with DocumentReader(stream) as reader:
        list(reader)
    assert not stream.closed


def open_files() -> list[Path]:
    """The open files of this process, if the system tells."""
    folder = Path("/proc/self/fd")
    return list(folder.iterdir()) if folder.is_dir() else []


def test_errors_of_the_operating_system_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(DocumentReader(tmp_path / "nowhere"))

    for n_lines in (2, 200):
        blocks = DocumentReader(Failing(b"a line\n" * n_lines + b"half")).blocks(1000)  # type: ignore[arg-type]
        assert len(next(blocks)) == n_lines
        with pytest.raises(OSError, match="the disk is broken"):
            next(blocks)
    with pytest.raises(OSError, match="the disk is broken"):
        list(DocumentReader(Failing(b"\nhalf")))  # type: ignore[arg-type]


class Failing:
    """A stream that gives one answer, and fails."""

    def __init__(self, answer: bytes) -> None:
        self._answers = [answer]

    def read(self, size: int) -> bytes:
        if not self._answers:
            raise OSError("the disk is broken")
        return self._answers.pop()


@pytest.mark.parametrize("max_bytes", [0, -1])
def test_max_bytes_is_checked(max_bytes: int) -> None:
    with pytest.raises(ValueError, match=f"max_bytes must be a positive integer, got {max_bytes}"):
        DocumentReader(BytesIO(), max_bytes=max_bytes)
