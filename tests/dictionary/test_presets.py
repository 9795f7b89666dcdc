"""Learners by intent: what each preset is made of, and what it is good at."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian, make_city
from orthostream.metrics import recovery_error
from orthostream.optimize import (
    AdaptiveSchedule,
    CoolThenConstant,
    Guarded,
    HandOver,
    MixedMemories,
    PaperSchedule,
    Replay,
    RunningMean,
    SpikeAndSlab,
)

PRESETS = ("exact", "tracking", "compression", "paper")


def fed(learner: Any, rows: np.ndarray, size: int = 10) -> Any:
    for start in range(0, len(rows), size):
        learner.partial_fit(rows[start : start + size])
    return learner


@pytest.mark.parametrize(
    ("words", "estimate", "schedule"),
    [
        ({}, Guarded, AdaptiveSchedule),
        ({"average": True}, RunningMean, PaperSchedule),
        ({"contrast": "l3"}, RunningMean, PaperSchedule),
        ({"schedule": "paper"}, RunningMean, PaperSchedule),
        ({"contrast": "sparse"}, Guarded, AdaptiveSchedule),
        ({"contrast": "sparse", "schedule": CoolThenConstant(50)}, Guarded, CoolThenConstant),
        ({"schedule": CoolThenConstant(50)}, RunningMean, CoolThenConstant),
        ({"schedule": AdaptiveSchedule(50)}, Guarded, AdaptiveSchedule),
        ({"contrast": "l4", "schedule": "adaptive"}, HandOver, AdaptiveSchedule),
        ({"contrast": "energy"}, MixedMemories, NoneType),
        ({"contrast": Replay(rounds=1)}, Replay, NoneType),
    ],
)
def test_parameters_make_a_solver(words: dict[str, Any], estimate: type, schedule: type, stream: np.ndarray) -> None:
    solver = OrthogonalDictionaryLearning(random_state=0, **words).partial_fit(stream[:10]).solver_
    assert type(solver.estimate) is estimate
    decides = solver.estimate.course if isinstance(solver.estimate, Guarded) else solver.estimate
    assert type(getattr(decides, "schedule", None)) is schedule


def test_l4_with_a_memory_of_its_own_never_hands_over(stream: np.ndarray) -> None:
    solver = OrthogonalDictionaryLearning(contrast="l4", schedule="adaptive").partial_fit(stream[:10]).solver_
    assert isinstance(solver.estimate, HandOver)
    assert (solver.estimate.p, solver.estimate.sparse) == (4.0, False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"contrast": "sparse", "schedule": "paper"}, "decides on its steps"),
        ({"contrast": "energy", "schedule": "constant"}, "schedule of its own"),
        ({"contrast": SpikeAndSlab(0.3, 0.1, 1.0), "schedule": "adaptive"}, "adaptive schedule"),
        ({"contrast": "l5"}, "contrast must be 'auto', 'energy'"),
        ({"schedule": "slow"}, "schedule must be 'adaptive', 'auto'"),
    ],
)
def test_words_that_do_not_go_together(words: dict[str, Any], told: str, stream: np.ndarray) -> None:
    with pytest.raises(ValueError, match=told):
        OrthogonalDictionaryLearning(**words).partial_fit(stream)


def test_an_unknown_preset_is_told_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"compression.*exact.*paper.*tracking"):
        OrthogonalDictionaryLearning.preset("fast")
    with pytest.raises(ValueError, match="preset must be one of"):
        OrthogonalDictionaryLearning.preset(["exact"])  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", ["exact", "tracking"])
def test_sparse_streams_are_recovered_exactly(preset: str) -> None:
    data = make_bernoulli_gaussian(5000, 10, sparsity=0.3, random_state=3)
    learner = fed(OrthogonalDictionaryLearning.preset(preset, random_state=0), data.samples)
    assert recovery_error(learner.components_, data.components) < 1e-12


def test_sparse_rows_with_missing_readings_are_still_recovered() -> None:
    data = make_bernoulli_gaussian(8000, 10, sparsity=0.2, random_state=3)
    rows = np.where(np.random.default_rng(0).random(data.samples.shape) < 0.02, np.nan, data.samples)
    learner = fed(OrthogonalDictionaryLearning(random_state=0), rows)
    assert recovery_error(learner.components_, data.components) < 0.02


def test_compression_keeps_more_than_the_others() -> None:
    readings = make_city(2000, 12, random_state=0).data
    rows = np.where(np.isnan(readings), np.nanmean(readings, axis=1, keepdims=True), readings)
    lost = {}
    for preset in PRESETS:
        learner = OrthogonalDictionaryLearning.preset(preset, random_state=0, n_nonzero=2).partial_fit(rows[:100])
        left = 0.0
        for start in range(100, len(rows), 6):
            slot = rows[start : start + 6]
            left += float(((learner.inverse_transform(learner.transform(slot)) - slot) ** 2).sum())
            learner.partial_fit(slot)
        lost[preset] = left
    assert min(lost, key=lost.__getitem__) == "compression"


@pytest.mark.parametrize("before", PRESETS)
@pytest.mark.parametrize("after", PRESETS)
def test_a_learner_can_change_its_mind(before: str, after: str, stream: np.ndarray) -> None:
    learner = fed(OrthogonalDictionaryLearning.preset(before, random_state=0), stream[:300])
    atoms = learner.raw_components_  # energies may have to be measured anew
    words = {"contrast": "auto", "schedule": "auto"} | OrthogonalDictionaryLearning._PRESETS[after]
    learner.set_params(**words)
    np.testing.assert_array_equal(learner.raw_components_, atoms)
    fed(learner, stream[300:600])
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(8), atol=1e-9)


@pytest.mark.parametrize("preset", PRESETS)
def test_scale_changes_along_the_way(preset: str, stream: np.ndarray) -> None:
    learner = fed(OrthogonalDictionaryLearning.preset(preset, random_state=0), stream[:300])
    fed(learner, stream[300:600] * 1e200)
    fed(learner, stream[600:900] * 1e-100)
    assert np.isfinite(learner.components_).all()
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(8), atol=1e-9)


def test_callbacks_see_the_report(stream: np.ndarray) -> None:
    seen = []
    learner = OrthogonalDictionaryLearning(random_state=0, callbacks=[lambda progress: seen.append(progress.report)])
    fed(learner, stream[:500])
    assert len(seen) == 50
    assert all(report.changes == 0.0 for report in seen)
    assert seen[-1].half_life > seen[0].half_life
    paper = []
    fed(
        OrthogonalDictionaryLearning.preset("paper", callbacks=[lambda progress: paper.append(progress.report)]),
        stream[:20],
    )
    assert paper == [None, None]


def test_a_file_can_be_loaded_with_other_words(stream: np.ndarray, tmp_path: Path) -> None:
    learner = fed(OrthogonalDictionaryLearning(random_state=0), stream[:500])
    learner.save(tmp_path / "learner")
    other = OrthogonalDictionaryLearning.load(tmp_path / "learner", contrast="l3", schedule="paper")
    np.testing.assert_array_equal(other.raw_components_, learner.raw_components_)
    assert set(fed(other, stream[500:600]).state_.memory) == {"gradient", "steps"}


def test_small_units_do_not_outlive_a_change_of_mind() -> None:
    data = make_bernoulli_gaussian(12_000, 8, sparsity=0.3, random_state=1)
    other = make_bernoulli_gaussian(20_000, 8, sparsity=0.3, random_state=2)
    learner = fed(OrthogonalDictionaryLearning(random_state=0), 1e-3 * data.samples)
    learner.set_params(contrast="l3", schedule="constant")
    fed(learner, 1e-3 * other.samples)
    assert recovery_error(learner.components_, other.components) < 0.05


@pytest.mark.parametrize("init", ["data", np.eye(8)])
def test_energy_starts_from_principal_components(init: Any, stream: np.ndarray) -> None:
    with pytest.raises(ValueError, match="principal components"):
        OrthogonalDictionaryLearning(contrast="energy", init=init).partial_fit(stream)


def test_a_file_without_its_memory_is_damaged(stream: np.ndarray, tmp_path: Path) -> None:
    learner = fed(OrthogonalDictionaryLearning(random_state=0), stream[:100])
    learner.save(tmp_path / "learner")
    with np.load(tmp_path / "learner") as archive:
        arrays = {name: archive[name] for name in archive.files if not name.startswith("state/memory/numbers")}
    with (tmp_path / "learner").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match="remembers numbers"):
        OrthogonalDictionaryLearning.load(tmp_path / "learner")
