"""The operation P[.] that Algorithm 1 allows after each step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.polar_decomposition import polar_between
from orthostream.optimize.polar_decomposition.chosen_path import POLAR_STEP
from orthostream.optimize.sets import ConvexSet, SpectralBall


class PostStep:
    """P[(1 - gamma) x + gamma vertex] with P a map of the set into itself, meant not to increase the objective.

    This one leaves the mixture as it is. A subclass overrides `project`.
    """

    core_ndim: ClassVar[int | None] = None

    def check_start(self, feasible: ConvexSet, x: FloatArray) -> None:
        """Raise ValueError where the operation cannot go with the set, or cannot start from this point."""

    def project(self, x: FloatArray, gamma: float) -> FloatArray:
        """Return P[x], x being the mixture of the last point (weight 1 - gamma) and the vertex (weight gamma)."""
        return x

    def __call__(self, x: FloatArray, vertex: FloatArray, gamma: float) -> FloatArray:
        """Return the next point."""
        mixed = gamma * vertex
        mixed += (1.0 - gamma) * x
        return self.project(mixed, gamma)

    @property
    def kernel(self) -> Kernel | None:
        """The operation for one problem as a function that Numba can compile, if there is one."""
        return None


class PolarStep(PostStep):
    """The polar factor: back from the spectral ball to the orthogonal group, as Algorithm 2 does.

    The point and the vertex are both orthogonal, which puts the singular values of their mixture between
    |1 - 2 gamma| and 1: no bound has to be estimated, and one or two polynomials do. Lemma 4 says that the objective
    never rises by it; that holds for few atoms or near the goal, not everywhere (see docs/paper.md).
    """

    core_ndim: ClassVar[int | None] = 2

    def check_start(self, feasible: ConvexSet, x: FloatArray) -> None:
        if not isinstance(feasible, SpectralBall) or feasible.radius != 1.0:
            raise ValueError("PolarStep returns to orthonormal columns: it goes with SpectralBall(radius=1) alone.")
        deviation = np.abs(x.mT @ x - np.eye(x.shape[-1])).max()
        if deviation > 1e-5:  # room for a start of single precision
            raise ValueError(
                f"PolarStep needs a start with orthonormal columns, this one deviates by {deviation:.2g}; "
                "take its polar factor first: orthostream.optimize.polar(x)[0]."
            )

    def project(self, x: FloatArray, gamma: float) -> FloatArray:
        return polar_between(x, abs(1.0 - 2.0 * gamma))

    def __call__(self, x: FloatArray, vertex: FloatArray, gamma: float) -> FloatArray:
        if gamma == 1.0:
            return vertex
        return x if gamma == 0.0 else super().__call__(x, vertex, gamma)

    @property
    def kernel(self) -> Kernel | None:
        return POLAR_STEP if type(self) is PolarStep else None
