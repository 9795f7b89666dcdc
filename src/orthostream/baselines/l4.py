"""Baseline 2: Algorithm 2 with the fourth power of the codes instead of the third."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from orthostream.dictionary import OrthogonalDictionaryLearning


class L4DictionaryLearning(OrthogonalDictionaryLearning):
    """Learn an orthogonal dictionary by Algorithm 2 with the contrast ``-||D'y||_4^4``.

    Parameters
    ----------
    n_components : int, optional
    init : {"random", "data"} or array of shape (n_components, n_features), default "random"
    batch_size : int, optional
    n_nonzero : int, optional
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
    state_ : State

    References
    ----------
    Y. Zhai, Z. Yang, Z. Liao, J. Wright, Y. Ma, "Complete dictionary learning via l4-norm maximization over the
    orthogonal group", JMLR 21 (2020).

    Examples
    --------
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> from orthostream.metrics import recovery_error
    >>> data = make_bernoulli_gaussian(n_samples=10_000, n_features=10, random_state=0)
    >>> learner = L4DictionaryLearning(batch_size=10, random_state=0).partial_fit(data.samples)
    >>> recovery_error(learner.components_, data.components) < 0.01
    True
    """

    contrast = "l4"
    schedule = "paper"
    average = False
    threshold = None
    callbacks = None
    _PRESETS: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | ArrayLike = "random",
        batch_size: int | None = None,
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.batch_size = batch_size
        self.n_nonzero = n_nonzero
        self.random_state = random_state
