"""What all rivals do alike."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream.novelty import rivals
from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals import (
    IncrementalPCAResidual,
    LatentSemanticResidual,
    NearestNeighbours,
    OnlineL1Dictionary,
    OutlierDetector,
    Rival,
    UnseenTerms,
)

RIVALS: dict[str, Callable[[], Rival]] = {
    "1-NN, all the past": lambda: NearestNeighbours(1),
    "5-NN, all the past": lambda: NearestNeighbours(5),
    "1-NN, last 50": lambda: NearestNeighbours(1, ring=50),
    "5-NN, last 3,000": lambda: NearestNeighbours(5, ring=3000),
    "LSA residual, refitted": lambda: LatentSemanticResidual(4, every=50),
    "incremental PCA residual": lambda: IncrementalPCAResidual(4),
    "share of unseen terms": UnseenTerms,
    "online l1 dictionary": lambda: OnlineL1Dictionary(8, n_iterations=20),
    "LocalOutlierFactor": lambda: OutlierDetector("lof", every=50),
    "IsolationForest": lambda: OutlierDetector("forest", every=50),
}
#: A forest cuts only where the past has values: a document in unseen terms looks like an empty one.
BLIND = {"IsolationForest"}
#: The first documents are the atoms; later ones that share no term with an atom have the code 0, and change nothing.
SHY = {"online l1 dictionary"}
each_rival = pytest.mark.parametrize("make", RIVALS.values(), ids=RIVALS)


def scores(rival: Rival, block: DocumentBlock) -> np.ndarray:
    """Return the scores, after the checks that hold for all."""
    found = rival.score(block)
    assert found.shape == (block.rows.shape[0],)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    return found


def test_the_table_holds_every_rival() -> None:
    exported = {name for name in rivals.__all__ if name != "Rival"}
    assert {type(make()).__name__ for make in RIVALS.values()} == exported


@pytest.mark.parametrize("name", RIVALS)
def test_names_are_those_of_the_tables(name: str) -> None:
    assert RIVALS[name]().name == name


@each_rival
def test_all_is_new_at_first(make: Any, topical: Any) -> None:
    rival = make()
    np.testing.assert_array_equal(scores(rival, topical(7)), np.ones(7))
    assert scores(rival, topical(0)).shape == (0,)


@each_rival
def test_scoring_learns_nothing(make: Any, topical: Any) -> None:
    one, other = make(), make()
    for block, wider in [(topical(), topical(20, terms=50)), (topical(), topical(20, terms=60))]:
        one.learn(block)
        other.learn(block)
        for _ in range(2):
            scores(other, wider)
        np.testing.assert_array_equal(scores(other, wider), scores(one, wider))
        np.testing.assert_array_equal(scores(other, block), scores(one, block))


@each_rival
def test_scores_do_not_depend_on_the_other_documents(make: Any, topical: Any) -> None:
    rival = make()
    rival.learn(topical())
    block = topical(20)
    alone = [scores(rival, DocumentBlock(block.counts[[i]], block.rows[[i]])).item() for i in range(20)]
    np.testing.assert_allclose(scores(rival, block), alone, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in RIVALS if name not in BLIND])
def test_a_learnt_document_is_less_novel_than_one_in_unseen_terms(name: str, topical: Any, as_block: Any) -> None:
    rival = RIVALS[name]()
    for _ in range(2):
        block = topical(60, terms=60)
        rival.learn(block)
    unseen = as_block(np.eye(60)[50:52])
    known = scores(rival, block)
    assert known.mean() + 0.2 < scores(rival, unseen).min()
    if name in SHY:
        return
    # Once learnt, these terms are no longer unseen.
    before = scores(rival, unseen).min()
    for _ in range(5):
        rival.learn(as_block(np.repeat(np.eye(60)[50:52], 30, axis=0)))
    assert scores(rival, unseen).max() < before - 0.2


@each_rival
def test_blocks_may_grow_wider_and_narrower(make: Any, topical: Any, as_block: Any) -> None:
    one, other = make(), make()
    for terms in (40, 45, 41, 90):
        block = topical(60, terms)
        narrow = DocumentBlock(block.counts[:, :40], block.rows[:, :40])
        one.learn(block)
        other.learn(narrow)
        np.testing.assert_allclose(scores(one, narrow), scores(other, narrow), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(scores(one, block), scores(other, narrow), rtol=1e-9, atol=1e-9)
    scores(one, as_block(np.eye(500)[300:303]))


@each_rival
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_block_without_documents_changes_nothing(first: bool, make: Any, topical: Any) -> None:
    rival, other, block, nothing = make(), make(), topical(), topical(0)
    for one in (rival, other):
        if not first:
            one.learn(block)
    assert scores(rival, nothing).shape == (0,)
    rival.learn(nothing)
    np.testing.assert_array_equal(scores(rival, block), scores(other, block))
    for one in (rival, other):
        one.learn(block)
    np.testing.assert_array_equal(scores(rival, block), scores(other, block))


@each_rival
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_documents_without_terms_are_endured(first: bool, make: Any, topical: Any, as_block: Any) -> None:
    rival, empty = make(), as_block(np.zeros((9, 40)))
    if not first:
        rival.learn(topical())
    scores(rival, empty)
    rival.learn(empty)
    scores(rival, empty)
    block = topical()
    mixed = as_block(np.vstack([np.zeros((2, 40)), block.counts.toarray()]))
    rival.learn(mixed)
    found = scores(rival, mixed)
    assert found[0] == found[1]
    # All documents are as they would be without the empty ones beside them.
    np.testing.assert_allclose(found[2:], scores(rival, block), rtol=1e-6, atol=1e-6)


@each_rival
def test_a_block_may_hold_one_document(make: Any, topical: Any) -> None:
    rival = make()
    for _ in range(12):
        block = topical(1)
        scores(rival, block)
        rival.learn(block)
    scores(rival, topical())


@each_rival
def test_equal_documents_are_endured(make: Any, topical: Any) -> None:
    rival, one = make(), topical(1)
    for _ in range(3):
        rival.learn(DocumentBlock(*(sparse.vstack([part] * 40).tocsr() for part in one)))
    scores(rival, one)
    scores(rival, topical())


def disordered(matrix: Any, rng: np.random.Generator) -> Any:
    """Return the matrix with explicit zeros, and with the entries of each row in any order."""
    rows = []
    for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        columns, values = matrix.indices[start:stop], matrix.data[start:stop]
        free = np.setdiff1d(np.arange(matrix.shape[1]), columns)[:3]
        order = rng.permutation(len(columns) + len(free))
        rows.append((np.append(columns, free)[order], np.append(values, np.zeros(len(free)))[order]))
    starts = np.append(0, np.cumsum([len(columns) for columns, _ in rows]))
    entries = (np.concatenate([values for _, values in rows]), np.concatenate([columns for columns, _ in rows]), starts)
    return sparse.csr_array(entries, shape=matrix.shape)


@each_rival
def test_explicit_zeros_and_disorder_do_not_count(make: Any, topical: Any, rng: np.random.Generator) -> None:
    one, other = make(), make()
    for _ in range(3):
        block = topical(60, terms=50)
        strange = DocumentBlock(disordered(block.counts, rng), disordered(block.rows, rng))
        assert strange.rows.nnz > block.rows.nnz
        np.testing.assert_allclose(scores(other, strange), scores(one, block), rtol=1e-5, atol=1e-5)
        one.learn(block)
        other.learn(strange)
    # A term that only had explicit zeros is still unseen.
    np.testing.assert_allclose(scores(other, strange), scores(one, strange), rtol=1e-5, atol=1e-5)


@each_rival
def test_blocks_are_left_alone(make: Any, topical: Any) -> None:
    rival, block = make(), topical()
    for part in block:
        for array in (part.data, part.indices, part.indptr):
            array.setflags(write=False)
    copies = [part.toarray() for part in block]
    for _ in range(3):
        rival.score(block)
        rival.learn(block)
    for part, copied in zip(block, copies, strict=True):
        np.testing.assert_array_equal(part.toarray(), copied)


@each_rival
def test_runs_are_repeatable(make: Any, topical: Any) -> None:
    one, other = make(), make()
    for _ in range(4):
        block = topical()
        np.random.seed(np.random.randint(1000))  # noqa: NPY002  (the global state has no part in it)
        np.testing.assert_array_equal(scores(one, block), scores(other, block))
        one.learn(block)
        other.learn(block)


@each_rival
def test_single_precision_and_long_indices_will_do(make: Any, topical: Any) -> None:
    one, other = make(), make()
    for _ in range(3):
        block = topical()
        single = block.rows.astype(np.float32)
        single.indices, single.indptr = single.indices.astype(np.int64), single.indptr.astype(np.int64)
        other_block = DocumentBlock(block.counts, single)
        np.testing.assert_allclose(scores(other, other_block), scores(one, block), atol=1e-4)
        one.learn(block)
        other.learn(other_block)


@each_rival
def test_rivals_can_be_sent_to_another_process(make: Any) -> None:
    rival = pickle.loads(pickle.dumps(make()))
    assert rival.name == make().name


BAD: dict[str, tuple[Callable[[], Rival], str]] = {
    "k": (lambda: NearestNeighbours(0), "k must be a positive integer, got 0"),
    "ring": (lambda: NearestNeighbours(1, ring=0), "ring must be a positive integer, got 0"),
    "components": (lambda: LatentSemanticResidual(0), "n_components must be a positive integer, got 0"),
    "every": (lambda: LatentSemanticResidual(every=0), "every must be a positive integer, got 0"),
    "PCA components": (lambda: IncrementalPCAResidual(1.5), "n_components must be a positive integer, got 1.5"),  # type: ignore[arg-type]
    "kind": (lambda: OutlierDetector("svm"), "kind must be 'forest' or 'lof', got 'svm'"),
    "window": (lambda: OutlierDetector(window=0), "must be a positive integer, got 0"),
    "atoms": (lambda: OnlineL1Dictionary(0), "n_atoms must be a positive integer, got 0"),
    "penalty": (lambda: OnlineL1Dictionary(penalty=0.0), "penalty must be positive and finite, got 0.0"),
    "iterations": (lambda: OnlineL1Dictionary(n_iterations=0), "n_iterations must be a positive integer, got 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_named(name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        make()
