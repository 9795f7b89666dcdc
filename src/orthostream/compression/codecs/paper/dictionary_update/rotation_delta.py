"""The way from one dictionary to the next, as small plane rotations of adaptive length.

In the basis that the other side holds, the atoms of the next dictionary are almost the first columns of the identity.
The rotations that make them exactly that are sent as multiples of one step of the tangent of half the angle, the Cayley
parameter of a plane rotation, from which cosine and sine follow by arithmetic alone. Signs are not sent: an atom and
its negative are the same atom.

The Cayley parameters of the whole rotation are an alternative with as many numbers. They cost the same while atoms
move a little, and up to 1.6 times as much where some move far and they grow large; they also need a square rotation,
while here atoms may leave the space that they span.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from orthostream._checks import between
from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.paper.dictionary_update.level_coder import code_levels, new_probabilities
from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import n_rotations, reduce_columns
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.range_coder import CODER_SIZE, finish_encoding, start_decoding, start_encoding

#: A step is a number of these units, at most all of them.
UNITS = 1 << 20

LEAST_ERROR = 1e-4
_TRIALS = 8
_CLOSE_ENOUGH = 0.97


class TangentGrid:
    """Rotations by the angles whose half has a tangent that is a multiple of ``units`` / 2^20, up to right angles.

    >>> cosines, sines = TangentGrid(UNITS // 3).rotations(np.array([-1, 0, 3]))
    >>> cosines.round(2).tolist(), sines.round(2).tolist()
    ([0.8, 1.0, 0.0], [-0.6, 0.0, 1.0])
    """

    def __init__(self, units: int) -> None:
        self.units = units
        self.most = UNITS // units

    def nearest(self, pivots: FloatArray, entries: FloatArray) -> IntArray:
        angles = np.arctan2(np.where(pivots < 0.0, -entries, entries), np.abs(pivots))
        levels = np.rint(np.tan(angles / 2.0) * (UNITS / self.units)).astype(np.int64)
        return np.clip(levels, -self.most, self.most)

    def rotations(self, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        tangents = (levels * self.units) / float(UNITS)
        squares = tangents * tangents
        return (1.0 - squares) / (1.0 + squares), 2.0 * tangents / (1.0 + squares)


def aligned(components: FloatArray, basis: FloatArray) -> FloatArray:
    """Return atoms in the order and with the signs in which they are closest to the first rows of a basis.

    >>> aligned(np.array([[0.6, 0.8], [-0.8, 0.6]]), np.eye(2))
    array([[ 0.8, -0.6],
           [ 0.6,  0.8]])
    """
    likeness = basis[: len(components)] @ components.T
    order = linear_sum_assignment(np.abs(likeness), maximize=True)[1]
    signs = np.where(likeness[np.arange(len(order)), order] < 0.0, -1.0, 1.0)
    matched: FloatArray = components[order] * signs[:, None]
    return matched


def find_rotations(components: FloatArray, basis: FloatArray, relative_error: float) -> tuple[int, IntArray]:
    """Return a step, in units, and the rotations in that step that bring a basis to a dictionary.

    The step is the largest found, in a few trials, that keeps the Frobenius norm of the error below ``relative_error``
    times that of the dictionary.

    Parameters
    ----------
    components : array of shape (K, N)
        Orthonormal atoms; `aligned` ones take the fewest bits.
    basis : array of shape (N, N)
        Orthonormal rows, the first K of which are the atoms that the other side holds.
    relative_error : float
        At least 0.0001.

    Examples
    --------
    >>> find_rotations(np.array([[0.6, 0.8], [-0.8, 0.6]]), np.eye(2), 0.01)[1]
    array([13])
    """
    between("relative_error", relative_error, LEAST_ERROR, 1.0)
    coordinates = basis @ components.T
    n_rows, n_columns = coordinates.shape
    guess = relative_error * UNITS * float(np.sqrt(1.5 * n_columns / max(n_rotations(n_rows, n_columns), 1)))
    best: tuple[int, IntArray] | None = None
    for trial in range(4 * _TRIALS):
        units = int(min(max(guess, 1.0), float(UNITS)))
        levels, reduced = reduce_columns(coordinates, TangentGrid(units))
        error = _error(reduced)
        if error <= relative_error and (best is None or units > best[0]):
            best = units, levels
        close = _CLOSE_ENOUGH * relative_error <= error <= relative_error
        if best is not None and (trial >= _TRIALS or close or units == UNITS):
            break
        # Aims a little below what is asked for, since only what is below counts.
        guess = units * 0.985 * relative_error / max(error, 0.25 * relative_error)
    if best is None:
        raise ValueError(f"components must have orthonormal rows; no rotation is within {relative_error:g} of them.")
    return best


def _error(reduced: FloatArray) -> float:
    """Return how far reduced columns are from signed columns of the identity, relative to these."""
    n_columns = reduced.shape[1]
    diagonal = np.abs(np.diagonal(reduced))
    squares = float((reduced * reduced).sum() - (diagonal * diagonal).sum() + ((1.0 - diagonal) ** 2).sum())
    return float(np.sqrt(max(squares, 0.0) / n_columns))


def pack_levels(levels: IntArray, n_rows: int, n_columns: int) -> bytes:
    """Return the integers of rotations as bytes."""
    buffer = np.zeros(16 + most_bytes(n_rows, n_columns), dtype=np.uint8)
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_encoding(coder)
    code_levels(coder, buffer, new_probabilities(), levels, n_rows, n_columns)
    return buffer[: finish_encoding(coder, buffer)].tobytes()


def unpack_levels(data: bytes, n_rows: int, n_columns: int, most: int) -> IntArray:
    """Return what `pack_levels` was given, if no integer is larger than ``most``.

    >>> unpack_levels(pack_levels(np.array([3, -2, 0]), 3, 3), 3, 3, most=3)
    array([ 3, -2,  0])
    """
    if len(data) > most_bytes(n_rows, n_columns):
        raise FrameError(f"{len(data)} bytes are too many for {n_rotations(n_rows, n_columns)} rotations.")
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    buffer = np.frombuffer(data, dtype=np.uint8)
    levels = np.zeros(n_rotations(n_rows, n_columns), dtype=np.int64)
    try:
        start_decoding(coder, buffer, len(data))
        code_levels(coder, buffer, new_probabilities(), levels, n_rows, n_columns)
    except OverflowError as error:
        raise FrameError("no encoder writes such bytes for rotations.") from error
    if levels.size and int(np.abs(levels).max()) > most:
        raise FrameError(f"a rotation of {int(np.abs(levels).max())} steps is larger than a right angle.")
    return levels


def most_bytes(n_rows: int, n_columns: int) -> int:
    """Return how many bytes rotations can take at the very most."""
    return 16 + 12 * n_rotations(n_rows, n_columns)
