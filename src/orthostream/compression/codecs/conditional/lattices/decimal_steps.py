"""Steps of which readings are exact multiples, after an offset: decimals and powers of two."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.linear import Linear

#: Share of readings that may be no multiple of a step: they are sent as they are.
MOST_STRAYS = 0.1
#: Share that may be no multiple of a coarser step than the decimal one.
_FEW_STRAYS = 0.02
_MOST_PLACES = 9
#: Share of numbers that look like decimals by accident, at most: where decimals are denser than numbers, all do.
_BY_ACCIDENT = 0.3
_PRIMES = (2, 3, 5, 7, 11, 13)
#: A coarser step must be this unlikely to be an accident, in bits.
_EVIDENCE = 6.0
#: First integers of a sensor must be smaller, or they could not be coded; an offset makes them so.
_LARGEST_FIRST = 1 << 36


def decimal_steps(distinct: Distinct, *, single: bool) -> list[Linear]:
    """Return decimal resolutions that hold nearly all readings, the coarsest and the ones that hold more.

    Examples
    --------
    >>> import numpy as np
    >>> decimal_steps(Distinct.of(np.array([0.5, 0.7, 3.1])), single=False)
    [Linear(width=1, numerator=1.0, denominator=10.0, offset=0.0, single=False)]
    >>> kelvin = (2731500 + 1000 * np.arange(40)) / 10000
    >>> decimal_steps(Distinct.of(kelvin), single=False)[0]
    Linear(width=1, numerator=2.0, denominator=20.0, offset=1.0, single=False)
    """
    found: list[Linear] = []
    if not len(distinct.values):
        return found
    fewest = MOST_STRAYS * distinct.total + 1e-9
    middle = float(np.median(np.abs(distinct.values) / 2.0)) * 2.0
    gap = math.ulp(middle) * (2.0**29 if single else 1.0)
    for places in range(_MOST_PLACES + 1):
        scale = 10**places
        if gap * scale > _BY_ACCIDENT:
            break
        with np.errstate(over="ignore"):
            numbers = np.rint(distinct.values * scale)
            back: FloatArray = numbers / scale
            if single:
                back = back.astype(np.float32).astype(np.float64)
        fits = (back == distinct.values) & (np.abs(numbers) < 2.0**52)
        strays = float(distinct.counts[~fits].sum())
        if strays < fewest and fits.any():
            fewest = strays
            found += _steps(numbers[fits].astype(np.int64), distinct.counts[fits], scale, single)
    return found


def binary_steps(distinct: Distinct) -> list[Linear]:
    """Return the power of two of which nearly all readings are multiples, if they are few enough of them apart."""
    nonzero = distinct.where(distinct.values != 0.0)
    if not len(nonzero.values):
        return []
    mantissa, exponent = np.frexp(nonzero.values)
    digits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    lowest = exponent.astype(np.int64) - 53 + np.frexp((digits & -digits).astype(np.float64))[1] - 1
    order = np.argsort(lowest, kind="stable")
    below = np.cumsum(nonzero.counts[order])
    found: list[Linear] = []
    for strays in (0.0, _FEW_STRAYS):
        power = int(lowest[order][np.searchsorted(below, strays * nonzero.total, side="right").clip(0, len(order) - 1)])
        found += _binary(nonzero.where(lowest >= power), power)
    return list(dict.fromkeys(found))


def _binary(distinct: Distinct, power: int) -> list[Linear]:
    base = float(distinct.values[np.argmax(distinct.counts)])
    if not -1000 < power < 900 or not np.abs(distinct.values).max() < 1e300:
        return []
    with np.errstate(over="ignore"):
        apart = np.ldexp(distinct.values - base, -power)
    if not np.abs(apart).max() < 2.0**44:
        return []
    start = math.ldexp(base, -power)
    near = abs(start) < _LARGEST_FIRST
    found = []
    for step in _common_steps(apart.astype(np.int64), distinct.counts):
        offset = float(int(start) % step) if near else start
        if power >= 0:
            found.append(Linear(1, math.ldexp(float(step), power), 1.0, math.ldexp(offset, power)))
        else:
            common = math.gcd(step, int(offset), 1 << -power)
            found.append(Linear(1, float(step // common), math.ldexp(1.0, -power) / common, offset / common))
    return found


def _steps(numbers: IntArray, counts: IntArray, scale: int, single: bool) -> list[Linear]:
    """Return multiples of 1 / scale, and the coarser step that the numbers have after an offset, if they have one."""
    base = int(numbers[np.argmax(counts)])
    far = max(abs(int(numbers[0])), abs(int(numbers[-1]))) >= _LARGEST_FIRST
    found = []
    for step in _common_steps(numbers - base, counts):
        offset = base if far else base % step
        common = math.gcd(step, scale, offset)
        found.append(Linear(1, float(step // common), float(scale // common), float(offset // common), single))
    return found


def _common_steps(apart: IntArray, counts: IntArray) -> list[int]:
    """Return the largest step of which nearly all differences are multiples, if that is no accident, and 1."""
    step = max(int(np.gcd.reduce(apart)), 1)
    total = int(counts.sum())
    for prime in _PRIMES:
        while True:
            multiples = apart % (step * prime) == 0
            if int(counts[~multiples].sum()) > _FEW_STRAYS * total or np.count_nonzero(multiples) < 2:
                break
            step *= prime
    multiples = apart % step == 0
    if step > 1 and (np.count_nonzero(multiples) - 1) * math.log2(step) >= _EVIDENCE:
        return [step, 1]
    return [1]
