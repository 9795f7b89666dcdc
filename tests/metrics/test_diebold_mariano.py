"""The test of Diebold and Mariano."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import toeplitz

from orthostream.metrics import DieboldMariano, diebold_mariano


def moving_average(rng: np.random.Generator, n_slots: int, order: int) -> np.ndarray:
    """Noise of mean 0 that is correlated up to lag ``order``."""
    white = rng.standard_normal(n_slots + order)
    return np.convolve(white, np.linspace(1.0, 0.4, order + 1), mode="valid")


def by_definition(d: np.ndarray, h: int, centre: float) -> float:
    """The long-run variance, as the sum of a banded matrix of products."""
    deviations = d - centre
    band = toeplitz((np.arange(len(d)) < h).astype(float))
    return float(deviations @ band @ deviations) / len(d)


@given(seed=st.integers(0, 10_000), n_slots=st.integers(12, 80), horizon=st.integers(1, 5))
@settings(max_examples=80, deadline=None)
def test_the_corrected_statistic(seed: int, n_slots: int, horizon: int) -> None:
    rng = np.random.default_rng(seed)
    second = rng.uniform(1.0, 2.0, n_slots)
    d = moving_average(rng, n_slots, horizon - 1) + 0.2
    result = diebold_mariano(second + d, second, horizon=horizon)
    variance = by_definition(d, horizon, d.mean())
    assume(variance > 1e-6)
    plain = d.mean() / np.sqrt(variance / n_slots)
    size = n_slots + 1 - 2 * horizon + horizon * (horizon - 1) / n_slots
    expected = plain * np.sqrt(size / n_slots)
    assert result.statistic == pytest.approx(expected, rel=1e-6)
    assert result.p_value == pytest.approx(2.0 * stats.t(n_slots - 1).sf(abs(expected)), rel=1e-6)
    assert result.mean_difference == pytest.approx(d.mean())
    assert result.kernel == "uniform"


def test_by_hand() -> None:
    # d = 1, 2, 3, 4 has mean 5/2 and variance 5/4; with a horizon of one slot the factor is 3/4.
    result = diebold_mariano([1.0, 2.0, 3.0, 4.0], np.zeros(4), horizon=1)
    assert result.statistic == pytest.approx(2.5 / np.sqrt(1.25 / 4) * np.sqrt(3 / 4))
    # At horizon 1 this is the t-test of the differences.
    assert result[:2] == pytest.approx(tuple(stats.ttest_1samp([1.0, 2.0, 3.0, 4.0], 0.0)))


def test_the_formula_of_the_paper_to_the_letter() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(0.02, 1.0, 40)
    bar = d.sum()
    f_0 = 0.0
    for k in range(-39, 40):
        if abs(k / 3) <= 1:
            f_0 += sum((d[t] - bar) * (d[t - abs(k)] - bar) for t in range(abs(k), 40)) / 40
    expected = np.sqrt((40 - 1 - 8 + 12) / 40) * bar / np.sqrt(f_0 / 40)
    result = diebold_mariano(d, np.zeros(40), horizon=4, variant="paper")
    assert result.statistic == pytest.approx(expected)
    assert result.p_value == pytest.approx(2.0 * stats.norm.sf(abs(expected)))
    assert result.mean_difference == pytest.approx(d.mean())


def test_the_formula_of_the_paper_is_blind() -> None:
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.01, 1.0, -3.0):
        d = rng.normal(shift, 1.0, 20_000)
        literal = diebold_mariano(d, np.zeros_like(d), variant="paper")
        assert abs(literal.statistic) == pytest.approx(np.sqrt(20_000 / 7), rel=0.02)


@pytest.mark.parametrize("horizon", [1, 2, 4])
def test_equal_methods_are_told_apart_as_often_as_they_should(horizon: int) -> None:
    rng = np.random.default_rng(horizon)
    draws = [moving_average(rng, 150, horizon - 1) for _ in range(3000)]
    p_values = np.array([diebold_mariano(d, np.zeros(150), horizon=horizon).p_value for d in draws])
    # Three standard errors of 3,000 draws are 0.012 and 0.016; the test is known to be slightly liberal.
    assert 0.038 < np.mean(p_values < 0.05) < 0.075
    assert 0.084 < np.mean(p_values < 0.10) < 0.13


def test_to_forget_that_slots_are_correlated_is_to_be_misled() -> None:
    rng = np.random.default_rng(9)
    draws = [moving_average(rng, 150, 3) for _ in range(1000)]
    assert np.mean([diebold_mariano(d, np.zeros(150), horizon=1).p_value < 0.05 for d in draws]) > 0.15


def test_a_better_method_is_found() -> None:
    rng = np.random.default_rng(2)
    losses = rng.uniform(1.0, 2.0, 300)
    result = diebold_mariano(losses, losses + 0.8 + moving_average(rng, 300, 3))
    assert result.statistic < -2.0 and result.p_value < 0.05 and result.mean_difference < 0.0


@given(
    seed=st.integers(0, 1000), variant=st.sampled_from(["corrected", "paper"]), scale=st.sampled_from([1e-150, 1e150])
)
@settings(max_examples=30, deadline=None)
def test_swapping_the_methods_swaps_the_sign_and_units_do_not_matter(seed: int, variant: str, scale: float) -> None:
    first, second = np.random.default_rng(seed).uniform(size=(2, 30))
    result = diebold_mariano(first, second, variant=variant)
    swapped = diebold_mariano(second, first, variant=variant)
    assert swapped.statistic == -result.statistic and swapped.p_value == result.p_value
    scaled = diebold_mariano(scale * first, scale * second, variant=variant)
    assert scaled.statistic == pytest.approx(result.statistic)


def test_bartlett_where_the_variance_is_not_positive() -> None:
    d = 0.1 + np.array([1.0, -1.0] * 10)
    assert by_definition(d, 2, d.mean()) < 0.0
    result = diebold_mariano(d, np.zeros(20), horizon=2)
    assert result.kernel == "bartlett"
    gamma_0, gamma_1 = 1.0, -19 / 20
    variance = gamma_0 + 2.0 * 0.5 * gamma_1
    assert result.statistic == pytest.approx(0.1 / np.sqrt(variance / 20) * np.sqrt((20 + 1 - 4 + 2 / 20) / 20))


@pytest.mark.parametrize("variant", ["corrected", "paper"])
def test_equal_losses(variant: str) -> None:
    losses = np.random.default_rng(0).uniform(size=20)
    nothing = DieboldMariano(0.0, 1.0, 0.0, "none")
    assert diebold_mariano(losses, losses, variant=variant) == nothing
    assert diebold_mariano(np.zeros(20), np.zeros(20), variant=variant) == nothing
    assert diebold_mariano(losses * 3.0 / 3.0, losses, variant=variant) == nothing


def test_losses_that_differ_by_a_constant() -> None:
    losses = np.random.default_rng(0).uniform(size=20)
    result = diebold_mariano(losses, losses + 0.1)
    assert result == DieboldMariano(-np.inf, 0.0, pytest.approx(-0.1), "none")


@pytest.mark.parametrize("n_slots", [5, 6, 30])
def test_the_shortest_records(n_slots: int) -> None:
    d = np.random.default_rng(0).standard_normal(n_slots)
    result = diebold_mariano(d, np.zeros(n_slots), horizon=4)
    assert np.isfinite(result.statistic) and 0.0 < result.p_value < 1.0


@pytest.mark.parametrize(
    ("first", "parameters", "message"),
    [
        (np.ones(4), {}, "4 slots are too few for a horizon of 4"),
        (np.ones(1), {"horizon": 1}, "too few"),
        (np.ones(0), {"horizon": 1}, "too few"),
        (np.ones(3), {"horizon": 1, "variant": "paper"}, "too few"),
        (np.array([1.0, np.nan] * 5), {}, "losses_1 must be finite, got nan in slot 1"),
        (np.array([1.0, np.inf] * 5), {}, "losses_1 must be finite, got inf in slot 1"),
        (np.ones((3, 3)), {}, r"losses_1 must have one loss for each slot, got an array of shape \(3, 3\)"),
        (np.ones(9), {"horizon": 0}, "horizon must be a positive integer"),
        (np.ones(9), {"horizon": 1.5}, "horizon must be a positive integer"),
        (np.ones(9), {"variant": "plain"}, "variant must be"),
    ],
)
def test_bad_input(first: np.ndarray, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        diebold_mariano(first, np.zeros(first.shape), **parameters)


def test_different_numbers_of_slots() -> None:
    with pytest.raises(ValueError, match="in 9 and in 8 slots"):
        diebold_mariano(np.ones(9), np.ones(8))
