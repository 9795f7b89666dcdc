"""The best peer for a stream in frames, each compressed on its own or with what was sent before."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import zstandard
from pcodec import ChunkConfig, DeltaSpec, standalone

from orthostream._typing import FloatArray

from .attempt import Attempt, best
from .byte_coders import zstd_expand, zstd_options
from .framing import Framing, frames, framings, unframed
from .stream import Stream
from .view import View, views

#: Frames that a framing is chosen by.
_SAMPLE = 80
#: What a flush ends with: both sides know it, so it is not sent.
_FLUSHED = b"\x00\x00\xff\xff"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "pb": 0, "dict_size": 1 << 16}]


class FrameCoder(NamedTuple):
    """A compressor of many frames."""

    name: str
    squeeze: Callable[[list[bytes]], list[bytes]]
    expand: Callable[[list[bytes]], list[bytes]]


def _deflate(body: bytes) -> bytes:
    return zlib.compress(body, 9, -15)


def _deflate_stream(bodies: list[bytes]) -> list[bytes]:
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    flushed = [coder.compress(body) + coder.flush(zlib.Z_SYNC_FLUSH) for body in bodies]
    return [part.removesuffix(_FLUSHED) for part in flushed]


def _inflate_stream(parts: list[bytes]) -> list[bytes]:
    coder = zlib.decompressobj(-15)
    return [coder.decompress(part + _FLUSHED) for part in parts]


def _zstd_frames(bodies: list[bytes]) -> list[bytes]:
    coder = zstandard.ZstdCompressor(compression_params=zstd_options(19, max(map(len, bodies))))
    return [coder.compress(body) for body in bodies]


def _zstd_stream(bodies: list[bytes]) -> list[bytes]:
    coder = zstandard.ZstdCompressor(compression_params=zstd_options(19, sum(map(len, bodies)))).compressobj()
    return [coder.compress(body) + coder.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for body in bodies]


def _unzstd_stream(parts: list[bytes]) -> list[bytes]:
    coder = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS).decompressobj()
    return [coder.decompress(part) for part in parts]


def _each(one: Callable[[bytes], bytes]) -> Callable[[list[bytes]], list[bytes]]:
    return lambda bodies: [one(body) for body in bodies]


PLAIN = FrameCoder("plain bytes", list, list)
DEFLATE = FrameCoder("deflate", _each(_deflate), _each(lambda body: zlib.decompress(body, -15)))
LZMA = FrameCoder(
    "lzma",
    _each(lambda body: lzma.compress(body, lzma.FORMAT_RAW, filters=_FILTERS)),
    _each(lambda body: lzma.decompress(body, lzma.FORMAT_RAW, filters=_FILTERS)),
)
ZSTD = FrameCoder("zstd", _zstd_frames, _each(zstd_expand))
DEFLATE_STREAM = FrameCoder("deflate, one stream", _deflate_stream, _inflate_stream)
ZSTD_STREAM = FrameCoder("zstd, one stream", _zstd_stream, _unzstd_stream)
#: These remember the frames before.
STREAMS = (DEFLATE_STREAM, ZSTD_STREAM)
CODERS = (PLAIN, DEFLATE, LZMA, ZSTD, *STREAMS)


def attempts(stream: Stream, size: int, *, lossless: bool, quick: bool = False) -> Iterator[Attempt]:
    """Return what all peers came to, each with the framing that was best on the first frames."""
    # Decimals come first where there are any; nothing that knows floats alone is smaller then.
    offered = views(stream, lossless=lossless)
    for view in offered[:1] if not offered[0].floats else offered:
        bodies = {way: frames(view, way) for way in framings(view, size)}
        for coder in CODERS:
            n_frames = len(view.levels) if coder is PLAIN else _SAMPLE
            sizes = {way: _total(coder.squeeze(bodies[way][:n_frames])) for way in bodies}
            # What comes later matters more to those who remember it.
            for way in sorted(sizes, key=sizes.__getitem__)[: 2 if coder in STREAMS and not quick else 1]:
                yield _attempt(view, coder, way, bodies[way])
        if size * view.levels.shape[1] >= 24 and not view.gaps:
            yield _pcodec(view, size)


def best_framed(stream: Stream, size: int, *, lossless: bool, quick: bool = False) -> Attempt:
    """Return the fewest bytes of any peer for all frames; headers of streams are not counted."""
    return best(stream, attempts(stream, size, lossless=lossless, quick=quick), lossless=lossless)


def _total(parts: list[bytes]) -> int:
    return sum(map(len, parts))


def _attempt(view: View, coder: FrameCoder, way: Framing, bodies: list[bytes]) -> Attempt:
    parts = coder.squeeze(bodies)
    return Attempt(
        coder.name,
        f"{view.name} {way.words}",
        _total(parts),
        lambda: view.restore(unframed(view, way, coder.expand(parts))),
    )


def _pcodec(view: View, size: int) -> Attempt:
    """Try pcodec on frames by sensor; it takes its own differences."""
    options = ChunkConfig(compression_level=8, delta_spec=DeltaSpec.try_consecutive(1), enable_8_bit=True)
    values: Any = view.restore(view.levels).astype(view.name) if view.floats else _narrow(view)
    starts = range(0, len(values), size)
    parts = [
        standalone.simple_compress(np.ascontiguousarray(values[start : start + size].T).ravel(), options)
        for start in starts
    ]

    def decode() -> FloatArray:
        k = view.levels.shape[1]
        back = [np.asarray(standalone.simple_decompress(part)).reshape(k, -1).T for part in parts]
        found = np.concatenate(back)
        return found.astype(np.float64) if view.floats else view.restore(found.astype(np.int64))

    return Attempt("pcodec", f"{view.name} by sensor", _total(parts), decode)


def _narrow(view: View) -> Any:
    largest = int(view.levels.max())
    return view.levels.astype(next(f"u{width}" for width in (1, 2, 4, 8) if largest < 256**width))
