"""Saved learners: bit-identical continuation, and nothing but a clear error from a bad file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA
from orthostream.dictionary import SavedEstimatorError
from orthostream.optimize import (
    AdaptiveSchedule,
    CoolThenConstant,
    LpContrast,
    MeanThenForget,
    Objective,
    TopEnergy,
)

LEARNERS: list[Any] = [
    OrthogonalDictionaryLearning(random_state=0),
    OrthogonalDictionaryLearning.preset("paper", random_state=0),
    OrthogonalDictionaryLearning.preset("compression", random_state=0),
    OrthogonalDictionaryLearning(6, contrast="sparse", schedule=AdaptiveSchedule(200.0, 50.0), random_state=0),
    OrthogonalDictionaryLearning(5, average=True, contrast="l4", random_state=0),
    OrthogonalDictionaryLearning(contrast=LpContrast(3.5), schedule=CoolThenConstant(90), batch_size=7),
    OrthogonalDictionaryLearning(contrast=TopEnergy(2), schedule=MeanThenForget(90), batch_size=7, random_state=0),
    OrthogonalDictionaryLearning(init=np.eye(8), schedule="sfw", n_nonzero=3, threshold=0.1),
    OrthogonalDictionaryLearning(center="running", max_iter=3, tol=1e-3, shuffle=True, batch_size=7, random_state=0),
    OrthogonalDictionaryLearning(6, center=np.arange(8.0), random_state=0),
    StreamingSparsePCA(2, batch_size=9),
    StreamingSparsePCA(3, variance_loss=0.02, half_life=300.0),
    StreamingSparsePCA(2, method="paper", penalty=0.3, batch_size=9, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("change", ["plain", "float32", "scaled", "missing", "named"])
def test_going_on_is_bit_identical(learner: Any, change: str, stream: np.ndarray, tmp_path: Path) -> None:
    rows: Any = {"float32": stream.astype(np.float32), "scaled": stream * 1e120}.get(change, stream)
    if change == "missing":
        if isinstance(learner, StreamingSparsePCA):
            pytest.skip("StreamingSparsePCA takes no missing values")
        rows = np.where(np.random.default_rng(0).random(rows.shape) < 0.1, np.nan, rows)
    if change == "named":
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=list("abcdefgh"))
    path = tmp_path / "learner.npz"
    going_on = type(learner)(**learner.get_params())
    for start in range(0, 1000, 10):
        going_on.partial_fit(rows[start : start + 10])
    going_on.save(path)
    loaded = type(learner).load(path)
    for start in range(1000, 2000, 10):
        going_on.partial_fit(rows[start : start + 10])
        loaded.partial_fit(rows[start : start + 10])
    np.testing.assert_array_equal(loaded.components_, going_on.components_)
    np.testing.assert_array_equal(loaded.state_.gradient, going_on.state_.gradient)
    assert loaded.components_.dtype == going_on.components_.dtype
    np.testing.assert_array_equal(getattr(loaded, "mean_", None), getattr(going_on, "mean_", None))
    np.testing.assert_array_equal(loaded.transform(rows[:5]), going_on.transform(rows[:5]))
    assert list(loaded.get_feature_names_out()) == list(going_on.get_feature_names_out())


def test_words_survive(stream: np.ndarray, tmp_path: Path) -> None:
    for learner in LEARNERS:
        learner.partial_fit(stream)
        learner.save(tmp_path / "learner")
        loaded = type(learner).load(tmp_path / "learner")
        for name, value in learner.get_params().items():
            now = loaded.get_params()[name]
            if hasattr(value, "__dict__"):
                assert type(now) is type(value)
                assert vars(now) == vars(value)
            else:
                np.testing.assert_array_equal(now, value)


class Own(LpContrast):
    """A contrast of one's own."""


def test_an_object_of_ones_own_must_be_given_again(stream: np.ndarray, tmp_path: Path) -> None:
    own: Objective = Own(3)
    OrthogonalDictionaryLearning(contrast=own).partial_fit(stream).save(tmp_path / "own")
    with pytest.raises(ValueError, match=r"load\(path, contrast="):
        OrthogonalDictionaryLearning.load(tmp_path / "own")
    assert OrthogonalDictionaryLearning.load(tmp_path / "own", contrast=own).contrast is own


def test_bad_files(stream: np.ndarray, tmp_path: Path) -> None:
    good = tmp_path / "good"
    OrthogonalDictionaryLearning().partial_fit(stream).save(good)
    with pytest.raises(SavedEstimatorError, match="holds a OrthogonalDictionaryLearning"):
        StreamingSparsePCA.load(good)
    with pytest.raises(FileNotFoundError):
        OrthogonalDictionaryLearning.load(tmp_path / "nothing")
    for name, content in {
        "empty": b"",
        "text": b"hello",
        "half": good.read_bytes()[: good.stat().st_size // 2],
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SavedEstimatorError, match="damaged"):
            OrthogonalDictionaryLearning.load(tmp_path / name)
    np.savez(tmp_path / "other.npz", x=np.eye(2))
    with pytest.raises(SavedEstimatorError):
        OrthogonalDictionaryLearning.load(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", x=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(SavedEstimatorError):
        OrthogonalDictionaryLearning.load(tmp_path / "pickled.npz")
    newer = good.read_bytes().replace(b'"version": 2', b'"version": 9')
    (tmp_path / "newer").write_bytes(newer)
    with pytest.raises(SavedEstimatorError):  # the checksum of the archive sees it first
        OrthogonalDictionaryLearning.load(tmp_path / "newer")


@given(st.integers(0, 10**6), st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_a_flipped_bit_is_an_error_or_harmless(place: int, bit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        flip(Path(folder), place, bit)


def flip(folder: Path, place: int, bit: int) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).partial_fit(np.random.default_rng(0).normal(size=(9, 3)))
    learner.save(folder / "learner")
    content = bytearray((folder / "learner").read_bytes())
    content[place % len(content)] ^= 1 << bit
    (folder / "learner").write_bytes(bytes(content))
    try:
        loaded = OrthogonalDictionaryLearning.load(folder / "learner")
    except SavedEstimatorError:
        return
    np.testing.assert_array_equal(loaded.components_, learner.components_)


def test_a_failed_save_leaves_the_old_file(stream: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "learner"
    OrthogonalDictionaryLearning(random_state=0).partial_fit(stream).save(path)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        OrthogonalDictionaryLearning(random_state=1).partial_fit(stream).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["learner"]


def test_unfitted_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        OrthogonalDictionaryLearning().save(tmp_path / "learner")
