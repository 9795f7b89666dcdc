"""States that change hands: to data of another unit, and to a solver with other parts."""

from __future__ import annotations

import numpy as np

from orthostream.optimize import Course, State, StochasticFrankWolfe


def rescaled(solver: StochasticFrankWolfe, state: State, factor: float) -> State:
    """Return the state as if all samples had been ``factor`` times as large."""
    objective = solver.objective
    power = objective.power if isinstance(objective, Course) else float(getattr(objective, "p", 2.0))
    gradient = (state.gradient * factor**power).astype(state.gradient.dtype)
    course = state.course
    if isinstance(objective, Course) and course is not None:
        course = objective.rescaled(course, factor)
    return state._replace(gradient=gradient, course=course)


def adopted(solver: StochasticFrankWolfe, state: State) -> State:
    """Return the state as another solver can go on from it: the point stays, what does not fit begins anew."""
    average = None
    if solver.average:
        average = state.x.copy() if state.average is None else state.average
    if isinstance(solver.objective, Course):
        course = state.course if fits(solver, state) else solver.objective.begin(state.x)
        return state._replace(average=average, course=course)
    return state._replace(average=average, course=None)


def without_course(course: Course, solver: StochasticFrankWolfe, state: State) -> State:
    """Return the state of a course as a solver without one can go on from it: its gradient has another length."""
    if state.course is None or isinstance(solver.objective, Course):
        return state
    power = float(getattr(solver.objective, "p", 2.0))
    energy = float(np.mean(course.energy(state.course)))
    norm = float(np.linalg.norm(state.gradient))
    if norm == 0.0 or energy == 0.0:
        return state
    length = power * energy ** (0.5 * power) * state.x.shape[-1] ** 0.5
    return state._replace(gradient=(state.gradient * (length / norm)).astype(state.gradient.dtype))


def fits(solver: StochasticFrankWolfe, state: State) -> bool:
    """Tell whether what a state remembers of a course is what the solver's course remembers."""
    if not isinstance(solver.objective, Course):
        return state.course is None
    if state.course is None:
        return False
    wanted = solver.objective.begin(state.x)
    return wanted.keys() == state.course.keys() and all(
        state.course[name].shape == array.shape and state.course[name].dtype == array.dtype
        for name, array in wanted.items()
    )
