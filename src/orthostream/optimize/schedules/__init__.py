"""Schedules of the two weights of a step, one in each module."""

from orthostream.optimize.schedules.adaptive import AdaptiveSchedule
from orthostream.optimize.schedules.base import Schedule
from orthostream.optimize.schedules.constant import ConstantSchedule
from orthostream.optimize.schedules.cool_then_constant import CoolThenConstant
from orthostream.optimize.schedules.mean_then_forget import MeanThenForget
from orthostream.optimize.schedules.mokhtari import MokhtariSchedule
from orthostream.optimize.schedules.paper import PaperSchedule

__all__ = [
    "AdaptiveSchedule",
    "ConstantSchedule",
    "CoolThenConstant",
    "MeanThenForget",
    "MokhtariSchedule",
    "PaperSchedule",
    "Schedule",
]
