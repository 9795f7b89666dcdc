"""Writing .ost files, sample by sample."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from orthostream.compression.codecs.registry import MOST_SENSORS
from orthostream.compression.file.ending import End, Key
from orthostream.compression.file.endings import ending_of
from orthostream.compression.file.lock import open_locked
from orthostream.compression.file.reader import OstReader
from orthostream.compression.schema import Schema
from orthostream.compression.stream.encoder import Encoder
from orthostream.compression.stream.frame import with_length
from orthostream.compression.stream.framing import SentFrame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.stream_number import READINGS
from orthostream.compression.stream.versions import version_of
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import choose_target, split_keywords, target_in_header


class OstWriter:
    """Writes an .ost file, sample by sample.

    A new file is written beside its place, as ``NAME.part``, and moved there by `close`; leaving a ``with`` block by an
    exception leaves no file that looks complete. With ``append`` the samples of an existing file are kept up to its
    last whole frame, and writing goes on in place, frame by frame, with all that the codec has learnt: what was flushed
    survives a crash. A file that another writer has open raises OSError.

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
        As for `Encoder`, except that frames hold more samples unless told otherwise, that ``stream`` is "readings", so
        that equal readings make equal files, and that frames always have checksums.

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
        self._sample_before = 0
        self._before = End(None, 0, 0, 0.0, 0.0)
        if settings.get("checksums", True) is not True:
            raise ValueError("the frames of a file always have checksums.")
        self._started = False
        self._closed = False
        keywords, settings = split_keywords(settings)
        asked = None if append and target is None and not keywords else choose_target(target, keywords)
        if append:
            reader = self._resume(file, schema, asked)
            settings |= _continued(reader.header)
            asked = target_in_header(reader.header.target)
        assert asked is not None
        try:
            settings.setdefault("samples_per_frame", asked.samples_per_frame_in_file(len(schema.columns)))
            settings.setdefault("stream", READINGS)
            self.encoder = Encoder(schema, asked, **settings)
            if append:
                self._go_on(reader)
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
            self._file: BinaryIO = open_locked(self._part, create=True)
        else:
            self._file = file  # type: ignore[assignment]

    def _resume(self, place: Any, schema: Schema, target: Target | None) -> OstReader:
        """Read a file to the end of its samples; ``target`` is what the user asked for."""
        file: BinaryIO = open_locked(Path(place), create=False) if self._owned else place
        try:
            reader = OstReader(file, max_sensors=max(MOST_SENSORS, len(schema.columns)))
            if reader.header.schema != schema:
                raise ValueError("the file has other columns, or another time axis, than what is to be appended.")
            known = target_in_header(reader.header.target)
            if target is not None and target.in_header != known.in_header:
                raise ValueError(
                    f"{self.path or 'the file'} was written with {known.in_words}, so that readings with "
                    f"{target.in_words} cannot be appended; name no target to append with the former."
                )
            for readings in reader:
                if readings.times is not None:
                    self.last_time = int(readings.times[-1])
            file.seek(reader.end_of_frames)
            self._old_end = file.read()
        except BaseException:
            if self._owned:
                file.close()
            raise
        self._file = file
        self._started = True
        self._offset = self._old_offset = reader.end_of_frames
        self._keys = reader.keys
        achieved = reader.achieved
        self._before = End(None, reader.n_samples, reader.n_missing, *achieved)
        return reader

    def _go_on(self, reader: OstReader) -> None:
        """Let the encoder go on with the state in which the frames of a file leave a decoder."""
        since_key = reader.n_samples - (reader.keys[-1].sample if reader.keys else 0)
        if version_of(reader.header).goes_on:
            self.encoder.resume(reader.decoder, since_key * len(reader.schema.columns))
        else:
            self._sample_before = reader.n_samples

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
        self._put(self.encoder.push(rows, time))

    def flush(self) -> None:
        """Write the samples that wait for their frame to fill, and hand everything to the operating system."""
        self._put(self.encoder.flush())
        self._file.flush()

    def _put(self, frames: list[SentFrame]) -> None:
        if frames and not self._started:
            self._start()
        for frame in frames:
            if frame.key is not None:
                self._keys.append(Key(self._offset, self._sample_before + frame.key[0], frame.key[1]))
            self._send(with_length(frame))

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
            self._put(self.encoder.flush())
            if not self._started:
                self.encoder.settle()
                self._start()
            ending = ending_of(self.encoder.stream_header)
            self._send(ending.pack(self._end(), self._offset, self.encoder.chain))
            self._file.flush()
            if self._owned:
                os.fsync(self._file.fileno())
        except BaseException:
            self.abandon()
            raise
        self._closed = True
        if self._owned and self._path is not None:
            # Where an open file can be moved, it is, so that no other writer takes the part that is whole.
            if os.name == "posix":
                self._part.replace(self._path)
                self._file.close()
            else:
                self._file.close()
                self._part.replace(self._path)
        elif self._owned:
            self._file.close()

    def _end(self) -> End:
        achieved, before = self.encoder.achieved, self._before
        return End(
            self._keys,
            before.n_samples + achieved.n_samples,
            before.n_missing + achieved.n_missing,
            # NaN, for unknown, stays NaN.
            float(np.maximum(before.max_error, achieved.max_error)),
            before.sum_of_squares + achieved.sum_of_squares,
        )

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
            if self._path is not None and os.name == "posix":
                self._part.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self._file.close()
            if self._path is not None and os.name != "posix":
                self._part.unlink(missing_ok=True)


def _continued(header: StreamHeader) -> dict[str, Any]:
    """Return the settings of an encoder that goes on with a stream."""
    others = {name: value for name, value in header.options.items() if name not in (*header.target, "period")}
    return {"period": header.options.get("period", 0), "options": others, "version": header.version}
