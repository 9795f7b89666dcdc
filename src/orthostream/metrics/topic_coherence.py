"""The coherence of topics: how often their words occur in the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from orthostream._typing import FloatArray, IntArray


def topic_coherence(topics: Sequence[Sequence[int] | IntArray], rows: Any) -> FloatArray:
    """Return the mean normalised pointwise mutual information (NPMI) over the pairs of words of each topic.

    With p the share of documents that hold a word, or both words of a pair, the NPMI of a pair is
    ``ln(p_ij / (p_i p_j)) / -ln p_ij``: -1 if the two never occur together, 0 if they are independent, 1 if they only
    occur together.

    Parameters
    ----------
    topics : sequence of sequences of int
        The columns of the words of each topic, at least two distinct ones each.
    rows : sparse matrix of shape (n_documents, n_terms)
        Counts of terms; only whether they are positive matters.

    Returns
    -------
    array of shape (n_topics,)
        Numbers from -1 to 1.

    Examples
    --------
    >>> from scipy import sparse
    >>> rows = sparse.csr_array([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 4]])
    >>> topic_coherence([[0, 1], [0, 2]], rows)
    array([ 1., -1.])
    """
    # The comparison merges duplicate entries in place.
    present = sparse.csc_array(rows, copy=True) > 0
    n_documents, n_terms = present.shape
    if n_documents == 0:
        raise ValueError("rows must hold at least one document, got none.")
    return np.array([_mean_npmi(_columns(topic, n_terms), present, n_documents) for topic in topics], dtype=float)


def _columns(topic: Sequence[int] | IntArray, n_terms: int) -> IntArray:
    columns = np.asarray(topic)
    if columns.ndim != 1 or len(columns) < 2 or not np.issubdtype(columns.dtype, np.integer):
        raise ValueError(f"a topic must be a list of at least two columns, got {topic!r}.")
    if columns.min() < 0 or columns.max() >= n_terms:
        raise ValueError(f"a topic must name columns from 0 to {n_terms - 1}, got {topic!r}.")
    if len(np.unique(columns)) < len(columns):
        raise ValueError(f"a topic must name each column once, got {topic!r}.")
    return columns.astype(np.int64)


def _mean_npmi(columns: IntArray, present: Any, n_documents: int) -> float:
    words = present[:, columns].astype(float)
    joint = (words.T @ words).toarray() / n_documents
    single = joint.diagonal()
    first, second = np.triu_indices(len(columns), k=1)
    both, product = joint[first, second], single[first] * single[second]
    # A pair in every document has no surprise to share out; it counts as one that only occurs together.
    npmi = np.where(both > 0.0, 1.0, -1.0)
    usual = (both > 0.0) & (both < 1.0)
    npmi[usual] = np.log(both[usual] / product[usual]) / -np.log(both[usual])
    return float(npmi.mean())
