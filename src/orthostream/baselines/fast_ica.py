"""Independent component analysis with the l3 contrast of Algorithm 2, offline and without its orthogonality."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.utils import check_random_state

from orthostream._checks import optional_integer
from orthostream._typing import FloatArray
from orthostream.baselines.base import PursuitBaseline, unit_rows

#: Directions with less than this share of the largest variance are rounding errors, and are left out.
_RANK_TOLERANCE = 1e-12


class L3FastICA(PursuitBaseline):
    """scikit-learn's FastICA with the score u |u|, which is the gradient of the l3 contrast.

    The samples are whitened, then rotated so that, by the contrast, their entries are as independent as possible. The
    columns of the mixing matrix, scaled to unit length, are the atoms. They are not orthogonal, so samples are coded by
    orthogonal matching pursuit.

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, at most the rank of the samples, which is the default.
    centre : bool, default True
        Subtract the mean first, as is usual. False whitens the second moment instead of the covariance.
    max_iter : int, default 200
        Iterations of the fixed point.
    tol : float, default 1e-4
        Iterations end once the rotation changes by less; scikit-learn warns if they do not get there.
    n_nonzero : int, optional
        How many atoms the code of each sample may use. All, by default.
    random_state : int, RandomState or None
        Draws the first rotation.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Atoms of unit length as rows.
    mean_ : array of shape (n_features,), or None
    n_iter_ : int

    Examples
    --------
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> from orthostream.metrics import recovery_error
    >>> data = make_bernoulli_gaussian(n_samples=5_000, n_features=10, random_state=0)
    >>> learner = L3FastICA(random_state=0).fit(data.samples)
    >>> recovery_error(learner.components_, data.components) < 0.01
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        centre: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.centre = centre
        self.max_iter = max_iter
        self.tol = tol
        self.n_nonzero = n_nonzero
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all samples at once."""
        rows = self._validated(X, reset=True)
        optional_integer("n_nonzero", self.n_nonzero)
        self.mean_ = rows.mean(axis=0) if self.centre else None
        if self.mean_ is not None:
            rows = rows - self.mean_
        stretch, axes = self._axes(rows)
        white = rows @ axes.T / stretch
        count = len(stretch)
        rotation = check_random_state(self.random_state).standard_normal((count, count))
        # Whiten here: directions without variance must be left out, or scikit-learn would divide by zero.
        ica = FastICA(whiten=False, fun=_l3_score, max_iter=self.max_iter, tol=self.tol, w_init=rotation).fit(white)
        self.components_ = unit_rows(ica.components_ * stretch @ axes)
        self.n_iter_ = int(ica.n_iter_)
        return self

    def _axes(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the standard deviations along the principal axes, zero ones left out, and these axes as rows."""
        singular, axes = np.linalg.svd(rows, full_matrices=False)[1:]
        rank = int((singular**2 > _RANK_TOLERANCE * singular[0] ** 2).sum())
        if rank == 0 or len(rows) == 1:
            what = "all samples are equal" if self.centre else "all samples are zero, or there is only one"
            raise ValueError(f"{what} (n_samples={len(rows)}): there is nothing to learn from.")
        wanted = optional_integer("n_components", self.n_components, most=self.n_features_in_, what="n_features")
        count = min(wanted or rank, rank)
        return singular[:count] / len(rows) ** 0.5, axes[:count]


def _l3_score(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the score and the mean of its derivative, in the form that FastICA expects.

    >>> _l3_score(np.array([[-2.0, 1.0]]))
    (array([[-4.,  1.]]), array([3.]))
    """
    size = np.abs(u)
    return u * size, 2.0 * size.mean(axis=-1)
