"""Using a learnt dictionary: codes of samples, samples of codes, and how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.atom_order import in_order
from orthostream.dictionary.centred_estimator import CentredEstimator
from orthostream.dictionary.missing import complete
from orthostream.dictionary.rows import validated_weights
from orthostream.dictionary.sparse_coding import energy_shares, keep_above, keep_largest
from orthostream.metrics import relative_rmse


class CodingEstimator(CentredEstimator):
    """The part of `OrthogonalDictionaryLearning` that uses a dictionary, around the mean of the samples."""

    n_components: int | None
    n_nonzero: int | None
    threshold: float | None

    def _n_atoms(self) -> int:
        features = self.n_features_in_
        count = features if self.n_components is None else self.n_components
        return _checks.integer("n_components", count, most=features, what="n_features")

    def _memory_of_the_mean(self) -> int:
        return self._n_atoms()

    def _is_strict(self) -> bool:
        """Return whether this learner points out what is odd; baselines, with fewer parameters, do not."""
        return "center" in self.__dict__

    def _check_coding(self, atoms: int) -> None:
        count = _checks.optional_integer("n_nonzero", self.n_nonzero)
        if count is not None and self._is_strict():
            what = "n_features" if self.n_components is None else "n_components"
            _checks.integer("n_nonzero", count, most=atoms, what=what)
        if self.threshold is not None:
            _checks.at_least("threshold", self.threshold)

    def transform(self, X: Any) -> FloatArray:
        """Return the codes of the samples: all coefficients, or those selected by n_nonzero and threshold."""
        check_is_fitted(self, "state_")
        X = self._validated(X)
        dictionary = self._in_order()
        return self._coded(X, dictionary, self.n_nonzero).astype(self._dtype, copy=False)

    def _in_order(self) -> FloatArray:
        """Return the atoms as columns, in the order and with the signs of ``components_``."""
        dictionary = self._dictionary()
        return in_order(dictionary, self.solver_.estimate.energies(self.state_.memory, dictionary))

    def _prepared(self, X: Any, dictionary: FloatArray) -> Any:
        """Return validated rows as the learner sees them: centred and complete."""
        return complete(X if self._centre is None else self._centre.subtracted(X), dictionary)

    def _coded(self, X: Any, dictionary: FloatArray, n_nonzero: int | None) -> FloatArray:
        self._check_coding(dictionary.shape[1])
        codes: FloatArray = self._prepared(X, dictionary) @ dictionary
        if self.threshold is not None:
            codes = keep_above(codes, self.threshold)
        return codes if n_nonzero is None else keep_largest(codes, n_nonzero)

    def _decoded(self, codes: FloatArray, dictionary: FloatArray) -> FloatArray:
        samples: FloatArray = codes @ dictionary.T
        return samples if self._centre is None else samples + self._centre.mean

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the samples that belong to codes."""
        check_is_fitted(self, "state_")
        codes = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        dictionary = self._in_order()
        if codes.ndim != 2 or codes.shape[1] != dictionary.shape[1]:
            raise ValueError(f"codes must have shape (n_samples, {dictionary.shape[1]}), got {codes.shape}.")
        return self._decoded(codes, dictionary).astype(self._dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return how sparse the codes of samples are: minus the contrast, so that higher is better.

        A learner that hands over from one contrast to another is always scored by the first.
        """
        check_is_fitted(self, "state_")
        X = self._validated(X)
        weights = validated_weights(sample_weight, X)
        dictionary = self._in_order()
        return -float(self.solver_.objective.value(dictionary, self._prepared(X, dictionary), weights))

    def reconstruction_error(self, X: Any, n_nonzero: int | None = None) -> float:
        """Return the error of samples that are coded and decoded again, relative to the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Missing readings, NaN, are left out of the error.
        n_nonzero : int, optional
            The number of coefficients that are kept, instead of the learner's parameter.

        Returns
        -------
        float
            `orthostream.metrics.relative_rmse` of samples and reconstruction, both with the mean: 0.1 for 10 %.

        Examples
        --------
        >>> from orthostream import OrthogonalDictionaryLearning
        >>> learner = OrthogonalDictionaryLearning(init=np.eye(2)).partial_fit([[3.0, 0.0], [0.0, -3.0]])
        >>> round(learner.reconstruction_error([[4.0, 3.0]], n_nonzero=1), 6)
        0.6
        """
        check_is_fitted(self, "state_")
        X = self._validated(X)
        dictionary = self._in_order()
        _checks.optional_integer("n_nonzero", n_nonzero, most=dictionary.shape[1], what="the number of atoms")
        codes = self._coded(X, dictionary, self.n_nonzero if n_nonzero is None else n_nonzero)
        return relative_rmse(X if isinstance(X, np.ndarray) else X.toarray(), self._decoded(codes, dictionary))

    def explained_variance(self, X: Any, n_nonzero: int | Sequence[int]) -> float | FloatArray:
        """Return the share of the samples' energy that the largest coefficients of each sample hold.

        Energy is about ``mean_`` if the learner is centred, and about zero otherwise. Missing readings are filled in
        first. ``threshold`` is not applied.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        n_nonzero : int or sequence of int
            How many coefficients of each sample.

        Returns
        -------
        float, or array with one number for each of ``n_nonzero``
            From 0 to 1; 1 if all samples are zero.

        Examples
        --------
        >>> from orthostream import OrthogonalDictionaryLearning
        >>> learner = OrthogonalDictionaryLearning(init=np.eye(2)).partial_fit([[3.0, 0.0], [0.0, -3.0]])
        >>> learner.explained_variance([[4.0, 3.0]], [1, 2]).round(6)
        array([0.64, 1.  ])
        """
        check_is_fitted(self, "state_")
        X = self._validated(X)
        dictionary = self._in_order()
        single = np.ndim(n_nonzero) == 0
        atoms = dictionary.shape[1]
        counts = [
            _checks.integer("n_nonzero", count, most=atoms, what="the number of atoms")
            for count in ([n_nonzero] if single else list(n_nonzero))  # type: ignore[arg-type]
        ]
        rows = self._prepared(X, dictionary)
        shares = energy_shares(rows, dictionary, counts)
        return float(shares[0]) if single else shares
