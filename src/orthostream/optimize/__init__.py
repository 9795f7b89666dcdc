"""Algorithm 1: convex sets and their oracles, objectives, schedules, one solver, the Frank-Wolfe gap."""

from orthostream.optimize.callbacks import Callback, Progress, Result, Status
from orthostream.optimize.check import check_objective, check_set
from orthostream.optimize.estimates import GradientEstimate, HandOver, Replay, Report, RunningMean
from orthostream.optimize.gap import frank_wolfe_gap
from orthostream.optimize.objectives import (
    CallableObjective,
    Contrast,
    LeastSquares,
    LpContrast,
    Objective,
    RankWeightedEnergy,
    SparsePCAObjective,
    SpikeAndSlab,
)
from orthostream.optimize.polar_decomposition import polar
from orthostream.optimize.post_step import PolarStep, PostStep
from orthostream.optimize.schedules import (
    AdaptiveSchedule,
    ConstantSchedule,
    CoolThenConstant,
    MokhtariSchedule,
    PaperSchedule,
    Schedule,
)
from orthostream.optimize.sets import (
    Box,
    ConvexSet,
    L1Ball,
    L2Ball,
    LInfBall,
    NuclearBall,
    Simplex,
    SpectralBall,
)
from orthostream.optimize.state import State
from orthostream.optimize.stochastic_frank_wolfe import StochasticFrankWolfe

__all__ = [
    "AdaptiveSchedule",
    "Box",
    "CallableObjective",
    "Callback",
    "ConstantSchedule",
    "Contrast",
    "ConvexSet",
    "CoolThenConstant",
    "GradientEstimate",
    "HandOver",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LeastSquares",
    "LpContrast",
    "MokhtariSchedule",
    "NuclearBall",
    "Objective",
    "PaperSchedule",
    "PolarStep",
    "PostStep",
    "Progress",
    "RankWeightedEnergy",
    "Replay",
    "Report",
    "Result",
    "RunningMean",
    "Schedule",
    "Simplex",
    "SparsePCAObjective",
    "SpectralBall",
    "SpikeAndSlab",
    "State",
    "Status",
    "StochasticFrankWolfe",
    "check_objective",
    "check_set",
    "frank_wolfe_gap",
    "polar",
]
