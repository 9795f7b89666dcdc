"""Orthonormal vectors as Givens angles of a fixed number of bits, as 802.11 sends a beamforming matrix.

An angle of b bits is one of the 2^b multiples of pi / 2^b above -pi/2 and up to pi/2; each column has a bit for its
sign, so that matrices of determinant -1 are like any other.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from orthostream._checks import integer
from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import (
    n_rotations,
    reduce_columns,
    rotate_rows,
)
from orthostream.compression.errors import FrameError

#: Bits of an angle, least and most.
FEWEST_BITS, MOST_BITS = 2, 16


class AngleGrid:
    """Rotations by the multiples of pi / 2^bits.

    Cosines and sines come from halving the right angle again and again, which takes square roots only: the functions of
    a mathematical library differ in the last bit between machines.

    >>> cosines, sines = AngleGrid(3).rotations(np.array([-3, 0, 2, 4]))
    >>> cosines.round(4).tolist(), sines.round(4).tolist()
    ([0.3827, 1.0, 0.7071, 0.0], [-0.9239, 0.0, 0.7071, 1.0])
    """

    def __init__(self, bits: int) -> None:
        self.bits = check_angle_bits(bits)
        self._cosines, self._sines = _quarter_turn(self.bits)

    def nearest(self, pivots: FloatArray, entries: FloatArray) -> IntArray:
        angles = np.arctan2(np.where(pivots < 0.0, -entries, entries), np.abs(pivots))
        levels = np.rint(angles * (2.0**self.bits / np.pi)).astype(np.int64)
        # A right angle to the left does what one to the right does, up to a sign, and signs are sent.
        most = 1 << (self.bits - 1)
        return np.where(levels <= -most, most, np.minimum(levels, most))

    def rotations(self, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        sizes = np.abs(levels)
        return self._cosines[sizes], np.where(levels < 0, -self._sines[sizes], self._sines[sizes])


@lru_cache(maxsize=4)
def _quarter_turn(bits: int) -> tuple[FloatArray, FloatArray]:
    """Return the cosines and the sines of 0, pi / 2^bits, ... pi / 2."""
    cosines, sines = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for _ in range(bits - 1):
        x, y = cosines[:-1] + cosines[1:], sines[:-1] + sines[1:]
        length = np.sqrt(x * x + y * y)
        cosines, sines = _between(cosines, x / length), _between(sines, y / length)
    cosines.flags.writeable = sines.flags.writeable = False
    return cosines, sines


def _between(outer: FloatArray, inner: FloatArray) -> FloatArray:
    both = np.empty(len(outer) + len(inner))
    both[::2], both[1::2] = outer, inner
    return both


def check_angle_bits(bits: int) -> int:
    """Return the number of bits of an angle, or raise ValueError if it is out of range."""
    return integer("bits of an angle", bits, FEWEST_BITS, MOST_BITS)


def givens_angles(columns: FloatArray, bits: int) -> tuple[IntArray, BoolArray]:
    """Return the angles of orthonormal columns as integers, and which columns are negative.

    Parameters
    ----------
    columns : array of shape (N, K)
        Orthonormal columns, K <= N.
    bits : int
        Bits of an angle, 2 to 16. For N = K = 48, 8 bits give a relative error of 1.8 %, and each bit more halves it.

    Returns
    -------
    levels : array of N K - K (K + 1) / 2 integers
        N (N - 1) / 2 for a square matrix.
    negative : array of K flags

    Examples
    --------
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> givens_angles(turn, bits=8)
    (array([-76]), array([False, False]))
    """
    levels, reduced = reduce_columns(columns, AngleGrid(bits))
    return levels, np.diagonal(reduced) < 0.0


def from_givens_angles(levels: IntArray, negative: BoolArray, n_rows: int, bits: int) -> FloatArray:
    """Return the N x N matrix whose first K rows are the columns that the angles stand for.

    The other rows complete them to a basis.

    >>> from_givens_angles(np.array([-76]), np.array([False, False]), n_rows=2, bits=8)[0].round(2)
    array([ 0.6, -0.8])
    """
    basis = rotate_rows(np.eye(n_rows), levels, len(negative), AngleGrid(bits))
    basis[: len(negative)][negative] *= -1.0
    return basis


def pack_angles(levels: IntArray, negative: BoolArray, bits: int) -> bytes:
    """Return signs, then angles of ``bits`` bits each, as bytes; the last byte is filled up with zeros."""
    shifted = levels + ((1 << (bits - 1)) - 1)
    places = np.arange(bits - 1, -1, -1)
    return np.packbits(np.concatenate([negative, ((shifted[:, None] >> places) & 1).ravel() > 0])).tobytes()


def unpack_angles(data: bytes, n_rows: int, n_columns: int, bits: int) -> tuple[IntArray, BoolArray]:
    """Return what `pack_angles` was given.

    >>> levels, negative = np.array([3, -2, 0]), np.array([True, False, True])
    >>> unpack_angles(pack_angles(levels, negative, 5), 3, 3, 5)
    (array([ 3, -2,  0]), array([ True, False,  True]))
    """
    count = n_rotations(n_rows, n_columns)
    n_bits = n_columns + count * bits
    if len(data) != -(-n_bits // 8):
        raise FrameError(f"{count} angles of {bits} bits take {-(-n_bits // 8)} bytes, not {len(data)}.")
    flags = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
    if flags[n_bits:].any():
        raise FrameError("the bits after the last angle are not zero.")
    digits = flags[n_columns:n_bits].reshape(count, bits).astype(np.int64)
    levels = (digits << np.arange(bits - 1, -1, -1)).sum(axis=1) - ((1 << (bits - 1)) - 1)
    return levels, flags[:n_columns] > 0
