"""Pipes: what has come is handed on, without waiting for a whole block."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from queue import Queue
from typing import BinaryIO

import pytest

from orthostream.novelty.document import Document
from orthostream.novelty.reading import DocumentReader, Problems, document_reader, first_lines, pieces
from orthostream.novelty.reading.lines import TextLine

#: Seconds after which a test fails instead of waiting for ever.
PATIENCE = 20.0


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    ends = os.pipe()
    with os.fdopen(ends[0], "rb") as reading, os.fdopen(ends[1], "wb", buffering=0) as writing:
        yield reading, writing


def in_thread(reader: DocumentReader, size: int) -> tuple[Queue[list[Document] | None], threading.Thread]:
    """Put blocks into a queue, None at the end."""
    queue: Queue[list[Document] | None] = Queue()

    def read() -> None:
        for block in reader.blocks(size):
            queue.put(block)
        queue.put(None)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return queue, thread


@pytest.mark.parametrize("kind", ["lines", "csv", "jsonl"])
@pytest.mark.parametrize("without_poll", [False, True])
def test_a_silent_pipe_yields_what_it_has(
    pipe: tuple[BinaryIO, BinaryIO], kind: str, without_poll: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if without_poll:
        monkeypatch.delattr(pieces.select, "poll")
    reading, writing = pipe
    line = {"lines": b"%s\n", "csv": b",%s\n", "jsonl": b'{"text": "%s"}\n'}[kind]
    reader = DocumentReader(reading, kind)
    queue, thread = in_thread(reader, 100)
    three = line % b"three"
    writing.write((b"id,text\n" if kind == "csv" else b"") + line % b"one" + line % b"two" + three[:3])
    assert [document.text for document in queue.get(timeout=PATIENCE) or []] == ["one", "two"]
    writing.write(three[3:])
    assert [document.text for document in queue.get(timeout=PATIENCE) or []] == ["three"]
    writing.write(line % b"four")
    writing.close()
    assert [document.text for document in queue.get(timeout=PATIENCE) or []] == ["four"]
    assert queue.get(timeout=PATIENCE) is None
    thread.join(PATIENCE)
    assert reader.problems == {}


def test_a_silent_pipe_may_begin_with_something_else(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    reading, writing = pipe
    reader = DocumentReader(reading)
    queue, thread = in_thread(reader, 100)
    writing.write(b'{"status": "connected"}\n')
    # As soon as the line has been looked at, silence has ended the look at the first lines.
    while not reader.problems and thread.is_alive():
        thread.join(0.01)
    writing.write(b'{"text": "one"}\n')
    assert [document.text for document in queue.get(timeout=PATIENCE) or []] == ["one"]
    writing.close()
    thread.join(PATIENCE)
    assert reader.problems == {"no text": 1}


def test_a_full_block_does_not_wait_for_silence(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    reading, writing = pipe
    queue, thread = in_thread(DocumentReader(reading), 2)
    writing.write(b"one\ntwo\nthree\nfour\nfive")
    writing.close()
    sizes = [len(block) for block in iter(lambda: queue.get(timeout=PATIENCE), None) if block is not None]
    assert sizes == [2, 2, 1]
    thread.join(PATIENCE)


def test_a_pipe_can_be_stopped(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    reading, writing = pipe
    stop = threading.Event()
    queue, thread = in_thread(DocumentReader(reading, stop=stop), 100)
    writing.write(b"one\nhalf a line")
    block = queue.get(timeout=PATIENCE)
    assert block is not None and [document.text for document in block] == ["one"]
    stop.set()
    assert queue.get(timeout=PATIENCE) is None
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_block_does_not_get_old_while_lines_keep_dripping(
    pipe: tuple[BinaryIO, BinaryIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "WAIT", 10 * PATIENCE)
    ticks = itertools.count()
    monkeypatch.setattr(document_reader, "time_now", lambda: next(ticks))
    reading, writing = pipe
    queue, thread = in_thread(DocumentReader(reading), 1000)
    writing.write(b"a line\n" * 100)
    block = queue.get(timeout=PATIENCE)
    assert block is not None and len(block) == 2
    writing.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_the_first_lines_are_not_waited_for_while_they_keep_dripping(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(first_lines, "monotonic", lambda: next(ticks))
    lines = [TextLine(number, "text") for number in range(10)]
    found, again = first_lines.look_ahead(iter(lines), Problems(), seconds=3.0)
    assert len(found.lines) < 5 and list(again) == lines
    found, again = first_lines.look_ahead(iter(lines), Problems())
    assert found.lines == list(again) == lines


def test_standard_input() -> None:
    code = """
import sys
from orthostream.novelty.reading import DocumentReader
for block in DocumentReader(sys.stdin.buffer).blocks(100):
    print(*(document.text for document in block), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for text in (b"one", b"two"):
            process.stdin.write(b'{"text": "%s"}\n' % text)
            process.stdin.flush()
            assert process.stdout.readline() == text + b"\n"
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait(PATIENCE) == 0


def test_a_stream_that_does_not_block() -> None:
    class Slow:
        answers = iter([b"one\ntw", None, b"o\n", None, b"three", b""])

        def read(self, size: int) -> bytes | None:
            return next(self.answers)

    blocks = DocumentReader(Slow()).blocks(100)  # type: ignore[arg-type]
    assert [[document.text for document in block] for block in blocks] == [["one"], ["two"], ["three"]]
