"""What is done to whole rows of numbers, as loops for a compiler: the functions of `rows`, of the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray


def entries(row: Any) -> Any:
    """Return a row as what single entries are read from fastest; it does not follow later changes of the row."""
    return row.copy()


def add_scaled(target: FloatArray, source: FloatArray, scale: float, start: int) -> None:
    """Add ``scale`` times the entries of a row from ``start`` on to another row."""
    for i in range(start, len(target)):
        target[i] += source[i] * scale


def means(rows: FloatArray, weights: FloatArray, total: float) -> FloatArray:
    """Return the weighted mean of each row; the terms are added one after another, from the first on."""
    result = np.zeros(rows.shape[0])
    for k in range(rows.shape[0]):
        value = rows[k, 0] * weights[0]
        for i in range(1, rows.shape[1]):
            value += rows[k, i] * weights[i]
        result[k] = value / total
    return result


def add_products(sums: FloatArray, rows: FloatArray, weights: FloatArray, keep: float) -> None:
    """Forget a share of a matrix of sums, and add the weighted products of every two rows, summed in order.

    Only what lies on and below the diagonal is kept up.
    """
    n_rows, n = rows.shape
    added = np.zeros((n_rows, n_rows))
    column = np.empty(n_rows)
    for i in range(n):
        for k in range(n_rows):
            column[k] = rows[k, i]
        for k in range(n_rows):
            weighted = column[k] * weights[i]
            # Whole rows: loops of one length are faster, though half of what they compute is of no use.
            if i == 0:
                for j in range(n_rows):
                    added[k, j] = weighted * column[j]
            else:
                for j in range(n_rows):
                    added[k, j] += weighted * column[j]
    for k in range(n_rows):
        for j in range(k + 1):
            sums[k, j] = sums[k, j] * keep + added[k, j]


def move_towards_products(matrix: FloatArray, row: FloatArray, rate: float) -> None:
    """Move a matrix towards the products of the entries of a row; what lies below the diagonal is left alone."""
    n = len(row)
    for i in range(n):
        entry = row[i]
        for j in range(i, n):
            matrix[i, j] += ((entry * row[j]) - matrix[i, j]) * rate


def factorise(matrix: FloatArray, scale: float, extra: FloatArray, upper: FloatArray, pivots: FloatArray) -> None:
    """Write U and d with U^T diag(d) U equal to a matrix whose off-diagonal is scaled and whose diagonal is added to.

    U is unit upper triangular; what lies below its diagonal means nothing.
    """
    n = len(pivots)
    row = np.empty(n)
    for i in range(n):
        for j in range(i, n):
            upper[i, j] = matrix[i, j] * scale
        upper[i, i] = matrix[i, i] + extra[i]
    for k in range(n):
        pivot = upper[k, k]
        pivots[k] = pivot
        for j in range(k + 1, n):
            row[j] = upper[k, j] / pivot
        for i in range(k + 1, n):
            factor = row[i]
            for j in range(i, n):
                upper[i, j] -= factor * upper[k, j]
        for j in range(k + 1, n):
            upper[k, j] = row[j]


def solve(sums: FloatArray, ridge: float, solution: FloatArray, stretch: float) -> None:
    """Solve the normal equations in all rows of a matrix but the last, which is the right-hand side.

    The diagonal is stretched by a factor, and ``ridge`` is added to it.
    """
    n = len(solution)
    work = np.empty((n, n + 1))
    for k in range(n):
        for j in range(n):
            work[k, j] = sums[max(j, k), min(j, k)]
        work[k, k] = work[k, k] * stretch + ridge
        work[k, n] = sums[n, k]
    for k in range(n):
        for i in range(k + 1, n):
            factor = work[i, k] / work[k, k]
            for j in range(k, n + 1):
                work[i, j] -= work[k, j] * factor
    for k in range(n - 1, -1, -1):
        value = work[k, n]
        for j in range(k + 1, n):
            value -= work[k, j] * solution[j]
        solution[k] = value / work[k, k]


def inner(one: FloatArray, other: FloatArray) -> float:
    """Return the inner product of two rows; the terms are added one after another, from the first on."""
    total = one[0] * other[0]
    for i in range(1, len(one)):
        total += one[i] * other[i]
    return float(total)


def shift_in(row: FloatArray, value: float) -> None:
    """Move all entries of a row one place on, and put a value in front."""
    for i in range(len(row) - 1, 0, -1):
        row[i] = row[i - 1]
    row[0] = value


def add_outer(sums: FloatArray, row: FloatArray, target: float, weight: float, keep: float) -> None:
    """Forget a share of a matrix of sums, and add the weighted products of a row, followed by its target."""
    n = len(row)
    for k in range(n + 1):
        entry = (row[k] if k < n else target) * weight
        for j in range(min(k + 1, n)):
            sums[k, j] = sums[k, j] * keep + entry * row[j]
    sums[n, n] = sums[n, n] * keep + target * weight * target


def any_in(row: FloatArray) -> bool:
    """Return whether any entry of a row is not 0."""
    found = False
    for i in range(len(row)):
        found = found or row[i] != 0.0
    return found


def copy_row(target: FloatArray, matrix: FloatArray, k: int) -> None:
    """Write row ``k`` of a matrix to another row."""
    for i in range(len(target)):
        target[i] = matrix[k, i]
