"""The estimate for the objective, or the estimate, that a solver is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orthostream.optimize.estimates.base import GradientEstimate
from orthostream.optimize.estimates.running_mean import RunningMean
from orthostream.optimize.objectives.base import CallableObjective, Objective
from orthostream.optimize.schedules import Schedule


def check_part(part: Any, methods: tuple[str, ...], name: str, base: str) -> None:
    """Raise TypeError if a part of a solver lacks a method, or is a class instead of an object."""
    if isinstance(part, type):
        raise TypeError(f"{name} is the class {part.__name__}, not an object: write {part.__name__}(...).")
    missing = [method for method in methods if not callable(getattr(part, method, None))]
    if missing:
        raise TypeError(
            f"{name} is a {type(part).__name__} without {', '.join(missing)}; "
            f"subclass orthostream.optimize.{base} or add the missing methods."
        )


def estimate_of(
    objective: Objective | GradientEstimate | tuple[Callable[..., Any], Callable[..., Any]], schedule: Schedule | None
) -> GradientEstimate:
    """Return an estimate unchanged, and `RunningMean` of an objective or of a pair of functions."""
    if isinstance(objective, GradientEstimate):
        if schedule is not None:
            raise ValueError(f"{type(objective).__name__} decides on its own weights: leave out schedule={schedule!r}.")
        return objective
    if isinstance(objective, tuple) and len(objective) == 2:
        objective = CallableObjective(*objective)
    check_part(objective, ("value", "gradient"), "objective", "Objective")
    if schedule is not None:
        check_part(schedule, ("weights",), "schedule", "Schedule")
    return RunningMean(objective, schedule)
