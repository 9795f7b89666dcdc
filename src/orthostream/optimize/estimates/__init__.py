"""Estimates of the gradient: from mini-batches to a gradient and the weight of a step, one in each module."""

from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.guarded import Guarded
from orthostream.optimize.estimates.hand_over import HandOver
from orthostream.optimize.estimates.mixed_memories import MixedMemories
from orthostream.optimize.estimates.replay import Replay
from orthostream.optimize.estimates.running_mean import RunningMean
from orthostream.optimize.estimates.sparse_eigenvectors import SparseEigenvectors
from orthostream.optimize.estimates.sparse_running_mean import SparseRunningMean
from orthostream.optimize.estimates.subspace import InSubspace

__all__ = [
    "GradientEstimate",
    "Guarded",
    "HandOver",
    "InSubspace",
    "MixedMemories",
    "Replay",
    "Report",
    "RunningMean",
    "SparseEigenvectors",
    "SparseRunningMean",
]
