"""Codes with the least absolute error, against linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from orthostream._typing import FloatArray
from orthostream.novelty.rivals.l1_coding import l1_codes

Rng = np.random.Generator


def least_cost(atoms: FloatArray, row: FloatArray, penalty: float) -> float:
    """Return the minimum of ||row - x atoms||_1 + penalty ||x||_1: a linear program in x and two parts of the error."""
    n_atoms, n_terms = atoms.shape
    prices = np.concatenate([np.full(n_atoms, penalty), np.ones(2 * n_terms)])
    equations = np.hstack([atoms.T, np.eye(n_terms), -np.eye(n_terms)])
    found = optimize.linprog(prices, A_eq=equations, b_eq=row, bounds=(0, None))
    assert found.success
    return float(found.fun)


def cost(atoms: FloatArray, row: FloatArray, penalty: float, code: FloatArray) -> float:
    return float(np.abs(row - code @ atoms).sum() + penalty * code.sum())


def problem(rng: Rng, n_atoms: int, n_terms: int, documents: int = 25) -> tuple[FloatArray, FloatArray]:
    """Atoms and documents that are mixtures of some of them with words of their own, all of unit mass."""
    atoms = rng.random((n_atoms, n_terms)) * (rng.random((n_atoms, n_terms)) < 0.3)
    atoms[:, 0] += 0.1
    atoms /= atoms.sum(axis=1, keepdims=True)
    codes = rng.random((documents, n_atoms)) * (rng.random((documents, n_atoms)) < 3 / n_atoms)
    rows = codes @ atoms + 0.1 * rng.random((documents, n_terms)) * (rng.random((documents, n_terms)) < 0.2)
    rows *= rng.random((documents, n_terms)) < 0.8
    rows[3] = 0.0
    return atoms, rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize("penalty", [0.01, 0.1, 0.6])
@pytest.mark.parametrize(("n_atoms", "n_terms"), [(1, 6), (5, 12), (12, 30), (20, 8)])
def test_costs_are_those_of_linear_programming(penalty: float, n_atoms: int, n_terms: int, rng: Rng) -> None:
    atoms, rows = problem(rng, n_atoms, n_terms)
    found = l1_codes(atoms, sparse.csr_array(rows), penalty, 10.0, 20_000)
    expected = [least_cost(atoms, row, penalty) for row in rows]
    np.testing.assert_allclose(found.costs, expected, atol=1e-4)
    assert (found.codes >= 0.0).all()
    given = [cost(atoms, row, penalty, code) for row, code in zip(rows, found.codes, strict=True)]
    np.testing.assert_allclose(found.costs, given, atol=1e-12)


@pytest.mark.parametrize("n_iterations", [1, 5, 300])
def test_costs_are_those_of_the_codes_however_early_it_stops(n_iterations: int, rng: Rng) -> None:
    atoms, rows = problem(rng, 8, 20)
    found = l1_codes(atoms, sparse.csr_array(rows), 0.1, 10.0, n_iterations)
    given = [cost(atoms, row, 0.1, code) for row, code in zip(rows, found.codes, strict=True)]
    np.testing.assert_allclose(found.costs, given, atol=1e-12)


def test_the_rival_stops_close_to_the_minimum(rng: Rng) -> None:
    atoms, rows = problem(rng, 12, 30)
    found = l1_codes(atoms, sparse.csr_array(rows), 0.1, 10.0, 300)
    assert (found.costs - [least_cost(atoms, row, 0.1) for row in rows]).max() < 0.02


def test_documents_do_not_depend_on_each_other(rng: Rng) -> None:
    atoms, rows = problem(rng, 8, 20)
    together = l1_codes(atoms, sparse.csr_array(rows), 0.1, 10.0, 200)
    for number, row in enumerate(rows):
        alone = l1_codes(atoms, sparse.csr_array(row[None, :]), 0.1, 10.0, 200)
        np.testing.assert_allclose(alone.codes[0], together.codes[number], atol=1e-9)
        np.testing.assert_allclose(alone.costs[0], together.costs[number], atol=1e-9)


@pytest.mark.parametrize("rows", [np.zeros((3, 6)), np.zeros((0, 6))])
def test_nothing_costs_nothing(rows: Any, rng: Rng) -> None:
    atoms, _ = problem(rng, 4, 6)
    found = l1_codes(atoms, sparse.csr_array(rows), 0.1, 10.0, 50)
    np.testing.assert_array_equal(found.codes, np.zeros((len(rows), 4)))
    np.testing.assert_array_equal(found.costs, np.zeros(len(rows)))


def test_atoms_of_zeros_are_endured(rng: Rng) -> None:
    _, rows = problem(rng, 4, 6)
    found = l1_codes(np.zeros((2, 6)), sparse.csr_array(rows), 0.1, 10.0, 50)
    np.testing.assert_allclose(found.costs, rows.sum(axis=1), atol=1e-12)
