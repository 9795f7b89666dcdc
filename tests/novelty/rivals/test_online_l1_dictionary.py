"""Online l1-dictionary learning: constraints, the first atoms, and that learning pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from orthostream.novelty.rivals import OnlineL1Dictionary, online_l1_dictionary


def literal(atoms: np.ndarray, row: np.ndarray, penalty: float) -> float:
    """Return the least cost of a document, by linear programming."""
    n_atoms, n_terms = atoms.shape
    prices = np.concatenate([np.full(n_atoms, penalty), np.ones(2 * n_terms)])
    equations = np.hstack([atoms.T, np.eye(n_terms), -np.eye(n_terms)])
    return float(optimize.linprog(prices, A_eq=equations, b_eq=row, bounds=(0, None)).fun)


def dense_atoms(rival: OnlineL1Dictionary, terms: int) -> np.ndarray:
    """Return the atoms over the terms of the stream."""
    places = rival.seen.select(sparse.csr_array(np.eye(terms)))
    return np.asarray((places @ rival._atoms.T).T)


def test_first_documents_are_the_first_atoms(topical: Any, as_block: Any) -> None:
    rival, first = OnlineL1Dictionary(5), topical(3)
    empty = as_block(np.zeros((2, 40)))
    rival.learn(empty)
    np.testing.assert_array_equal(rival.score(first), np.ones(3))  # still nothing to compare with
    rival.learn(first)
    masses = first.rows.sum(axis=1)
    np.testing.assert_allclose(dense_atoms(rival, 40), first.rows.toarray() / masses[:, None], atol=1e-15)
    rival.learn(topical(4))
    assert dense_atoms(rival, 40).shape == (5, 40)


@pytest.mark.parametrize("penalty", [0.05, 0.3])
def test_scores_are_least_costs(penalty: float, topical: Any) -> None:
    rival = OnlineL1Dictionary(8, penalty)
    for _ in range(4):
        rival.learn(topical(30))
    block = topical(40, terms=45)
    rows = block.rows.toarray() / block.rows.sum(axis=1)[:, None]
    expected = [literal(dense_atoms(rival, 45), row, penalty) for row in rows]
    np.testing.assert_allclose(rival.score(block), expected, atol=0.02)
    assert rival.score(block).max() <= 1.0


def test_atoms_are_nonnegative_of_mass_at_most_one(topical: Any) -> None:
    rival = OnlineL1Dictionary(6)
    for terms in (40, 45, 40, 60):
        rival.learn(topical(30, terms))
        assert rival._atoms.min() >= 0.0
        assert rival._atoms.sum(axis=1).max() <= 1.0 + 1e-9


def test_learning_lowers_the_cost_of_what_comes(topical: Any) -> None:
    rival, held_out = OnlineL1Dictionary(6), topical(300)
    rival.learn(topical(6))
    first = rival.score(held_out).mean()
    for _ in range(20):
        rival.learn(topical(50))
    assert rival.score(held_out).mean() < first - 0.05


def test_update_lowers_the_error_on_its_block_within_the_constraints(topical: Any) -> None:
    """Against the least error for these codes, a linear program."""
    rival, block = OnlineL1Dictionary(4, n_iterations=3000), topical(25)
    rival.learn(topical(4))
    codes = rival._coded(block.rows).codes
    rows = block.rows.toarray() / block.rows.sum(axis=1)[:, None]
    before = np.abs(rows - codes @ dense_atoms(rival, 40)).sum()
    rival.learn(block)
    after = np.abs(rows - codes @ dense_atoms(rival, 40)).sum()
    # Variables: the atoms row by row, then the two parts of each error.
    n_atoms, n_errors = 4 * 40, 25 * 40
    errors = np.hstack([np.kron(codes, np.eye(40)), np.eye(n_errors), -np.eye(n_errors)])
    masses = np.hstack([np.kron(np.eye(4), np.ones((1, 40))), np.zeros((4, 2 * n_errors))])
    prices = np.append(np.zeros(n_atoms), np.ones(2 * n_errors))
    least = optimize.linprog(prices, masses, np.ones(4), errors, rows.ravel(), bounds=(0, None)).fun
    assert least - 1e-6 <= after < before
    assert after - least < 0.05 * (before - least)


def test_codes_are_computed_once_for_a_block(topical: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, coder = [], online_l1_dictionary.l1_codes
    monkeypatch.setattr(online_l1_dictionary, "l1_codes", lambda *given: calls.append(1) or coder(*given))
    rival, block = OnlineL1Dictionary(6), topical()
    rival.learn(topical())
    rival.score(block)
    rival.learn(block)
    assert len(calls) == 1
    rival.score(block)
    assert len(calls) == 2


def test_projection_is_the_nearest_point(rng: np.random.Generator) -> None:
    given = rng.standard_normal((6, 9))
    given[0] = np.abs(given[0]) / np.abs(given[0]).sum() / 2
    found = online_l1_dictionary._projected(given)
    np.testing.assert_array_equal(found[0], given[0])
    for point, nearest in zip(given, found, strict=True):
        assert nearest.min() >= 0.0
        assert nearest.sum() <= 1.0 + 1e-12
        for _ in range(200):
            other = rng.dirichlet(np.full(9, 0.3)) * rng.random()
            assert (point - nearest) @ (other - nearest) <= 1e-9
