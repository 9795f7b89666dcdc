"""Sparse leading eigenvectors of the second moment of a stream."""

from orthostream.optimize.estimates.sparse_eigenvectors.estimate import SparseEigenvectors

__all__ = ["SparseEigenvectors"]
