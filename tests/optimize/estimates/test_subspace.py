"""What a learner in a subspace promises: closer with noise, no worse elsewhere, the same on every path."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize import (
    AdaptiveSchedule,
    Guarded,
    HandOver,
    InSubspace,
    PolarStep,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    polar,
)
from orthostream.optimize.estimates.subspace import decisions
from orthostream.optimize.estimates.subspace.constants import LARGEST
from orthostream.optimize.estimates.subspace.layout import (
    AGE,
    BASIS,
    CHANGED,
    COMPARED,
    GUESS,
    IN_FORCE,
    LEAD_QUICK,
    LEAD_STEADY,
    NUMBERS,
    OUTSIDE,
    PATIENT_ONE,
    POWER,
    POWER_QUICK,
    POWER_STEADY,
    QUICK_ONE,
    STEADY_AGE,
    STEADY_ONE,
    TRUST,
    WAITING,
)

Rng = np.random.Generator


def codes(rng: Rng, *shape: int) -> FloatArray:
    return rng.standard_normal(shape) * (rng.random(shape) < 0.3)


def orthogonal(rng: Rng, *shape: int) -> FloatArray:
    return polar(rng.standard_normal(shape))[0]


def rows(rng: Rng, truth: FloatArray, count: int, noise: float | FloatArray = 0.05, size: int = 10) -> list[FloatArray]:
    clean = codes(rng, count, size, truth.shape[1]) @ truth.T
    return list(clean + noise * rng.standard_normal(clean.shape))


def solver_of(estimate: Guarded | InSubspace | None = None) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), estimate or InSubspace(), post_step=PolarStep())


def run(solver: StochasticFrankWolfe, state: State, batches: Iterable[FloatArray]) -> State:
    for batch in batches:
        state = solver.step(state, batch)
    return state


def learnt(batches: list[FloatArray], start: FloatArray, estimate: Guarded | InSubspace | None = None) -> FloatArray:
    solver = solver_of(estimate)
    return solver.answer(run(solver, solver.init(start), batches))


def error(x: FloatArray, truth: FloatArray) -> float:
    return abs(1.0 - float(np.sum((x.T @ truth) ** 4)) / truth.shape[1])


def test_with_noise_it_is_closer_than_without_a_subspace(rng: Rng) -> None:
    ratios = []
    for _ in range(5):
        truth, start = orthogonal(rng, 30, 8), orthogonal(rng, 30, 8)
        batches = rows(rng, truth, 600, 0.1)
        ratios.append(error(learnt(batches, start), truth) / error(learnt(batches, start, Guarded()), truth))
    assert np.median(ratios) < 0.7
    assert max(ratios) < 1.4


@pytest.mark.parametrize("shape", [(20, 5), (6, 5), (LARGEST + 8, 4)])
def test_without_noise_it_is_exact(shape: tuple[int, int], rng: Rng) -> None:
    truth = orthogonal(rng, *shape)
    assert error(learnt(rows(rng, truth, 300, 0.0), orthogonal(rng, *shape)), truth) < 1e-12


def test_one_atom_is_found(rng: Rng) -> None:
    truth = orthogonal(rng, 10, 1)
    assert error(learnt(rows(rng, truth, 300), orthogonal(rng, 10, 1)), truth) < 1e-3


def test_uneven_noise_disturbs_it_less_than_principal_components(rng: Rng) -> None:
    truth = orthogonal(rng, 20, 5)
    batches = rows(rng, truth, 1000, np.linspace(0.0, 0.3, 20))
    everything = np.concatenate(batches)
    components = np.linalg.svd(everything, full_matrices=False)[2][:5].T
    found = learnt(batches, orthogonal(rng, 20, 5))

    def outside(basis: FloatArray) -> float:
        return 5.0 - float(np.sum((basis.T @ truth) ** 2))

    assert outside(found) < 0.5 * outside(components)


def test_outliers_of_1e6_are_rows_like_others(rng: Rng) -> None:
    truth = orthogonal(rng, 20, 5)
    batches = rows(rng, truth, 600)
    for batch in batches[::7]:
        batch[0] = 1e6 * rng.standard_normal(20)
    assert error(learnt(batches, orthogonal(rng, 20, 5)), truth) < 2e-3


def test_another_subspace_is_learnt_anew_and_reported(rng: Rng) -> None:
    first, second = orthogonal(rng, 20, 5), orthogonal(rng, 20, 5)
    solver = solver_of()
    state = run(solver, solver.init(orthogonal(rng, 20, 5)), rows(rng, first, 300))
    assert solver.estimate.report(state.memory, 10).changes == 0.0
    state = run(solver, state, rows(rng, second, 300))
    assert solver.estimate.report(state.memory, 10).changes >= 1.0
    assert error(solver.answer(state), second) < 1e-3


def test_a_drift_keeps_the_memory_short(rng: Rng) -> None:
    truth, turn = orthogonal(rng, 20, 5), orthogonal(rng, 20, 20)
    half, ages = np.eye(10), []
    quarter = np.block([[0.0 * half, -half], [half, 0.0 * half]])
    for angle in (0.0, 0.005):
        solver = solver_of()
        state = solver.init(orthogonal(rng, 20, 5))
        for t in range(400):
            turned = turn @ (np.cos(angle * t) * np.eye(20) + np.sin(angle * t) * quarter) @ turn.T @ truth
            state = solver.step(state, rows(rng, turned, 1)[0])
        ages.append(float(state.memory["tracking"][AGE]))
        assert error(solver.answer(state), turned) < 0.02
    assert ages[1] < 0.2 * ages[0]


@pytest.mark.parametrize("shape", [(20, 5), (7, 6), (9, 1), (LARGEST + 8, 3)])
def test_the_compiled_step_is_the_plain_one(shape: tuple[int, int], rng: Rng) -> None:
    if not can_compile():
        pytest.skip("needs Numba")
    truth = orthogonal(rng, *shape)
    solver = solver_of()
    state = solver.init(orthogonal(rng, *shape))
    for batch in [*rows(rng, truth, 60), *rows(rng, orthogonal(rng, *shape), 60)]:
        compiled = solver.compiled_step(state, batch)
        with without_numba():
            plain = solver.plain_step(state, batch)
        if compiled is not None:
            np.testing.assert_allclose(compiled.x, plain.x, atol=1e-9)
            ours, its = (np.delete(one.memory["tracking"], GUESS) for one in (compiled, plain))
            np.testing.assert_allclose(ours, its, rtol=1e-6, atol=1e-9)
        state = plain


@pytest.mark.parametrize("path", [nullcontext, without_numba])
def test_a_stack_is_its_problems(path: type, rng: Rng) -> None:
    truths = [orthogonal(rng, 12, 3) for _ in range(2)]
    start = np.stack([orthogonal(rng, 12, 3) for _ in range(2)])
    streams = [rows(rng, truth, 60) for truth in truths]
    solver = solver_of()
    with path():
        together = run(solver, solver.init(start), [np.stack(pair) for pair in zip(*streams, strict=True)])
        for i, stream in enumerate(streams):
            alone = run(solver, solver.init(start[i]), stream)
            np.testing.assert_allclose(together.x[i], alone.x, atol=1e-8)


def test_units_do_not_matter(rng: Rng) -> None:
    truth, start = orthogonal(rng, 12, 3), orthogonal(rng, 12, 3)
    solver = solver_of()
    batches = rows(rng, truth, 80)
    one = run(solver, solver.init(start), batches)
    half = run(solver, solver.init(start), batches[:40])
    scaled = half._replace(memory=solver.estimate.rescaled(half.memory, 1024.0))
    other = run(solver, scaled, [1024.0 * batch for batch in batches[40:]])
    np.testing.assert_allclose(other.x, one.x, atol=1e-9)


@pytest.mark.parametrize("features", [12, LARGEST + 8])
def test_sparse_rows_are_dense_rows(features: int, rng: Rng) -> None:
    start = orthogonal(rng, features, 3)
    batches = [codes(rng, 10, features) for _ in range(40)]
    solver = solver_of()
    with without_numba():
        dense = run(solver, solver.init(start), batches)
        other = run(solver, solver.init(start), [sparse.csr_matrix(batch) for batch in batches])
    np.testing.assert_allclose(other.x, dense.x, atol=1e-9)


def test_rows_of_zeros_and_silent_batches_change_nothing(rng: Rng) -> None:
    solver = solver_of()
    state = run(solver, solver.init(orthogonal(rng, 12, 3)), rows(rng, orthogonal(rng, 12, 3), 30))
    after = solver.step(state, np.zeros((10, 12)))
    np.testing.assert_allclose(after.x, state.x, atol=1e-12)
    np.testing.assert_array_equal(after.memory["tracking"], state.memory["tracking"])


def test_rehearsed_samples_move_no_basis(rng: Rng) -> None:
    truth = orthogonal(rng, 12, 3)
    state = run(solver_of(), solver_of().init(orthogonal(rng, 12, 3)), rows(rng, truth, 20))
    again = solver_of(InSubspace(again=True))
    after = run(again, state, rows(rng, truth, 20))
    for name in ("matrices", "moment", "door", "tracking", "pulls"):
        np.testing.assert_array_equal(after.memory[name], state.memory[name])
    assert np.abs(after.x - state.x).max() > 1e-6
    basis = state.memory["matrices"][BASIS]
    np.testing.assert_allclose(basis @ (basis.T @ after.x), after.x, atol=1e-12)


def test_the_point_stays_in_the_subspace_and_orthonormal(rng: Rng) -> None:
    solver = solver_of()
    state = run(solver, solver.init(orthogonal(rng, 15, 4)), rows(rng, orthogonal(rng, 15, 4), 150))
    basis = state.memory["matrices"][BASIS]
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(state.x.T @ state.x, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(basis @ (basis.T @ state.x), state.x, atol=1e-12)


def test_memory_grows_with_the_dictionary_alone() -> None:
    assert InSubspace().layout((10_000, 10)).size < 10 * 10_000 * 10


@pytest.mark.parametrize("before", [Guarded(), HandOver()])
def test_a_learner_without_a_subspace_goes_on_in_that_of_its_atoms(before: Guarded | HandOver, rng: Rng) -> None:
    truth = orthogonal(rng, 12, 3)
    old = StochasticFrankWolfe(SpectralBall(), before, post_step=PolarStep())
    state = run(old, old.init(orthogonal(rng, 12, 3)), rows(rng, truth, 200))
    new = solver_of()
    for entered in (new.restore(state.to_arrays()), new.adopted(state, old)):
        np.testing.assert_allclose(new.answer(entered), old.answer(state), atol=1e-12)
        assert error(new.answer(run(new, entered, rows(rng, truth, 200))), truth) < 1e-3


def test_another_schedule_goes_on(rng: Rng) -> None:
    truth, solver = orthogonal(rng, 12, 3), solver_of()
    state = run(solver, solver.init(orthogonal(rng, 12, 3)), rows(rng, truth, 100))
    short = solver_of(InSubspace(Guarded(HandOver(schedule=AdaptiveSchedule(half_life=100)))))
    adopted = short.adopted(state, solver)
    np.testing.assert_array_equal(adopted.memory.array, state.memory.array)
    after = run(short, adopted, rows(rng, truth, 100))
    assert after.memory["tracking"][AGE] < 400.0


def test_what_is_not_finite_is_refused(rng: Rng) -> None:
    solver = solver_of()
    with pytest.raises(ValueError, match="not finite"):
        solver.step(solver.init(orthogonal(rng, 6, 2)), np.full((3, 6), np.inf))


def test_it_takes_a_guarded() -> None:
    with pytest.raises(TypeError, match="takes a Guarded"):
        InSubspace(HandOver())  # type: ignore[arg-type]


def numbers(values: dict[int, float]) -> list[float]:
    s = [0.0] * NUMBERS
    decisions.start_tracking(s)
    for place, value in values.items():
        s[place] = value
    return s


def test_the_clock_runs_unless_a_drift_persists() -> None:
    for square, older in ((0.09, True), (0.5, False)):
        s = numbers({AGE: 500.0, WAITING: 10.0, TRUST: 0.1, POWER: 1.0})
        decisions.set_patience(s, 1.0, 5.0, square, 0.05, 0.0, 5, 15)
        assert (s[AGE] > 500.0) == older
        assert s[WAITING] == 0.0


def test_a_leap_in_many_directions_sets_the_clock_back_and_in_one_it_does_not() -> None:
    for directions, back in ((4.0, True), (1.0, False)):
        s = numbers({AGE: 500.0, WAITING: 10.0, TRUST: 0.1, POWER: 1.0})
        decisions.set_patience(s, 100.0, directions, 0.09, 0.05, 0.0, 5, 15)
        assert (s[AGE] < 20.0) == back


def test_another_subspace_is_a_change_unless_all_is_new() -> None:
    for age, changes in ((10.0, 0.0), (1000.0, 3.0)):
        s = numbers({STEADY_AGE: age})
        assert not decisions.is_elsewhere(s, 4.0, 5, 2.0)
        assert decisions.is_elsewhere(s, 2.0, 5, 2.0)
        assert s[CHANGED] == changes


def test_the_best_basis_is_chosen_with_some_inertia() -> None:
    s = numbers({COMPARED: 20.0, OUTSIDE: 100.0, POWER_QUICK: 1.0, POWER_STEADY: 1.0})
    for quick, steady, expected in (
        (1.0, 1.0, PATIENT_ONE),
        (3.0, 1.0, QUICK_ONE),
        (1.0, 1.0, QUICK_ONE),
        (1.0, 4.0, STEADY_ONE),
        (-3.0, -3.0, PATIENT_ONE),
    ):
        s[LEAD_QUICK], s[LEAD_STEADY] = quick, steady
        decisions.choose_basis(s, sparse=False)
        assert s[IN_FORCE] == expected
    s[LEAD_QUICK] = 4.0  # less than a twentieth of what is outside
    assert not decisions.choose_basis(s, sparse=True)


def test_a_steady_basis_far_behind_is_replaced() -> None:
    s = numbers({COMPARED: 20.0, OUTSIDE: 100.0, POWER_STEADY: 1.0, AGE: 70.0, LEAD_STEADY: -7.0})
    assert not decisions.replaces_steady(s)
    s[LEAD_STEADY] = -9.0
    assert decisions.replaces_steady(s)
    assert s[LEAD_STEADY] == 0.0
