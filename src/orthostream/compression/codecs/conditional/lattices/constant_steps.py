"""Steps that are no decimals: counts of a converter times a constant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.linear import Linear

#: Values below which a common step would be an accident, and values that are looked at in search of it.
_FEWEST, _LOOKED_AT = 12, 512
#: Share of readings that must come back to the bit.
_ENOUGH = 0.98
#: A multiple of a step is off a whole number of steps by no more than this.
_NEAR = 0.03
_MOST_COUNT = 2.0**36
#: What a converter's counts are divided by, after they were multiplied.
_FULL_SCALES = tuple(float(2**bits - 1) for bits in range(4, 25)) + tuple(10.0**places for places in range(1, 10))
_LARGEST_DENOMINATOR = 1 << 20


def constant_step(distinct: Distinct, *, single: bool) -> Linear | None:
    """Return the step of which nearly all readings are multiples, as ``c * q``, ``c / q`` or ``c * p / q``.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.random.default_rng(0).integers(-2000, 2000, 500)
    >>> found = constant_step(Distinct.of(counts * (9.80665 / 16384)), single=False)
    >>> found.numerator == 9.80665 / 16384
    True
    """
    distinct = distinct.where(distinct.values != 0.0)
    values = distinct.values
    if len(values) < _FEWEST or not np.abs(values).max() < 1e290:
        return None
    met = np.linspace(0, distinct.total - 1, min(distinct.total, _LOOKED_AT)).astype(np.int64)
    looked_at = values[np.searchsorted(np.cumsum(distinct.counts), met, side="right")]
    looked_at = looked_at[np.argsort(np.abs(looked_at), kind="stable")]
    noise = np.spacing(np.abs(values).max()) * (2.0**29 if single else 1.0)
    for guess in _guesses(values, noise):
        step = _refined(looked_at, guess, noise)
        if step is None:
            continue
        exact = _exact(distinct, step, single)
        if exact is not None:
            # All doubles are multiples of a power of two: that tells nothing.
            return None if math.frexp(exact.numerator / exact.denominator)[0] == 0.5 else exact
    return None


def _guesses(values: FloatArray, noise: float) -> Iterator[float]:
    """Return possible steps, the larger first: gaps between neighbours and parts of them."""
    gaps = np.diff(values)
    gaps = np.sort(gaps[gaps > 16.0 * noise])
    if not len(gaps):
        return
    places = [0.0, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5]
    typical = {float(gap) for gap in np.quantile(gaps, places, method="lower")}
    found = sorted({gap / part for gap in typical for part in range(1, 17)}, reverse=True)
    yield from (guess for guess in found if guess > 16.0 * noise)


def _refined(values: FloatArray, step: float, noise: float) -> float | None:
    """Return a guess made better by larger and larger multiples; None if values are no multiples of it."""
    error = 2.0 * noise
    sizes = np.abs(values)
    while True:
        # Multiples up to here can be told from their neighbours.
        inside = sizes <= 0.2 * step * step / max(error, 1e-300)
        counts = np.rint(values[inside] / step)
        near = np.abs(values[inside] / step - counts) < 0.25
        near &= counts != 0.0
        if np.count_nonzero(near) < max(2, 0.8 * np.count_nonzero(inside)):
            return None
        kept, multiples = values[inside][near], counts[near]
        step = float((kept * multiples).sum() / (multiples * multiples).sum())
        better = 2.0 * noise / float(np.abs(multiples).max())
        if inside.all():
            break
        if not better < 0.7 * error:
            return None
        error = better
    off = np.abs(values / step - np.rint(values / step))
    return step if np.mean(off < _NEAR) >= _ENOUGH - 0.01 and sizes.max() < _MOST_COUNT * step else None


def _exact(distinct: Distinct, step: float, single: bool) -> Linear | None:
    """Return the constant near a step that gives back nearly all values to the bit."""
    values = distinct.values
    cells = np.rint(values / step).astype(np.int64)
    near = (np.abs(values / step - cells) < _NEAR) & (cells != 0)
    half = 0.5 * np.spacing(np.abs(values[near])) * (2.0**29 if single else 1.0)
    sizes, counts = np.abs(values[near]), np.abs(cells[near]).astype(np.float64)
    times = _most_covered((sizes - half) / counts, (sizes + half) / counts)
    over = _most_covered(counts / (sizes + half), counts / (sizes - half))
    tried = [Linear(1, each, 1.0, 0.0, single) for each in _neighbours(times)]
    tried += [Linear(1, 1.0, each, 0.0, single) for each in _neighbours(over)]
    tried += [Linear(1, p, q, 0.0, single) for p, q in _ratios(times)]
    best = max(tried, key=lambda each: _share(each, distinct, cells))
    return best if _share(best, distinct, cells) >= _ENOUGH else None


def _share(lattice: Linear, distinct: Distinct, cells: IntArray) -> float:
    same = lattice.values(cells, cells) == distinct.values
    return float(distinct.counts[same].sum()) / distinct.total


def _most_covered(low: FloatArray, high: FloatArray) -> float:
    """Return the middle of the stretch that most intervals cover."""
    ends = np.concatenate([low, high])
    turns = np.concatenate([np.ones(len(low)), -np.ones(len(high))])
    order = np.lexsort((-turns, ends))
    at = int(np.argmax(np.cumsum(turns[order])))
    return float(0.5 * (ends[order][at] + ends[order][min(at + 1, len(ends) - 1)]))


def _neighbours(number: float) -> list[float]:
    """Return a number and the doubles next to it, short ones first."""
    found = [float(f"{number:.{digits}g}") for digits in range(2, 16)]
    found = [each for each in found if abs(each - number) <= 8.0 * math.ulp(number)]
    return found + [number + k * math.ulp(number) for k in (0, 1, -1, 2, -2, 3, -3)]


def _ratios(number: float) -> list[tuple[float, float]]:
    """Return short fractions that are all but equal to a number: of integers, or a decimal over a full scale."""
    found = []
    exact = Fraction(number)
    near = exact.limit_denominator(_LARGEST_DENOMINATOR)
    if near.numerator > 0 and abs(near - exact) <= exact * Fraction(1, 2**48):
        found.append((float(near.numerator), float(near.denominator)))
    for scale in _FULL_SCALES:
        short = float(f"{number * scale:.6g}")
        if abs(short - number * scale) <= 8.0 * math.ulp(short):
            found.append((short, scale))
    return found
