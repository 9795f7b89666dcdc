"""Coders of integers, of bytes first, then pcodec: part of `orthostream bench compression`."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pcodec import ChunkConfig, DeltaSpec, ModeSpec, standalone

from orthostream._typing import FloatArray

from .compression_case import Case
from .compression_integers import LEFT_OUT, MARKED, PREVIOUS, ROW_MEAN, Layout, layouts, pack, unpack
from .compression_peer import Peer

#: More bytes than there are: the usual 64 MB would not find more, and are cleared at every call.
_DICTIONARY = 1 << 22


class BytesSetting(NamedTuple):
    """A layout, and the options of a coder of bytes."""

    layout: Layout = Layout()
    lc: int = 3
    lp: int = 0
    pb: int = 0
    preset: int = 1
    """Layouts are found with a quick one."""

    @property
    def fill(self) -> str:
        """What stands for a missing reading."""
        return self.layout.fill


def _byte_settings(quick: bool) -> list[BytesSetting]:
    fills = (ROW_MEAN, PREVIOUS) if quick else (ROW_MEAN, PREVIOUS, LEFT_OUT, MARKED)
    return [BytesSetting(layout) for layout in layouts(fills)]


def _wider(best: BytesSetting) -> list[BytesSetting]:
    return [best._replace(layout=best.layout._replace(width=2, planes=planes)) for planes in (False, True)]


def _thorough(good: BytesSetting) -> list[BytesSetting]:
    return [good._replace(preset=9)]


def _lzma_more(best: BytesSetting) -> list[BytesSetting]:
    wide = _wider(best)
    found = [best._replace(lc=lc) for lc in (0, 1, 2, 4)] + wide
    return [*found, wide[0]._replace(lp=1, pb=1), best._replace(pb=2)]


def _filters(setting: BytesSetting) -> list[dict[str, int]]:
    preset = setting.preset | (lzma.PRESET_EXTREME if setting.preset == 9 else 0)
    options = {"lc": setting.lc, "lp": setting.lp, "pb": setting.pb, "dict_size": _DICTIONARY}
    return [{"id": lzma.FILTER_LZMA2, "preset": preset} | options]


def _bytes_peer(
    name: str,
    squeeze: Callable[[bytes, BytesSetting], bytes],
    expand: Callable[[bytes, BytesSetting], bytes],
    *stages: tuple[int, Callable[[BytesSetting], list[BytesSetting]]],
) -> Peer:
    def encode(case: Case, setting: BytesSetting) -> tuple[bytes, Any]:
        packed = pack(case, setting.layout)
        return squeeze(packed.integers.tobytes(), setting), (packed.least, packed.integers.dtype)

    def decode(case: Case, setting: BytesSetting, body: bytes, known: Any) -> FloatArray:
        least, kind = known
        return unpack(case, setting.layout, np.frombuffer(expand(body, setting), kind), least)

    return Peer(name, _byte_settings, stages, encode, decode)


LZMA = _bytes_peer(
    "lzma of quantised",
    lambda body, setting: lzma.compress(body, lzma.FORMAT_RAW, filters=_filters(setting)),
    lambda body, setting: lzma.decompress(body, lzma.FORMAT_RAW, filters=_filters(setting)),
    (6, _thorough),
    (2, _lzma_more),
)
BZ2 = _bytes_peer(
    "bz2 of quantised",
    lambda body, _setting: bz2.compress(body, 9),
    lambda body, _setting: bz2.decompress(body),
    (1, _wider),
)
ZLIB = _bytes_peer(
    "zlib of quantised",
    lambda body, setting: zlib.compress(body, setting.preset, -15),
    lambda body, _setting: zlib.decompress(body, -15),
    (3, _thorough),
)


class PcodecSetting(NamedTuple):
    """A layout, and the options of pcodec."""

    layout: Layout = Layout()
    prediction: str = "none"
    degree: int = 0
    level: int = 8

    @property
    def fill(self) -> str:
        """What stands for a missing reading."""
        return self.layout.fill

    @property
    def options(self) -> ChunkConfig:
        """The same, as pcodec wants it."""
        deltas = {
            "none": DeltaSpec.no_op,
            "auto": DeltaSpec.auto,
            "lookback": DeltaSpec.try_lookback,
            "consecutive": lambda: DeltaSpec.try_consecutive(self.degree),
            "convolution": lambda: DeltaSpec.try_conv1(self.degree),
        }
        return ChunkConfig(
            compression_level=self.level,
            mode_spec=ModeSpec.classic(),
            delta_spec=deltas[self.prediction](),
            enable_8_bit=True,
        )


def _pcodec_settings(quick: bool) -> list[PcodecSetting]:
    fills = (ROW_MEAN, PREVIOUS) if quick else (ROW_MEAN, PREVIOUS, LEFT_OUT, MARKED)
    return [PcodecSetting(layout, how) for layout in layouts(fills) for how in ("none", "lookback")]


def _pcodec_more(best: PcodecSetting) -> list[PcodecSetting]:
    found = [best._replace(prediction=how) for how in ("auto", "none")]
    found += [best._replace(prediction="consecutive", degree=degree) for degree in (1, 2)]
    found += [best._replace(prediction="convolution", degree=degree) for degree in (1, 2, 4, 8, 16, 24, 32)]
    found += [best._replace(layout=best.layout._replace(width=width)) for width in (2, 4)]
    return found + [setting._replace(level=12) for setting in [*found, best]]


def _pcodec_encode(case: Case, setting: PcodecSetting) -> tuple[bytes, Any]:
    packed = pack(case, setting.layout)
    # A convolution that is longer than the last batch of 256 integers makes pcodec 1.0.4 panic.
    longest = packed.integers.size % 256 or 256
    setting = setting._replace(degree=min(setting.degree, longest))
    return standalone.simple_compress(packed.integers, setting.options), packed.least


def _pcodec_decode(case: Case, setting: PcodecSetting, body: bytes, least: Any) -> FloatArray:
    return unpack(case, setting.layout, standalone.simple_decompress(body), least)


PCODEC = Peer("quantise + pcodec", _pcodec_settings, ((3, _pcodec_more),), _pcodec_encode, _pcodec_decode)
