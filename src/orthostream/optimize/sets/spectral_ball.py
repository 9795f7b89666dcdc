"""The spectral ball, the convex hull of the orthogonal group (Lemma 1)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.polar_decomposition import polar
from orthostream.optimize.polar_decomposition.chosen_path import ORACLE
from orthostream.optimize.polar_decomposition.exact import thin_svd
from orthostream.optimize.sets.base import ConvexSet, as_float
from orthostream.optimize.tall import PolarFactor
from orthostream.optimize.tall.tall_matrix import as_tall_matrix


class SpectralBall(ConvexSet):
    """All N x K matrices, K <= N, whose singular values are at most ``radius``.

    Its oracle is minus the polar factor of the gradient, times the radius (Lemma 3). A rank-deficient gradient has many
    minimisers; `oracle` then returns the one nearest to the current point. Where the gradient is a `TallMatrix`, the
    answer is a `PolarFactor`, which is never formed.

    Examples
    --------
    >>> import numpy as np
    >>> SpectralBall().lmo(np.diag([2.0, -1.0]))
    array([[-1., -0.],
           [-0.,  1.]])
    """

    core_ndim: ClassVar[int] = 2

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = positive("radius", radius)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        tall = as_tall_matrix(gradient)
        if tall is not None:
            factor: Any = PolarFactor(tall, -self.radius)
            return factor  # type: ignore[no-any-return]
        vertex = polar(gradient, sign=-1.0)[0] * self.radius
        return vertex.astype(as_float(gradient).dtype, copy=False)

    def oracle(
        self, gradient: FloatArray, x: FloatArray, memory: FloatArray | float
    ) -> tuple[FloatArray, FloatArray | float]:
        if as_tall_matrix(gradient) is not None:
            return self.lmo(gradient), memory
        vertex, memory = polar(gradient, near=x, low=memory, sign=-1.0)
        return (vertex if self.radius == 1.0 else vertex * self.radius), memory

    @property
    def kernel(self) -> Kernel | None:
        """The oracle for one problem as a function that Numba can compile; None if the radius is not 1."""
        return ORACLE if type(self) is SpectralBall and self.radius == 1.0 else None

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the ball: its singular values are clipped at the radius."""
        u, s, vt = thin_svd(x)
        nearest: FloatArray = (u * np.minimum(s, self.radius)[..., None, :]) @ vt
        return nearest

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        if not np.isfinite(x).all():
            return False
        return bool(np.all(np.linalg.norm(x, ord=2, axis=(-2, -1)) <= self.radius * (1.0 + tolerance)))

    def diameter(self, shape: tuple[int, ...]) -> float:
        # Twice the norm of an orthogonal matrix. The paper's (2N)^(1/2) is too small, even for N = 1.
        return float(2.0 * self.radius * shape[-1] ** 0.5)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        super().check_shape(shape)
        if not 1 <= shape[-1] <= shape[-2]:
            raise ValueError(f"SpectralBall holds N x K matrices with 1 <= K <= N, got shape {shape}.")
