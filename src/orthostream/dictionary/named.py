"""Contrasts and schedules by name, and as plain data for a saved file."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.optimize import (
    ConstantSchedule,
    CoolThenConstant,
    LpContrast,
    MokhtariSchedule,
    Objective,
    PaperSchedule,
    PolarStep,
    PostStep,
    Schedule,
)

CONTRASTS = {"l3": 3.0, "l4": 4.0}
_SCHEDULES: dict[str, type[Schedule]] = {
    "paper": PaperSchedule,
    "sfw": MokhtariSchedule,
    "constant": ConstantSchedule,
}
_SAVED: dict[str, tuple[type, tuple[str, ...]]] = {
    "LpContrast": (LpContrast, ("p",)),
    "PaperSchedule": (PaperSchedule, ()),
    "MokhtariSchedule": (MokhtariSchedule, ()),
    "ConstantSchedule": (ConstantSchedule, ("rho", "gamma")),
    "CoolThenConstant": (CoolThenConstant, ("half_life",)),
}


def contrast_by_name(contrast: str | Objective) -> Objective:
    """Return the objective that a constructor word names."""
    if isinstance(contrast, str):
        if contrast not in CONTRASTS:
            raise ValueError(f"contrast must be one of {sorted(CONTRASTS)} or an objective, got {contrast!r}.")
        return LpContrast(CONTRASTS[contrast])
    return contrast


def schedule_by_name(schedule: str | Schedule) -> tuple[Schedule, PostStep | None]:
    """Return the schedule that a constructor word names, and the operation after each step that goes with it.

    Mokhtari's SFW keeps its iterates inside of the ball; everything else returns to the orthogonal group.
    """
    if isinstance(schedule, str):
        if schedule not in _SCHEDULES:
            raise ValueError(f"schedule must be one of {sorted(_SCHEDULES)} or a Schedule, got {schedule!r}.")
        return _SCHEDULES[schedule](), None if schedule == "sfw" else PolarStep()
    return schedule, PolarStep()


def to_plain(value: Any) -> Any:
    """Return a constructor's word as something JSON can hold; None stands for a class of the user's own."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value).__name__
    if kind in _SAVED and type(value) is _SAVED[kind][0]:
        return {"type": kind} | {name: getattr(value, name) for name in _SAVED[kind][1]}
    return value if isinstance(value, str | int | float | bool) else None


def from_plain(value: Any) -> Any:
    """Return the word that `to_plain` wrote down."""
    if isinstance(value, dict):
        kind, names = _SAVED[value["type"]]
        return kind(*(value[name] for name in names))
    return value
