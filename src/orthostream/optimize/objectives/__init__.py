"""Objectives: value and exact gradient on a mini-batch, one in each module."""

from orthostream.optimize.objectives.base import Batch, CallableObjective, Objective
from orthostream.optimize.objectives.least_squares import LeastSquares
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.objectives.sparse_pca import SparsePCAObjective

__all__ = ["Batch", "CallableObjective", "LeastSquares", "LpContrast", "Objective", "SparsePCAObjective"]
