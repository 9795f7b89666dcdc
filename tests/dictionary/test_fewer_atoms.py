"""With fewer atoms than features the default learns inside of the subspace that the atoms span."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import without_numba
from orthostream._typing import FloatArray
from orthostream.metrics import recovery_error
from orthostream.optimize import Guarded, InSubspace

Learner = OrthogonalDictionaryLearning


def stream(seed: int, count: int = 6000, noise: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """Return atoms as rows, 5 of 20 features, and samples."""
    rng = np.random.default_rng(seed)
    atoms = np.linalg.qr(rng.standard_normal((20, 5)))[0].T
    codes = rng.standard_normal((count, 5)) * (rng.random((count, 5)) < 0.3)
    return atoms, codes @ atoms + noise * rng.standard_normal((count, 20))


def fed(learner: Learner, rows: FloatArray, size: int = 10) -> Learner:
    for start in range(0, len(rows), size):
        learner.partial_fit(rows[start : start + size])
    return learner


def test_it_is_chosen_by_the_number_of_atoms() -> None:
    _, rows = stream(0, 20)
    assert isinstance(Learner(5).partial_fit(rows).solver_.estimate, InSubspace)
    assert isinstance(Learner.preset("tracking", n_components=5).partial_fit(rows).solver_.estimate, InSubspace)
    assert isinstance(Learner().partial_fit(rows).solver_.estimate, Guarded)
    assert isinstance(Learner(20).partial_fit(rows).solver_.estimate, Guarded)
    own = Guarded()  # what is given is used as it is
    assert Learner(5, contrast=own).partial_fit(rows).solver_.estimate is own


def test_it_is_closer_than_averaged_l3() -> None:
    ratios = []
    for seed in range(5):
        atoms, rows = stream(seed)
        ours = recovery_error(fed(Learner(5, random_state=seed), rows).components_, atoms)
        averaged = Learner.preset("paper", n_components=5, average=True, random_state=seed)
        ratios.append(ours / recovery_error(fed(averaged, rows).components_, atoms))
    assert np.median(ratios) < 0.5
    assert max(ratios) < 1.1


@pytest.mark.parametrize("young", [True, False])
def test_saved_it_goes_on_bit_for_bit(young: bool, tmp_path: Path) -> None:
    _, rows = stream(1, 1200)
    learner = fed(Learner(5, random_state=0), rows[: 100 if young else 800])
    learner.save(tmp_path / "saved")
    again = Learner.load(tmp_path / "saved")
    for one in (learner, again):
        fed(one, rows[800:])
    np.testing.assert_array_equal(again.components_, learner.components_)


def test_a_learner_that_was_saved_without_a_subspace_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atoms, rows = stream(2)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_has_fewer_atoms", lambda self: False)  # as earlier versions did
        before = fed(Learner(5, random_state=0), rows[:2000])
        before.save(tmp_path / "saved")
    again = Learner.load(tmp_path / "saved")
    assert isinstance(again.solver_.estimate, InSubspace)
    np.testing.assert_allclose(again.components_, before.components_, atol=1e-12)
    error = recovery_error(before.components_, atoms)
    assert recovery_error(fed(again, rows[2000:]).components_, atoms) < 0.7 * error


def test_compiled_and_plain_learners_agree_also_while_young() -> None:
    _, rows = stream(7, 300)
    compiled = fed(Learner(5, random_state=0), rows)
    with without_numba():
        plain = fed(Learner(5, random_state=0), rows)
    np.testing.assert_allclose(compiled.components_, plain.components_, atol=1e-8)


def test_one_row_of_1e100_and_readings_that_are_stuck() -> None:
    atoms, rows = stream(3)
    rows[300] = 1e100
    rows[::100, 0] = 100.0
    assert recovery_error(fed(Learner(5, random_state=0), rows).components_, atoms) < 5e-3


def test_missing_readings() -> None:
    atoms, rows = stream(4)
    rows[np.random.default_rng(0).random(rows.shape) < 0.2] = np.nan
    assert recovery_error(fed(Learner(5, random_state=0), rows).components_, atoms) < 2e-3


@pytest.mark.parametrize("size", [1, 3, 200])
def test_any_size_of_mini_batches(size: int) -> None:
    atoms, rows = stream(5, 4000)
    assert recovery_error(fed(Learner(5, random_state=0), rows, size).components_, atoms) < 2e-3


def test_a_weight_of_two_is_a_sample_twice() -> None:
    _, rows = stream(6, 400)
    learners = [Learner(5, random_state=0).partial_fit(rows[:10], sample_weight=np.ones(10)) for _ in range(2)]
    for start in range(10, 400, 10):
        some = rows[start : start + 10]
        learners[0].partial_fit(some, sample_weight=np.full(10, 2.0))
        learners[1].partial_fit(np.concatenate([some, some]))
    np.testing.assert_allclose(learners[0].components_, learners[1].components_, atol=1e-9)


def test_many_features_and_sparse_rows() -> None:
    rng = np.random.default_rng(0)
    learner = Learner(3, random_state=0)
    for _ in range(5):
        learner.partial_fit(sparse.random(20, 10_000, 0.001, format="csr", random_state=rng))
    assert learner.state_.memory.array.nbytes < 10 * 8 * 10_000 * 3
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(3), atol=1e-12)
