"""Courses: schedules of objectives, one in each module."""

from orthostream.optimize.courses.base import Course, Decision, Memory, Report
from orthostream.optimize.courses.hand_over import HandOver
from orthostream.optimize.courses.replay import Replay

__all__ = ["Course", "Decision", "HandOver", "Memory", "Replay", "Report"]
