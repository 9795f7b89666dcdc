"""A vocabulary that stays small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.novelty.vocabulary import Vocabulary


def learn(vocabulary: Vocabulary, terms: list[str], documents: float = 1.0) -> np.ndarray:
    slots, _ = vocabulary.admit(terms)
    vocabulary.learn(slots, np.full(len(terms), documents), n_documents=int(documents))
    return slots


def test_frequencies_are_counted_and_forgotten() -> None:
    vocabulary = Vocabulary(100, half_life=10)
    learn(vocabulary, ["tin"], 4.0)
    vocabulary.learn(np.zeros(0, dtype=np.int64), np.zeros(0), n_documents=10)
    assert vocabulary.frequencies(vocabulary.find(["tin", "zinc"])).tolist() == [2.0, 0.0]
    assert vocabulary.n_documents == pytest.approx(12.0)


def test_finding_admits_nothing() -> None:
    vocabulary = Vocabulary(100, half_life=1e9)
    (slot,) = vocabulary.find(["tin"])
    assert slot >= 100
    assert len(vocabulary) == 0
    assert vocabulary.find(["tin"]) == slot


def test_rare_terms_make_room_and_frequent_ones_stay() -> None:
    vocabulary = Vocabulary(128, half_life=1e9)
    frequent = [f"frequent{number}" for number in range(32)]
    learn(vocabulary, frequent, 5.0)
    for block in range(50):
        slots, dropped = vocabulary.admit([f"new{block}-{number}" for number in range(40)])
        vocabulary.learn(slots, np.ones(40), n_documents=1)
        assert len(dropped) <= 32
        assert len(vocabulary) <= 128
    assert (vocabulary.find(frequent) < 128).all()


def test_a_million_new_terms_at_once() -> None:
    vocabulary = Vocabulary(1000, half_life=1e9)
    known = [f"known{number}" for number in range(1000)]
    learn(vocabulary, known, 2.0)
    slots, dropped = vocabulary.admit([f"new{number}" for number in range(1_000_000)])
    assert len(dropped) == 250
    assert (slots < 1000).sum() == 250
    assert slots.max() < vocabulary.n_slots
    assert (vocabulary.frequencies(slots) == 0.0).all()
    assert (vocabulary.find(known) < 1000).sum() == 750


@given(st.lists(st.lists(st.integers(0, 60), unique=True, max_size=30), max_size=25))
def test_slots_are_never_shared(blocks: list[list[int]]) -> None:
    vocabulary = Vocabulary(32, half_life=20)
    for block in blocks:
        before = dict(enumerate(vocabulary.find(range(61)).tolist()))
        slots, dropped = vocabulary.admit(block)
        own = slots[slots < 32]
        assert len(np.unique(own)) == len(own)
        assert [vocabulary.term(slot) for slot in own] == [t for t, s in zip(block, slots, strict=True) if s < 32]
        # A term keeps its slot unless it was dropped, and no term of the block is.
        for term in block:
            if before[term] < 32:
                assert vocabulary.find([term]) == before[term]
        for term in set(range(61)) - set(block):
            if before[term] < 32 and before[term] not in dropped:
                assert vocabulary.find([term]) == before[term]
        vocabulary.learn(slots, np.ones(len(block)), n_documents=1)


@given(st.lists(st.lists(st.integers(0, 80), unique=True, max_size=20), max_size=12), st.data())
def test_columns_of_any_width_are_looked_up_alike(blocks: list[list[int]], data: st.DataObject) -> None:
    """Blocks of columns are looked up in an array, unless one lies far out; then, as words, in a dictionary."""
    arrays, lists = Vocabulary(32, half_life=50), Vocabulary(32, half_life=50)
    for block in blocks:
        terms = block + [2**40] * data.draw(st.booleans())
        found = arrays.admit(np.array(terms, dtype=np.int64))
        expected = lists.admit(terms)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_array_equal(arrays.find(np.arange(81)), lists.find(list(range(81))))
        for vocabulary in (arrays, lists):
            vocabulary.learn(found[0], np.ones(len(terms)), n_documents=1)
    copy = Vocabulary.from_arrays(arrays.to_arrays(), 32, 50, arrays.n_documents)
    np.testing.assert_array_equal(copy.find(np.arange(81)), lists.find(list(range(81))))


def test_saved_and_restored() -> None:
    vocabulary = Vocabulary(32, half_life=100)
    for block in range(20):
        learn(vocabulary, [f"{block}-{number}" for number in range(7)] + ["tin"])
    copy = Vocabulary.from_arrays(vocabulary.to_arrays(), 32, 100, vocabulary.n_documents)
    for block in range(20, 40):
        terms = [f"{block}-{number}" for number in range(9)] + ["tin"]
        np.testing.assert_array_equal(learn(vocabulary, terms), learn(copy, terms))
    np.testing.assert_array_equal(copy.frequencies(np.arange(32)), vocabulary.frequencies(np.arange(32)))


@pytest.mark.parametrize("name", ["terms", "free", "frequencies"])
def test_damaged_arrays_are_refused(name: str) -> None:
    vocabulary = Vocabulary(32, half_life=100)
    for block in range(20):
        learn(vocabulary, [f"{block}-{number}" for number in range(7)])
    learn(vocabulary, ["tin"])
    arrays = vocabulary.to_arrays()
    assert len(arrays["free"])
    with pytest.raises(ValueError, match=r"do not fit|Expecting|JSON|twice|Unterminated"):
        Vocabulary.from_arrays(arrays | {name: arrays[name][:-1]}, 32, 100, 20.0)


def test_bad_sizes() -> None:
    with pytest.raises(ValueError, match="max_terms must be an integer of at least 16"):
        Vocabulary(3, half_life=1.0)
    with pytest.raises(ValueError, match="term_half_life must be positive"):
        Vocabulary(32, half_life=0.0)
