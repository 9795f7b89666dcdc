"""Our codec on a stream of the field benchmark: as a whole file, and in frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import orthostream.compression as codec
from orthostream._typing import FloatArray

from .attempt import within
from .stream import Stream


class Ours(NamedTuple):
    """What our codec came to."""

    n_bytes: int
    header: int
    """Of a stream, in bytes; it is part of a whole file."""
    kept: bool
    """Whether every reading came back within the bound, and the missing ones missing."""


def whole_file(stream: Stream, *, lossless: bool) -> Ours:
    """Compress to a file, all bytes counted, and read it."""
    body = codec.compress(stream.rows, **_asked(stream, lossless))
    return Ours(len(body), 0, _kept(stream, np.asarray(codec.decompress(body)), lossless))


def framed(stream: Stream, size: int, *, lossless: bool) -> Ours:
    """Send as frames of so many samples, and receive them; the header is counted apart."""
    words = _asked(stream, lossless) | {"samples_per_frame": size, "verify": False}
    encoder = codec.Encoder(stream.rows.shape[1], **words)
    frames = list(encoder.push(stream.rows)) + list(encoder.flush())
    decoder = codec.Decoder()
    decoder.push(encoder.header)
    decoded = np.concatenate([decoder.push(frame)[0] for frame in frames])
    return Ours(sum(map(len, frames)), len(encoder.header), _kept(stream, decoded, lossless))


def _asked(stream: Stream, lossless: bool) -> dict[str, Any]:
    bound = stream.bound if isinstance(stream.bound, float | int) else np.array(stream.bound)
    return {"max_error": 0.0 if lossless else bound, "period": stream.period}


def _kept(stream: Stream, decoded: FloatArray, lossless: bool) -> bool:
    same = np.array_equal(np.isnan(decoded), np.isnan(stream.rows))
    return same and within(stream, decoded, lossless=lossless)
