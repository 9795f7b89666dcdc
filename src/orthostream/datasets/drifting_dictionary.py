"""A dictionary that turns by a constant angle from one sample to the next."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


class DriftingDictionary:
    """Atoms that all turn by the same angle from each sample to the next; calling it returns the atoms of one sample.

    The rotation R turns orthogonal planes by one angle. With P the projection onto those planes and J the quarter turn
    in each of them, its powers need no products of matrices: ``R^i = 1 + (cos(i angle) - 1) P + sin(i angle) J``. In an
    even number of dimensions the planes can span the space, and then every vector turns by the same angle; in an odd
    number one direction is fixed.

    Parameters
    ----------
    components : array of shape (n_components, n_features)
        The dictionary of sample 0, atoms as rows.
    first, second : arrays of shape (n_planes, n_features)
        Each plane is spanned by a row of `first`, which turns towards the same row of `second`. All rows of both are
        orthonormal.
    angle : float
        In radians.

    Examples
    --------
    >>> import numpy as np
    >>> dictionary = DriftingDictionary(np.eye(2), np.eye(2)[:1], np.eye(2)[1:], angle=np.pi / 6)
    >>> dictionary(0)
    array([[1., 0.],
           [0., 1.]])
    >>> dictionary(3).round(3) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """

    def __init__(self, components: FloatArray, first: FloatArray, second: FloatArray, angle: float) -> None:
        self.components = components
        self.first = first
        self.second = second
        self.angle = angle

    def __call__(self, sample: int) -> FloatArray:
        """Return the dictionary of one sample, counted from 0, atoms as rows."""
        return self.turn(self.components, np.full(len(self.components), float(sample)))

    def turn(self, rows: FloatArray, times: FloatArray) -> FloatArray:
        """Return rows turned by the angle, row i ``times[i]`` times."""
        along, across = rows @ self.first.T, rows @ self.second.T
        phase = self.angle * times[:, None]
        fall, rise = np.cos(phase) - 1.0, np.sin(phase)
        turned: FloatArray = (
            rows + (fall * along - rise * across) @ self.first + (fall * across + rise * along) @ self.second
        )
        return turned
