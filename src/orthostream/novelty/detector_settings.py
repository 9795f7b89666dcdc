"""The parameters of a detector, checked, as the settings of its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from orthostream import _checks
from orthostream.novelty.stream_model import StreamSettings
from orthostream.novelty.term_weights import DampedInverseFrequency, TermWeights
from orthostream.novelty.thresholds import FalseAlarmRate, Threshold
from orthostream.optimize import LpContrast, PolarStep, SpectralBall, StochasticFrankWolfe
from orthostream.optimize.estimates import SparseRunningMean
from orthostream.optimize.objectives import TopEnergy
from orthostream.optimize.objectives.contrast import Contrast
from orthostream.optimize.schedules import MeanThenForget

if TYPE_CHECKING:
    from orthostream.novelty.detector import NovelDocumentDetector

#: Documents that are remembered: to show the closest ones, and to compare all new ones with them.
_RECENT, _RECENT_FIRST_STORIES = 1000, 10_000


def settings_of(detector: NovelDocumentDetector) -> StreamSettings:
    """Return the settings that the parameters of a detector stand for; ValueError for one that is wrong."""
    n_recent = _checks.optional_integer("n_recent", detector.n_recent)
    if n_recent is None:
        n_recent = _RECENT_FIRST_STORIES if detector.first_story else _RECENT
    n_components = _checks.integer("n_components", detector.n_components)
    return StreamSettings(
        solver=_solver(detector),
        n_components=n_components,
        n_nonzero=_checks.integer("n_nonzero", detector.n_nonzero),
        batch_size=_checks.integer("batch_size", detector.batch_size),
        weights=_of_kind("weights", detector.weights, TermWeights, DampedInverseFrequency()),
        max_terms=_checks.integer("max_terms", detector.max_terms, max(16, n_components)),
        term_half_life=detector.term_half_life,
        threshold=_of_kind("threshold", detector.threshold, Threshold, FalseAlarmRate()),
        warm_up=_checks.integer("warm_up", detector.warm_up, 0),
        correct_growth=bool(detector.correct_growth),
        learn_flagged=bool(detector.learn_flagged),
        first_story=bool(detector.first_story),
        n_recent=n_recent,
    )


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator for any of scikit-learn's random states.

    >>> int(generator(0).integers(10)) == int(generator(0).integers(10))
    True
    """
    if isinstance(random_state, np.random.Generator):
        # One of a kind that can be saved.
        return np.random.default_rng(random_state.integers(2**63))
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def _solver(detector: NovelDocumentDetector) -> StochasticFrankWolfe:
    """Return Algorithm 2 for sparse samples of many features."""
    contrast = detector.contrast
    if isinstance(contrast, str):
        _checks.one_of("contrast", contrast, ("top", "l3"), also="a contrast")
        contrast = TopEnergy(detector.n_nonzero) if contrast == "top" else LpContrast(3.0)
    elif not isinstance(contrast, Contrast):
        raise ValueError(f"contrast must be 'top', 'l3' or a contrast, got {contrast!r}.")
    estimate = SparseRunningMean(contrast, MeanThenForget(detector.half_life))
    return StochasticFrankWolfe(SpectralBall(), estimate, post_step=PolarStep())


def _of_kind(name: str, value: Any, kind: type, default: Any) -> Any:
    if value is None:
        return default
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__} such as {default!r}, got {value!r}.")
    return value
