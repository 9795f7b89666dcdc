"""Every conditional against the joint density of the model, integrated or enumerated on a tiny problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orthostream.baselines import beta_bernoulli_gibbs as gibbs
from orthostream.baselines.beta_bernoulli_gibbs import Draw

DRAWS = 40_000


def _state() -> Draw:
    return Draw(
        atoms=np.array([[0.8, -0.3], [0.2, 0.9]]),
        codes=np.array([[1.1, 0.0, -0.4], [0.0, 0.7, 0.9]]),
        probabilities=np.array([0.3, 0.6]),
        weight_precision=0.7,
        noise_precision=4.0,
    )


SAMPLES = np.array([[0.9, 0.1], [-0.2, 0.8], [0.3, 1.1]])


def _log_likelihood(draw: Draw, samples: np.ndarray) -> float:
    left = samples - draw.codes.T @ draw.atoms
    return float(stats.norm.logpdf(left, scale=draw.noise_precision**-0.5).sum())


def test_atoms() -> None:
    """The first atom is drawn given the second: mean and covariance of the density on a grid."""
    state, rng = _state(), np.random.RandomState(0)
    drawn = np.array([gibbs.draw_atoms(state, SAMPLES, rng)[0] for _ in range(DRAWS)])
    axis = np.linspace(-3.0, 3.0, 121)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    left = SAMPLES - state.codes[1][:, None] * state.atoms[1] - state.codes[0][:, None] * grid[:, None]
    log = stats.norm.logpdf(left, scale=4.0**-0.5).sum(axis=(1, 2)) + stats.norm.logpdf(grid, scale=0.5**0.5).sum(1)
    weights = np.exp(log - log.max())
    np.testing.assert_allclose(drawn.mean(axis=0), np.average(grid, axis=0, weights=weights), atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(grid.T, aweights=weights), atol=0.01)


def test_the_second_atom_is_drawn_given_the_first_as_just_drawn() -> None:
    state = _state()
    drawn = gibbs.draw_atoms(state, SAMPLES, np.random.RandomState(0))
    rng = np.random.RandomState(0)
    rng.standard_normal(2)  # the numbers that were drawn for the first atom
    energy = (state.codes[1] ** 2).sum()
    precision = 2.0 + 4.0 * energy
    mean = 4.0 / precision * state.codes[1] @ (SAMPLES - state.codes[0][:, None] * drawn[0])
    np.testing.assert_allclose(drawn[1], mean + rng.standard_normal(2) / precision**0.5)


@pytest.mark.parametrize("sample", [0, 1, 2])
def test_codes(sample: int) -> None:
    """The first atom's indicator and weight given the rest: enumerated and integrated, for many equal samples."""
    state = _state()
    copies = state._replace(codes=np.repeat(state.codes[:, sample : sample + 1], DRAWS, axis=1))
    drawn = gibbs.draw_codes(copies, np.repeat(SAMPLES[sample : sample + 1], DRAWS, axis=0), np.random.RandomState(0))
    weights = np.linspace(-12.0, 12.0, 4001)
    step = weights[1] - weights[0]
    left = SAMPLES[sample] - state.codes[1, sample] * state.atoms[1]
    prior = np.exp(stats.norm.logpdf(weights, scale=0.7**-0.5))
    used = prior * np.exp(stats.norm.logpdf(left - weights[:, None] * state.atoms[0], scale=0.5).sum(axis=1))
    unused = np.exp(stats.norm.logpdf(left, scale=0.5).sum())
    evidence = 0.3 * used.sum() * step
    probability = evidence / (evidence + 0.7 * unused)
    first = drawn[0]
    assert np.mean(first != 0.0) == pytest.approx(probability, abs=0.01)
    mean = np.average(weights, weights=used)
    variance = np.average((weights - mean) ** 2, weights=used)
    assert first[first != 0.0].mean() == pytest.approx(mean, abs=0.03)
    assert first[first != 0.0].var() == pytest.approx(variance, rel=0.05)


def test_probabilities() -> None:
    """Beta prior times Bernoulli likelihood on a grid; many atoms with the same count are as many draws."""
    a0, b0, used, n = 1.7 * DRAWS, 2.3 * DRAWS / (DRAWS - 1), 3, 11
    drawn = gibbs.draw_probabilities(np.full(DRAWS, used), n, a0, b0, np.random.RandomState(0))
    grid = np.linspace(0.0, 1.0, 4001)[1:-1]
    density = grid ** (1.7 - 1.0) * (1.0 - grid) ** (2.3 - 1.0) * grid**used * (1.0 - grid) ** (n - used)
    mean = np.average(grid, weights=density)
    assert drawn.mean() == pytest.approx(mean, abs=0.003)
    assert drawn.var() == pytest.approx(np.average((grid - mean) ** 2, weights=density), rel=0.05)


def test_probabilities_of_one_atom_that_all_samples_use() -> None:
    drawn = gibbs.draw_probabilities(np.array([5]), 5, 1.0, 1.0, np.random.RandomState(0))
    assert 0.0 < drawn[0] < 1.0


def test_precision() -> None:
    values, rng = np.array([0.5, -1.2, 0.3, 2.0]), np.random.RandomState(0)
    drawn = np.array([gibbs.draw_precision(values, rng) for _ in range(DRAWS)])
    grid = np.linspace(0.0, 15.0, 6001)[1:]
    density = grid ** (1e-6 - 1.0) * np.exp(-1e-6 * grid)
    density = density * np.exp(stats.norm.logpdf(values[:, None], scale=grid**-0.5).sum(axis=0))
    mean = np.average(grid, weights=density)
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert drawn.var() == pytest.approx(np.average((grid - mean) ** 2, weights=density), rel=0.08)
    assert gibbs.draw_precision(np.zeros(0), rng) > 0.0


def _prior(rng: np.random.RandomState, gamma: float, a0: float, b0: float, count: int, shape: tuple[int, int]) -> Draw:
    n, features = shape
    probabilities = rng.beta(a0 / count, b0 * (count - 1) / count, size=count)
    weight, noise = rng.gamma(gamma, 1.0 / gamma, size=2)
    used = rng.uniform(size=(count, n)) < probabilities[:, None]
    codes = np.where(used, rng.standard_normal((count, n)) / weight**0.5, 0.0)
    return Draw(rng.standard_normal((count, features)) / features**0.5, codes, probabilities, weight, noise)


def _statistics(draw: Draw) -> list[float]:
    used = (draw.codes != 0.0).mean()
    energy = float((draw.atoms**2).sum())
    return [
        energy,
        float(draw.atoms[0, 0] ** 4),
        used,
        used**2,
        float(draw.probabilities[0]),
        float((draw.probabilities**2).mean()),
        np.log(draw.weight_precision),
        np.log(draw.noise_precision),
        float(np.log1p((draw.codes**2).sum())),
        used * float(draw.probabilities.mean()),
    ]


def test_sweeps_leave_the_joint_distribution_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples drawn from the model, then everything from the sweep, by turns: what comes out is the prior.

    This is Geweke's test. It sees any mistake in any conditional, and in the order of them.
    """
    gamma, a0, b0, count, shape, turns = 3.0, 3.0, 4.0, 2, (3, 2), 16_000
    monkeypatch.setattr(gibbs, "GAMMA_PRIOR", gamma)
    rng = np.random.RandomState(0)
    expected = np.array([_statistics(_prior(rng, gamma, a0, b0, count, shape)) for _ in range(turns)])
    draw, seen = _prior(rng, gamma, a0, b0, count, shape), []
    for _ in range(turns):
        samples = draw.codes.T @ draw.atoms + rng.standard_normal(shape) / draw.noise_precision**0.5
        draw = gibbs.sweep(draw, samples, a0, b0, rng)
        seen.append(_statistics(draw))
    means = (
        np.array(seen).reshape(40, -1, expected.shape[1]).mean(axis=1)
    )  # samples of a chain are correlated, so errors come from means of blocks
    error = np.hypot(means.std(axis=0, ddof=1) / 40**0.5, expected.std(axis=0) / turns**0.5)
    assert (np.abs(means.mean(axis=0) - expected.mean(axis=0)) < 4.0 * error).all()


def test_log_likelihood_rises_from_a_poor_start() -> None:
    rng = np.random.RandomState(0)
    codes = rng.standard_normal((400, 4)) * (rng.uniform(size=(400, 4)) < 0.3)
    samples = codes @ np.eye(4) + 0.1 * rng.standard_normal((400, 4))
    draw = Draw(rng.standard_normal((6, 4)) / 2.0, np.zeros((6, 400)), np.full(6, 0.2), 1.0, 1.0)
    before = _log_likelihood(draw, samples)
    for _ in range(60):
        draw = gibbs.sweep(draw, samples, 50.0, 50.0, rng)
    assert _log_likelihood(draw, samples) > before + 1000.0
    assert draw.noise_precision**-0.5 == pytest.approx(0.1, rel=0.2)
