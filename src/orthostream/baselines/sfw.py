"""Baseline 1: stochastic Frank-Wolfe of Mokhtari, Hassani and Karbasi on the same problem."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray
from orthostream.dictionary import OrthogonalDictionaryLearning


class SFWDictionaryLearning(OrthogonalDictionaryLearning):
    """Learn the dictionary of `OrthogonalDictionaryLearning` by plain stochastic Frank-Wolfe steps.

    The weights are 4 (t+8)^(-2/3) and 2 / (t+8), and there is no polar factor after a step. The iterates lie inside the
    spectral ball, so their atoms are neither orthogonal nor of unit length.

    Parameters
    ----------
    n_components : int, optional
    polar : bool, default False
        Whether the dictionary is the polar factor of the iterate, or the iterate itself, as in the paper's comparison.
    init : {"random", "data"} or array of shape (n_components, n_features), default "random"
    batch_size : int, optional
    n_nonzero : int, optional
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
    state_ : State

    Notes
    -----
    The polar factor gives smaller errors: the iterate itself approaches the orthogonal group slowly, because its steps
    shrink.

    References
    ----------
    A. Mokhtari, H. Hassani, A. Karbasi, "Stochastic conditional gradient methods: from convex minimization to
    submodular maximization", JMLR 21 (2020).

    Examples
    --------
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> from orthostream.metrics import recovery_error
    >>> data = make_bernoulli_gaussian(n_samples=10_000, n_features=10, random_state=0)
    >>> learner = SFWDictionaryLearning(batch_size=10, random_state=0).partial_fit(data.samples)
    >>> inside = recovery_error(learner.components_, data.components)
    >>> on_the_group = recovery_error(learner.set_params(polar=True).components_, data.components)
    >>> on_the_group < inside < 0.1
    True
    """

    contrast = "l3"
    schedule = "sfw"
    average = False
    threshold = None
    callbacks = None
    _PRESETS: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        polar: bool = False,
        init: str | ArrayLike = "random",
        batch_size: int | None = None,
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.polar = polar
        self.init = init
        self.batch_size = batch_size
        self.n_nonzero = n_nonzero
        self.random_state = random_state

    def _dictionary(self) -> FloatArray:
        return super()._dictionary() if self.polar else self.state_.x
