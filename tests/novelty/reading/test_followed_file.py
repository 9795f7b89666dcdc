"""Files that grow, are truncated and replaced."""

from __future__ import annotations

import gzip
import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from orthostream.novelty.reading import DocumentError, DocumentReader

#: Seconds after which a test fails instead of waiting for ever.
PATIENCE = 20.0


class Follower:
    """Follows a file in a thread."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.stop = threading.Event()
        self.reader = DocumentReader(path, follow=True, stop=self.stop, **options)
        self._blocks: Queue[list[str] | Exception] = Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for block in self.reader.blocks(100):
                assert block
                self._blocks.put([document.text for document in block])
        except Exception as error:
            self._blocks.put(error)

    def take(self, n_documents: int) -> list[str]:
        """Return the next documents, and check that there are no more."""
        texts: list[str] = []
        while len(texts) < n_documents:
            block = self._blocks.get(timeout=PATIENCE)
            if isinstance(block, Exception):
                raise block
            texts += block
        assert len(texts) == n_documents and self._blocks.empty()
        return texts

    def close(self) -> None:
        self.stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive() and self._blocks.empty()


@pytest.fixture
def follow() -> Iterator[Callable[..., Follower]]:
    followers: list[Follower] = []

    def start(path: Path, **options: Any) -> Follower:
        followers.append(Follower(path, **options))
        return followers[-1]

    yield start
    for follower in followers:
        follower.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "news"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_that_are_appended_come_soon(path: Path, follow: Callable[..., Follower]) -> None:
    path.write_bytes(b"one\ntwo\n")
    follower = follow(path)
    assert follower.take(2) == ["one", "two"]
    append(path, b"three\n")
    assert follower.take(1) == ["three"]


def test_an_incomplete_line_is_held_back_until_its_end_comes(path: Path, follow: Callable[..., Follower]) -> None:
    path.write_bytes(b"one\ntw")
    follower = follow(path)
    assert follower.take(1) == ["one"]
    append(path, b"o and a ")
    append(path, b"half\nthr")
    assert follower.take(1) == ["two and a half"]
    follower.close()
    assert follower.reader.n_lines == 2


def test_a_file_that_is_not_there_is_waited_for(
    path: Path, follow: Callable[..., Follower], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        follower = follow(path)
        while not caplog.records:
            follower.stop.wait(0.01)
        path.write_bytes(b"one\n")
        assert follower.take(1) == ["one"]
    assert f"there is no file {path} yet" in caplog.text


@pytest.mark.parametrize("kind", ["lines", "csv", "jsonl"])
def test_rotation_finishes_the_old_file_and_opens_the_new_one(
    path: Path, follow: Callable[..., Follower], kind: str
) -> None:
    header = b"id,text\n" if kind == "csv" else b""
    line = {"lines": b"%s\n", "csv": b"7,%s\n", "jsonl": b'{"text": "%s"}\n'}[kind]
    path.write_bytes(header + line % b"one")
    follower = follow(path, format=kind)
    assert follower.take(1) == ["one"]
    old = path.with_suffix(".1")
    path.rename(old)
    append(old, line % b"two")
    assert follower.take(1) == ["two"]
    append(old, (line % b"three").removesuffix(b"\n"))
    path.write_bytes(header + line % b"four")
    assert follower.take(2) == ["three", "four"]
    append(path, line % b"five")
    assert follower.take(1) == ["five"]
    assert set(follower.reader.problems) <= {"duplicate ids"}


@pytest.mark.parametrize("kind", ["lines", "csv"])
def test_truncation_begins_again(
    path: Path, follow: Callable[..., Follower], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    header = b"id,text\n" if kind == "csv" else b""
    line = {"lines": b"%s\n", "csv": b"7,%s\n"}[kind]
    path.write_bytes(header + line % b"a long line that was there first")
    with caplog.at_level(logging.WARNING):
        follower = follow(path, format=kind)
        assert follower.take(1) == ["a long line that was there first"]
        path.write_bytes(header + line % b"new")
        assert follower.take(1) == ["new"]
    assert "was truncated" in caplog.text and follower.reader.n_lines == (4 if header else 2)


def test_a_table_that_goes_on_without_header_or_with_another_one(path: Path, follow: Callable[..., Follower]) -> None:
    path.write_bytes(b"id,text\n1,a long text of the first file\n")
    follower = follow(path)
    assert follower.take(1) == ["a long text of the first file"]
    os.truncate(path, 0)
    append(path, b"2,b\n")
    assert follower.take(1) == ["b"]
    new = path.with_suffix(".new")
    new.write_bytes(b"day,text,id\n1987,c,3\n4,d\n")
    new.replace(path)
    assert follower.take(1) == ["c"]
    follower.close()
    assert follower.reader.problems == {"wrong number of cells": 1}


def test_a_row_over_several_lines_is_held_back(path: Path, follow: Callable[..., Follower]) -> None:
    path.write_bytes(b'id,text\n1,a\n2,"b\n')
    follower = follow(path)
    assert follower.take(1) == ["a"]
    append(path, b'c"\n')
    assert follower.take(1) == ["b\nc"]


def test_stop_ends_a_reader_that_waits_for_a_file(path: Path) -> None:
    follower = Follower(path)
    follower.close()
    assert follower.reader.n_lines == 0


def test_only_regular_files_without_compression_are_followed(path: Path, follow: Callable[..., Follower]) -> None:
    path.write_bytes(gzip.compress(b"one\n"))
    with pytest.raises(DocumentError, match="compressed by gzip cannot be followed"):
        follow(path).take(1)
    with pytest.raises(DocumentError, match="is not a regular file"):
        follow(Path(os.devnull)).take(1)
    with path.open("rb") as file, pytest.raises(ValueError, match="only a path can be followed"):
        DocumentReader(file, follow=True)
    with pytest.raises(IsADirectoryError):
        follow(path.parent).take(1)
