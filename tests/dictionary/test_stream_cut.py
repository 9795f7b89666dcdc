"""How a stream is cut: what depends on it, what does not, and that inputs are never written to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA

LEARNERS = [OrthogonalDictionaryLearning, StreamingSparsePCA]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("size", [1, 7, 2000])
def test_with_a_batch_size_the_cut_does_not_matter(learner: Any, size: int, stream: np.ndarray, fed: Any) -> None:
    whole = learner(batch_size=16, random_state=0).partial_fit(stream)
    pieces = fed(learner(batch_size=16, random_state=0), stream, size)
    assert whole.state_.t == pieces.state_.t == 2000 // 16
    np.testing.assert_array_equal(pieces.components_, whole.components_)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(1, 12), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_cut_gives_the_same(cuts: list[int], batch_size: int, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    rows, weights = rng.standard_normal((sum(cuts), 4)), rng.uniform(0.5, 2, sum(cuts))
    whole = OrthogonalDictionaryLearning(batch_size=batch_size, random_state=0)
    whole.partial_fit(rows, sample_weight=weights if weighted else None)
    pieces = OrthogonalDictionaryLearning(batch_size=batch_size, random_state=0)
    for start, stop in zip(np.cumsum([0, *cuts[:-1]]), np.cumsum(cuts), strict=True):
        pieces.partial_fit(rows[start:stop], sample_weight=weights[start:stop] if weighted else None)
    assert len(pieces.pending_) == sum(cuts) % batch_size
    assert hasattr(pieces, "state_") == (sum(cuts) >= batch_size)
    if hasattr(pieces, "state_"):
        np.testing.assert_array_equal(pieces.components_, whole.components_)


def test_without_a_batch_size_every_call_is_one_step(stream: np.ndarray, fed: Any) -> None:
    by_ones = fed(OrthogonalDictionaryLearning(random_state=0), stream, 1)
    by_sevens = fed(OrthogonalDictionaryLearning(random_state=0), stream, 7)
    at_once = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream)
    assert (by_ones.n_steps_, by_sevens.n_steps_, at_once.n_steps_) == (2000, 286, 1)
    # The first step of each has seen another mini-batch, so they are different runs of the algorithm ...
    assert np.abs(by_ones.components_ - by_sevens.components_).max() > 1e-3
    # ... and equal to a learner that cuts the stream itself in the same way.
    cut = OrthogonalDictionaryLearning(batch_size=7, random_state=0).partial_fit(stream[: 285 * 7])
    same = fed(OrthogonalDictionaryLearning(random_state=0), stream[: 285 * 7], 7)
    np.testing.assert_allclose(same.components_, cut.components_, atol=1e-12)


def test_one_step_does_not_depend_on_the_order_of_its_samples(stream: np.ndarray) -> None:
    forth = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream)
    back = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream[::-1])
    np.testing.assert_allclose(back.components_, forth.components_, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_read_only_memory_maps(learner: Any, stream: np.ndarray, tmp_path: Path, fed: Any) -> None:
    np.save(tmp_path / "rows.npy", stream)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    mapped = fed(learner(random_state=0), rows)
    mapped.transform(rows)
    np.testing.assert_array_equal(np.asarray(rows), stream)
    np.testing.assert_array_equal(mapped.components_, fed(learner(random_state=0), stream).components_)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("layout", ["C", "F", "float32", "integers", "nan", "sparse"])
def test_inputs_are_not_written_to(learner: Any, layout: str, stream: np.ndarray) -> None:
    rows: Any = {
        "C": stream,
        "F": np.asfortranarray(stream),
        "float32": stream.astype(np.float32),
        "integers": (10 * stream).astype(int),
        "nan": np.where(stream > 1, np.nan, stream),
        "sparse": sparse.csr_matrix(np.where(stream > 0.3, stream, 0)),
    }[layout]
    if layout == "nan" and learner is StreamingSparsePCA:
        pytest.skip("StreamingSparsePCA takes no missing values")
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
    weights = np.linspace(0, 1, len(stream))
    before = [rows.copy(), start.copy(), weights.copy()]
    words = {"init": start} if learner is OrthogonalDictionaryLearning else {"n_components": 2}
    fitted = learner(**words).partial_fit(rows[:40]).partial_fit(rows, sample_weight=weights)
    fitted.fit(rows, sample_weight=weights).transform(rows)
    for now, then in zip([rows, start, weights], before, strict=True):
        np.testing.assert_array_equal(*(a.toarray() if sparse.issparse(a) else a for a in (now, then)))


def test_sparse_rows_equal_dense_rows(stream: np.ndarray, fed: Any) -> None:
    rows = np.where(np.abs(stream) > 0.5, stream, 0.0)
    dense = fed(OrthogonalDictionaryLearning(random_state=0), rows)
    thin = fed(OrthogonalDictionaryLearning(random_state=0), sparse.csr_matrix(rows))
    np.testing.assert_allclose(thin.components_, dense.components_, atol=1e-8)
    np.testing.assert_allclose(thin.transform(sparse.csr_matrix(rows)), dense.transform(rows), atol=1e-7)


def test_weights_are_repetitions(stream: np.ndarray) -> None:
    counts = np.random.default_rng(0).integers(0, 4, 200)
    weighted = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream[:200], sample_weight=counts)
    repeated = OrthogonalDictionaryLearning(random_state=0).partial_fit(np.repeat(stream[:200], counts, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-10)


def test_a_mini_batch_of_no_weight_is_no_step(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream[:50])
    before = learner.components_
    learner.partial_fit(stream[50:90], sample_weight=np.zeros(40))
    assert learner.n_steps_ == 1
    np.testing.assert_array_equal(learner.components_, before)
    with pytest.raises(ValueError, match="weight zero"):
        OrthogonalDictionaryLearning().fit(stream, sample_weight=np.zeros(len(stream)))
