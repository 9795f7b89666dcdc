"""Lines of JSON from a pipe, such as standard input."""

from __future__ import annotations

import os
import threading
from queue import Empty, Queue
from typing import Any

from orthostream.link.sources.collected import CollectedSource
from orthostream.link.sources.json_samples import read_object

#: Lines that are read ahead, bytes that are read at once, and the longest line.
_AHEAD, _CHUNK, _LONGEST = 1024, 1 << 16, 1 << 20


class JsonLinesSource(CollectedSource):
    """The samples of a pipe, one JSON object in each line; it is over when the writer closes the pipe.

    A pipe cannot be read twice: its writer must send again what this process had not pushed when it was killed.

    Parameters
    ----------
    file : int
        The file descriptor; 0 is standard input.
    options : dict
        As for `CollectedSource`.
    """

    def __init__(self, file: int = 0, **options: Any) -> None:
        self._lines: Queue[bytes | None] = Queue(_AHEAD)
        self._ended = self._closed = False
        # A thread, since a pipe cannot be waited for on all systems; it is left behind if the pipe stays silent.
        self._thread = threading.Thread(target=self._read, args=(file,), name="json lines", daemon=True)
        self._thread.start()
        super().__init__(**options)

    def close(self) -> None:
        self._closed = True
        while not self._lines.empty():
            self._lines.get_nowait()

    @property
    def _is_over(self) -> bool:
        return self._ended

    def _take(self, wait: float) -> dict[str, Any] | None:
        while not self._ended:
            try:
                line = self._lines.get(block=wait > 0.0, timeout=wait or None)
            except Empty:
                return None
            if line is None:
                self._ended = True
            elif line.strip():
                try:
                    return read_object(line)
                except ValueError as error:
                    self._refuse(error)
        return None

    def _read(self, file: int) -> None:
        rest = b""
        while not self._closed:
            try:
                # Not through sys.stdin: its lock would be held when the interpreter ends.
                data = os.read(file, _CHUNK)
            except OSError:
                data = b""
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > _LONGEST:
                lines, rest = [*lines, rest], b""
            for line in lines if data else [rest]:
                self._lines.put(line)
            if not data:
                self._lines.put(None)
                return
