"""The contract of an objective, kept by every one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import (
    CallableObjective,
    LeastSquares,
    LpContrast,
    Objective,
    RankWeightedEnergy,
    SparsePCAObjective,
    SpikeAndSlab,
    TopEnergy,
    check_objective,
    objectives,
)
from orthostream.optimize.objectives.base import batch_size, mean_factors

Rng = np.random.Generator
POWERS = (2.5, 3, 3.7, 4, 6)


class Case(NamedTuple):
    """An objective, the shape of a point, whether a batch is a pair, and the loss of one sample, spelled out."""

    objective: Objective
    shape: tuple[int, ...]
    targets: bool
    loss: Callable[[FloatArray, FloatArray, float], float]


def contrast(p: float) -> Callable[[FloatArray, FloatArray, float], float]:
    return lambda x, row, _: -sum(abs(float(column @ row)) ** p for column in x.T)


def spike_and_slab(sparsity: float, spike: float, slab: float) -> Callable[[FloatArray, FloatArray, float], float]:
    def density(z: float) -> float:
        return sum(
            share * np.exp(-z * z / (2 * variance)) / np.sqrt(2 * np.pi * variance)
            for share, variance in ((1 - sparsity, spike), (sparsity, slab))
        )

    def loss(x: FloatArray, row: FloatArray, _: float) -> float:
        """Minus the log-likelihood less what it has at zero noise, and less the energy, in units of kappa."""
        kappa = 1 / spike - 1 / slab
        zs = [float(column @ row) for column in x.T]
        bare = np.log((1 - sparsity) / np.sqrt(2 * np.pi * spike))
        return -sum(np.log(density(z)) + z * z / (2 * spike) - bare for z in zs) / kappa

    return loss


def ranked_energy(power: float, head: float) -> Callable[[FloatArray, FloatArray, float], float]:
    def loss(x: FloatArray, row: FloatArray, _: float) -> float:
        squares = sorted((float(column @ row) ** 2 for column in x.T), reverse=True)
        return -0.5 * sum(((1 - r / len(squares)) ** power + head / (1 + r)) * s for r, s in enumerate(squares))

    return loss


def top_energy(count: int) -> Callable[[FloatArray, FloatArray, float], float]:
    def loss(x: FloatArray, row: FloatArray, _: float) -> float:
        squares = sorted((float(column @ row) ** 2 for column in x.T), reverse=True)
        return -0.5 * sum(squares[:count])

    return loss


def sparse_component(penalty: float, mu: float) -> Callable[[FloatArray, FloatArray, float], float]:
    def loss(x: FloatArray, row: FloatArray, _: float) -> float:
        huber = sum(z * z / (2 * mu) if abs(z) <= mu else abs(z) - mu / 2 for z in map(float, x))
        return penalty * huber - float(x @ row) ** 2

    return loss


def half_square(x: FloatArray, row: FloatArray, target: float) -> float:
    return 0.5 * (float(row @ x) - target) ** 2


def mean_half_square(x: FloatArray, batch: Any) -> Any:
    return 0.5 * ((batch[0] @ x - batch[1]) ** 2).mean()


def mean_half_square_slope(x: FloatArray, batch: Any) -> FloatArray:
    slope: FloatArray = batch[0].T @ (batch[0] @ x - batch[1]) / len(batch[0])
    return slope


CASES = {
    **{
        f"LpContrast({p}) {shape}": Case(LpContrast(p), shape, False, contrast(p))
        for p in POWERS
        for shape in ((5, 5), (7, 3), (4, 1))
    },
    "SparsePCAObjective": Case(SparsePCAObjective(), (6,), False, sparse_component(1.0, 0.2)),
    "SparsePCAObjective(0.0)": Case(SparsePCAObjective(0.0), (6,), False, sparse_component(0.0, 0.2)),
    "SparsePCAObjective(3.0, 1.5)": Case(SparsePCAObjective(3.0, 1.5), (6,), False, sparse_component(3.0, 1.5)),
    **{
        f"SpikeAndSlab{numbers} {shape}": Case(SpikeAndSlab(*numbers), shape, False, spike_and_slab(*numbers))
        for numbers in ((0.3, 0.1, 1.0), (0.9, 0.5, 20.0))
        for shape in ((5, 5), (7, 3), (4, 1))
    },
    **{
        f"RankWeightedEnergy{shape}": Case(RankWeightedEnergy(2, 0, 1), shape, False, ranked_energy(2, 1))
        for shape in ((5, 5), (7, 3), (4, 1))
    },
    **{
        f"TopEnergy({count}) {shape}": Case(TopEnergy(count), shape, False, top_energy(count))
        for count in (1, 2, 9)
        for shape in ((5, 5), (7, 3), (4, 1))
    },
    "LeastSquares": Case(LeastSquares(), (6,), True, half_square),
}
PAIR = Case(CallableObjective(mean_half_square, mean_half_square_slope), (6,), True, half_square)

each_objective = pytest.mark.parametrize("case", [*CASES.values(), PAIR], ids=[*CASES, "CallableObjective"])
each_weighted = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def draw(case: Case, rng: Rng, samples: int, stack: tuple[int, ...] = ()) -> tuple[FloatArray, Any]:
    """Return a random point and a random batch, or a stack of both."""
    rows = rng.standard_normal((*stack, samples, case.shape[0])) * (rng.random((*stack, samples, case.shape[0])) < 0.7)
    point = rng.standard_normal((*stack, *case.shape))
    return point, (rows, rng.standard_normal((*stack, samples))) if case.targets else rows


def pick(batch: Any, index: Any) -> Any:
    """Return some samples of a batch, or one batch of a stack."""
    return tuple(part[index] for part in batch) if isinstance(batch, tuple) else batch[index]


def mean_loss(case: Case, x: FloatArray, batch: Any) -> float:
    rows, targets = batch if case.targets else (batch, np.zeros(len(batch)))
    return float(np.mean([case.loss(x, row, target) for row, target in zip(rows, targets, strict=True)]))


def frozen(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(frozen(part) for part in value)
    copy = np.array(value)
    copy.setflags(write=False)
    return copy


def test_the_table_holds_every_objective() -> None:
    exported = {name for name in objectives.__all__ if name not in {"Batch", "Contrast", "Objective"}}
    assert {type(case.objective).__name__ for case in (*CASES.values(), PAIR)} == exported


@each_objective
@pytest.mark.parametrize("samples", [1, 2, 11])
def test_value_is_the_mean_loss_of_the_samples(case: Case, samples: int, rng: Rng) -> None:
    x, batch = draw(case, rng, samples)
    value = case.objective.value(x, batch)
    assert np.shape(value) == ()
    assert float(value) == pytest.approx(mean_loss(case, x, batch), rel=1e-12)


@each_objective
@pytest.mark.parametrize("scale", [0.03, 1.0, 20.0])
def test_gradient_matches_differences(case: Case, scale: float, rng: Rng) -> None:
    x, batch = draw(case, rng, 9)
    check_objective(case.objective, scale * x, batch)


@each_weighted
def test_weights_equal_repetition(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 5)
    counts = np.array([2, 1, 0, 3, 1])
    repeated = pick(batch, np.repeat(np.arange(5), counts))
    for weights in (counts.astype(float), 0.01 * counts):  # only ratios count
        np.testing.assert_allclose(
            case.objective.value(x, batch, weights), case.objective.value(x, repeated), rtol=1e-12
        )
        np.testing.assert_allclose(
            case.objective.gradient(x, batch, weights), case.objective.gradient(x, repeated), rtol=1e-10, atol=1e-12
        )


@each_weighted
def test_zero_weight_equals_removal(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 6)
    kept = np.array([True, False, True, True, False, False])
    fewer = pick(batch, kept)
    np.testing.assert_allclose(
        case.objective.value(x, batch, kept.astype(float)), case.objective.value(x, fewer), rtol=1e-12
    )
    np.testing.assert_allclose(
        case.objective.gradient(x, batch, kept.astype(float)), case.objective.gradient(x, fewer), rtol=1e-10, atol=1e-12
    )
    # And a removed sample may be anything.
    strange = pick(batch, np.arange(6))
    (strange[0] if case.targets else strange)[1] *= 1e3
    np.testing.assert_allclose(
        case.objective.value(x, strange, kept.astype(float)), case.objective.value(x, fewer), rtol=1e-12
    )


@each_weighted
def test_equal_weights_are_no_weights(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 6)
    weights = np.full(6, 0.25)
    np.testing.assert_allclose(case.objective.value(x, batch, weights), case.objective.value(x, batch), rtol=1e-12)
    np.testing.assert_allclose(
        case.objective.gradient(x, batch, weights), case.objective.gradient(x, batch), rtol=1e-10, atol=1e-12
    )


@each_weighted
def test_no_weight_at_all_leaves_nothing_undefined(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 6)
    assert np.isfinite(case.objective.value(x, batch, np.zeros(6)))
    assert np.isfinite(case.objective.gradient(x, batch, np.zeros(6))).all()


@each_weighted
@pytest.mark.parametrize("weighted", [False, True])
def test_stacks_equal_a_loop(case: Case, weighted: bool, rng: Rng) -> None:
    x, batch = draw(case, rng, 7, (4,))
    weights = rng.random((4, 7)) if weighted else None
    one = [None] * 4 if weights is None else list(weights)
    values = [case.objective.value(x[i], pick(batch, i), one[i]) for i in range(4)]
    gradients = [case.objective.gradient(x[i], pick(batch, i), one[i]) for i in range(4)]
    np.testing.assert_allclose(case.objective.value(x, batch, weights), values, rtol=1e-12)
    np.testing.assert_allclose(case.objective.gradient(x, batch, weights), gradients, rtol=1e-10, atol=1e-12)


@each_weighted
@pytest.mark.parametrize("weighted", [False, True])
def test_stack_of_points_may_share_a_batch(case: Case, weighted: bool, rng: Rng) -> None:
    _, batch = draw(case, rng, 7)
    x = rng.standard_normal((2, 3, *case.shape))
    weights = rng.random(7) if weighted else None
    values = [[case.objective.value(one, batch, weights) for one in row] for row in x]
    gradients = [[case.objective.gradient(one, batch, weights) for one in row] for row in x]
    np.testing.assert_allclose(case.objective.value(x, batch, weights), values, rtol=1e-12)
    np.testing.assert_allclose(case.objective.gradient(x, batch, weights), gradients, rtol=1e-10, atol=1e-12)


@each_objective
def test_inputs_are_left_alone(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 5)
    weights = None if case is PAIR else np.arange(5.0)
    value = case.objective.value(frozen(x), frozen(batch), weights)
    gradient = case.objective.gradient(frozen(x), frozen(batch), weights)
    np.testing.assert_array_equal(value, case.objective.value(x, batch, weights))
    np.testing.assert_array_equal(gradient, case.objective.gradient(x, batch, weights))
    gradient[...] = 7.0
    assert not np.any(x == 7.0)


@each_objective
def test_single_precision_stays_single(case: Case, rng: Rng) -> None:
    x, batch = draw(case, rng, 5)
    single = tuple(part.astype(np.float32) for part in batch) if case.targets else batch.astype(np.float32)
    gradient = case.objective.gradient(x.astype(np.float32), single)
    assert gradient.dtype == np.float32
    assert case.objective.value(x.astype(np.float32), single).dtype == np.float32
    exact = case.objective.gradient(x, batch)
    np.testing.assert_allclose(gradient, exact, atol=1e-4 * np.abs(exact).max())


FORMATS = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]


@each_weighted
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_rows_equal_dense_rows(case: Case, form: Any, rng: Rng) -> None:
    x, batch = draw(case, rng, 8)
    thin = (form(batch[0]), batch[1]) if case.targets else form(batch)
    for weights in (None, rng.random(8)):
        value, gradient = case.objective.value(x, thin, weights), case.objective.gradient(x, thin, weights)
        assert type(gradient) is np.ndarray
        np.testing.assert_allclose(value, case.objective.value(x, batch, weights), rtol=1e-12)
        np.testing.assert_allclose(gradient, case.objective.gradient(x, batch, weights), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["LpContrast(3) (5, 5)", "SparsePCAObjective"])
def test_stack_of_points_may_share_a_sparse_batch(name: str, form: Any, rng: Rng) -> None:
    case = CASES[name]
    _, batch = draw(case, rng, 8)
    x = rng.standard_normal((3, *case.shape))
    np.testing.assert_allclose(case.objective.value(x, form(batch)), case.objective.value(x, batch), rtol=1e-12)
    np.testing.assert_allclose(case.objective.gradient(x, form(batch)), case.objective.gradient(x, batch), rtol=1e-10)


def test_pair_of_rows_and_targets_may_be_a_list(rng: Rng) -> None:
    x, (rows, targets) = draw(CASES["LeastSquares"], rng, 8)
    try:
        value = LeastSquares().value(x, [rows, targets])
    except (TypeError, ValueError):
        return  # to refuse it is as good, to divide by the wrong number of samples is not
    np.testing.assert_allclose(value, LeastSquares().value(x, (rows, targets)))
    np.testing.assert_allclose(LeastSquares().gradient(x, [rows, targets]), LeastSquares().gradient(x, (rows, targets)))


@settings(deadline=None, max_examples=40)
@given(p=st.floats(2.01, 8.0), seed=st.integers(0, 2**32 - 1), flips=st.lists(st.booleans(), min_size=3, max_size=3))
def test_contrast_knows_neither_signs_nor_order(p: float, seed: int, flips: list[bool]) -> None:
    rng = np.random.default_rng(seed)
    objective, x, rows = LpContrast(p), rng.standard_normal((4, 3)), rng.standard_normal((6, 4))
    change = np.where(flips, -1.0, 1.0)
    order = rng.permutation(3)
    value, gradient = objective.value(x, rows), objective.gradient(x, rows)
    np.testing.assert_allclose(objective.value((x * change)[:, order], rows), value, rtol=1e-10)
    np.testing.assert_allclose(
        objective.gradient((x * change)[:, order], rows), (gradient * change)[:, order], rtol=1e-9, atol=1e-12
    )
    # A function of degree p: Euler's identity ties the gradient to the value, factor p included.
    np.testing.assert_allclose((gradient * x).sum(), p * value, rtol=1e-9)


@pytest.mark.parametrize("p", [2.0, 1.0, -3.0, np.inf, np.nan])
def test_contrast_needs_a_power_above_two(p: float) -> None:
    with pytest.raises(ValueError, match=rf"p must be larger than 2, got {p}"):
        LpContrast(p)


@pytest.mark.parametrize("penalty", [-1.0, np.inf, np.nan])
def test_penalty_must_be_finite_and_not_negative(penalty: float) -> None:
    with pytest.raises(ValueError, match=f"penalty.*got {penalty}"):
        SparsePCAObjective(penalty)


@pytest.mark.parametrize("mu", [0.0, -1.0, np.inf, np.nan])
def test_smoothing_must_be_positive_and_finite(mu: float) -> None:
    with pytest.raises(ValueError, match=f"mu.*got {mu}"):
        SparsePCAObjective(1.0, mu)


@pytest.mark.parametrize("count", [0, -1, 2.0, True, None])
def test_count_must_be_a_positive_integer(count: Any) -> None:
    with pytest.raises(ValueError, match=f"count must be a positive integer, got {count}"):
        TopEnergy(count)


def test_equal_coefficients_at_the_edge_count_as_kept() -> None:
    z = np.array([[3.0, -2.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(TopEnergy(2).score(z), [[-3.0, 2.0, -2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(TopEnergy(2).loss(z), [[-4.5, -2.0, -2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])


def test_huber_joins_smoothly_at_mu() -> None:
    objective, rows = SparsePCAObjective(1.0, 0.2), np.zeros((1, 1))
    below, above = (np.array([0.2 + shift]) for shift in (-1e-9, 1e-9))
    assert objective.value(above, rows) == pytest.approx(float(objective.value(below, rows)), abs=1e-8)
    np.testing.assert_allclose(objective.gradient(above, rows), objective.gradient(below, rows), atol=1e-7)
    np.testing.assert_allclose(objective.gradient(np.array([-5.0]), rows), [-1.0])


def test_pair_of_functions_refuses_weights(rng: Rng) -> None:
    x, batch = draw(PAIR, rng, 4)
    for method in (PAIR.objective.value, PAIR.objective.gradient):
        with pytest.raises(ValueError, match="sample weights"):
            method(x, batch, np.ones(4))


@pytest.mark.parametrize(
    ("batch", "size"),
    [
        (np.zeros((6, 10)), 6),
        (np.zeros((100, 6, 10)), 6),
        (np.zeros(5), 5),
        ((np.zeros((6, 10)), np.zeros(6)), 6),
        (sparse.csr_array((7, 3)), 7),
        ([1, 2], 2),
        ([np.zeros((6, 10)), np.zeros(6)], 6),
        ([np.zeros(3), np.zeros(3)], 2),
        ([], 0),
        (np.zeros((0, 10)), 0),
        (3.0, 1),
    ],
    ids=[
        "matrix",
        "stack",
        "vector",
        "pair",
        "sparse",
        "list",
        "pair in a list",
        "list of samples",
        "empty list",
        "empty matrix",
        "number",
    ],
)
def test_batch_size_counts_samples(batch: Any, size: int) -> None:
    assert batch_size(batch) == size


def test_mean_factors_add_up_to_one() -> None:
    assert mean_factors(np.zeros((4, 2)), None) == 0.25
    np.testing.assert_allclose(mean_factors(np.zeros((4, 2)), np.array([1.0, 3.0, 0.0, 0.0])), [0.25, 0.75, 0.0, 0.0])
    stacked = mean_factors(np.zeros((2, 3, 5)), np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(stacked, [[0.25, 0.25, 0.5], [0.0, 0.0, 0.0]])
