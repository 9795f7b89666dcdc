"""bz2, zstd and lzma on bytes, each with its best layout."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import zstandard

from .attempt import Attempt
from .layout import Layout, charged, differences, layouts, packed, unpacked, width_of
from .view import View

#: More bytes than there are; an encoder takes fewer if it is given fewer, since it clears as many at every call.
_DICTIONARY = 1 << 21


class Coder(NamedTuple):
    """A coder of bytes; the first setting is a quick one to find layouts with, the others are tried on the best."""

    name: str
    settings: tuple[Any, ...]
    squeeze: Callable[[bytes, Any], bytes]
    expand: Callable[[bytes, Any], bytes]


def _filters(setting: tuple[int, int, int], n_bytes: int = _DICTIONARY) -> list[dict[str, int]]:
    preset, lc, pb = setting
    size = max(4096, 1 << n_bytes.bit_length())
    words = {"id": lzma.FILTER_LZMA2, "preset": preset, "lc": lc, "pb": pb, "dict_size": size}
    return [words]


_BEST = 9 | lzma.PRESET_EXTREME
LZMA = Coder(
    "lzma",
    ((1, 3, 0), (_BEST, 3, 0), (_BEST, 0, 0), (_BEST, 4, 0), (_BEST, 0, 1), (_BEST, 3, 2), (_BEST, 1, 3)),
    lambda body, setting: lzma.compress(body, lzma.FORMAT_RAW, filters=_filters(setting, len(body))),
    lambda body, setting: lzma.decompress(body, lzma.FORMAT_RAW, filters=_filters(setting)),
)
BZ2 = Coder("bz2", (9,), bz2.compress, lambda body, _setting: bz2.decompress(body))


def zstd_options(level: int, n_bytes: int = 0) -> Any:
    """Return options of a frame without magic number, size and checksum."""
    return zstandard.ZstdCompressionParameters.from_level(
        level,
        source_size=n_bytes,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=0,
        write_checksum=0,
        write_dict_id=0,
    )


def zstd_expand(body: bytes) -> bytes:
    """Return what a magicless frame holds."""
    options = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    return bytes(options.decompressobj().decompress(body))


ZSTD = Coder(
    "zstd",
    (3, 19, 22),
    lambda body, level: zstandard.ZstdCompressor(compression_params=zstd_options(level, len(body))).compress(body),
    lambda body, _level: zstd_expand(body),
)
CODERS = (LZMA, BZ2, ZSTD)


def attempts(view: View, *, quick: bool = False) -> Iterator[Attempt]:
    """Try all layouts with quick settings, vary the best ones, and try the thorough settings on what is best then."""
    rows = {layout: differences(view, layout) for layout in layouts(view)}
    for coder in CODERS:
        sizes: dict[Layout, int] = {}
        for layout in rows:
            _size(coder, view, layout, rows[layout], sizes)
        for layout in sorted(sizes, key=sizes.__getitem__)[: 1 if quick else 3]:
            for other in _variations(view, layout):
                _size(coder, view, other, rows[layout], sizes)
        for layout in sorted(sizes, key=sizes.__getitem__)[: 1 if quick else 2]:
            row = rows[layout._replace(width=0, planes=False, zigzag=False)]
            for setting in coder.settings[-1:] if quick else coder.settings[-6:]:
                yield _attempt(coder, view, layout, packed(view, layout, row), setting)


def _size(coder: Coder, view: View, layout: Layout, row: Any, sizes: dict[Layout, int]) -> None:
    sizes[layout] = len(coder.squeeze(packed(view, layout, row), coder.settings[0])) + charged(view, layout)


def _variations(view: View, layout: Layout) -> Iterator[Layout]:
    zigzags = (False, True) if layout.delta != "none" else (False,)
    for zigzag in zigzags:
        for planes in (False, True):
            if width_of(view, layout) > 1:
                yield layout._replace(planes=planes, zigzag=zigzag)
            elif not view.floats:
                # Differences of bytes that would wrap around.
                yield layout._replace(width=2, planes=planes, zigzag=zigzag)
        if width_of(view, layout) == 1:
            yield layout._replace(zigzag=zigzag)


def _attempt(coder: Coder, view: View, layout: Layout, body: bytes, setting: Any) -> Attempt:
    squeezed = coder.squeeze(body, setting)
    said = f"{view.name} {layout.words}, {setting}"
    size = len(squeezed) + charged(view, layout)
    return Attempt(
        coder.name, said, size, lambda: view.restore(unpacked(view, layout, coder.expand(squeezed, setting)))
    )
