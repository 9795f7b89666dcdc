"""Checks for user-defined sets and objectives, of the contracts that the solver relies on."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective
from orthostream.optimize.sets.base import ConvexSet


def check_set(feasible: ConvexSet, shape: tuple[int, ...], *, trials: int = 20, seed: int = 0) -> None:
    """Check that a convex set keeps its contract; raise AssertionError with the reason if it does not.

    For random gradients the oracle's answer must be feasible, must not be beaten by any of 1,000 other points of the
    set, and must minimise, not maximise. A projection must be feasible, must not move feasible points, and must be
    nearer than other points. Distances must not exceed the diameter. A stack must give the same results as its members
    one by one.

    Examples
    --------
    >>> from orthostream.optimize import L1Ball
    >>> check_set(L1Ball(3.0), (5,))
    """
    if isinstance(feasible, type):
        raise TypeError(
            f"check_set needs an object, not the class {feasible.__name__}: write {feasible.__name__}(...)."
        )
    rng = np.random.default_rng(seed)
    name = type(feasible).__name__
    core = shape[len(shape) - feasible.core_ndim :]
    axes = tuple(range(-len(core), 0))
    feasible.check_shape(core)
    vertices = feasible.lmo(rng.standard_normal((50, *core)))
    assert feasible.contains(vertices), f"{name}.lmo returned a point outside of the set"
    mixing = rng.dirichlet(np.full(50, 0.3), size=1000)
    points = np.concatenate([vertices, np.tensordot(mixing, vertices, axes=1)])
    points = np.concatenate([points, _points_on_rays(feasible, points.mean(axis=0), rng)])
    project = getattr(feasible, "project", None)
    if project is not None:
        projected = project(3.0 * rng.standard_normal((200, *core)))
        assert feasible.contains(projected), f"{name}.project returned a point outside of the set"
        points = np.concatenate([points, projected])
    assert feasible.contains(points), f"{name}.contains refuses a convex combination of the oracle's own points"
    for _ in range(trials):
        gradient = rng.standard_normal(core) * 10.0 ** rng.integers(-3, 4)
        best = feasible.lmo(gradient)
        assert best.shape == core, f"{name}.lmo returned shape {best.shape} for a gradient of shape {core}"
        assert feasible.contains(best), f"{name}.lmo returned a point outside of the set"
        values = (points * gradient).sum(axis=axes)
        slack = 1e-9 * (np.abs(values).max() + 1e-300)
        value = float((best * gradient).sum())
        turned = value >= values.max() - slack and values.max() > values.min() + slack
        assert not turned, f"{name}.lmo maximises <gradient, s>: it must minimise it"
        assert value <= values.min() + slack, f"{name}.lmo returned {value}, but a point with {values.min()} exists"
    stack = rng.standard_normal((2, 3, *core))
    single = np.stack([[feasible.lmo(g) for g in row] for row in stack])
    assert np.allclose(feasible.lmo(stack), single, atol=1e-9), f"{name}.lmo treats a stack unlike its members"
    spread = np.sqrt(((points[:, None][:60] - points[None, :60]) ** 2).sum(axis=axes)).max()
    assert spread <= feasible.diameter(core) * (1 + 1e-9) + 1e-12, (
        f"{name}.diameter is smaller than a distance of {spread}"
    )
    _check_projection(feasible, name, points, axes, rng)


def _points_on_rays(feasible: ConvexSet, start: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return boundary points of the set on rays from a feasible point, as points that do not come from the oracle."""
    axes = np.eye(start.size)[:50].reshape(-1, *start.shape)
    directions = np.concatenate([axes, -axes, rng.standard_normal((20, *start.shape))])
    reach = feasible.diameter(start.shape) / np.linalg.norm(directions.reshape(len(directions), -1), axis=1)
    found = []
    for direction, far in zip(directions, reach, strict=True):
        low, high = 0.0, float(far)
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if feasible.contains(start + middle * direction, 0.0) else (low, middle)
        if low > 0.0:
            found.append(start + low * direction)
    return np.array(found).reshape(-1, *start.shape)


def _check_projection(
    feasible: ConvexSet, name: str, points: FloatArray, axes: tuple[int, ...], rng: np.random.Generator
) -> None:
    project = getattr(feasible, "project", None)
    if project is None:
        return
    assert np.allclose(project(points), points, atol=1e-9), f"{name}.project moves points that are feasible"
    for _ in range(20):
        outside = 3.0 * rng.standard_normal(points.shape[1:])
        nearest = project(outside)
        assert feasible.contains(nearest), f"{name}.project returned a point outside of the set"
        distance = float(((outside - nearest) ** 2).sum()) ** 0.5
        others = np.sqrt(((points - outside) ** 2).sum(axis=axes))
        assert distance <= others.min() + 1e-9, f"{name}.project returned a point that is not the nearest"


def check_objective(
    objective: Objective, x: FloatArray, batch: Batch, *, tolerance: float = 1e-5, seed: int = 0
) -> None:
    """Check a gradient against central differences of the value; raise AssertionError if they differ.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import LpContrast
    >>> rng = np.random.default_rng(0)
    >>> check_objective(LpContrast(3), rng.standard_normal((4, 4)), rng.standard_normal((7, 4)))
    """
    rng = np.random.default_rng(seed)
    name = type(objective).__name__
    gradient = objective.gradient(x, batch)
    assert gradient.shape == x.shape, f"{name}.gradient has shape {gradient.shape}, the point {x.shape}"
    for _ in range(10):
        direction = rng.standard_normal(x.shape)
        direction /= np.linalg.norm(direction)
        h = 1e-5 * max(1.0, float(np.linalg.norm(x)))
        difference = (objective.value(x + h * direction, batch) - objective.value(x - h * direction, batch)) / (2 * h)
        slope = float((gradient * direction).sum())
        scale = max(float(np.linalg.norm(gradient)), abs(float(difference)), 1e-12)
        assert abs(float(difference) - slope) <= tolerance * scale, (
            f"{name}.gradient gives a slope of {slope}, the value one of {float(difference)}"
        )
