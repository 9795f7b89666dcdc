"""The running mean on sparse samples, against the one on ordinary arrays; and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import (
    ConstantSchedule,
    Contrast,
    L1Ball,
    LeastSquares,
    LpContrast,
    MeanThenForget,
    NuclearBall,
    PaperSchedule,
    PolarFactor,
    PolarStep,
    RankWeightedEnergy,
    RunningMean,
    SparseRows,
    SparseRunningMean,
    SpectralBall,
    SpikeAndSlab,
    State,
    StochasticFrankWolfe,
    TopEnergy,
)

Rng = np.random.Generator
COLUMNS, ATOMS = 80, 5
TOLERANCES = {np.float32: 1e-4, np.float64: 1e-9}
each_type = pytest.mark.parametrize("dtype", TOLERANCES)


class Smooth(Contrast):
    """A contrast that is no power."""

    def loss(self, z: FloatArray) -> FloatArray:
        return np.asarray(np.log(np.cosh(z)))

    def score(self, z: FloatArray) -> FloatArray:
        return np.asarray(np.tanh(z))


CONTRASTS = {
    "top energy": TopEnergy(2),
    "l3": LpContrast(3.0),
    "l4": LpContrast(4.0),
    "spike and slab": SpikeAndSlab(0.1, 0.1, 1.0),
    "one of its own": Smooth(),
}
SCHEDULES = {"mean": MeanThenForget(1e9), "half-life": MeanThenForget(100.0), "constant": ConstantSchedule(0.2, 1.0)}


def stream(rng: Rng, steps: int, samples: int = 40, columns: int = COLUMNS) -> list[Any]:
    """Mini-batches of sparse samples with few causes, so that there is something to learn."""
    causes = rng.standard_normal((columns, 2 * ATOMS)) * (rng.random((columns, 2 * ATOMS)) < 0.2)
    strengths = np.linspace(1.5, 0.5, 2 * ATOMS)
    rows = [
        ((rng.random((samples, 2 * ATOMS)) < 0.2) * rng.standard_normal((samples, 2 * ATOMS)) * strengths) @ causes.T
        for _ in range(steps)
    ]
    return [sparse.csr_array(one) for one in rows]


def solver_of(contrast: Contrast, schedule: Any = None) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(
        SpectralBall(), SparseRunningMean(contrast, schedule, least_represented=0.0), post_step=PolarStep()
    )


def begun(solver: StochasticFrankWolfe, rows: Any, dtype: Any = np.float64, seed: int = 0) -> State:
    return solver.init(PolarFactor.random(rows, ATOMS, np.random.default_rng(seed), dtype))


def assert_same_point(state: State, x: FloatArray, dtype: Any) -> None:
    np.testing.assert_allclose(np.asarray(state.x), x, atol=TOLERANCES[dtype] * np.abs(x).max(), rtol=0.0)


@each_type
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("contrast", CONTRASTS.values(), ids=CONTRASTS)
def test_steps_are_those_of_the_running_mean(contrast: Contrast, schedule: Any, dtype: Any, rng: Rng) -> None:
    batches = stream(rng, 25)
    solver = solver_of(contrast, schedule)
    dense = StochasticFrankWolfe(SpectralBall(), RunningMean(contrast, schedule), post_step=PolarStep())
    state = begun(solver, batches[0], dtype)
    other = dense.init(np.asarray(state.x).astype(dtype))
    for rows in batches:
        # From the same point each time: the largest coefficients may change places within rounding.
        other = other._replace(x=np.asarray(state.x))
        state, other = solver.step(state, rows), dense.plain_step(other, rows.toarray())
        assert_same_point(state, other.x, dtype)
        size = np.abs(other.gradient).max()
        np.testing.assert_allclose(state.gradient, other.gradient, atol=TOLERANCES[dtype] * size)
    assert state.t == 25


def test_whole_runs_agree(rng: Rng) -> None:
    batches = stream(rng, 60)
    solver = solver_of(TopEnergy(2))
    dense = StochasticFrankWolfe(SpectralBall(), TopEnergy(2), MeanThenForget(2000.0), PolarStep())
    state = begun(solver, batches[0])
    other = dense.init(np.asarray(state.x))
    for rows in batches:
        state, other = solver.step(state, rows), dense.plain_step(other, rows.toarray())
    assert_same_point(state, other.x, np.float64)


@each_type
def test_samples_may_have_weights(dtype: Any, rng: Rng) -> None:
    batches = stream(rng, 12)
    solver = solver_of(TopEnergy(2), SCHEDULES["half-life"])
    state, repeated = (begun(solver, batches[0], dtype) for _ in range(2))
    for rows in batches:
        counts = rng.integers(0, 4, 40)
        state = solver.step(state, rows, 0.01 * counts)
        # The same samples as often as their weights say, in a schedule that counts 40 samples.
        twice = sparse.csr_array(rows.toarray()[np.repeat(np.arange(40), counts)])
        shares = solver.estimate.schedule  # type: ignore[attr-defined]
        rho = shares.weights(repeated.t + 1, 40)[0]
        constant = solver_of(TopEnergy(2), ConstantSchedule(rho, 1.0))
        repeated = constant.step(repeated, twice)
        assert_same_point(state, np.asarray(repeated.x), dtype)


def test_points_are_orthonormal_and_lower_the_objective(rng: Rng) -> None:
    batches = stream(rng, 80)
    solver = solver_of(TopEnergy(2))
    state = begun(solver, batches[0], np.float32)
    held_out = sparse.vstack(stream(np.random.default_rng(20240607), 80)[40:]).tocsr()
    first = float(solver.objective.value(state.x, held_out))
    for rows in batches[:40]:
        state = solver.step(state, rows)
    formed = np.asarray(state.x)
    np.testing.assert_allclose(formed.T @ formed, np.eye(ATOMS), atol=1e-5)
    assert float(solver.objective.value(state.x, held_out)) < 1.1 * first < 0.0


def test_gap_and_value_take_the_factor_as_an_array(rng: Rng) -> None:
    batches = stream(rng, 3)
    solver = solver_of(TopEnergy(2))
    result = solver.run(begun(solver, batches[0]), batches)
    formed = np.asarray(result.state.x)
    dense = StochasticFrankWolfe(SpectralBall(), TopEnergy(2), post_step=PolarStep())
    expected = dense.gap(dense.init(formed), batches[0])
    assert float(solver.gap(result.state, batches[0])) == pytest.approx(float(expected), rel=1e-9)


def test_energies_are_the_pull_along_each_atom(rng: Rng) -> None:
    batches = stream(rng, 5)
    solver = solver_of(LpContrast(3.0))
    state = solver.run(begun(solver, batches[0]), batches).state
    energies = solver.estimate.energies(state.memory, state.x)
    np.testing.assert_allclose(energies, -(np.asarray(state.x) * state.gradient).sum(axis=0), rtol=1e-9)
    assert (energies > 0.0).all()


@pytest.mark.parametrize("form", [sparse.csc_array, sparse.coo_array, sparse.csr_matrix, SparseRows, np.asarray])
def test_mini_batches_may_come_in_any_form(form: Any, rng: Rng) -> None:
    batches = stream(rng, 4)
    solver = solver_of(TopEnergy(2))
    state, other = (begun(solver, batches[0]) for _ in range(2))
    for rows in batches:
        given = form(rows.toarray()) if form is not SparseRows else SparseRows(rows)
        state, other = solver.step(state, rows), solver.step(other, given)
    np.testing.assert_allclose(np.asarray(state.x), np.asarray(other.x), atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e25])
@pytest.mark.parametrize("contrast", [TopEnergy(2), LpContrast(3.0), Smooth()])
def test_what_is_not_finite_is_refused_and_the_state_remains(contrast: Contrast, bad: float, rng: Rng) -> None:
    batches = stream(rng, 3)
    solver = solver_of(contrast)
    state, other = (begun(solver, batches[0], np.float32) for _ in range(2))
    state, other = solver.step(state, batches[0]), solver.step(other, batches[0])
    spoilt = batches[1].copy()
    spoilt.data[:] *= 1e13
    spoilt.data[3] = bad
    with pytest.raises(ValueError, match="not finite"):
        solver.step(state, spoilt)
    state, other = solver.step(state, batches[2]), solver.step(other, batches[2])
    assert np.asarray(state.x).tobytes() == np.asarray(other.x).tobytes()


def test_weights_that_are_not_numbers_are_refused(rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2))
    with pytest.raises(ValueError, match="the gradient at step 1 is not finite"):
        solver.step(begun(solver, rows), rows, np.full(40, np.nan))


def test_a_mini_batch_without_samples_is_refused(rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2))
    with pytest.raises(ValueError, match="the mini-batch holds no samples"):
        solver.step(begun(solver, rows), rows[:0])


def test_a_mini_batch_of_another_width_is_refused(rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2))
    for other in (rows[:, :-1], sparse.hstack([rows, rows])):
        with pytest.raises(ValueError, match=f"has {other.shape[1]} columns, the matrix {COLUMNS} rows"):
            solver.step(begun(solver, rows), other)


@each_type
def test_samples_of_zeros_change_nothing_but_weigh(dtype: Any, rng: Rng) -> None:
    batches = stream(rng, 3)
    solver = solver_of(TopEnergy(2))
    state = begun(solver, batches[0], dtype)
    for rows in batches:
        state = solver.step(state, rows)
    before, gradient = np.asarray(state.x), state.gradient
    after = solver.step(state, sparse.csr_array((7, COLUMNS)))
    np.testing.assert_allclose(np.asarray(after.x), before, atol=TOLERANCES[dtype])
    np.testing.assert_allclose(after.gradient, 0.75 * gradient, rtol=1e-5)
    some = sparse.csr_array(np.vstack([np.zeros((3, COLUMNS)), batches[0].toarray()]))
    assert np.isfinite(np.asarray(solver.step(after, some).x)).all()


@each_type
@pytest.mark.parametrize("first", ["zeros", "one sample", "equal samples"])
def test_a_poor_start_fills_up(first: str, dtype: Any, rng: Rng) -> None:
    batches = stream(rng, 10)
    poor = {
        "zeros": sparse.csr_array((7, COLUMNS)),
        "one sample": batches[0][:1],
        "equal samples": sparse.vstack([batches[0][:1]] * 9).tocsr(),
    }[first]
    solver = solver_of(TopEnergy(2))
    state = solver.step(begun(solver, poor, dtype), poor)
    for rows in batches:
        state = solver.step(state, rows)
    formed = np.asarray(state.x)
    np.testing.assert_allclose(formed.T @ formed, np.eye(ATOMS), atol=TOLERANCES[dtype])


def test_a_stream_of_equal_samples_is_endured(rng: Rng) -> None:
    row = stream(rng, 1)[0][:1]
    solver = solver_of(TopEnergy(2))
    state = begun(solver, row, np.float32)
    for _ in range(50):
        state = solver.step(state, row)
    code = SparseRows(row, np.float32) @ state.x
    assert float((code**2).sum()) == pytest.approx(float(row.power(2).sum()), rel=1e-3)


@each_type
@pytest.mark.parametrize("after", [0, 1, 7])
def test_saved_state_goes_on_bit_for_bit(after: int, dtype: Any, tmp_path: Path, rng: Rng) -> None:
    batches = stream(rng, 12)
    solver = solver_of(TopEnergy(2))
    state = solver.run(begun(solver, batches[0], dtype), batches[:after]).state
    arrays: dict[str, Any] = dict(state.to_arrays())
    np.savez(tmp_path / "state.npz", **arrays)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as stored:
        restored = solver.restore(dict(stored))
    for one in (restored, solver.restore(arrays)):
        assert one.t == after
        assert one.x.dtype == dtype
    state, other = (solver.run(one, batches[after:]).state for one in (state, restored))
    for (name, array), (other_name, its) in zip(state.to_arrays().items(), other.to_arrays().items(), strict=True):
        assert name == other_name
        assert array.dtype == its.dtype
        assert array.tobytes() == its.tobytes()


@pytest.mark.parametrize("steps", [np.nan, np.inf, -1.0, 0.5])
def test_a_number_of_steps_that_is_none_is_refused(steps: float, rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2))
    arrays = begun(solver, rows).to_arrays() | {"memory/steps": np.array(steps)}
    with pytest.raises(ValueError, match=f"it has taken {steps} steps"):
        solver.restore(arrays)


def test_states_of_other_estimates_are_refused(rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2))
    dense = StochasticFrankWolfe(SpectralBall(), TopEnergy(2), post_step=PolarStep())
    state = begun(solver, rows)
    with pytest.raises(ValueError, match="they hold no polar factor"):
        solver.restore(dense.init(np.asarray(state.x)).to_arrays())
    with pytest.raises(ValueError, match="RunningMean remembers gradient"):
        dense.restore(state.to_arrays())
    arrays = state.to_arrays()
    del arrays["x/gram"]
    with pytest.raises(ValueError, match="gram is missing"):
        solver.restore(arrays)


def test_an_old_state_cannot_be_used(rng: Rng) -> None:
    batches = stream(rng, 2)
    solver = solver_of(TopEnergy(2))
    state = begun(solver, batches[0])
    kept: Any = state.x.copy()
    later = solver.step(state, batches[0])
    with pytest.raises(RuntimeError, match="changed by a later step"):
        solver.step(state, batches[1])
    with pytest.raises(RuntimeError, match="changed by a later step"):
        state.to_arrays()
    with pytest.raises(RuntimeError, match="changed by a later step"):
        _ = state.gradient
    again = solver.step(state._replace(x=kept), batches[0])
    assert np.asarray(again.x).tobytes() == np.asarray(later.x).tobytes()


@pytest.mark.parametrize("schedule", [PaperSchedule(), ConstantSchedule(0.1, 0.5)])
def test_a_gamma_below_one_is_refused(schedule: Any, rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    solver = solver_of(TopEnergy(2), schedule)
    with pytest.raises(ValueError, match="SparseRunningMean needs a gamma of 1"):
        solver.step(begun(solver, rows), rows)


@pytest.mark.parametrize("objective", [LeastSquares(), RankWeightedEnergy(), TopEnergy])
def test_only_contrasts_are_taken(objective: Any) -> None:
    with pytest.raises(TypeError, match="objective is"):
        SparseRunningMean(objective)


def test_parts_that_do_not_fit_are_refused(rng: Rng) -> None:
    (rows,) = stream(rng, 1)
    start, estimate = PolarFactor.random(rows, ATOMS, rng), SparseRunningMean(TopEnergy(2))
    ball, post_step = SpectralBall(), PolarStep()
    with pytest.raises(ValueError, match="cannot be averaged"):
        StochasticFrankWolfe(ball, estimate, post_step=post_step, average=True).init(start)
    with pytest.raises(ValueError, match="only goes with SparseRunningMean and PolarStep"):
        StochasticFrankWolfe(ball, estimate).init(start)
    with pytest.raises(ValueError, match="only goes with SparseRunningMean and PolarStep"):
        StochasticFrankWolfe(ball, TopEnergy(2), post_step=post_step).init(start)
    for other in (SpectralBall(2.0), NuclearBall()):
        with pytest.raises(ValueError, match=r"only goes with SpectralBall\(radius=1\)"):
            StochasticFrankWolfe(other, estimate, post_step=post_step).init(start)
    with pytest.raises(ValueError, match="cannot be combined"):
        StochasticFrankWolfe(L1Ball(), estimate, post_step=post_step)
    with pytest.raises(TypeError, match="needs a PolarFactor to start from"):
        StochasticFrankWolfe(ball, estimate, post_step=post_step).init(np.eye(COLUMNS, ATOMS))
    with pytest.raises(ValueError, match="1 <= K <= N"):
        solver_of(TopEnergy(2)).init(PolarFactor.random(rows[:, :3], ATOMS, rng))


def drift(half_life: float, steps: int, rng: Rng) -> tuple[float, float]:
    """Return how far the kept Gram matrix is from the true one, and the columns from orthonormal ones."""
    batches = stream(rng, 50, samples=20)
    solver = solver_of(TopEnergy(2), MeanThenForget(half_life))
    state = begun(solver, batches[0], np.float32)
    for step in range(steps):
        state = solver.step(state, batches[step % 50])
    factor: Any = state.x
    formed, gradient = factor.dense(), factor.matrix.dense()
    true = gradient.T @ gradient
    error = np.abs(factor.matrix.gram - true).max() / np.linalg.eigvalsh(true)[-1]
    return float(error), float(np.abs(formed.T @ formed - np.eye(ATOMS)).max())


@pytest.mark.parametrize("half_life", [50.0, 2000.0, 1e9])
def test_gram_matrix_follows_the_rows(half_life: float, rng: Rng) -> None:
    error, deviation = drift(half_life, 500, rng)
    assert error < 1e-6
    assert deviation < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("half_life", [50.0, 2000.0, 1e9])
def test_gram_matrix_does_not_drift_away(half_life: float, rng: Rng) -> None:
    error, deviation = drift(half_life, 20_000, rng)
    # Without forgetting, later samples weigh so little that single precision rounds much of them away.
    assert error < (1e-4 if half_life == 1e9 else 1e-6)
    assert deviation < (1e-4 if half_life == 1e9 else 1e-5)
