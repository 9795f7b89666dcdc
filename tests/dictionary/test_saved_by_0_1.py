"""Learners that version 0.1 saved, before estimates of the gradient were a noun, load and go on as they would have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA

FOLDER = Path(__file__).parent / "saved_by_0_1"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz") if path.stem != "expected")

#: These have a guard and a door since then, or another estimate, which change the steps.
CHANGED = ("compression", "cut", "exact", "single", "tracking")


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    """The rows, and the components when they were saved and ten mini-batches of ten rows later."""
    with np.load(FOLDER / "expected.npz") as archive:
        return {name: archive[name] for name in archive.files}


@pytest.mark.parametrize("name", NAMES)
def test_they_go_on(name: str, expected: dict[str, np.ndarray], tmp_path: Path) -> None:
    kind: Any = StreamingSparsePCA if name == "sparse_pca" else OrthogonalDictionaryLearning
    learner = kind.load(FOLDER / f"{name}.npz")
    before, after = expected[f"{name}/before"], expected[f"{name}/after"]
    atoms = "components_" if name == "sparse_pca" else "raw_components_"  # they were not sorted then
    np.testing.assert_allclose(getattr(learner, atoms), before, atol=1e-12 if before.dtype == np.float64 else 1e-6)
    assert learner.components_.dtype == before.dtype
    learner.save(tmp_path / "again")  # as this version does
    again = kind.load(tmp_path / "again")
    for start in range(300, 400, 10):
        rows = expected["rows"][start : start + 10].astype(before.dtype)
        learner.partial_fit(rows)
        again.partial_fit(rows)
    np.testing.assert_array_equal(again.components_, learner.components_)
    if name in CHANGED:
        assert np.abs(learner.components_ @ after.T).max(axis=1).mean() > 0.9
    else:
        np.testing.assert_allclose(getattr(learner, atoms), after, atol=1e-6)


def test_there_are_some_of_every_kind() -> None:
    assert len(NAMES) == 8


def test_sparse_components_were_those_of_the_paper() -> None:
    assert StreamingSparsePCA.load(FOLDER / "sparse_pca.npz").method == "paper"
    assert StreamingSparsePCA().method == "eigenvectors"
