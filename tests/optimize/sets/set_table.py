"""The table of all convex sets. Every test that must hold for each set takes its sets from here.

``pythonpath`` in pyproject.toml lets tests in other folders write ``from set_table import each_set``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize import Box, L1Ball, L2Ball, LInfBall, NuclearBall, Simplex, SpectralBall

Rng = np.random.Generator


class Case(NamedTuple):
    """A set, shapes of its points, random points of it, and the least <gradient, s> in closed form.

    The first shape is a typical one: neither large nor degenerate.
    """

    feasible: Any
    shapes: tuple[tuple[int, ...], ...]
    sample: Callable[[Rng, int, tuple[int, ...]], FloatArray]
    least: Callable[[FloatArray], float]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shapes[0]


def l1_points(radius: float) -> Callable[[Rng, int, tuple[int, ...]], FloatArray]:
    def sample(rng: Rng, count: int, shape: tuple[int, ...]) -> FloatArray:
        signs = rng.choice([-1.0, 1.0], (count, *shape))
        points: FloatArray = (
            radius * signs * rng.dirichlet(np.full(shape[-1], 0.2), count) * rng.random((count, 1)) ** 0.1
        )
        return points

    return sample


def l2_points(radius: float) -> Callable[[Rng, int, tuple[int, ...]], FloatArray]:
    def sample(rng: Rng, count: int, shape: tuple[int, ...]) -> FloatArray:
        points = rng.standard_normal((count, *shape))
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        scaled: FloatArray = radius * points / length * rng.random((count, 1)) ** 0.1
        return scaled

    return sample


def box_points(lower: Any, upper: Any) -> Callable[[Rng, int, tuple[int, ...]], FloatArray]:
    def sample(rng: Rng, count: int, shape: tuple[int, ...]) -> FloatArray:
        where = rng.beta(0.1, 0.1, (count, *shape))  # most coordinates at an end or close to it
        points: FloatArray = np.asarray(lower) + where * (np.asarray(upper) - np.asarray(lower))
        return points

    return sample


def simplex_points(total: float) -> Callable[[Rng, int, tuple[int, ...]], FloatArray]:
    return lambda rng, count, shape: total * rng.dirichlet(np.full(shape[-1], 0.1), count)


def matrix_points(
    radius: float, spectrum: Callable[[Rng, int, int], FloatArray]
) -> Callable[[Rng, int, tuple[int, ...]], FloatArray]:
    def sample(rng: Rng, count: int, shape: tuple[int, ...]) -> FloatArray:
        u, _, vt = np.linalg.svd(rng.standard_normal((count, *shape)), full_matrices=False)
        points: FloatArray = radius * (u * spectrum(rng, count, u.shape[-1])[:, None, :]) @ vt
        return points

    return sample


def at_most_one(rng: Rng, count: int, size: int) -> FloatArray:
    return rng.random((count, size)) ** 0.1


def adding_up_to_one(rng: Rng, count: int, size: int) -> FloatArray:
    return rng.dirichlet(np.full(size, 0.1), count)


LOWER, UPPER = np.array([-1.0, 0.0, 0.5, -3.0]), np.array([1.0, 2.0, 0.5, -2.0])
VECTORS = ((7,), (1,), (2,), (40,))
TALL = ((6, 2), (1, 1), (3, 3), (12, 12), (5, 1))

CASES = {
    "L1Ball": Case(L1Ball(), VECTORS, l1_points(1.0), lambda g: -np.abs(g).max()),
    "L1Ball of radius 0.3": Case(L1Ball(0.3), VECTORS, l1_points(0.3), lambda g: -0.3 * np.abs(g).max()),
    "L2Ball": Case(L2Ball(), VECTORS, l2_points(1.0), lambda g: -np.sqrt((g * g).sum())),
    "L2Ball of radius 0.2": Case(L2Ball(0.2), VECTORS, l2_points(0.2), lambda g: -0.2 * np.sqrt((g * g).sum())),
    "LInfBall": Case(LInfBall(), VECTORS, box_points(-1.0, 1.0), lambda g: -np.abs(g).sum()),
    "LInfBall of radius 2": Case(LInfBall(2.0), VECTORS, box_points(-2.0, 2.0), lambda g: -2.0 * np.abs(g).sum()),
    "Simplex": Case(Simplex(), VECTORS, simplex_points(1.0), lambda g: g.min()),
    "Simplex of total 0.7": Case(Simplex(0.7), VECTORS, simplex_points(0.7), lambda g: 0.7 * g.min()),
    "Box": Case(Box(-1.0, 2.0), VECTORS, box_points(-1.0, 2.0), lambda g: np.minimum(-g, 2.0 * g).sum()),
    "Box of vectors": Case(
        Box(LOWER, UPPER), ((4,),), box_points(LOWER, UPPER), lambda g: np.minimum(LOWER * g, UPPER * g).sum()
    ),
    "SpectralBall": Case(
        SpectralBall(), TALL, matrix_points(1.0, at_most_one), lambda g: -np.linalg.svd(g, compute_uv=False).sum()
    ),
    "SpectralBall of radius 2": Case(
        SpectralBall(2.0),
        TALL,
        matrix_points(2.0, at_most_one),
        lambda g: -2.0 * np.linalg.svd(g, compute_uv=False).sum(),
    ),
    "NuclearBall": Case(
        NuclearBall(),
        (*TALL, (2, 6)),
        matrix_points(1.0, adding_up_to_one),
        lambda g: -np.linalg.svd(g, compute_uv=False).max(),
    ),
    "NuclearBall of radius 4": Case(
        NuclearBall(4.0),
        (*TALL, (2, 6)),
        matrix_points(4.0, adding_up_to_one),
        lambda g: -4.0 * np.linalg.svd(g, compute_uv=False).max(),
    ),
}

each_set = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
each_shape = pytest.mark.parametrize(
    ("case", "shape"),
    [pytest.param(case, shape, id=f"{name}-{shape}") for name, case in CASES.items() for shape in case.shapes],
)

#: The first row of each class.
ONE_OF_EACH = {type(case.feasible).__name__: case for case in reversed(CASES.values())}
each_kind = pytest.mark.parametrize("case", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
