"""The learner against Algorithm 2 written down in twenty lines of NumPy, which share nothing with it."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import can_compile, without_numba
from orthostream.optimize import LpContrast, PolarStep, SpectralBall, StochasticFrankWolfe
from orthostream.optimize.polar_decomposition import by_singular_values


def reference(start: np.ndarray, batches: list[np.ndarray], p: int = 3) -> np.ndarray:
    d, g = start.copy(), np.zeros_like(start)
    for t, y in enumerate(batches, start=1):
        rho = min(1.0, 4.0 / np.sqrt(t + 1))
        gamma = min(1.0, 2.0 / (t + 2) ** 0.75)
        gradient = np.zeros_like(d)
        for sample in y:
            z = d.T @ sample
            gradient -= np.outer(sample, p * np.abs(z) ** (p - 2) * z) / len(y)
        g = (1.0 - rho) * g + rho * gradient
        u, _, vt = np.linalg.svd(-g)
        u, _, vt = np.linalg.svd((1.0 - gamma) * d + gamma * (u @ vt))
        d = u @ vt
    return d


def batches(size: int, batch: int, count: int = 500) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(size)
    truth = np.linalg.qr(rng.standard_normal((size, size)))[0]
    start = np.linalg.qr(rng.standard_normal((size, size)))[0]
    shape = (count, batch, size)
    return start, list((rng.standard_normal(shape) * (rng.random(shape) < 0.3)) @ truth.T)


def learnt(start: np.ndarray, stream: list[np.ndarray], contrast: str = "l3") -> np.ndarray:
    learner = OrthogonalDictionaryLearning(init=start.T, contrast=contrast)
    for rows in stream:
        learner.partial_fit(rows)
    return learner.raw_components_.T


@pytest.mark.parametrize(("size", "batch"), [(10, 20), (24, 40)])
@pytest.mark.parametrize(("contrast", "p"), [("l3", 3), ("l4", 4)])
def test_exact_svd_matches_the_reference(size: int, batch: int, contrast: str, p: int) -> None:
    start, stream = batches(size, batch)
    with by_singular_values():
        found = learnt(start, stream, contrast)
    assert np.abs(found - reference(start, stream, p)).max() < 1e-10


@pytest.mark.parametrize(("size", "batch"), [(10, 20), (24, 40), (40, 64)])
@pytest.mark.parametrize("path", ["numpy", "compiled"])
def test_fast_kernel_matches_the_reference(size: int, batch: int, path: str) -> None:
    if path == "compiled" and not can_compile():
        pytest.skip("Numba is not installed or turned off")
    start, stream = batches(size, batch)
    with without_numba() if path == "numpy" else nullcontext():
        found = learnt(start, stream)
    assert np.abs(found - reference(start, stream)).max() < 1e-8


@pytest.mark.parametrize(("size", "batch"), [(10, 10), (24, 40), (56, 6)])
def test_compiled_and_plain_steps_agree(size: int, batch: int) -> None:
    """From the same state, at each of 500 steps; whole runs part by what rounding grows to before they settle."""
    if not can_compile():
        pytest.skip("Numba is not installed or turned off")
    start, stream = batches(size, batch)
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep())
    state, taken, worst = solver.init(start), 0, 0.0
    for rows in stream:
        with without_numba():
            other = solver.step(state, rows)
        compiled = solver.compiled_step(state, rows)
        taken += compiled is not None
        state = other if compiled is None else compiled
        worst = max(worst, float(np.abs(state.x - other.x).max()))
    assert taken >= 400  # all but the first, whose gradients are nearly singular
    assert worst < 1e-12


def test_first_mini_batches_smaller_than_the_dictionary_keep_what_they_say_nothing_about() -> None:
    # One sample speaks of one direction: the least-motion oracle must leave the rest where it was.
    start, stream = batches(12, 1, count=1)
    found = learnt(start, stream)
    moved = np.linalg.svd(found - start, compute_uv=False)
    assert np.count_nonzero(moved > 1e-9) <= 2
