"""Writing .ost files, sample by sample."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from orthostream.compression.file.index import MARK, End, Key, framed, pack_end, pack_index
from orthostream.compression.file.reader import OstReader
from orthostream.compression.schema import Schema
from orthostream.compression.stream.encoder import Encoder
from orthostream.compression.stream.frame import END, INDEX, pack_marked
from orthostream.compression.stream.framing import SentFrame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import choose_target, split_keywords, target_in_header


class OstWriter:
    """Writes an .ost file, sample by sample.

    A new file is written beside its place, as ``NAME.part``, and moved there by `close`; leaving a ``with`` block by an
    exception leaves no file that looks complete. With ``append`` the samples of an existing file are kept up to its
    last whole frame, and writing goes on in place, frame by frame: what was flushed survives a crash.

    Parameters
    ----------
    file : path or binary file
    schema : Schema
    target : Target, optional
        As for `Encoder`, as an object or as a keyword. With ``append`` it may be left out; the file's own target and
        the other parameters of its codec are kept.
    append : bool, default False
    revert : bool, default False
        Whether an exception, while appending, takes back what was appended; by default it stays, without an end.
    **settings
        As for `Encoder`, except that frames hold more samples unless told otherwise.

    Examples
    --------
    >>> import io, numpy as np
    >>> from orthostream.compression import OstReader, OstWriter, Schema
    >>> file = io.BytesIO()
    >>> with OstWriter(file, Schema.of(2), max_error=0.5) as writer:
    ...     writer.write(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> reader = OstReader(io.BytesIO(file.getvalue()))
    >>> [readings.values.shape for readings in reader], reader.complete
    ([(2, 2)], True)
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        schema: Schema,
        target: Target | None = None,
        *,
        append: bool = False,
        revert: bool = False,
        **settings: Any,
    ) -> None:
        self._revert = revert
        self._old_end = b""
        self.last_time: int | None = None
        self.path = None if hasattr(file, "write") else str(file)
        self._path: Path | None = None
        self._owned = not hasattr(file, "write")
        self._keys: list[Key] = []
        self._offset = 0
        self._old_offset = 0
        self._before = End(0, 0, 0, 0, 0.0, 0.0)
        self._started = False
        self._closed = False
        keywords, settings = split_keywords(settings)
        asked = None if append and target is None and not keywords else choose_target(target, keywords)
        if append:
            header = self._resume(file, schema, asked)
            settings |= _continued(header)
            asked = target_in_header(header.target)
        assert asked is not None
        try:
            settings.setdefault("samples_per_frame", asked.samples_per_frame_in_file(len(schema.columns)))
            self.encoder = Encoder(schema, asked, **settings)
        except BaseException:
            if append and self._owned:
                self._file.close()
            raise
        self.schema = schema
        if append:
            self._file.seek(self._offset)
            self._file.truncate()
            return
        if self._owned:
            self._path = Path(file)  # type: ignore[arg-type]
            self._part = self._path.with_name(self._path.name + ".part")
            self._file: BinaryIO = self._part.open("wb")
        else:
            self._file = file  # type: ignore[assignment]

    def _resume(self, place: Any, schema: Schema, target: Target | None) -> StreamHeader:
        """Find the end of the samples in a file, and return its header; ``target`` is what the user asked for."""
        file: BinaryIO = Path(place).open("r+b") if self._owned else place  # noqa: SIM115
        try:
            reader = OstReader(file)
            for readings in reader:
                if readings.times is not None:
                    self.last_time = int(readings.times[-1])
            header = reader.header
            file.seek(reader.end_of_frames)
            self._old_end = file.read()
            if header.schema != schema:
                raise ValueError("the file has other columns, or another time axis, than what is to be appended.")
            known = target_in_header(header.target)
            if target is not None and target.in_header != known.in_header:
                raise ValueError(
                    f"the file was written with {known.in_header}; appending with {target.in_header} is not possible."
                )
        except BaseException:
            if self._owned:
                file.close()
            raise
        self._file = file
        self._started = True
        self._offset = self._old_offset = reader.end_of_frames
        self._keys = reader.keys
        achieved = reader.achieved
        self._before = End(0, reader.n_samples, reader.n_readings, reader.n_missing, *achieved)
        return header

    def __enter__(self) -> OstWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def write(self, rows: ArrayLike, time: ArrayLike | None = None) -> None:
        """Take samples in; whole frames of them are written."""
        self._put(self.encoder.push_frames(rows, time))

    def flush(self) -> None:
        """Write the samples that wait for their frame to fill, and hand everything to the operating system."""
        self._put(self.encoder.flush_frames())
        self._file.flush()

    def _put(self, frames: list[SentFrame]) -> None:
        if frames and not self._started:
            self._start()
        for frame in frames:
            if frame.key is not None:
                sample, time = frame.key
                self._keys.append(Key(self._offset, self._before.n_samples + sample, time))
            self._send(framed(frame))

    def _start(self) -> None:
        self._started = True
        self._send(self.encoder.header)

    def _send(self, data: bytes) -> None:
        self._file.write(data)
        self._offset += len(data)

    def close(self) -> None:
        """Write what waits, the index and the end; put the file in its place."""
        if self._closed:
            return
        try:
            self._put(self.encoder.flush_frames())
            if not self._started:
                self.encoder.settle()
                self._start()
            index = self._offset
            self._send(framed(pack_marked(INDEX, 0, pack_index(self._keys), self.encoder.chain)))
            end = framed(pack_marked(END, 0, self._end(index)))
            self._send(end + bytes([len(end)]) + MARK)
            self._file.flush()
            if self._owned:
                os.fsync(self._file.fileno())
        except BaseException:
            self.abandon()
            raise
        self._closed = True
        if self._owned:
            self._file.close()
            if self._path is not None:
                self._part.replace(self._path)

    def _end(self, index: int) -> bytes:
        achieved, before = self.encoder.achieved, self._before
        end = End(
            index,
            before.n_samples + achieved.n_samples,
            before.n_readings + achieved.n_readings,
            before.n_missing + achieved.n_missing,
            # NaN, for unknown, stays NaN.
            float(np.maximum(before.max_error, achieved.max_error)),
            before.sum_of_squares + achieved.sum_of_squares,
        )
        return pack_end(end)

    def abandon(self) -> None:
        """Stop without an end; a new file is removed; with ``revert``, an old one is restored."""
        if self._closed:
            return
        self._closed = True
        if self._revert and self._started and self._path is None and self._file.seekable():
            with contextlib.suppress(OSError):
                self._file.seek(self._old_offset)
                self._file.write(self._old_end)
                self._file.truncate()
                self._file.flush()
        if self._owned:
            with contextlib.suppress(OSError):
                self._file.close()
            if self._path is not None:
                self._part.unlink(missing_ok=True)


def _continued(header: StreamHeader) -> dict[str, Any]:
    """Return the settings of an encoder that goes on with a stream."""
    others = {name: value for name, value in header.options.items() if name not in (*header.target, "period")}
    return {"period": header.options.get("period", 0), "options": others}
