"""Compressors of fields of floating-point numbers, SZ3 and zfp: part of `orthostream bench compression`."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import zfpy
from numpy.typing import NDArray
from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode

from orthostream._typing import FloatArray

from .compression_case import Case, previous, row_mean
from .compression_integers import LEFT_OUT, PREVIOUS, ROW_MEAN
from .compression_peer import Peer

WINDOW = 24
_Scalar = TypeVar("_Scalar", bound=np.generic)
SHAPES = ("2-D", "2-D by sensor", "1-D by time", "1-D by sensor")
# Rounding to the grid allows for a wider bound. If it meets a tie, a bound that is a little narrower does not.
_ROUNDED, _JUST_ROUNDED, _AS_IS, _QUANTISED = "rounded", "just rounded", "as is", "quantised first"
_WAYS = (_ROUNDED, _JUST_ROUNDED, _AS_IS, _QUANTISED)

#: SZ3's algorithms, and the options that turn their parts on and off.
_ALGORITHMS: dict[str, tuple[int, dict[str, str]]] = {
    "Lorenzo + regression": (szAlgorithm.LORENZO_REG, {}),
    "Lorenzo": (szAlgorithm.LORENZO_REG, {"Lorenzo": "YES", "Lorenzo2ndOrder": "NO", "Regression": "NO"}),
    "Lorenzo, both orders": (szAlgorithm.LORENZO_REG, {"Lorenzo": "YES", "Lorenzo2ndOrder": "YES", "Regression": "NO"}),
    "Lorenzo of order 2": (szAlgorithm.LORENZO_REG, {"Lorenzo": "NO", "Lorenzo2ndOrder": "YES", "Regression": "NO"}),
    "regression": (szAlgorithm.LORENZO_REG, {"Lorenzo": "NO", "Lorenzo2ndOrder": "NO", "Regression": "YES"}),
    "interpolation + Lorenzo": (szAlgorithm.INTERP_LORENZO, {}),
    "linear": (szAlgorithm.INTERP, {"InterpolationAlgo": "INTERP_ALGO_LINEAR"}),
    "cubic": (szAlgorithm.INTERP, {"InterpolationAlgo": "INTERP_ALGO_CUBIC"}),
    "linear, other direction": (
        szAlgorithm.INTERP,
        {"InterpolationAlgo": "INTERP_ALGO_LINEAR", "InterpolationDirection": "1"},
    ),
    "cubic, other direction": (
        szAlgorithm.INTERP,
        {"InterpolationAlgo": "INTERP_ALGO_CUBIC", "InterpolationDirection": "1"},
    ),
    "no prediction": (szAlgorithm.NOPRED, {}),
}


class FieldSetting(NamedTuple):
    """What is given to a compressor of fields."""

    fill: str = ROW_MEAN
    shape: str = "2-D"
    way: str = _ROUNDED
    algorithm: str = ""
    bits: int = 64
    tolerance: float = 1.0
    """Of the bound: one that is never reached may be asked for a wider one."""


def _field(case: Case, setting: FieldSetting) -> FloatArray:
    rows = row_mean(case.rows) if setting.fill == ROW_MEAN else previous(case.rows)
    if setting.way == _QUANTISED:
        rows = case.origin + np.rint((rows - case.origin) / case.step) * case.step
    return rows.astype(f"f{setting.bits // 8}")


def shaped(rows: NDArray[_Scalar], shape: str) -> NDArray[_Scalar]:
    """Return rows in one of `SHAPES`."""
    ordered = np.ascontiguousarray(rows.T if shape.endswith("by sensor") else rows)
    return ordered if shape.startswith("2-D") else ordered.ravel()


def unshaped(values: FloatArray, shape: str, size: tuple[int, ...]) -> FloatArray:
    """Undo `shaped`."""
    if shape.endswith("by sensor"):
        return np.ascontiguousarray(values.reshape(size[::-1]).T)
    return values.reshape(size)


def _asked(case: Case, setting: FieldSetting) -> float:
    asked = {
        _ROUNDED: case.step / 2.0,
        _JUST_ROUNDED: case.step / 2.0 * (1.0 - 1e-6),
        _AS_IS: case.bound,
        _QUANTISED: case.step / 2.0 * (1.0 - 1e-6),
    }
    return asked[setting.way] * setting.tolerance


def _finished(case: Case, setting: FieldSetting, rows: FloatArray) -> FloatArray:
    rows = rows.astype(np.float64)
    if setting.way == _AS_IS:
        return rows
    lattice = case.step if setting.way == _QUANTISED else case.source.grid
    return np.asarray(case.origin + np.rint((rows - case.origin) / lattice) * lattice)


#: Some options can only be read from a file; it is written once, so that nobody's time includes it.
_OPTIONS = tempfile.TemporaryDirectory(prefix="orthostream-sz3-")


@cache
def _options(algorithm: str) -> str:
    path = Path(_OPTIONS.name) / f"{list(_ALGORITHMS).index(algorithm)}.ini"
    lines = [f"{name} = {value}" for name, value in _ALGORITHMS[algorithm][1].items()]
    path.write_text("\n".join(["[GlobalSettings]", "[AlgoSettings]", *lines]) + "\n", encoding="utf-8")
    return str(path)


def _sz3_config(shape: tuple[int, ...], algorithm: str, bound: float) -> szConfig:
    number, options = _ALGORITHMS[algorithm]
    config = szConfig(*shape)
    if options:
        config.loadcfg(_options(algorithm))
    config.cmprAlgo = number
    config.errorBoundMode = szErrorBoundMode.ABS
    config.absErrorBound = bound
    return config


def sz3_encode(values: FloatArray, algorithm: str, bound: float) -> bytes:
    """Return an array through SZ3."""
    return bytes(sz.compress(values, _sz3_config(values.shape, algorithm, bound))[0].tobytes())


def sz3_decode(body: bytes, bits: int, shape: tuple[int, ...]) -> FloatArray:
    """Return what SZ3 has made of an array."""
    return np.asarray(sz.decompress(np.frombuffer(body, np.uint8), f"f{bits // 8}", shape)[0])


def _sz3_settings(quick: bool) -> list[FieldSetting]:
    algorithms = ("Lorenzo", "interpolation + Lorenzo") if quick else tuple(_ALGORITHMS)
    shapes = {ROW_MEAN: SHAPES, PREVIOUS: SHAPES, LEFT_OUT: SHAPES[2:]}
    return [
        FieldSetting(fill, shape, _QUANTISED, algorithm)
        for fill in shapes
        for shape in shapes[fill][: 1 if quick else None]
        for algorithm in algorithms
        # There is but one direction in one dimension.
        if shape.startswith("2-D") or "direction" not in algorithm
    ]


def _sz3_more(best: FieldSetting) -> list[FieldSetting]:
    found = [best._replace(way=way) for way in _WAYS]
    return found + [setting._replace(bits=32) for setting in found]


def _kept(case: Case, setting: FieldSetting) -> Any:
    """Return which values are sent in one dimension."""
    return shaped(case.observed, setting.shape) if setting.fill == LEFT_OUT else slice(None)


def _sz3_encode(case: Case, setting: FieldSetting) -> tuple[bytes, Any]:
    values = shaped(_field(case, setting), setting.shape)[_kept(case, setting)]
    return sz3_encode(values, setting.algorithm, _asked(case, setting)), values.shape


def _sz3_decode(case: Case, setting: FieldSetting, body: bytes, shape: Any) -> FloatArray:
    values = sz3_decode(body, setting.bits, shape)
    if setting.fill == LEFT_OUT:
        all_values = np.zeros(case.rows.size)
        all_values[_kept(case, setting)] = values
        values = all_values
    return _finished(case, setting, unshaped(values, setting.shape, case.rows.shape))


def _window_settings(quick: bool) -> list[FieldSetting]:
    algorithms = ("Lorenzo", "linear", "Lorenzo + regression", "cubic", "no prediction")[: 2 if quick else None]
    return [
        FieldSetting(PREVIOUS, shape, _QUANTISED, algorithm)
        for shape in (SHAPES[:1] if quick else SHAPES)
        for algorithm in algorithms
    ]


def _window_more(best: FieldSetting) -> list[FieldSetting]:
    found = [best._replace(fill=fill, way=way) for fill in (ROW_MEAN, PREVIOUS) for way in (_ROUNDED, _QUANTISED)]
    return found + [best._replace(fill=fill, bits=32) for fill in (ROW_MEAN, PREVIOUS)]


def _windows_encode(case: Case, setting: FieldSetting) -> tuple[bytes, Any]:
    rows, bound = _field(case, setting), _asked(case, setting)
    parts = [shaped(rows[begin : begin + WINDOW], setting.shape) for begin in range(0, len(rows), WINDOW)]
    bodies = [sz3_encode(values, setting.algorithm, bound) for values in parts]
    return b"".join(bodies), [len(body) for body in bodies]


def _windows_decode(case: Case, setting: FieldSetting, body: bytes, lengths: Any) -> FloatArray:
    parts, at = [], 0
    for begin, length in zip(range(0, len(case.rows), WINDOW), lengths, strict=True):
        size = (min(WINDOW, len(case.rows) - begin), case.rows.shape[1])
        shape = shaped(np.empty(size), setting.shape).shape
        values = sz3_decode(body[at : at + length], setting.bits, shape)
        parts.append(unshaped(values, setting.shape, size))
        at += length
    return _finished(case, setting, np.concatenate(parts))


def _zfp_settings(quick: bool) -> list[FieldSetting]:
    return [
        FieldSetting(fill, shape, way, bits=32, tolerance=tolerance)
        for fill in (ROW_MEAN, PREVIOUS)
        for shape in SHAPES
        for way in (_ROUNDED, _QUANTISED, _AS_IS)
        for tolerance in ((1.0, 4.0) if quick else (1.0, 2.0, 4.0, 8.0))
    ]


def _zfp_encode(case: Case, setting: FieldSetting) -> tuple[bytes, Any]:
    values = shaped(_field(case, setting), setting.shape)
    return zfpy.compress_numpy(values, tolerance=_asked(case, setting)), None


def _zfp_decode(case: Case, setting: FieldSetting, body: bytes, _known: Any) -> FloatArray:
    return _finished(case, setting, unshaped(zfpy.decompress_numpy(body), setting.shape, case.rows.shape))


SZ3 = Peer("SZ3, whole file", _sz3_settings, ((6, _sz3_more),), _sz3_encode, _sz3_decode)
SZ3_WINDOWS = Peer(
    f"SZ3, windows of {WINDOW}", _window_settings, ((3, _window_more),), _windows_encode, _windows_decode
)
ZFP = Peer("zfp", _zfp_settings, (), _zfp_encode, _zfp_decode)
