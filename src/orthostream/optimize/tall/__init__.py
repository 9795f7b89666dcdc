"""Tall matrices of which a mini-batch touches few rows, and their polar factors, which are never formed."""

from orthostream.optimize.tall.polar_factor import PolarFactor
from orthostream.optimize.tall.sparse_rows import SparseRows
from orthostream.optimize.tall.tall_matrix import TallMatrix

__all__ = ["PolarFactor", "SparseRows", "TallMatrix"]
