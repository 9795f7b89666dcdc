"""The energy weighted by ranks: its exact gradient, its contract, and what it is at its two ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import check_objective
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy

Rng = np.random.Generator

SHRINKS = (0.0, 0.6, 1.0)
SHAPES = ((5, 5), (7, 3), (4, 1))
each_shrink = pytest.mark.parametrize("shrink", SHRINKS)
each_shape = pytest.mark.parametrize("shape", SHAPES)


def draw(rng: Rng, shape: tuple[int, int], samples: int, stack: tuple[int, ...] = ()) -> tuple[FloatArray, FloatArray]:
    return rng.standard_normal((*stack, *shape)), rng.standard_normal((*stack, samples, shape[0]))


def spelled_out(objective: RankWeightedEnergy, x: FloatArray, rows: FloatArray) -> float:
    """Return the value, coefficient by coefficient."""
    z = rows @ x
    samples, count = z.shape
    own = np.empty((samples, count))
    for i in range(samples):
        for j in range(count):
            rank = sum(abs(other) > abs(z[i, j]) for other in z[i])
            own[i, j] = (1 - rank / count) ** objective.power + objective.head / (1 + rank)
    means = own.mean(axis=0)
    return (
        -0.5
        / samples
        * sum(
            ((1 - objective.shrink) * own[i, j] + objective.shrink * means[j]) * z[i, j] ** 2
            for i in range(samples)
            for j in range(count)
        )
    )


@each_shape
@each_shrink
@pytest.mark.parametrize("samples", [1, 9])
def test_value_is_as_written(shape: tuple[int, int], shrink: float, samples: int, rng: Rng) -> None:
    x, rows = draw(rng, shape, samples)
    objective = RankWeightedEnergy(2.5, shrink, 0.7)
    value = objective.value(x, rows)
    assert np.shape(value) == ()
    assert float(value) == pytest.approx(spelled_out(objective, x, rows), rel=1e-12)


@each_shape
@each_shrink
@pytest.mark.parametrize("power", [0.0, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("head", [0.0, 0.5])
def test_gradient_is_exact_away_from_ties(
    shape: tuple[int, int], shrink: float, power: float, head: float, rng: Rng
) -> None:
    x, rows = draw(rng, shape, 9)
    check_objective(RankWeightedEnergy(power, shrink, head), x, rows)


@each_shrink
def test_gradient_is_exact_with_weights(shrink: float, rng: Rng) -> None:
    (x, rows), weights, step = draw(rng, (6, 4), 8), rng.random(8), 1e-6
    objective = RankWeightedEnergy(shrink=shrink)
    direction = rng.standard_normal(x.shape)
    ahead, behind = (objective.value(x + sign * step * direction, rows, weights) for sign in (1, -1))
    slope = (objective.gradient(x, rows, weights) * direction).sum()
    assert float(slope) == pytest.approx(float(ahead - behind) / (2 * step), rel=1e-6)


@each_shape
@each_shrink
@pytest.mark.parametrize("weighted", [False, True])
def test_stacks_equal_a_loop(shape: tuple[int, int], shrink: float, weighted: bool, rng: Rng) -> None:
    x, rows = draw(rng, shape, 7, (2, 3))
    weights = rng.random((2, 3, 7)) if weighted else None
    objective = RankWeightedEnergy(shrink=shrink)
    value, gradient = objective.value(x, rows, weights), objective.gradient(x, rows, weights)
    assert value.shape == (2, 3) and gradient.shape == x.shape
    for at in np.ndindex(2, 3):
        one = None if weights is None else weights[at]
        np.testing.assert_allclose(value[at], objective.value(x[at], rows[at], one), rtol=1e-12)
        np.testing.assert_allclose(gradient[at], objective.gradient(x[at], rows[at], one), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_stack_of_points_may_share_a_batch(weighted: bool, rng: Rng) -> None:
    x, rows = rng.standard_normal((3, 5, 4)), rng.standard_normal((7, 5))
    weights = rng.random(7) if weighted else None
    objective = RankWeightedEnergy()
    np.testing.assert_allclose(
        objective.value(x, rows, weights), [objective.value(one, rows, weights) for one in x], rtol=1e-12
    )
    np.testing.assert_allclose(
        objective.gradient(x, rows, weights), [objective.gradient(one, rows, weights) for one in x], rtol=1e-10
    )


@each_shrink
def test_weights_equal_repetition(shrink: float, rng: Rng) -> None:
    x, rows = draw(rng, (6, 4), 5)
    counts = np.array([2, 1, 0, 3, 1])
    repeated, objective = np.repeat(rows, counts, axis=0), RankWeightedEnergy(shrink=shrink)
    for weights in (counts.astype(float), 0.01 * counts):  # only ratios count
        np.testing.assert_allclose(objective.value(x, rows, weights), objective.value(x, repeated), rtol=1e-12)
        np.testing.assert_allclose(
            objective.gradient(x, rows, weights), objective.gradient(x, repeated), rtol=1e-10, atol=1e-12
        )


def test_no_weight_at_all_leaves_nothing_undefined(rng: Rng) -> None:
    x, rows = draw(rng, (5, 5), 6)
    assert np.isfinite(RankWeightedEnergy().value(x, rows, np.zeros(6)))
    assert not RankWeightedEnergy().gradient(x, rows, np.zeros(6)).any()


@each_shrink
def test_sparse_rows_equal_dense_rows(shrink: float, rng: Rng) -> None:
    x, rows = draw(rng, (6, 4), 8)
    rows *= rng.random(rows.shape) < 0.7
    objective, weights = RankWeightedEnergy(shrink=shrink), rng.random(8)
    thin = sparse.csr_array(rows)
    np.testing.assert_allclose(objective.value(x, thin, weights), objective.value(x, rows, weights), rtol=1e-12)
    np.testing.assert_allclose(objective.gradient(x, thin, weights), objective.gradient(x, rows, weights), rtol=1e-10)


@each_shrink
def test_single_precision_stays_single(shrink: float, rng: Rng) -> None:
    x, rows = draw(rng, (5, 5), 9)
    objective = RankWeightedEnergy(shrink=shrink)
    gradient = objective.gradient(x.astype(np.float32), rows.astype(np.float32))
    assert gradient.dtype == np.float32
    assert objective.value(x.astype(np.float32), rows.astype(np.float32)).dtype == np.float32
    exact = objective.gradient(x, rows)
    np.testing.assert_allclose(gradient, exact, atol=1e-4 * np.abs(exact).max())


def test_inputs_are_left_alone(rng: Rng) -> None:
    x, rows = draw(rng, (5, 5), 6)
    weights = np.arange(6.0)
    for array in (x, rows, weights):
        array.setflags(write=False)
    gradient = RankWeightedEnergy().gradient(x, rows, weights)
    RankWeightedEnergy().value(x, rows, weights)
    assert not np.shares_memory(gradient, x) and not np.shares_memory(gradient, rows)


def test_signs_and_order_of_atoms_do_not_matter(rng: Rng) -> None:
    x, rows = draw(rng, (6, 4), 8)
    objective, order, signs = RankWeightedEnergy(), rng.permutation(4), np.array([1.0, -1.0, -1.0, 1.0])
    np.testing.assert_allclose(objective.value((x * signs)[:, order], rows), objective.value(x, rows), rtol=1e-12)
    np.testing.assert_allclose(
        objective.gradient((x * signs)[:, order], rows), (objective.gradient(x, rows) * signs)[:, order], rtol=1e-10
    )


@each_shrink
def test_euler_ties_the_gradient_to_the_value(shrink: float, rng: Rng) -> None:
    """Ranks do not change when all coefficients grow, so the value is of degree two."""
    x, rows = draw(rng, (6, 4), 8)
    objective = RankWeightedEnergy(shrink=shrink)
    assert float((objective.gradient(x, rows) * x).sum()) == pytest.approx(2 * float(objective.value(x, rows)))


def test_no_falling_weights_are_plain_energy(rng: Rng) -> None:
    x, rows = draw(rng, (6, 4), 8)
    energy = -0.5 * ((rows @ x) ** 2).sum(axis=1).mean()
    assert float(RankWeightedEnergy(0.0, 0.3, 0.0).value(x, rows)) == pytest.approx(energy)


def test_rank_part_is_continuous_across_a_tie() -> None:
    objective, rows = RankWeightedEnergy(shrink=0.0), np.array([[1.0, 1.0]])
    values = [float(objective.value(np.diag([1.0 + shift, 1.0]), rows)) for shift in (-1e-9, 1e-9)]
    assert values[0] == pytest.approx(values[1], abs=1e-8)


@each_shrink
def test_a_polar_step_with_fixed_weights_gains(shrink: float, rng: Rng) -> None:
    rows = rng.laplace(size=(200, 6))
    objective = RankWeightedEnergy(shrink=shrink)
    x = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    before = objective.coefficient_weights(rows @ x, 1 / 200)
    u, _, v = np.linalg.svd(-objective.gradient(x, rows))
    assert (before * (rows @ (u @ v)) ** 2).sum() > (before * (rows @ x) ** 2).sum()


def test_all_shrunk_finds_the_principal_components(rng: Rng) -> None:
    axes = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    rows = rng.standard_normal((500, 5)) * np.array([16.0, 8.0, 4.0, 2.0, 1.0]) @ axes.T
    objective = RankWeightedEnergy(shrink=1.0)
    x = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    for _ in range(300):
        u, _, v = np.linalg.svd(-objective.gradient(x, rows))
        x = u @ v
    principal = np.linalg.eigh(rows.T @ rows)[1]
    np.testing.assert_allclose(np.sort(np.abs(principal.T @ x).max(axis=0)), np.ones(5), atol=1e-6)


@pytest.mark.parametrize("number", [-1.0, np.inf, np.nan])
def test_power_and_head_must_be_finite_and_not_negative(number: float) -> None:
    with pytest.raises(ValueError, match=f"power must be finite and not negative, got {number}"):
        RankWeightedEnergy(power=number)
    with pytest.raises(ValueError, match=f"head must be finite and not negative, got {number}"):
        RankWeightedEnergy(head=number)


@pytest.mark.parametrize("shrink", [-0.1, 1.1, np.nan])
def test_shrink_is_a_share(shrink: float) -> None:
    with pytest.raises(ValueError, match=f"shrink must be from 0 to 1, got {shrink}"):
        RankWeightedEnergy(shrink=shrink)
