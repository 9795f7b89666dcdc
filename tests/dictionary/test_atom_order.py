"""`components_` is sorted by energy and has defined signs; the state, and codes, follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.baselines import L4DictionaryLearning, SFWDictionaryLearning
from orthostream.optimize.estimates.guarded.layout import SECOND_MOMENT, TRUSTED

#: Sparse codes with energies that are far apart, in a random order.
RNG = np.random.default_rng(0)
ENERGIES = np.array([1.0, 729.0, 9.0, 6561.0, 81.0])
TRUTH = np.linalg.qr(RNG.standard_normal((5, 5)))[0]
ROWS = RNG.standard_normal((3000, 5)) * (RNG.random((3000, 5)) < 0.3) * np.sqrt(ENERGIES) @ TRUTH.T

LEARNERS: dict[str, Any] = {
    **{
        name: lambda name=name, **words: OrthogonalDictionaryLearning.preset(name, random_state=0, **words)
        for name in ("exact", "tracking", "compression", "paper")
    },
    "averaged": lambda **words: OrthogonalDictionaryLearning(average=True, random_state=0, **words),
    "adaptive l3": lambda **words: OrthogonalDictionaryLearning(
        contrast="l3", schedule="adaptive", random_state=0, **words
    ),
    "L4": lambda **words: L4DictionaryLearning(random_state=0, **words),
    "SFW": lambda **words: SFWDictionaryLearning(random_state=0, **words),
    "SFW, polar": lambda **words: SFWDictionaryLearning(polar=True, random_state=0, **words),
}


def fed(learner: Any, rows: np.ndarray = ROWS, size: int = 10) -> Any:
    for start in range(0, len(rows), size):
        learner.partial_fit(rows[start : start + size])
    return learner


def check(learner: Any, rows: np.ndarray = ROWS) -> None:
    """Check order, signs, and that everything else agrees with ``components_`` at the same moment."""
    atoms = learner.components_
    assert (atoms[np.arange(len(atoms)), np.abs(atoms).argmax(axis=1)] > 0.0).all()
    found = np.square(rows @ atoms.T).mean(axis=0)
    assert (found[1:] < 1.2 * found[:-1]).all()
    raw = learner.raw_components_
    assert atoms.dtype == raw.dtype
    match = np.abs(raw @ atoms.T).argmax(axis=1)
    assert sorted(match) == list(range(len(atoms)))
    np.testing.assert_array_equal(np.abs(atoms[match]), np.abs(raw))
    mean = getattr(learner, "mean_", None)
    centred = rows if mean is None else rows - mean
    tolerance = 1e-3 if atoms.dtype == np.float32 else 1e-9
    codes = learner.transform(rows)
    np.testing.assert_allclose(codes, centred @ atoms.T, atol=tolerance)
    again = learner.inverse_transform(codes)
    np.testing.assert_allclose(again, codes @ atoms + (0.0 if mean is None else mean), atol=tolerance)


@pytest.mark.parametrize("name", LEARNERS)
def test_after_partial_fit(name: str) -> None:
    learner = fed(LEARNERS[name]())
    check(learner)
    if name != "SFW":  # whose atoms are not orthogonal yet
        assert (np.abs(learner.components_ @ TRUTH).argmax(axis=1) == np.argsort(-ENERGIES)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_after_fit(name: str) -> None:
    check(LEARNERS[name]().fit(ROWS[:500]))


@pytest.mark.parametrize("name", LEARNERS)
def test_fewer_atoms_than_features(name: str) -> None:
    check(fed(LEARNERS[name](n_components=3)))


@pytest.mark.parametrize("name", ["exact", "compression", "paper"])
def test_centred(name: str) -> None:
    check(fed(LEARNERS[name](center="running"), ROWS + 5.0), ROWS)


@pytest.mark.parametrize("name", ["exact", "compression", "paper"])
def test_single_precision(name: str) -> None:
    learner = fed(LEARNERS[name](), ROWS.astype(np.float32))
    assert learner.components_.dtype == np.float32
    check(learner, ROWS.astype(np.float32))


@pytest.mark.parametrize("name", ["exact", "tracking", "compression", "paper", "averaged"])
def test_a_loaded_learner_has_the_same_order(name: str, tmp_path: Path) -> None:
    learner = fed(LEARNERS[name]())
    learner.save(tmp_path / "learner")
    loaded = OrthogonalDictionaryLearning.load(tmp_path / "learner")
    np.testing.assert_array_equal(loaded.components_, learner.components_)
    np.testing.assert_array_equal(loaded.raw_components_, learner.raw_components_)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_look_changes_nothing(name: str) -> None:
    learner, unseen = LEARNERS[name](), LEARNERS[name]()
    for start in range(0, 600, 10):
        learner.partial_fit(ROWS[start : start + 10])
        unseen.partial_fit(ROWS[start : start + 10])
        before = learner.state_
        _ = learner.components_, learner.transform(ROWS[:3])
        assert learner.state_ is before
    for array, other in zip(learner.state_.to_arrays().values(), unseen.state_.to_arrays().values(), strict=True):
        np.testing.assert_array_equal(array, other)


def test_the_raw_order_does_not_jump() -> None:
    """Atoms can be followed one by one, however energies change."""
    learner = fed(OrthogonalDictionaryLearning.preset("paper", init=TRUTH.T))
    raw, atoms = learner.raw_components_, learner.components_
    swapped = ROWS @ TRUTH * np.sqrt(ENERGIES[::-1] / ENERGIES) @ TRUTH.T
    fed(learner, np.concatenate([swapped, swapped]))
    np.testing.assert_allclose((raw * learner.raw_components_).sum(axis=1), 1.0, atol=0.01)
    check(learner, swapped)
    assert np.abs((atoms * learner.components_).sum(axis=1)).min() < 0.5


def test_the_anchor_has_energies_of_its_own() -> None:
    learner = fed(OrthogonalDictionaryLearning(random_state=0), ROWS[:1000])
    memory = learner.state_.memory
    array = memory.array.copy()
    learner.state_ = learner.state_._replace(memory=type(memory)(memory.layout, array))
    memory = learner.state_.memory
    memory["guard"][TRUSTED] = 0.0
    memory["moments"][SECOND_MOMENT] = [3.0, 5.0, 1.0, 2.0, 4.0]
    raw = learner.raw_components_
    np.testing.assert_array_equal(np.abs(learner.components_), np.abs(raw[[1, 4, 0, 3, 2]]))


def test_rows_of_zeros_have_no_order() -> None:
    learner = OrthogonalDictionaryLearning(init=-np.eye(3)).partial_fit(np.zeros((4, 3)))
    np.testing.assert_array_equal(learner.components_, np.eye(3))
    np.testing.assert_array_equal(learner.raw_components_, -np.eye(3))
