"""The state can be written down, and the run goes on as if nothing had happened."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.optimize import (
    ConstantSchedule,
    CoolThenConstant,
    Guarded,
    HandOver,
    InSubspace,
    L1Ball,
    L2Ball,
    LeastSquares,
    LpContrast,
    MixedMemories,
    PaperSchedule,
    PolarFactor,
    PolarStep,
    Replay,
    SparseEigenvectors,
    SparseRunningMean,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    TopEnergy,
)

CASES: dict[str, tuple[StochasticFrankWolfe, tuple[int, ...], Any]] = {
    "Algorithm 2": (StochasticFrankWolfe(SpectralBall(), LpContrast(), PaperSchedule(), PolarStep()), (), np.float64),
    "Algorithm 2, large": (
        StochasticFrankWolfe(SpectralBall(), LpContrast(4), CoolThenConstant(100), PolarStep()),
        (),
        np.float64,
    ),
    "Algorithm 2, a stack": (
        StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.3, 0.2), PolarStep(), average=True),
        (3,),
        np.float64,
    ),
    "Algorithm 2, single precision": (
        StochasticFrankWolfe(SpectralBall(), LpContrast(), post_step=PolarStep()),
        (),
        np.float32,
    ),
    "hand-over": (StochasticFrankWolfe(SpectralBall(), HandOver(), post_step=PolarStep()), (), np.float64),
    "hand-over, stack": (StochasticFrankWolfe(SpectralBall(), HandOver(4), post_step=PolarStep()), (3,), np.float32),
    "guarded": (StochasticFrankWolfe(SpectralBall(), Guarded(), post_step=PolarStep()), (), np.float64),
    "guarded, stack": (StochasticFrankWolfe(SpectralBall(), Guarded(), post_step=PolarStep()), (3,), np.float64),
    "mixed memories": (StochasticFrankWolfe(SpectralBall(), MixedMemories(), post_step=PolarStep()), (), np.float64),
    "mixed memories, stack": (
        StochasticFrankWolfe(SpectralBall(), MixedMemories(), post_step=PolarStep()),
        (2,),
        np.float64,
    ),
    "in a subspace": (StochasticFrankWolfe(SpectralBall(), InSubspace(), post_step=PolarStep()), (), np.float64),
    "in a subspace, stack": (
        StochasticFrankWolfe(SpectralBall(), InSubspace(), post_step=PolarStep()),
        (3,),
        np.float64,
    ),
    "replay": (StochasticFrankWolfe(SpectralBall(), Replay(), post_step=PolarStep()), (2,), np.float64),
    "sparse eigenvectors": (StochasticFrankWolfe(L2Ball(), SparseEigenvectors()), (2,), np.float64),
    "sparse eigenvectors, sketched, a stack": (
        StochasticFrankWolfe(L2Ball(), SparseEigenvectors(half_life=90.0, largest_matrix=0, rank=1)),
        (3, 1),
        np.float64,
    ),
    "sparse running mean": (
        StochasticFrankWolfe(SpectralBall(), SparseRunningMean(TopEnergy(2)), post_step=PolarStep()),
        (),
        np.float64,
    ),
    "sparse running mean, single precision": (
        StochasticFrankWolfe(SpectralBall(), SparseRunningMean(LpContrast()), post_step=PolarStep()),
        (),
        np.float32,
    ),
    "Algorithm 1": (StochasticFrankWolfe(L1Ball(), LeastSquares()), (), np.float64),
    "Algorithm 1, averaging": (StochasticFrankWolfe(L1Ball(), LeastSquares(), average=True), (2, 2), np.float64),
}
each_case = pytest.mark.parametrize("name", CASES)

FACTOR = ("shape", "used", "rows", "scale", "gram", "right", "empty")


def start(name: str, rng: np.random.Generator) -> tuple[StochasticFrankWolfe, State]:
    solver, stack, dtype = CASES[name]
    size = 24 if "large" in name else 6
    core = (size, size) if solver.feasible.core_ndim == 2 else (size,)
    if isinstance(solver.estimate, InSubspace):
        core = (size, 2)
    if isinstance(solver.estimate, SparseRunningMean):
        return solver, solver.init(PolarFactor.random(rng.standard_normal((9, size)), 3, rng, dtype))
    return solver, solver.init(solver.feasible.lmo(rng.standard_normal((*stack, *core))).astype(dtype))


def advance(solver: StochasticFrankWolfe, state: State, seed: int) -> State:
    """Take some steps on batches that depend on the seed and the time alone."""
    size = state.x.shape[-solver.feasible.core_ndim]
    stack = state.x.shape[: state.x.ndim - solver.feasible.core_ndim]
    for _ in range(8):
        rng = np.random.default_rng([seed, state.t])
        rows = (rng.standard_normal((*stack, 20, size)) * (rng.random((*stack, 20, size)) < 0.4)).astype(state.x.dtype)
        if isinstance(solver.estimate, SparseEigenvectors):
            rows = rows[..., 0, :, :]  # components of a problem share their samples
        targets = rng.standard_normal((*stack, 20))
        state = solver.step(state, (rows, targets) if isinstance(solver.objective, LeastSquares) else rows)
    return state


def save(file: Path, state: State) -> None:
    arrays: dict[str, Any] = dict(state.to_arrays())
    np.savez(file, **arrays)


def assert_identical(one: State, other: State) -> None:
    assert one.t == other.t
    assert one.memory.layout.shapes == other.memory.layout.shapes
    arrays = ((state.x, state.memory.array, state.oracle, state.average) for state in (one, other))
    for mine, its in zip(*arrays, strict=True):
        assert (mine is None) == (its is None)
        if mine is not None:
            mine, its = np.asarray(mine), np.asarray(its)
            assert mine.dtype == its.dtype
            assert mine.shape == its.shape
            assert mine.tobytes() == its.tobytes()


@each_case
@pytest.mark.parametrize("through", ["arrays", "file", "pickle"])
def test_going_on_is_bit_identical(name: str, through: str, path: str, tmp_path: Path, rng: Any) -> None:
    solver, state = start(name, rng)
    solver = pickle.loads(pickle.dumps(solver)) if through == "pickle" else solver
    for _ in range(2):  # just begun, and under way
        if through == "arrays":
            restored = solver.restore({key: value.copy() for key, value in state.to_arrays().items()})
        elif through == "file":
            save(tmp_path / "state.npz", state)
            with np.load(tmp_path / "state.npz", allow_pickle=False) as stored:
                restored = solver.restore(dict(stored))
        else:
            restored = pickle.loads(pickle.dumps(state))
        assert_identical(restored, state)
        state = advance(solver, state, 1)
        assert_identical(advance(solver, restored, 1), state)


@each_case
def test_file_need_not_be_read_as_a_whole(name: str, tmp_path: Path, rng: Any) -> None:
    solver, state = start(name, rng)
    state = advance(solver, state, 1)
    save(tmp_path / "state.npz", state)
    with np.load(tmp_path / "state.npz") as stored:
        restored = solver.restore(stored)  # a mapping, as good as a dictionary
    assert_identical(restored, state)


@each_case
def test_arrays_are_plain(name: str, rng: Any) -> None:
    solver, state = start(name, rng)
    arrays = advance(solver, state, 1).to_arrays()
    assert all(type(array) is np.ndarray and array.dtype != object for array in arrays.values())
    memory = {f"memory/{part}" for part in state.memory}
    point = {f"x/{part}" for part in FACTOR} if isinstance(state.x, PolarFactor) else {"x"}
    assert set(arrays) == {"t", "oracle"} | point | ({"average"} if solver.average else set()) | memory
    assert arrays["t"] == 8


@pytest.mark.parametrize("missing", ["t", "x", "oracle"])
def test_missing_arrays_are_named(missing: str, rng: Any) -> None:
    solver, state = start("Algorithm 1", rng)
    arrays = state.to_arrays()
    del arrays[missing]
    with pytest.raises(ValueError, match=f"no solver state: {missing} missing"):
        solver.restore(arrays)


@pytest.mark.parametrize("name", ["Algorithm 1", "hand-over", "mixed memories", "replay"])
def test_a_memory_of_another_kind_is_refused(name: str, rng: Any) -> None:
    solver, state = start(name, rng)
    arrays = state.to_arrays()
    lost = list(state.memory)[1]
    del arrays[f"memory/{lost}"]
    with pytest.raises(ValueError, match=f"remembers {lost} of shape"):
        solver.restore(arrays)


@pytest.mark.parametrize("name", ["Algorithm 2", "Algorithm 2, a stack", "hand-over", "replay"])
def test_arrays_of_version_0_1_are_understood(name: str, rng: Any) -> None:
    """They were called gradient, memory (what is the oracle's now) and, for what estimates remember, course/..."""
    solver, state = start(name, rng)
    state = advance(solver, state, 1)
    old = {"t": np.asarray(state.t), "x": state.x, "memory": np.asarray(state.oracle)}
    for part, array in state.memory.items():
        names = {"gradient": "gradient", "pairs": "course/matrices"}
        if part not in ("steps", "guess"):
            old[names.get(part, f"course/{part}")] = array
    if state.average is not None:
        old["average"] = state.average
    restored = solver.restore(old)
    for part, array in restored.memory.items():
        np.testing.assert_array_equal(array, np.zeros_like(array) if part == "guess" else state.memory[part])
    assert_identical(restored._replace(memory=state.memory), state)


def test_average_may_be_missing(rng: Any) -> None:
    solver, state = start("Algorithm 1, averaging", rng)
    arrays = state.to_arrays()
    del arrays["average"]
    assert solver.restore(arrays).average is None


def test_fields_cannot_be_set(rng: Any) -> None:
    _, state = start("Algorithm 1", rng)
    with pytest.raises(AttributeError):
        state.t = 3  # type: ignore[misc]
