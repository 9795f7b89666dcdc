"""The operation P[.] that Algorithm 1 allows after each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from orthostream._typing import FloatArray
from orthostream.optimize.polar import polar_between


class PostStep(ABC):
    """Any map of the set into itself that does not increase the objective."""

    core_ndim: ClassVar[int | None] = None

    @abstractmethod
    def __call__(self, x: FloatArray, gamma: float) -> FloatArray:
        """Return P[x], x being the mixture of the last point (weight 1 - gamma) and the vertex (weight gamma)."""


class PolarStep(PostStep):
    """The polar factor: back from the spectral ball to the orthogonal group (Lemma 4).

    The point and the vertex are both orthogonal, which puts the singular values of their mixture between
    |1 - 2 gamma| and 1: no bound has to be estimated, and two or three products of polynomials do.
    """

    core_ndim: ClassVar[int | None] = 2

    def __call__(self, x: FloatArray, gamma: float) -> FloatArray:
        return polar_between(x, abs(1.0 - 2.0 * gamma))
