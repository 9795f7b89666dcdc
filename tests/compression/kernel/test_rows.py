"""Rows in NumPy and as loops: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression.kernel import compiled_rows, rows

#: From ordinary numbers to ones that overflow: in both cases every operation is done in the same order.
SCALES = [1.0, 1e-200, 1e150]


def numbers(shape: tuple[int, ...], scale: float, seed: int = 0) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=shape)


def same_bits(one: np.ndarray, other: np.ndarray) -> None:
    np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
    known = ~np.isnan(one)
    assert one[known].tobytes() == other[known].tobytes()


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def test_the_same_names() -> None:
    public = [{name for name, value in vars(module).items() if callable(value)} for module in (rows, compiled_rows)]
    assert public[0] == public[1]


def test_entries() -> None:
    row = np.array([1.5, -2.0])
    for module in (rows, compiled_rows):
        entries = module.entries(row)
        assert list(entries) == [1.5, -2.0]
        assert entries is not row


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("start", [0, 3, 7])
def test_add_scaled(scale: float, start: int) -> None:
    targets = [numbers((7,), scale) for _ in range(2)]
    for module, target in zip((rows, compiled_rows), targets, strict=True):
        module.add_scaled(target, numbers((7,), scale, 1), 0.3, start)
    same_bits(*targets)
    assert targets[0][:start].tobytes() == numbers((7,), scale)[:start].tobytes()


@pytest.mark.parametrize("scale", SCALES)
def test_means(scale: float) -> None:
    results = [
        module.means(numbers((4, 33), scale), numbers((33,), 1.0, 1) > 0, 17.0) for module in (rows, compiled_rows)
    ]
    same_bits(*results)


@pytest.mark.parametrize("scale", SCALES)
def test_add_products(scale: float) -> None:
    """Only what lies on and below the diagonal is promised."""
    sums = [np.tril(numbers((9, 9), scale)) for _ in range(2)]
    for module, each in zip((rows, compiled_rows), sums, strict=True):
        module.add_products(each, numbers((9, 21), scale, 1), np.abs(numbers((21,), 1.0, 2)), 0.998)
    same_bits(np.tril(sums[0]), np.tril(sums[1]))


@pytest.mark.parametrize("scale", SCALES)
def test_move_towards_products(scale: float) -> None:
    """Only what lies on and above the diagonal is promised."""
    matrices = [np.eye(6) for _ in range(2)]
    for module, matrix in zip((rows, compiled_rows), matrices, strict=True):
        module.move_towards_products(matrix, numbers((6,), scale), 0.01)
    same_bits(np.triu(matrices[0]), np.triu(matrices[1]))
    if scale == 1.0:
        row = numbers((6,), scale)
        np.testing.assert_allclose(np.triu(matrices[0]), np.triu(0.99 * np.eye(6) + 0.01 * np.outer(row, row)))


@pytest.mark.parametrize("scale", SCALES)
def test_factorise(scale: float) -> None:
    root = numbers((6, 6), scale)
    matrix = root @ root.T
    results = []
    for module in (rows, compiled_rows):
        upper, pivots = np.eye(6), np.ones(6)
        module.factorise(matrix, 0.95, np.full(6, 0.01), upper, pivots)
        results.append((np.triu(upper, 1), pivots))
    same_bits(results[0][0], results[1][0])
    same_bits(results[0][1], results[1][1])
    if scale == 1.0:
        upper, pivots = results[0][0] + np.eye(6), results[0][1]
        whole = 0.95 * matrix
        np.fill_diagonal(whole, np.diag(matrix) + 0.01)
        np.testing.assert_allclose(upper.T @ np.diag(pivots) @ upper, whole, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_solve(scale: float) -> None:
    samples = numbers((40, 9), scale)
    sums = samples.T @ samples
    solutions = [np.zeros(8), np.zeros(8)]
    for module, solution in zip((rows, compiled_rows), solutions, strict=True):
        module.solve(sums, 1.0, solution, 1.0001)
    same_bits(*solutions)
    if scale == 1.0:
        left = sums[:8, :8] + np.diag(1e-4 * np.diag(sums)[:8] + 1.0)
        np.testing.assert_allclose(left @ solutions[0], sums[8, :8], atol=1e-8)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 16])
def test_inner(scale: float, n: int) -> None:
    """The terms are added from the first on: NumPy's own product adds them in another order."""
    one, other = numbers((n,), scale), numbers((n,), 1.0, 1)
    results = [module.inner(one, other) for module in (rows, compiled_rows)]
    same_bits(*map(np.atleast_1d, results))
    total = 0.0
    for mine, yours in zip(one.tolist(), other.tolist(), strict=True):
        total += mine * yours
    assert results[0] == total


def test_shift_in() -> None:
    for module in (rows, compiled_rows):
        row = np.array([1.0, 2.0, 3.0])
        module.shift_in(row, 7.0)
        assert row.tolist() == [7.0, 1.0, 2.0]


@pytest.mark.parametrize("scale", SCALES)
def test_add_outer(scale: float) -> None:
    """Only what lies on and below the diagonal is promised."""
    row, before = numbers((6,), scale, 1), np.tril(numbers((7, 7), scale))
    sums = [before.copy() for _ in range(2)]
    for module, each in zip((rows, compiled_rows), sums, strict=True):
        module.add_outer(each, row, 1.25, 0.7, 0.999)
    same_bits(np.tril(sums[0]), np.tril(sums[1]))
    if scale == 1.0:
        whole = np.append(row, 1.25)
        np.testing.assert_allclose(np.tril(sums[1]), np.tril(0.999 * before + 0.7 * np.outer(whole, whole)))
