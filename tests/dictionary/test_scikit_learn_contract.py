"""scikit-learn's own checks, all of them, for both estimators; no failure is expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA

ESTIMATORS = [
    OrthogonalDictionaryLearning(random_state=0),
    OrthogonalDictionaryLearning(center="running", max_iter=20, tol=1e-6, shuffle=True, random_state=0),
    OrthogonalDictionaryLearning.preset("paper", random_state=0),
    OrthogonalDictionaryLearning.preset("compression", random_state=0),
    # Some checks set n_components to 1, and more coefficients than atoms are refused.
    OrthogonalDictionaryLearning(average=True, n_nonzero=1, random_state=0),
    StreamingSparsePCA(method="paper", random_state=0),
    StreamingSparsePCA(center="running"),
    StreamingSparsePCA(),
]


def _known_failures(estimator: Any) -> dict[str, str]:
    if getattr(estimator, "contrast", None) != "energy":
        return {}
    reason = "memory fades with the number of samples since, and a sample of weight 2 is one sample"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


#: scikit-learn's own rows are often not centred, which `fit` may point out.
uncentred = pytest.mark.filterwarnings("ignore::orthostream.dictionary.UncentredRowsWarning")


@uncentred
@parametrize_with_checks([ESTIMATORS[1], *ESTIMATORS[-3:]])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@uncentred
@parametrize_with_checks([ESTIMATORS[0], *ESTIMATORS[2:-3]], expected_failed_checks=_known_failures)
def test_scikit_learn_checks_of_other_presets(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_column_names_and_set_output(estimator: Any, stream: np.ndarray) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(stream, columns=[f"sensor {i}" for i in range(8)])
    learner = clone(estimator).set_output(transform="pandas").fit(frame)
    codes = learner.transform(frame)
    assert list(learner.feature_names_in_) == list(frame.columns)
    assert list(codes.columns) == list(learner.get_feature_names_out())
    assert codes.index.equals(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        learner.partial_fit(frame[frame.columns[::-1]])


def test_in_a_pipeline(stream: np.ndarray) -> None:
    pipeline = make_pipeline(StandardScaler(), OrthogonalDictionaryLearning(n_nonzero=3, random_state=0))
    codes = pipeline.fit_transform(stream)
    assert (np.count_nonzero(codes, axis=1) <= 3).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_float32_stays_float32(estimator: Any, stream: np.ndarray) -> None:
    rows = stream.astype(np.float32)
    learner = clone(estimator).partial_fit(rows[:50])
    learner.partial_fit(stream[50:60])  # a double in between does not change the learner's mind
    assert learner.components_.dtype == np.float32
    assert learner.transform(rows).dtype == np.float32
    assert learner.state_.x.dtype == np.float64  # the solver's own precision
