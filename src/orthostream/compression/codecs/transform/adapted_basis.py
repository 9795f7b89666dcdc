"""An orthonormal basis that both sides learn from what was decoded, so that it is never sent."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.transform.cosines import cosines

#: What is left of a sample in the second moment after the next one.
_FORGETTING = 0.995
#: Samples between two looks at the moment; more for many sensors, as a look costs their number to the third power.
_FEWEST_ROWS = 24
#: Steps at each look.
_TURNS = 1


class AdaptedBasis:
    """The principal axes of the decoded samples, followed by one step of orthogonal iteration at a time.

    A step takes the atoms Q to the orthonormal factor of Q (C + d 1), C being the forgetting second moment of the
    samples around their mean: leading atoms first, those alike in energy in any mixture, which costs a coder nothing.
    There is nothing in it but sums, products, quotients and square roots in an order that the text fixes.

    Attributes
    ----------
    components : array of shape (n_sensors, n_sensors)
        Orthonormal rows, in the order of their energy; cosines at first.
    moment : array of shape (n_sensors, n_sensors)
        The forgetting second moment.

    Examples
    --------
    >>> basis = AdaptedBasis(2)
    >>> for _ in range(20):
    ...     basis.learn(np.array([[3.0, 4.0], [-3.0, -4.0]] * 12), 0.1)
    >>> np.abs(basis.components[0]).round(3)
    array([0.6, 0.8])
    """

    def __init__(self, n_sensors: int) -> None:
        self.components = np.array(cosines(n_sensors))
        self.moment = np.zeros((n_sensors, n_sensors))
        self._waiting = 0
        self._interval = max(_FEWEST_ROWS, n_sensors * n_sensors // 512)

    def learn(self, rows: FloatArray, noise: float) -> None:
        """Take in samples around their mean, of which what is smaller than ``noise`` is unknown."""
        for row in rows:
            self.moment *= _FORGETTING
            self.moment += row[:, None] * row
        self._waiting += len(rows)
        if self._waiting >= self._interval:
            self._waiting = 0
            for _ in range(_TURNS):
                with np.errstate(all="ignore"):
                    turned = _orthonormal(self._turned(noise))
                # Where squares overflow or vanish, the basis stays as it is.
                if np.isfinite(turned).all():
                    self.components = turned

    def seed(self, atoms: FloatArray) -> None:
        """Take atoms that were learnt elsewhere into the basis, and keep what is orthogonal to them of the rest."""
        self.components = seeded(self.components, atoms, self.moment)

    def _turned(self, noise: float) -> FloatArray:
        turned = (noise * noise) * self.components
        for atoms, energies in zip(self.components.T, self.moment, strict=True):
            turned += atoms[:, None] * energies
        return turned


def seeded(components: FloatArray, atoms: FloatArray, moment: FloatArray) -> FloatArray:
    """Return a basis that begins with some orthonormal atoms, by energy, and goes on with what it had besides.

    >>> seeded(np.eye(2), np.array([[0.6, 0.8]]), np.eye(2))
    array([[ 0.6,  0.8],
           [ 0.8, -0.6]])
    """
    energies = [_total(_total(moment * atom[:, None]) * atom) for atom in atoms]
    leading = atoms[np.argsort(-np.array(energies), kind="stable")]
    rest = np.array(components)
    for atom in leading:
        rest -= np.add.accumulate(rest * atom, axis=1)[:, -1:] * atom
    # As many as there are atoms have become redundant: those of which least is left.
    left = np.add.accumulate(rest * rest, axis=1)[:, -1]
    kept = np.sort(np.argsort(-left, kind="stable")[: len(components) - len(atoms)])
    return _orthonormal(np.concatenate([leading, rest[kept]]))


def _total(rows: FloatArray) -> FloatArray:
    total: FloatArray = np.add.accumulate(rows, axis=0)[-1]
    return total


def _orthonormal(rows: FloatArray) -> FloatArray:
    """Return the rows made orthonormal, one after another.

    >>> _orthonormal(np.array([[3.0, 4.0], [1.0, 0.0]]))
    array([[ 0.6,  0.8],
           [ 0.8, -0.6]])
    """
    columns = np.array(rows.T)
    # Twice, since what is nearly parallel comes out of the first pass with an error that the second takes away.
    for _ in range(2):
        for j in range(columns.shape[1]):
            atom = columns[:, j]
            atom /= np.sqrt(np.add.accumulate(atom * atom)[-1])
            if j + 1 < columns.shape[1]:
                rest = columns[:, j + 1 :]
                rest -= atom[:, None] * np.add.accumulate(rest * atom[:, None], axis=0)[-1]
    return np.array(columns.T)
