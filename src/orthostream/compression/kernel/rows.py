"""What is done to whole rows of numbers, in NumPy; `compiled_rows` does the same, to the bit, in loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray


def entries(row: Any) -> Any:
    """Return a row as what single entries are read from fastest; it does not follow later changes of the row."""
    return row.tolist()


def add_scaled(target: FloatArray, source: FloatArray, scale: float, start: int) -> None:
    """Add ``scale`` times the entries of a row from ``start`` on to another row."""
    target[start:] += source[start:] * scale


def means(rows: FloatArray, weights: FloatArray, total: float) -> FloatArray:
    """Return the weighted mean of each row; the terms are added one after another, from the first on."""
    sums: FloatArray = np.add.accumulate(rows * weights, axis=1)[:, -1] / total
    return sums


def add_products(sums: FloatArray, rows: FloatArray, weights: FloatArray, keep: float) -> None:
    """Forget a share of a matrix of sums, and add the weighted products of every two rows, summed in order.

    Only what lies on and below the diagonal is of use.
    """
    sums *= keep
    weighted = rows * weights
    sums += np.add.accumulate(weighted[:, None, :] * rows[None, :, :], axis=2)[:, :, -1]


def move_towards_products(matrix: FloatArray, row: FloatArray, rate: float) -> None:
    """Move a matrix towards the products of the entries of a row; what lies below the diagonal is of no use."""
    matrix += ((row[:, None] * row[None, :]) - matrix) * rate


def factorise(matrix: FloatArray, scale: float, extra: FloatArray, upper: FloatArray, pivots: FloatArray) -> None:
    """Write U and d with U^T diag(d) U equal to a matrix whose off-diagonal is scaled and whose diagonal is added to.

    U is unit upper triangular; what lies below its diagonal means nothing.
    """
    n = len(pivots)
    upper[:] = matrix * scale
    for i in range(n):
        upper[i, i] = matrix[i, i] + extra[i]
    for k in range(n):
        pivot = float(upper[k, k])
        pivots[k] = pivot
        row = upper[k, k + 1 :] / pivot
        upper[k + 1 :, k + 1 :] -= row[:, None] * upper[k, k + 1 :]
        upper[k, k + 1 :] = row


def solve(sums: FloatArray, ridge: float, solution: FloatArray, stretch: float) -> None:
    """Solve the normal equations in all rows of a matrix but the last, which is the right-hand side.

    The diagonal is stretched by a factor, and ``ridge`` is added to it.
    """
    n = len(solution)
    work = np.empty((n, n + 1))
    for k in range(n):
        work[k, : k + 1] = sums[k, : k + 1]
        work[:k, k] = sums[k, :k]
        work[k, k] = work[k, k] * stretch + ridge
    work[:, n] = sums[n, :n]
    for k in range(n):
        for i in range(k + 1, n):
            factor = float(work[i, k]) / float(work[k, k])
            work[i, k:] -= work[k, k:] * factor
    for k in range(n - 1, -1, -1):
        value = float(work[k, n])
        for j in range(k + 1, n):
            value -= float(work[k, j]) * float(solution[j])
        solution[k] = value / float(work[k, k])


def inner(one: FloatArray, other: FloatArray) -> float:
    """Return the inner product of two rows; the terms are added one after another, from the first on."""
    return float(np.add.accumulate(one * other)[-1])


def shift_in(row: FloatArray, value: float) -> None:
    """Move all entries of a row one place on, and put a value in front."""
    row[1:] = row[:-1].copy()
    row[0] = value


def add_outer(sums: FloatArray, row: FloatArray, target: float, weight: float, keep: float) -> None:
    """Forget a share of a matrix of sums, and add the weighted products of a row, followed by its target."""
    whole = np.append(row, target)
    sums *= keep
    sums += (whole * weight)[:, None] * whole[None, :]


def any_in(row: FloatArray) -> bool:
    """Return whether any entry of a row is not 0."""
    return bool(row.any())


def copy_row(target: FloatArray, matrix: FloatArray, k: int) -> None:
    """Write row ``k`` of a matrix to another row."""
    target[:] = matrix[k]
