"""A block of documents of a stream: what detectors score, then learn."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from scipy import sparse

SparseMatrix: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"


class DocumentBlock(NamedTuple):
    """Documents that arrive together, in two forms of the same shape (n_documents, n_terms).

    Attributes
    ----------
    counts : CSR array
        How often each term occurs in each document.
    rows : CSR array
        Weighted counts, each row of unit length; weights depend only on documents before the block. A row may be all
        zero.

    Examples
    --------
    >>> from scipy import sparse
    >>> counts = sparse.csr_array([[3.0, 4.0, 0.0]])
    >>> block = DocumentBlock(counts, counts / 5.0)
    >>> block.rows.toarray()
    array([[0.6, 0.8, 0. ]])
    """

    counts: SparseMatrix
    rows: SparseMatrix
