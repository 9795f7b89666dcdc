"""What may happen to a learner between two mini-batches: failures, new words, pickles, looks at its state."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA
from orthostream.dictionary import SavedEstimatorError
from orthostream.optimize import Progress

ROWS = np.random.default_rng(0).standard_normal((60, 6))


@pytest.mark.parametrize("batch_size", [None, 10])
def test_a_failed_start_can_be_mended(batch_size: int | None) -> None:
    learner = OrthogonalDictionaryLearning(7, batch_size=batch_size, random_state=0)
    with pytest.raises(ValueError, match="n_components"):
        learner.partial_fit(ROWS)
    learner.set_params(n_components=3, contrast="l4", batch_size=None).partial_fit(ROWS)
    other = OrthogonalDictionaryLearning(3, contrast="l4", random_state=0).partial_fit(ROWS)
    np.testing.assert_array_equal(learner.components_, other.components_)


def test_a_failed_start_loses_no_row_that_waits() -> None:
    learner = OrthogonalDictionaryLearning(7, batch_size=10, random_state=0).partial_fit(ROWS[:4])
    with pytest.raises(ValueError, match="n_components"):
        learner.partial_fit(ROWS[4:17])
    np.testing.assert_array_equal(learner.pending_, ROWS[10:17])
    assert learner.set_params(n_components=3).partial_fit(ROWS[17:20]).n_steps_ == 1


def test_new_words_count_from_the_next_step_on(tmp_path: Path) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for _ in range(30):
        learner.partial_fit(ROWS)
    learner.set_params(schedule="constant", average=True)
    learner.save(tmp_path / "learner")
    loaded = OrthogonalDictionaryLearning.load(tmp_path / "learner")
    np.testing.assert_array_equal(learner.partial_fit(ROWS).components_, loaded.partial_fit(ROWS).components_)
    assert learner.state_.average is not None
    assert learner.set_params(average=False).state_.average is None


def test_a_pickle_holds_no_compiled_code() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for t in range(30):
        learner.partial_fit(ROWS + 0.01 * t)
    content = pickle.dumps(learner)
    assert len(content) < 8000
    assert b"numba" not in content
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.partial_fit(ROWS).components_, learner.partial_fit(ROWS).components_)


def test_components_are_a_copy() -> None:
    for learner in (OrthogonalDictionaryLearning(1, random_state=0), OrthogonalDictionaryLearning(random_state=0)):
        learner.partial_fit(ROWS).components_[...] = 7.0
        assert np.abs(learner.components_).max() <= 1.0 + 1e-9


def test_rows_that_wait_may_be_sparse_or_dense() -> None:
    mixed = OrthogonalDictionaryLearning(batch_size=10, random_state=0)
    mixed.partial_fit(sparse.csr_matrix(ROWS[:7])).partial_fit(ROWS[7:24]).partial_fit(sparse.csr_matrix(ROWS[24:]))
    dense = OrthogonalDictionaryLearning(batch_size=10, random_state=0).partial_fit(ROWS)
    assert mixed.n_steps_ == dense.n_steps_ == 6
    np.testing.assert_allclose(mixed.components_, dense.components_, atol=1e-8)


def test_rows_that_wait_fix_width_and_type() -> None:
    learner = OrthogonalDictionaryLearning(batch_size=10, random_state=0).partial_fit(ROWS[:4].astype(np.float32))
    with pytest.raises(ValueError, match="features"):
        learner.partial_fit(ROWS[:, :5])
    assert learner.partial_fit(ROWS).components_.dtype == np.float32


def test_what_was_learnt_before_a_failure_is_not_learnt_again() -> None:
    def fails_at_the_third(progress: Progress) -> None:
        if progress.t == 3:
            raise RuntimeError("no more")

    learner = OrthogonalDictionaryLearning(batch_size=10, random_state=0, callbacks=[fails_at_the_third])
    with pytest.raises(RuntimeError):
        learner.partial_fit(ROWS)
    assert (learner.n_steps_, len(learner.pending_)) == (3, 30)
    learner.partial_fit(ROWS[:1])
    assert (learner.n_steps_, len(learner.pending_)) == (6, 1)


def test_callbacks_are_not_called_without_a_step() -> None:
    seen: list[int] = []
    learner = OrthogonalDictionaryLearning(random_state=0, callbacks=[lambda progress: seen.append(progress.t)])
    learner.partial_fit(ROWS).partial_fit(ROWS, sample_weight=np.zeros(60)).partial_fit(ROWS)
    assert seen == [1, 2]


def test_callbacks_see_sample_weights() -> None:
    values: list[float] = []
    learner = OrthogonalDictionaryLearning(
        random_state=0, callbacks=[lambda progress: values.append(float(progress.objective))]
    )
    weights = np.linspace(0, 1, 60)
    learner.partial_fit(ROWS, sample_weight=weights)
    assert values[0] == pytest.approx(-learner.score(ROWS, sample_weight=weights))


def test_saved_words_may_be_numpy_scalars_and_lists(tmp_path: Path) -> None:
    words: dict[str, Any] = {
        "n_components": np.int64(3),
        "batch_size": np.int64(7),
        "threshold": np.float32(0.25),
        "random_state": np.int64(2),
        "init": np.eye(6)[:3].tolist(),
    }
    OrthogonalDictionaryLearning(**words).partial_fit(ROWS).save(tmp_path / "learner")
    loaded = OrthogonalDictionaryLearning.load(tmp_path / "learner")
    for name, value in words.items():
        np.testing.assert_array_equal(getattr(loaded, name), value)


def test_load_refuses_words_that_do_not_exist(tmp_path: Path) -> None:
    OrthogonalDictionaryLearning().partial_fit(ROWS).save(tmp_path / "learner")
    with pytest.raises(TypeError, match="bogus"):
        OrthogonalDictionaryLearning.load(tmp_path / "learner", bogus=1)
    with pytest.raises(FileNotFoundError, match="no folder"):
        OrthogonalDictionaryLearning().partial_fit(ROWS).save(tmp_path / "nowhere" / "learner")


def test_load_refuses_another_number_of_components(tmp_path: Path) -> None:
    OrthogonalDictionaryLearning().partial_fit(ROWS).save(tmp_path / "learner")
    with pytest.raises(ValueError, match="has 6 components"):
        OrthogonalDictionaryLearning.load(tmp_path / "learner", n_components=3)


def test_a_look_before_the_first_step_says_what_is_missing() -> None:
    learner = StreamingSparsePCA(batch_size=10).partial_fit(ROWS[:3])
    for name in ("components_", "n_steps_"):
        with pytest.raises(AttributeError, match="after the first 10 rows: 3 are waiting"):
            getattr(learner, name)


@pytest.mark.parametrize(
    ("words", "error"),
    [({"callbacks": print}, TypeError), ({"threshold": "a"}, ValueError), ({"n_nonzero": -1}, ValueError)],
)
def test_bad_words_show_at_the_first_mini_batch(words: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(words))):
        OrthogonalDictionaryLearning(**words).partial_fit(ROWS)


def test_sparse_rows_may_not_hold_nan() -> None:
    rows = sparse.csr_matrix(np.where(ROWS > 2, np.nan, ROWS))
    with pytest.raises(ValueError, match="sparse rows"):
        OrthogonalDictionaryLearning().partial_fit(rows)


def test_sparse_pca_refuses_a_start_without_direction() -> None:
    with pytest.raises(ValueError, match="row of zeros"):
        StreamingSparsePCA(method="paper", init=np.zeros((1, 6))).partial_fit(ROWS)


@pytest.mark.parametrize("after", [1, 6, None])
@pytest.mark.parametrize("kind", [OrthogonalDictionaryLearning, StreamingSparsePCA])
def test_another_number_of_components_is_refused_while_learning_goes_on(kind: Any, after: int | None) -> None:
    learner = kind(3).partial_fit(ROWS)
    if after is None and kind is StreamingSparsePCA:
        pytest.skip("it has no default number")
    with pytest.raises(ValueError, match=f"n_components is now {after}, but 3 components were learnt"):
        learner.set_params(n_components=after).partial_fit(ROWS)
    assert learner.n_steps_ == 1
    assert learner.transform(ROWS).shape[1] == 3
    learner.set_params(n_components=3).partial_fit(ROWS)
    assert learner.n_steps_ == 2
    assert len(learner.set_params(n_components=after).fit(ROWS).components_) == (after or 6)


REFUSED: list[tuple[dict[str, Any], Any]] = [
    ({"n_components": 9}, np.ones((20, 4))),
    ({"contrast": "l5"}, np.ones((20, 4))),
    ({"batch_size": 0}, np.ones((20, 4))),
    ({"max_iter": 0}, np.ones((20, 4))),
    ({"init": np.eye(9)}, np.ones((20, 4))),
    ({}, np.full((20, 4), np.inf)),
    ({}, [["a", "b"]]),
    ({}, np.ones(4)),
]


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize(("words", "rows"), REFUSED)
@pytest.mark.filterwarnings("ignore::orthostream.dictionary.UninformativeRowsWarning")
def test_a_refused_fit_changes_nothing(words: dict[str, Any], rows: Any, begun: bool) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    if begun:
        learner.fit(ROWS)
    for name, value in words.items():
        setattr(learner, name, value)
    before = dict(learner.__dict__)
    with pytest.raises(ValueError, match=r".+"):
        learner.fit(rows)
    assert learner.__dict__ == before
    assert hasattr(learner, "n_features_in_") == begun
    if not begun and "max_iter" not in words:
        with pytest.raises(ValueError, match=r".+"):
            learner.partial_fit(rows)
        assert learner.__dict__ == before


def test_weights_of_zero_are_refused_and_change_nothing() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).fit(ROWS)
    before = dict(learner.__dict__)
    with pytest.raises(ValueError, match="weight zero"):
        learner.fit(ROWS[:, :4], sample_weight=np.zeros(len(ROWS)))
    assert learner.__dict__ == before


def test_what_a_callback_interrupts_is_kept() -> None:
    def stop(progress: Any) -> None:
        if progress.state.t == 7:
            raise KeyboardInterrupt

    learner = OrthogonalDictionaryLearning(random_state=0, callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        learner.fit(ROWS)
    assert learner.n_steps_ == 7


def test_another_contrast_of_the_same_kind_begins_anew(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for start in range(0, len(stream), 10):
        learner.partial_fit(stream[start : start + 10])
    assert learner.solver_.estimate.report(learner.state_.memory, 10).contrast == 1.0
    atoms = learner.raw_components_
    learner.set_params(contrast="l3", schedule="adaptive")
    np.testing.assert_array_equal(learner.raw_components_, atoms)
    learner.partial_fit(stream[:10])
    assert learner.solver_.estimate.report(learner.state_.memory, 10).contrast == 0.0


def test_bad_rows_are_refused_when_they_come() -> None:
    learner = OrthogonalDictionaryLearning(batch_size=10, random_state=0).partial_fit(ROWS[:20])
    bad = ROWS[:5].copy()
    bad[2, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        learner.partial_fit(bad)
    assert len(learner.pending_) == 0


def test_a_wrong_parameter_of_load_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    OrthogonalDictionaryLearning(random_state=0).partial_fit(ROWS[:10]).save(tmp_path / "learner")
    with pytest.raises(ValueError, match="contrast must be") as caught:
        OrthogonalDictionaryLearning.load(tmp_path / "learner", contrast="bogus")
    assert not isinstance(caught.value, SavedEstimatorError)


def test_rows_without_weight_do_not_count_for_fewer_atoms_than_features() -> None:
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.standard_normal((6, 3)))[0]
    found = []
    for junk in (False, True):
        draw, learner = np.random.default_rng(1), OrthogonalDictionaryLearning(3, random_state=0)
        for _ in range(300):
            rows = draw.standard_normal((10, 3)) * (draw.random((10, 3)) < 0.3) @ atoms.T
            extra = 100.0 * rng.standard_normal((1, 6))
            weight = np.r_[np.ones(10), 0.0]  # also without junk, because weights end the youth
            learner.partial_fit(np.r_[rows, extra] if junk else rows, sample_weight=weight if junk else weight[:10])
        found.append(learner.components_)
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)
