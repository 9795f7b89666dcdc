"""A learner that may subtract a mean from samples before it learns from them or codes them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from orthostream._typing import FloatArray
from orthostream.dictionary.centre import Centre
from orthostream.dictionary.centring import make_centre, restored_centre
from orthostream.dictionary.stream_estimator import StreamEstimator


class CentredEstimator(StreamEstimator):
    """A `StreamEstimator` with the parameter ``center``."""

    center: str | ArrayLike | None = None

    @property
    def mean_(self) -> FloatArray | None:
        """What is subtracted from samples, or None."""
        self._check_started("mean_")
        return None if self._centre is None else self._centre.mean.astype(self._dtype)

    @abstractmethod
    def _memory_of_the_mean(self) -> int:
        """Return after how many thousand samples a running mean forgets."""

    def _make_centre(self) -> Centre | None:
        if self.center is None:
            return None
        return make_centre(self.center, self.n_features_in_, self._memory_of_the_mean(), self._centre)

    def _restore_centre(self, center: Any, arrays: dict[str, Any]) -> None:
        self._centre = restored_centre(center, self.n_features_in_, self._memory_of_the_mean(), arrays)
        self._centre = self._make_centre()

    def _allows_sparse(self) -> bool:
        return self.center is None
