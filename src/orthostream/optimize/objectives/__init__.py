"""Objectives: value and exact gradient on a mini-batch, one in each module."""

from orthostream.optimize.objectives.base import Batch, CallableObjective, Objective
from orthostream.optimize.objectives.contrast import Contrast
from orthostream.optimize.objectives.least_squares import LeastSquares
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy
from orthostream.optimize.objectives.sparse_pca import SparsePCAObjective
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab
from orthostream.optimize.objectives.top_energy import TopEnergy

__all__ = [
    "Batch",
    "CallableObjective",
    "Contrast",
    "LeastSquares",
    "LpContrast",
    "Objective",
    "RankWeightedEnergy",
    "SparsePCAObjective",
    "SpikeAndSlab",
    "TopEnergy",
]
