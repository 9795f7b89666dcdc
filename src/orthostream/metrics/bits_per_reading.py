"""The cost of sending a sparse code."""

from __future__ import annotations

import math

from orthostream._checks import integer, positive


def bits_per_reading(
    n_features: int, n_nonzero: int, *, n_components: int | None = None, value_bits: float = 16.0
) -> float:
    """Return the number of bits per reading that a sparse code takes.

    A sample of N readings is sent as s coefficients out of K. Their positions take log2 of the number of ways to choose
    s out of K; their values take ``value_bits`` each::

        (log2 C(K, s) + s value_bits) / N

    Raw readings would take ``value_bits`` each, so the compression ratio is ``value_bits`` over this. The paper's
    ratio, floor(N / s), counts only values. Neither counts the dictionary, headers or masks of missing readings: for
    real messages use ``8 n_bytes / n_readings`` instead.

    Parameters
    ----------
    n_features : int
        N, the readings in a sample.
    n_nonzero : int
        s, the coefficients that are sent.
    n_components : int, optional
        K, the atoms of the dictionary; by default as many as features.
    value_bits : float, default 16

    Examples
    --------
    With positions counted, the paper's compression ratio of 28 (two coefficients for 56 readings) is 21:

    >>> bits = bits_per_reading(56, 2)
    >>> round(bits, 3), 56 // 2, round(16 / bits, 1)
    (0.761, 28, 21.0)
    """
    components = n_features if n_components is None else n_components
    integer("n_features", n_features)
    integer("n_components", components)
    integer("n_nonzero", n_nonzero, 0, components, what="n_components")
    positive("value_bits", value_bits)
    positions = math.log2(math.comb(components, n_nonzero))
    return float((positions + n_nonzero * value_bits) / n_features)
