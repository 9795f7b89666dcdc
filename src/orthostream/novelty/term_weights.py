"""How much a term of a document counts, from its count and from the share of earlier documents that have it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from orthostream._typing import FloatArray


class TermWeights(ABC):
    """A weight for each term of each document. Frequencies are those of earlier documents only."""

    def __repr__(self) -> str:
        """Return the call that makes an equal object."""
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @abstractmethod
    def __call__(self, counts: FloatArray, frequencies: FloatArray, n_documents: float) -> FloatArray:
        """Return the weights of terms, not scaled to unit length yet.

        Parameters
        ----------
        counts : array
            How often each term occurs in its document, positive.
        frequencies : array of the same shape
            The number of earlier documents that have the term, 0 for a new one.
        n_documents : float
            The number of earlier documents.
        """


class DampedInverseFrequency(TermWeights):
    r"""Logarithmic counts, the root of the inverse document frequency, and less weight for terms seen once or never.

    With tf the count, df the frequency and n the number of documents:
    :math:`(1 + \ln tf) \sqrt{\max(0, \ln((n+1)/(df+.5)))} \, (df+.1)/(df+1)`. A new term is often a name or a typing
    error and says little about the topic of its document; the last factor gives it a tenth of its weight.

    Examples
    --------
    >>> weights = DampedInverseFrequency()
    >>> weights(np.array([1.0, 1.0, 1.0]), np.array([0.0, 10.0, 900.0]), 1000.0).round(2)
    array([0.28, 1.96, 0.32])
    """

    def __call__(self, counts: FloatArray, frequencies: FloatArray, n_documents: float) -> FloatArray:
        inverse = np.log((n_documents + 1.0) / (frequencies + 0.5))
        damping = (frequencies + 0.1) / (frequencies + 1.0)
        return np.asarray((1.0 + np.log(counts)) * np.sqrt(np.maximum(inverse, 0.0)) * damping)


class TfIdf(TermWeights):
    r"""The count times the logarithm of the inverse document frequency: :math:`tf \max(0, \ln((n+1)/(df+.5)))`.

    Examples
    --------
    >>> TfIdf()(np.array([1.0, 2.0]), np.array([0.0, 10.0]), 1000.0).round(2)
    array([7.6 , 9.11])
    """

    def __call__(self, counts: FloatArray, frequencies: FloatArray, n_documents: float) -> FloatArray:
        return np.asarray(counts * np.maximum(np.log((n_documents + 1.0) / (frequencies + 0.5)), 0.0))
