"""A coder like FLAC: linear prediction with quantised coefficients in blocks, residuals in partitioned Rice codes.

It writes bits and reads them back. Each sensor is a channel; blocks have no header but what a decoder needs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray, IntArray

from .attempt import Attempt
from .layout import HELD, LEFT_OUT, Layout, charged, differences, layouts, restored
from .view import View

BLOCK, PRECISION, LARGEST_ORDER = 4096, 14, 32
_ORDERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
#: Predictors that need no coefficients; their orders come after the largest one.
_POLYNOMIALS = ((), (1,), (2, -1), (3, -3, 1))
_CONSTANT = 0
_PARTITIONS = 7
#: Bits of an order, of a shift, of the number of partitions and of a Rice parameter.
_ORDER, _SHIFT, _SPLITS, _RICE = 6, 4, 3, 5
Bits = NDArray[np.uint8]


def attempts(view: View, *, quick: bool = False) -> Iterator[Attempt]:
    """Try channels as they are, and as differences from their neighbours."""
    if view.floats or int(np.abs(view.levels).max()) >= 2**31:
        return
    for layout in layouts(view):
        wanted = ("none",) if quick else ("none", "sensors")
        if layout.order == "sensor" and layout.fill in (HELD, LEFT_OUT) and layout.delta in wanted:
            yield _attempt(view, layout)


def _attempt(view: View, layout: Layout) -> Attempt:
    row = differences(view, layout)
    n_sensors = view.levels.shape[1]
    lengths = view.observed.sum(axis=0) if layout.fill == LEFT_OUT else np.full(n_sensors, len(view.levels))
    body = encode(np.split(row, np.cumsum(lengths)[:-1]))

    def decode() -> FloatArray:
        return view.restore(restored(view, layout, np.concatenate(decode_channels(body, lengths.tolist()))))

    return Attempt("FLAC-like", f"{view.name} {layout.words}", len(body) / 8 + charged(view, layout), decode)


def encode(channels: list[IntArray]) -> Bits:
    """Return the bits of channels.

    >>> channels = [np.arange(5000) ** 2 % 977, np.array([3, 3, 3])]
    >>> bits = encode(channels)
    >>> all(map(np.array_equal, decode_channels(bits, [5000, 3]), channels)), len(bits) < 5000 * 11
    (True, True)
    """
    parts: list[Bits] = []
    for channel in channels:
        for start in range(0, len(channel), BLOCK):
            part = channel[max(0, start - LARGEST_ORDER) : start + BLOCK].astype(np.int64)
            parts.append(_block(part[min(start, LARGEST_ORDER) :], part[: min(start, LARGEST_ORDER)]))
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def _block(values: IntArray, before: IntArray) -> Bits:
    """Return the shortest block: its mean, an order, coefficients, residuals."""
    mean = int(np.rint(values.mean()))
    head = _fixed(mean & 0xFFFFFFFF, 32)
    if np.ptp(values) == 0:
        return np.concatenate([_fixed(_CONSTANT, _ORDER), head])
    history = _history(before, mean)
    centred = values - mean
    candidates = [
        (_ORDER, LARGEST_ORDER + 1 + degree, np.array(taps, np.int64), 0) for degree, taps in enumerate(_POLYNOMIALS)
    ]
    candidates += [
        (_ORDER + _SHIFT + PRECISION * order, order, taps, shift) for order, taps, shift in _predictors(centred)
    ]
    tried = []
    for cost, order, taps, shift in candidates:
        residual = centred - _predicted(np.concatenate([history, centred]), taps, shift)
        tried.append((cost + _rice_cost(residual), order, taps, shift, residual))
    _, order, taps, shift, residual = min(tried, key=lambda found: found[0])
    parts = [_fixed(order, _ORDER), head]
    if order <= LARGEST_ORDER:
        parts.append(_fixed(shift, _SHIFT))
        parts += [_fixed(int(tap) & (2**PRECISION - 1), PRECISION) for tap in taps]
    return np.concatenate([*parts, _rice(residual)])


def _history(before: IntArray, mean: int) -> IntArray:
    """Return what was before a block, less the block's mean; nothing was there before the first one."""
    return np.concatenate([np.zeros(LARGEST_ORDER - len(before), np.int64), before - mean])


def _predictors(values: IntArray) -> Iterator[tuple[int, IntArray, int]]:
    """Return quantised coefficients of several orders, by the recursion of Levinson and Durbin."""
    n = len(values)
    window = values * np.hanning(n + 2)[1:-1] ** 0.3
    most = min(LARGEST_ORDER, n - 1)
    correlation = np.array([window[: n - lag] @ window[lag:] for lag in range(most + 1)])
    error, found = correlation[0] * (1.0 + 1e-9), np.zeros(0)
    for order in range(1, most + 1):
        if error <= 0.0:
            return
        reflection = (correlation[order] - found @ correlation[order - 1 : 0 : -1]) / error
        found = np.append(found - reflection * found[::-1], reflection)
        error *= 1.0 - reflection**2
        if order in _ORDERS:
            largest = np.abs(found).max()
            if not 0.0 < largest < 2 ** (PRECISION - 1):
                continue
            shift = int(min(15, PRECISION - 2 - np.floor(np.log2(largest))))
            if shift >= 0:
                limit = 2 ** (PRECISION - 1) - 1
                yield order, np.clip(np.rint(found * 2.0**shift), -limit, limit).astype(np.int64), shift


def _predicted(values: IntArray, taps: IntArray, shift: int) -> IntArray:
    """Return the prediction of all values but the first `LARGEST_ORDER`."""
    n = len(values) - LARGEST_ORDER
    if not len(taps):
        return np.zeros(n, np.int64)
    return np.convolve(values, taps)[LARGEST_ORDER - 1 :][:n] >> shift


def _zigzag(values: IntArray) -> IntArray:
    return (values << 1) ^ (values >> 63)


def _sums(residual: IntArray) -> tuple[int, list[int]]:
    """Return the best number of halvings, and the Rice parameter of each part."""
    folded = _zigzag(residual)
    best: tuple[float, int, list[int]] = (np.inf, 0, [])
    for splits in range(_PARTITIONS + 1):
        if splits and len(folded) < 8 << splits:
            break
        cost, parameters = 0.0, []
        for part in np.array_split(folded, 1 << splits):
            guess = max(0, int(np.log2(max(1.0, 0.69 * part.mean()))))
            options = [(int((part >> k).sum()) + len(part) * (1 + k), k) for k in range(max(0, guess - 1), guess + 3)]
            bits, parameter = min(options)
            cost += bits + _RICE
            parameters.append(parameter)
        if cost < best[0]:
            best = cost, splits, parameters
    return best[1], best[2]


def _rice_cost(residual: IntArray) -> float:
    """Return about the bits of a residual: parts of 256 with the parameter of their mean."""
    folded = _zigzag(residual)
    if int(folded.max()) >= 2**50:
        return np.inf
    pad = -len(folded) % 256
    parts = np.concatenate([folded, np.zeros(pad, np.int64)]).reshape(-1, 256)
    k = np.log2(np.maximum(1.0, 0.69 * parts.mean(axis=1))).astype(np.int64)
    return float((parts >> k[:, None]).sum() + (256 * (1 + k) + _RICE).sum())


def _rice(residual: IntArray) -> Bits:
    splits, parameters = _sums(residual)
    parts = [_fixed(splits, _SPLITS)]
    for part, k in zip(np.array_split(_zigzag(residual), 1 << splits), parameters, strict=True):
        quotient = part >> k
        ends = np.cumsum(quotient + 1 + k)
        bits = np.zeros(int(ends[-1]), np.uint8)
        bits[ends - k - 1] = 1
        for low in range(k):
            bits[ends - 1 - low] = (part >> low) & 1
        parts += [_fixed(k, _RICE), bits]
    return np.concatenate(parts)


def _fixed(value: int, width: int) -> Bits:
    return np.array([(value >> place) & 1 for place in range(width - 1, -1, -1)], np.uint8)


class _Reader:
    """Bits from the first to the last."""

    def __init__(self, bits: Bits) -> None:
        self.bits, self.at = bits, 0
        ones = np.where(bits > 0, np.arange(len(bits)), len(bits))
        self.next_one = np.minimum.accumulate(ones[::-1])[::-1].tolist()

    def fixed(self, width: int) -> int:
        self.at += width
        return int("".join(map(str, self.bits[self.at - width : self.at].tolist())) or "0", 2)

    def rice(self, n: int, k: int) -> IntArray:
        quotients, stops, at = [], [], self.at
        for _ in range(n):
            stop = self.next_one[at]
            quotients.append(stop - at)
            stops.append(stop)
            at = stop + 1 + k
        self.at = at
        folded, where = np.array(quotients, np.int64), np.array(stops, np.int64)
        for place in range(1, k + 1):
            folded = folded * 2 + self.bits[where + place]
        return (folded >> 1) ^ -(folded & 1)


def decode_channels(bits: Bits, lengths: list[int]) -> list[IntArray]:
    """Undo `encode`."""
    reader = _Reader(bits)
    channels = []
    for length in lengths:
        found = np.zeros(0, np.int64)
        for start in range(0, length, BLOCK):
            block = _decoded(reader, min(BLOCK, length - start), found[-LARGEST_ORDER:])
            found = np.concatenate([found, block])
        channels.append(found)
    return channels


def _decoded(reader: _Reader, n: int, before: IntArray) -> IntArray:
    order = reader.fixed(_ORDER)
    mean = reader.fixed(32)
    mean -= mean >> 31 << 32
    if order == _CONSTANT:
        return np.full(n, mean, dtype=np.int64)
    shift = 0
    if order <= LARGEST_ORDER:
        shift = reader.fixed(_SHIFT)
        taps = [reader.fixed(PRECISION) for _ in range(order)]
        taps = [tap - (tap >> (PRECISION - 1) << PRECISION) for tap in taps]
    else:
        taps = list(_POLYNOMIALS[order - LARGEST_ORDER - 1])
    lengths = [len(part) for part in np.array_split(np.zeros(n), 1 << reader.fixed(_SPLITS))]
    residual = np.concatenate([reader.rice(length, reader.fixed(_RICE)) for length in lengths])
    values = np.concatenate([_history(before, mean), residual])
    backwards = np.array(taps[::-1], np.int64)
    for t in range(LARGEST_ORDER, len(values) if taps else 0):
        values[t] += (backwards @ values[t - len(taps) : t]) >> shift
    return values[LARGEST_ORDER:] + mean
