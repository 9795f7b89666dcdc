"""The operation P[.] that Algorithm 1 allows after each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition import polar_between
from orthostream.optimize.sets import ConvexSet, SpectralBall


class PostStep(ABC):
    """A map of the set into itself, meant not to increase the objective."""

    core_ndim: ClassVar[int | None] = None

    def check_start(self, feasible: ConvexSet, x: FloatArray) -> None:  # noqa: B027  (most have nothing to check)
        """Raise ValueError where the operation cannot go with the set, or cannot start from this point."""

    @abstractmethod
    def __call__(self, x: FloatArray, gamma: float) -> FloatArray:
        """Return P[x], x being the mixture of the last point (weight 1 - gamma) and the vertex (weight gamma)."""


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
        if deviation > (1e-8 if x.dtype == np.float64 else 1e-3):
            raise ValueError(
                f"PolarStep wants a start with orthonormal columns, this one deviates by {deviation:.2g}; "
                "take its polar factor first: orthostream.optimize.polar(x)[0]."
            )

    def __call__(self, x: FloatArray, gamma: float) -> FloatArray:
        return polar_between(x, abs(1.0 - 2.0 * gamma))
