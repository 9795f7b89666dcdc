"""The l4 contrast as a baseline."""

from __future__ import annotations

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream.baselines import L4DictionaryLearning


def test_it_is_the_learner_with_the_other_contrast(stream: np.ndarray, fed) -> None:
    learner = fed(L4DictionaryLearning(5, random_state=0), stream[:500])
    same = fed(OrthogonalDictionaryLearning(5, contrast="l4", random_state=0), stream[:500])
    other = fed(OrthogonalDictionaryLearning(5, contrast="l3", random_state=0), stream[:500])
    np.testing.assert_allclose(learner.components_, same.components_, atol=1e-12)
    assert np.abs(learner.components_ - other.components_).max() > 1e-3
