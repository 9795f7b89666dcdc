"""scikit-learn's own checks, all of them, for every baseline; no failure is expected."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthostream.baselines import (
    DCT,
    BetaBernoulliDictionaryLearning,
    ForgettingPCA,
    L3FastICA,
    L4DictionaryLearning,
    OfflinePCA,
    OnlineAODL,
    SFWDictionaryLearning,
)

ESTIMATORS = [
    SFWDictionaryLearning(random_state=0),
    L4DictionaryLearning(random_state=0),
    OnlineAODL(solver="scikit-learn", penalty=1.0, fit_iterations=1, random_state=0),
    BetaBernoulliDictionaryLearning(10, n_sweeps=3, n_nonzero=2, random_state=0),
    ForgettingPCA(),
    ForgettingPCA(centre=True, n_nonzero=2),
    OfflinePCA(),
    OfflinePCA(centre=True, n_nonzero=2),
    DCT(),
    L3FastICA(random_state=0),
    L3FastICA(centre=False, n_nonzero=1, random_state=0),
]
if find_spec("spams") is not None:
    ESTIMATORS.append(OnlineAODL(solver="spams", random_state=0))


# Some of the checks use noise, which has no independent components to converge to.
@pytest.mark.filterwarnings("ignore:FastICA did not converge:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
