"""The operation P[.] that Algorithm 1 allows after each step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.polar_decomposition import polar_between
from orthostream.optimize.polar_decomposition.chosen_path import POLAR_STEP
from orthostream.optimize.sets import ConvexSet, SpectralBall
from orthostream.optimize.tall.polar_factor import as_polar_factor


class PostStep:
    """The next point P[(1 - gamma) x + gamma vertex], where P maps the set into itself.

    P should not increase the objective. Here it is the identity; a subclass overrides `project`.
    """

    core_ndim: ClassVar[int | None] = None

    def check_start(self, feasible: ConvexSet, x: FloatArray) -> None:
        """Raise ValueError if the operation does not work with this set or from this first point."""

    def project(self, x: FloatArray, gamma: float) -> FloatArray:
        """Return P[x], where x is the mixture of the last point (weight 1 - gamma) and the vertex (weight gamma)."""
        return x

    def __call__(self, x: FloatArray, vertex: FloatArray, gamma: float) -> FloatArray:
        """Return the next point."""
        mixed = gamma * vertex
        mixed += (1.0 - gamma) * x
        return self.project(mixed, gamma)

    @property
    def kernel(self) -> Kernel | None:
        """The operation on one problem as a function that Numba can compile; None if there is none."""
        return None


class PolarStep(PostStep):
    """The polar factor: back from the spectral ball to the orthogonal group, as Algorithm 2 does.

    The point and the vertex are orthogonal, so the singular values of their mixture lie between |1 - 2 gamma| and 1.
    With these bounds known, one or two polynomials suffice. Lemma 4 says that this never increases the objective. That
    holds for few atoms or near the solution, but not everywhere (see docs/paper.md).
    """

    core_ndim: ClassVar[int | None] = 2

    def check_start(self, feasible: ConvexSet, x: FloatArray) -> None:
        if not isinstance(feasible, SpectralBall) or feasible.radius != 1.0:
            raise ValueError("PolarStep makes columns orthonormal: it only goes with SpectralBall(radius=1).")
        if as_polar_factor(x) is not None:
            return
        deviation = np.abs(x.mT @ x - np.eye(x.shape[-1])).max()
        if deviation > 1e-5:  # a start in single precision deviates by this much
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
