"""While a learner is young it rehearses: fewer samples until the dictionary is found, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.dictionary.youth import BUFFER, YOUTH
from orthostream.metrics import recovery_error


def stream(seed: int, features: int = 10, per_atom: int = 60, **words: Any) -> tuple[np.ndarray, np.ndarray]:
    data = make_bernoulli_gaussian(features * per_atom, features, sparsity=0.3, random_state=seed, **words)
    return data.samples, data.components


@pytest.mark.parametrize("size", [1, 10, 25])
def test_exact_from_fifty_samples_an_atom(size: int) -> None:
    for seed in range(3):
        rows, truth = stream(seed)
        learner = OrthogonalDictionaryLearning(random_state=seed)
        for start in range(0, 500, size):
            learner.partial_fit(rows[start : start + size])
        assert recovery_error(learner.components_, truth) < 1e-12
        assert learner.n_steps_ == 500 // size  # rehearsals are not counted


def test_youth_ends_and_its_buffer_is_bounded() -> None:
    rows, _ = stream(0)
    learner = OrthogonalDictionaryLearning(random_state=0)
    for start in range(0, YOUTH * 10, 20):
        learner.partial_fit(rows[start : start + 20])
        assert learner._youth is not None and len(learner._youth.rows) <= BUFFER * 10
    learner.partial_fit(rows[-20:])
    assert learner._youth is None


def test_saved_while_young_it_goes_on_bit_for_bit(tmp_path: Path) -> None:
    rows, _ = stream(1)
    learner = OrthogonalDictionaryLearning(random_state=0)
    for start in range(0, 130, 7):
        learner.partial_fit(rows[start : start + 7])
    learner.save(tmp_path / "young")
    again = OrthogonalDictionaryLearning.load(tmp_path / "young")
    for start in range(133, 560, 7):
        learner.partial_fit(rows[start : start + 7])
        again.partial_fit(rows[start : start + 7])
    np.testing.assert_array_equal(again.components_, learner.components_)
    assert again._youth is None and learner._youth is None


def test_completed_rows_are_not_rehearsed() -> None:
    rows, _ = stream(2)
    rows[::2, 3] = np.nan
    learner = OrthogonalDictionaryLearning(random_state=0).partial_fit(rows[:20])
    assert learner._youth is not None and len(learner._youth.rows) == 10
    np.testing.assert_allclose(learner._youth.rows, rows[1:20:2])


def test_weights_and_fit_do_without() -> None:
    rows, _ = stream(3)
    assert OrthogonalDictionaryLearning(random_state=0).fit(rows)._youth is None
    weighted = OrthogonalDictionaryLearning(random_state=0).partial_fit(rows[:20], sample_weight=np.ones(20))
    assert weighted._youth is None
    assert OrthogonalDictionaryLearning.preset("paper", random_state=0).partial_fit(rows[:20])._youth is None


def test_half_of_the_readings_missing() -> None:
    """Completion must not confirm a wrong dictionary."""
    rows, truth = stream(4, per_atom=1500)
    rows[np.random.default_rng(0).random(rows.shape) < 0.5] = np.nan
    learner = OrthogonalDictionaryLearning(random_state=0)
    for start in range(0, len(rows), 10):
        learner.partial_fit(rows[start : start + 10])
    assert recovery_error(learner.components_, truth) < 1e-2
