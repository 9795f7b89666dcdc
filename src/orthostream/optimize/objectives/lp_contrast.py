"""The sparsity-promoting contrast of the paper: minus the p-th power of the lp norm, p > 2."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.contrast import Contrast


class LpContrast(Contrast):
    r"""The mean of :math:`-\|D^T y\|_p^p` over the samples y, for a real p > 2.

    On the unit sphere the lp norm, p > 2, is largest at the sparsest points. The paper uses p = 3 and
    compares it with p = 4. Its gradient lacks the factor p, which does not change the oracle's answer but does change
    the Frank-Wolfe gap.

    Examples
    --------
    >>> import numpy as np
    >>> LpContrast(3).value(np.eye(2), np.array([[2.0, -1.0]]))
    array(-9.)
    >>> LpContrast(3).gradient(np.eye(2), np.array([[2.0, -1.0]]))
    array([[-24.,   6.],
           [ 12.,  -3.]])
    """

    def __init__(self, p: float = 3.0) -> None:
        self.p = self.degree = float(p)
        if not 2.0 < self.p < np.inf:
            raise ValueError(f"p must be larger than 2, got {p!r}: for p = 2 the contrast does not depend on sparsity.")

    def loss(self, z: FloatArray) -> FloatArray:
        return -(np.abs(z) ** self.p)

    def score(self, z: FloatArray) -> FloatArray:
        size = np.abs(z)
        if self.p != 3.0:
            size **= self.p - 2.0
        size *= z
        size *= -self.p
        return size
