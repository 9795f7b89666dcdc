"""Algorithm 1: convex sets and their oracles, objectives, schedules, estimates of the gradient, one solver."""

from orthostream.optimize import estimates, objectives, schedules, sets, tall
from orthostream.optimize.callbacks import Callback, Progress, Result, Status
from orthostream.optimize.check import check_objective, check_set
from orthostream.optimize.estimates import *  # noqa: F403  (each package lists its own members)
from orthostream.optimize.gap import frank_wolfe_gap
from orthostream.optimize.objectives import *  # noqa: F403
from orthostream.optimize.polar_decomposition import polar
from orthostream.optimize.post_step import PolarStep, PostStep
from orthostream.optimize.schedules import *  # noqa: F403
from orthostream.optimize.sets import *  # noqa: F403
from orthostream.optimize.state import State
from orthostream.optimize.stochastic_frank_wolfe import StochasticFrankWolfe
from orthostream.optimize.tall import *  # noqa: F403

__all__ = [
    "Callback",
    "PolarStep",
    "PostStep",
    "Progress",
    "Result",
    "State",
    "Status",
    "StochasticFrankWolfe",
    "check_objective",
    "check_set",
    "frank_wolfe_gap",
    "polar",
]
__all__ += estimates.__all__ + objectives.__all__ + schedules.__all__ + sets.__all__ + tall.__all__
