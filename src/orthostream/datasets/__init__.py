"""Synthetic streams with a known answer."""

from orthostream.datasets.bernoulli_gaussian import make_bernoulli_gaussian
from orthostream.datasets.sparse_component import make_sparse_component

__all__ = ["make_bernoulli_gaussian", "make_sparse_component"]
