"""Contrasts and schedules by name, the solver parts they stand for, and both as plain data for a saved file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthostream import _checks
from orthostream.optimize import (
    AdaptiveSchedule,
    ConstantSchedule,
    CoolThenConstant,
    GradientEstimate,
    Guarded,
    HandOver,
    LpContrast,
    MeanThenForget,
    MixedMemories,
    MokhtariSchedule,
    Objective,
    PaperSchedule,
    PolarStep,
    PostStep,
    RankWeightedEnergy,
    Schedule,
    TopEnergy,
)

#: The longest half-life of schedule "tracking", in samples per atom.
_TRACKING = 20.0

CONTRASTS = ("auto", "sparse", "l3", "l4", "energy")
_POWERS = {"l3": 3.0, "l4": 4.0}
_SCHEDULES: dict[str, Schedule] = {
    "adaptive": AdaptiveSchedule(),
    "tracking": AdaptiveSchedule(half_life_per_atom=_TRACKING),
    "paper": PaperSchedule(),
    "sfw": MokhtariSchedule(),
    "constant": ConstantSchedule(),
}
SCHEDULES = ("auto", *_SCHEDULES)
_SAVED: dict[str, tuple[type, tuple[str, ...]]] = {
    "LpContrast": (LpContrast, ("p",)),
    "RankWeightedEnergy": (RankWeightedEnergy, ("power", "shrink", "head")),
    "TopEnergy": (TopEnergy, ("count",)),
    "AdaptiveSchedule": (AdaptiveSchedule, ("half_life", "half_life_per_atom")),
    "PaperSchedule": (PaperSchedule, ()),
    "MeanThenForget": (MeanThenForget, ("half_life",)),
    "MokhtariSchedule": (MokhtariSchedule, ()),
    "ConstantSchedule": (ConstantSchedule, ("rho", "gamma")),
    "CoolThenConstant": (CoolThenConstant, ("half_life",)),
}


class Parts(NamedTuple):
    """What a solver is made of, beside its set."""

    objective: Objective | GradientEstimate
    schedule: Schedule | None
    """None if the estimate chooses its own weights."""
    post_step: PostStep | None


def parts_by_name(contrast: str | Objective | GradientEstimate, schedule: str | Schedule, average: bool) -> Parts:
    """Return the parts that the parameters ``contrast`` and ``schedule`` describe together.

    If both are "auto", they stand for the recommended learner, or for the paper's algorithm if iterates are averaged.
    If one is "auto", the other decides: an adaptive schedule and contrast "sparse" belong together, and all else goes
    with the contrast and the schedule of the paper.

    >>> [type(part).__name__ for part in parts_by_name("auto", "auto", average=False)]
    ['Guarded', 'NoneType', 'PolarStep']
    >>> [type(part).__name__ for part in parts_by_name("auto", "sfw", average=False)]
    ['LpContrast', 'MokhtariSchedule', 'NoneType']
    """
    if isinstance(contrast, str):
        _checks.one_of("contrast", contrast, CONTRASTS, also="an Objective")
    if isinstance(schedule, str):
        _checks.one_of("schedule", schedule, SCHEDULES, also="a Schedule")
    pace = _pace(contrast, schedule, average)
    if isinstance(contrast, str) and contrast in ("auto", "sparse"):
        if isinstance(pace, AdaptiveSchedule) or (contrast == "sparse" and isinstance(pace, CoolThenConstant)):
            return Parts(Guarded(HandOver(schedule=pace)), None, PolarStep())
        if contrast == "sparse":
            raise ValueError(
                'contrast "sparse" decides on its steps from the data: it goes with schedule "adaptive", "tracking", '
                f"an AdaptiveSchedule or CoolThenConstant, not with {schedule!r}."
            )
        return _with_fixed_schedule(LpContrast(3.0), schedule, pace)
    if isinstance(contrast, GradientEstimate) or contrast == "energy":
        if schedule != "auto":
            raise ValueError(f"contrast {contrast!r} has a schedule of its own: leave out schedule={schedule!r}.")
        return Parts(contrast if isinstance(contrast, GradientEstimate) else MixedMemories(), None, PolarStep())
    objective = LpContrast(_POWERS[contrast]) if isinstance(contrast, str) else contrast
    if isinstance(pace, AdaptiveSchedule):
        if type(objective) is not LpContrast:
            raise ValueError("an adaptive schedule only works with contrasts of this package: give another schedule.")
        return Parts(HandOver(objective.p, sparse=False, schedule=pace), None, PolarStep())
    return _with_fixed_schedule(objective, schedule, pace)


def fixed_schedule(schedule: str | Schedule) -> Schedule:
    """Return the schedule of that name, for a learner whose weights depend only on the step's number."""
    known = {name: made for name, made in _SCHEDULES.items() if not isinstance(made, AdaptiveSchedule)}
    if not isinstance(schedule, str):
        return schedule
    return known[_checks.one_of("schedule", schedule, known, also="a Schedule")]


def _pace(contrast: str | Objective | GradientEstimate, schedule: str | Schedule, average: bool) -> Schedule:
    if not isinstance(schedule, str):
        return schedule
    if schedule != "auto":
        return _SCHEDULES[schedule]
    if isinstance(contrast, str) and (contrast == "sparse" or (contrast == "auto" and not average)):
        return _SCHEDULES["adaptive"]
    return _SCHEDULES["paper"]


def _with_fixed_schedule(objective: Objective, schedule: str | Schedule, pace: Schedule) -> Parts:
    """Return the parts for fixed weights. Only "sfw" has no post-step: its iterates stay inside the ball."""
    return Parts(objective, pace, None if schedule == "sfw" else PolarStep())


def to_plain(value: Any) -> Any:
    """Return a parameter as data for JSON; None stands for an object of an unknown class."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value).__name__
    if kind in _SAVED and type(value) is _SAVED[kind][0]:
        return {"type": kind} | {name: getattr(value, name) for name in _SAVED[kind][1]}
    return value if isinstance(value, str | int | float | bool) else None


def from_plain(value: Any) -> Any:
    """Return the parameter that `to_plain` turned into plain data."""
    if isinstance(value, dict):
        kind, names = _SAVED[value["type"]]
        return kind(*(value[name] for name in names))
    return value
