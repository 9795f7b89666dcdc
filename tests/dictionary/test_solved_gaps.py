"""Missing readings of sparse codes: found exactly, and rows for which they are not are left out."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import can_compile, without_numba
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.dictionary.missing import complete
from orthostream.dictionary.solved_gaps import solve_gaps
from orthostream.metrics import recovery_error


def gappy(seed: int, features: int, share: float, noise: float = 0.0) -> tuple[np.ndarray, ...]:
    data = make_bernoulli_gaussian(300, features, sparsity=0.2, noise=noise, random_state=seed)
    gaps = np.random.default_rng(seed).random(data.samples.shape) < share
    return data.samples, gaps, complete(np.where(gaps, np.nan, data.samples), data.components.T), data.components.T


def test_most_gaps_are_filled_exactly_and_what_counts_as_solved_is() -> None:
    truth, gaps, rows, atoms = gappy(0, 40, 0.1)
    solved, unique = solve_gaps(rows, gaps, atoms, 1e-12)
    errors = np.abs(solved - truth).max(axis=1)
    assert unique.mean() > 0.95
    assert errors[unique].max() < 1e-6
    assert np.abs(rows - truth)[gaps].max() > 0.1
    np.testing.assert_array_equal(solved[~gaps], truth[~gaps])


def test_noise_is_not_fitted() -> None:
    truth, gaps, rows, atoms = gappy(1, 40, 0.1, noise=0.05)
    codes = truth @ atoms
    solved, unique = solve_gaps(rows, gaps, atoms, 0.05**2 / float(np.mean(codes**2)))
    assert unique.mean() > 0.9
    assert np.sqrt(np.mean((solved - truth)[gaps & unique[:, None]] ** 2)) < 0.1


@pytest.mark.skipif(not can_compile(), reason="needs Numba")
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_plain_and_compiled_agree(share: float) -> None:
    _, gaps, rows, atoms = gappy(2, 20, share)
    compiled, unique = solve_gaps(rows, gaps, atoms, 1e-6)
    with without_numba():
        plain, also_unique = solve_gaps(rows, gaps, atoms, 1e-6)
    np.testing.assert_array_equal(unique, also_unique)
    np.testing.assert_allclose(plain, compiled, atol=1e-9)


def test_dense_codes_are_not_taken_for_solutions() -> None:
    truth, gaps, rows, atoms = gappy(3, 10, 0.6)
    solved, unique = solve_gaps(rows, gaps, atoms, 1e-12)
    assert 0 < unique.sum() < len(rows)
    assert np.abs(solved - truth)[unique].max() < 1e-6
    assert np.abs(solved - truth)[~unique].max() > 0.1


@pytest.mark.parametrize("rows", [np.zeros((2, 4)), np.full((1, 4), 1e-300), np.full((1, 4), 1e150)])
def test_odd_rows(rows: np.ndarray) -> None:
    for compiles in (True, False):
        with np.errstate(all="raise"):
            if compiles:
                solved, _ = solve_gaps(rows, np.eye(4, dtype=bool)[: len(rows)], np.eye(4), 1e-12)
            else:
                with without_numba():
                    solved, _ = solve_gaps(rows, np.eye(4, dtype=bool)[: len(rows)], np.eye(4), 1e-12)
        assert np.isfinite(solved).all()


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_stream_with_gaps_is_learnt_exactly_and_stays_so(share: float) -> None:
    data = make_bernoulli_gaussian(15_000, 10, random_state=0)
    gaps = np.random.default_rng(0).random(data.samples.shape) < share
    rows = np.where(gaps, np.nan, data.samples)
    learner = OrthogonalDictionaryLearning(random_state=0)
    errors = []
    for start in range(0, len(rows), 10):
        learner.partial_fit(rows[start : start + 10])
        errors.append(recovery_error(learner.components_, data.components))
    assert max(errors[700:]) < 1e-12
