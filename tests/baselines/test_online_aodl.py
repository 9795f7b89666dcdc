"""Online dictionary learning, and its two solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream.baselines import OnlineAODL, alternating_solvers
from orthostream.baselines.alternating_solvers import ScikitLearnSolver, SpamsSolver, solver_by_name
from orthostream.baselines.base import unit_rows
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.dictionary.sparse_coding import keep_largest
from orthostream.metrics import recovery_error

SOLVERS = ["spams", "scikit-learn"]


@pytest.fixture(params=SOLVERS)
def solver(request: pytest.FixtureRequest) -> str:
    if request.param == "spams":
        pytest.importorskip("spams")
    name: str = request.param
    return name


@pytest.fixture
def spams() -> Any:
    return pytest.importorskip("spams")


def test_the_penalty_is_that_of_the_paper(solver: str, stream: np.ndarray) -> None:
    """At the minimum of ||y - D x||^2 + penalty ||x||_1 the slope 2 d'(y - D x) is the penalty, or less at a zero."""
    learner = OnlineAODL(10, penalty=0.6, solver=solver, random_state=0).partial_fit(stream[:50])
    codes = learner.transform(stream[:50])
    slopes = 2.0 * (stream[:50] - learner.inverse_transform(codes)) @ learner.components_.T
    assert np.count_nonzero(codes) > 50
    np.testing.assert_allclose(slopes[codes != 0.0], 0.6 * np.sign(codes[codes != 0.0]), atol=1e-6)
    assert np.abs(slopes).max() <= 0.6 + 1e-6


def test_codes_are_cut_not_fitted_again(solver: str, stream: np.ndarray) -> None:
    learner = OnlineAODL(penalty=0.1, solver=solver, random_state=0).partial_fit(stream[:50])
    whole = learner.transform(stream[:50])
    np.testing.assert_array_equal(learner.set_params(n_nonzero=2).transform(stream[:50]), keep_largest(whole, 2))


def test_both_solvers_code_alike(spams: Any, stream: np.ndarray) -> None:
    atoms = unit_rows(np.random.default_rng(0).standard_normal((12, 8)))
    rng = np.random.RandomState(0)
    for weight in (1e-3, 0.1, 1.0, 100.0):
        ours = SpamsSolver(rng).codes(stream[:100], atoms, weight)
        np.testing.assert_allclose(ScikitLearnSolver(rng).codes(stream[:100], atoms, weight), ours, atol=1e-6)


def test_atoms_have_length_one(solver: str, stream: np.ndarray, fed: Any) -> None:
    learner = fed(OnlineAODL(12, penalty=0.5, solver=solver, random_state=0), stream[:200])
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0)
    learner.fit(stream[:50])
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0)


def test_the_truth_is_found(solver: str) -> None:
    data = make_bernoulli_gaussian(6_000, 6, random_state=0)
    init = make_bernoulli_gaussian(1, 6, random_state=1).components
    learner = OnlineAODL(penalty=1.0, solver=solver, init=init, batch_size=60, random_state=0)
    assert recovery_error(init, data.components) > 0.3
    assert recovery_error(learner.partial_fit(data.samples).components_, data.components) < 5e-3


def test_the_stream_goes_on_from_what_spams_remembers(spams: Any, stream: np.ndarray, fed: Any) -> None:
    init = unit_rows(np.random.default_rng(0).standard_normal((8, 8)))
    learner = fed(OnlineAODL(penalty=0.5, solver="spams", init=init), stream[:200])
    columns, model = np.asfortranarray(init.T), None
    for start in range(0, 200, 10):
        columns, model = spams.trainDL(
            np.asfortranarray(stream[start : start + 10].T),
            return_model=True,
            model=model,
            D=columns,
            lambda1=0.25,
            batchsize=10,
            iter=1,
            numThreads=1,
            verbose=False,
        )
    np.testing.assert_allclose(learner.components_, unit_rows(columns.T), atol=1e-9)
    assert learner.n_steps_ == model["iter"] == 20
    forgetful = OnlineAODL(
        penalty=0.5,
        solver="spams",
        init=fed(OnlineAODL(penalty=0.5, solver="spams", init=init), stream[:190]).components_,
    ).partial_fit(stream[190:200])
    assert np.abs(forgetful.components_ - learner.components_).max() > 1e-3


@pytest.mark.parametrize(("steps", "calls"), [(1, 60), (60, 1)])
def test_what_spams_forgets(spams: Any, stream: np.ndarray, steps: int, calls: int) -> None:
    """With a penalty so large that all codes are zero, forgetting is all that changes the statistics."""
    size, first = 10, 200
    learner = SpamsSolver(np.random.RandomState(0))
    learner.memory = {"A": np.eye(8, order="F"), "B": np.eye(8, order="F"), "iter": first}
    expected, t, rows = 1.0, first, size * steps
    for _ in range(calls):
        learner.learn(stream[:rows], np.eye(8), 1e6, size)
        for i in range(steps):
            expected *= 1.0 - size / min(t + 2 * rows + 1, 2 * t + i + size * (size - 1) + 1)
        t += steps
    np.testing.assert_allclose(learner.memory["A"], expected * np.eye(8))
    assert learner.memory["iter"] == t


def test_a_call_is_cut_into_mini_batches(solver: str, stream: np.ndarray, fed: Any) -> None:
    parameters: dict[str, Any] = {"penalty": 1.0, "solver": solver, "random_state": 0}
    cut = OnlineAODL(batch_size=10, **parameters).partial_fit(stream[:205])
    assert cut.n_steps_ == 21
    fed_alone = fed(OnlineAODL(**parameters), stream[:205])
    assert fed_alone.n_steps_ == 21
    if solver == "scikit-learn":
        np.testing.assert_array_equal(cut.components_, fed_alone.components_)
    else:  # SPAMS forms other mini-batches of the same rows, and forgets at another rate
        closest = np.abs(cut.components_ @ fed_alone.components_.T).max(axis=1)
        assert np.median(closest) > 0.9


def test_spams_deals_the_rows_always_in_the_same_way(spams: Any, stream: np.ndarray) -> None:
    first, second = (
        OnlineAODL(penalty=0.5, solver="spams", batch_size=10, random_state=0).partial_fit(stream[:500])
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.components_, second.components_)


def test_lost_atoms_are_drawn_from_the_seed(spams: Any, monkeypatch: pytest.MonkeyPatch, stream: np.ndarray) -> None:
    """SPAMS would draw them from a generator that cannot be seeded."""
    given = []

    def train(*args: Any, D: np.ndarray, **parameters: Any) -> Any:
        given.append(D.copy())
        columns, model = real(*args, D=D, **parameters)
        columns[:, 3] = 0.0
        return columns, model

    real = spams.trainDL
    monkeypatch.setattr(spams, "trainDL", train)
    for _ in range(2):
        learner = OnlineAODL(penalty=0.5, solver="spams", random_state=0)
        learner.partial_fit(stream[:10]).partial_fit(stream[10:20])
    np.testing.assert_array_equal(given[1], given[3])
    np.testing.assert_allclose(np.linalg.norm(given[1], axis=0), 1.0)


def test_fit_is_the_batch_version(solver: str, stream: np.ndarray) -> None:
    def objective(iterations: int) -> float:
        learner = OnlineAODL(
            penalty=0.5, solver=solver, fit_iterations=iterations, init=np.eye(8)[::-1] + 0.1, random_state=0
        ).fit(stream[:100])
        assert learner.n_steps_ == 0
        codes = learner.transform(stream[:100])
        return float(((stream[:100] - learner.inverse_transform(codes)) ** 2).sum() + 0.5 * np.abs(codes).sum())

    values = [objective(iterations) for iterations in (1, 3, 9)]
    assert values[0] > values[1] > values[2]


def test_which_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    monkeypatch.setattr(alternating_solvers, "find_spec", lambda name: None)
    assert isinstance(solver_by_name("auto", rng), ScikitLearnSolver)
    with pytest.raises(ImportError, match=r"orthostream\[bench\]"):
        solver_by_name("spams", rng)
    monkeypatch.setattr(alternating_solvers, "find_spec", lambda name: name)
    assert isinstance(solver_by_name("auto", rng), SpamsSolver)
    assert isinstance(solver_by_name("scikit-learn", rng), ScikitLearnSolver)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": 0.0}, "penalty must be positive and finite, got 0.0"),
        ({"penalty": "much"}, "penalty must be"),
        ({"penalty": np.inf}, "penalty must be"),
        ({"solver": "lasso"}, "solver must be"),
        ({"init": "data"}, "init must be"),
        ({"init": np.eye(3)}, "init must be finite and of shape"),
        ({"init": np.full((8, 8), np.nan)}, "init must be finite"),
        ({"init": np.zeros((8, 8))}, "row of zeros"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"n_components": -1}, "n_components must be"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str, stream: np.ndarray) -> None:
    for call in ("fit", "partial_fit"):
        learner = OnlineAODL(**parameters)
        with pytest.raises(ValueError, match=message):
            getattr(learner, call)(stream[:20])
        assert not hasattr(learner, "components_")
    with pytest.raises(ValueError, match="fit_iterations must be"):
        OnlineAODL(fit_iterations=0).fit(stream[:20])


def test_the_start_is_not_written_to(solver: str, stream: np.ndarray, fed: Any) -> None:
    init = unit_rows(np.random.default_rng(0).standard_normal((8, 8)))
    kept = init.copy()
    fed(OnlineAODL(penalty=0.5, solver=solver, init=init, random_state=0), stream[:100])
    np.testing.assert_array_equal(init, kept)
