"""What the statements share: exact expectations over the Bernoulli-Gaussian model, random points, a log-log fit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orthostream._typing import FloatArray


class Expectation:
    """Exact expectations for y = D_true x with i.i.d. Bernoulli-Gaussian x.

    Given the support of x, its Gaussian part has closed moments; the 2^N supports are enumerated. D may be any N x K
    matrix or a stack of them.
    """

    first_moment = (2.0 / np.pi) ** 0.5  # E|g|, g standard normal
    third_moment = 2.0 * (2.0 / np.pi) ** 0.5  # E|g|^3

    def __init__(self, size: int, theta: float, dictionary: FloatArray | None = None) -> None:
        self.size, self.theta = size, theta
        self.dictionary: FloatArray = np.eye(size) if dictionary is None else dictionary
        self.supports: FloatArray = np.array(list(product([0.0, 1.0], repeat=size)))
        self.counts: FloatArray = self.supports.sum(axis=1)
        self.probabilities: FloatArray = theta**self.counts * (1.0 - theta) ** (size - self.counts)

    @property
    def optimum(self) -> float:
        """The value at every sign-permutation of the true dictionary."""
        return -self.size * self.third_moment * self.theta

    def value(self, point: FloatArray, batch: object = None) -> FloatArray:
        """Return E[-||D'y||_3^3]; the unused batch makes this one half of an objective."""
        return -self.third_moment * (self._norms(point) ** 3 @ self.probabilities).sum(axis=-1)

    def gradient(self, point: FloatArray, batch: object = None) -> FloatArray:
        """Return its exact gradient, factor 3 included."""
        weights = (self._norms(point) * self.probabilities) @ self.supports
        by_rows = -3.0 * self.third_moment * weights * (point.mT @ self.dictionary)
        return self.dictionary @ by_rows.mT

    def l1(self, point: FloatArray) -> FloatArray:
        """Return E||D'y||_1."""
        return self.first_moment * (self._norms(point) @ self.probabilities).sum(axis=-1)

    def second_moment(self, point: FloatArray) -> FloatArray:
        """Return E||G||_F^2 of the gradient G of one sample, 9 E[||y||^2 ||D'y||_4^4].

        On a support of k entries, E[||x||^2 (w'x)^4] = (15 + 3 (k - 1)) ||w||^4.
        """
        return 27.0 * (self._norms(point) ** 4 @ (self.probabilities * (self.counts + 4.0))).sum(axis=-1)

    def variance(self, point: FloatArray) -> FloatArray:
        """Return E||G - E[G]||_F^2 of the gradient G of one sample."""
        return self.second_moment(point) - (self.gradient(point) ** 2).sum(axis=(-2, -1))

    def draw(self, rng: np.random.Generator, *shape: int) -> FloatArray:
        """Return samples of the model as the rows of an array of shape (*shape, N)."""
        codes = rng.standard_normal((*shape, self.size)) * (rng.random((*shape, self.size)) < self.theta)
        return codes @ self.dictionary.T

    def _norms(self, point: FloatArray) -> FloatArray:
        """Return ||W_n o b||_2 for each row W_n of D'D_true and each support b."""
        return np.sqrt((point.mT @ self.dictionary) ** 2 @ self.supports.T)


def _isometry(rng: np.random.Generator, rows: int, columns: int, *stack: int) -> FloatArray:
    """Return N x K matrices with orthonormal columns, drawn uniformly."""
    q, r = np.linalg.qr(rng.standard_normal((*stack, rows, columns)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]


def _with_singular_values(rng: np.random.Generator, values: FloatArray, rows: int) -> FloatArray:
    """Return N x K matrices of given singular values and uniformly random singular vectors."""
    values = np.asarray(values, dtype=float)
    left = _isometry(rng, rows, values.shape[-1], *values.shape[:-1])
    right = _isometry(rng, values.shape[-1], values.shape[-1], *values.shape[:-1])
    return (left * values[..., None, :]) @ right.mT


def _reflection(size: int, depth: float) -> FloatArray:
    """Return 1 - depth uu' with the unit vector u of equal entries; orthogonal for a depth of 0 and of 2."""
    return np.eye(size) - depth / size


def _exponent(steps: FloatArray, values: FloatArray) -> float:
    """Return the slope of a straight line through log(values) over log(steps)."""
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


# Tests are imported one by one, without a common package: what they share reaches them as fixtures.


@pytest.fixture(scope="session")
def expectation():
    return Expectation


@pytest.fixture(scope="session")
def isometry():
    return _isometry


@pytest.fixture(scope="session")
def with_singular_values():
    return _with_singular_values


@pytest.fixture(scope="session")
def reflection():
    return _reflection


@pytest.fixture(scope="session")
def exponent():
    return _exponent
