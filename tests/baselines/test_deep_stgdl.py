"""DeepSTGDL: the network, its training, its codes, and life without torch."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthostream.baselines.deep_stgdl import DeepSTGDL
from orthostream.baselines.spatiotemporal_graph import neighbour_means, sensor_graph
from orthostream.baselines.spatiotemporal_lasso import lasso
from orthostream.baselines.spatiotemporal_network import decode, decode_edges, encode, first_weights
from orthostream.baselines.spatiotemporal_training import Settings, Training

torch = pytest.importorskip("torch", reason="DeepSTGDL needs torch: the extra [deep]")

SMALL: dict[str, Any] = {"hidden": 6, "window": 3, "n_epochs": 25, "batch_size": 50, "random_state": 0}


def small(n_components: int = 10, **words: Any) -> DeepSTGDL:
    return DeepSTGDL(n_components, **(SMALL | words))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small problems on a busy machine: threads that wait for each other take a hundred times longer."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def readings() -> np.ndarray:
    """300 hours of 8 sensors: a common day, two districts, a little noise."""
    rng = np.random.default_rng(0)
    day = np.sin(np.arange(300) * 2.0 * np.pi / 24.0)[:, None]
    slow = np.cumsum(rng.standard_normal((300, 2)), axis=0) * 0.2
    return 12.0 + 6.0 * day + np.repeat(slow, 4, axis=1) + 0.1 * rng.standard_normal((300, 8))


@pytest.fixture(scope="module")
def fitted(readings: np.ndarray) -> bytes:
    """A learner after `fit`, pickled so that no test changes it for another."""
    return pickle.dumps(small().fit(readings))


@pytest.fixture
def learner(fitted: bytes) -> DeepSTGDL:
    found: DeepSTGDL = pickle.loads(fitted)
    return found


def make_training(readings: np.ndarray, **words: Any) -> Training:
    chosen = {"penalty": 0.03, "node_weight": 0.25, "edge_weight": 0.25, "learning_rate": 0.005} | SMALL | words
    chosen.pop("random_state")
    told = Settings(n_components=10, **chosen)
    standard = ((readings - readings.mean()) / readings.std()).astype(np.float32)
    padded = np.concatenate([np.repeat(standard[:1], told.window - 1, axis=0), standard])
    return Training(padded, sensor_graph(readings, 3), told, np.random.RandomState(0))


# -- the graph ---------------------------------------------------------------------------------------------------


def test_districts_are_neighbours(readings: np.ndarray) -> None:
    changes = np.diff(readings - 6.0 * np.sin(np.arange(300) * 2.0 * np.pi / 24.0)[:, None], axis=0)
    graph = sensor_graph(changes, 2)
    assert (graph == graph.T).all() and (np.diag(graph) == 0.0).all()
    assert ((graph > 0.0).sum(axis=1) >= 2).all() and graph.max() <= 1.0
    assert graph[:4, 4:].sum() == 0.0


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 2**31 - 1))
def test_graph_of_anything(sensors: int, neighbours: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-2, 3, (7, sensors)).astype(float)
    graph = sensor_graph(rows, neighbours)
    assert np.isfinite(graph).all() and (graph >= 0.0).all() and (graph <= 1.0).all()
    sums = neighbour_means(graph).sum(axis=1)
    assert (np.isclose(sums, 1.0) | (sums == 0.0)).all()


# -- the lasso ---------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31 - 1), st.floats(0.01, 3.0), st.sampled_from([0.0, 0.8]))
def test_lasso_is_scikit_learns(seed: int, penalty: float, common: float) -> None:
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((20, 8)) + common * rng.standard_normal((20, 1))
    atoms /= np.linalg.norm(atoms, axis=0)
    latents = rng.standard_normal((5, 20))
    ours = lasso(torch.from_numpy(latents @ atoms), torch.from_numpy(atoms.T @ atoms), penalty, tolerance=1e-10).numpy()
    theirs = Lasso(penalty / 2.0 / 20, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(atoms, latents.T).coef_
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_codes_of_the_estimator_solve_the_lasso(learner: DeepSTGDL, readings: np.ndarray) -> None:
    codes = learner.set_params(penalty=0.05).transform(readings)
    weights = {name: torch.from_numpy(value) for name, value in learner.weights_.items()}
    standard = ((readings - learner.mean_) / learner.scale_).astype(np.float32)
    windows = torch.from_numpy(np.stack([standard[lag : len(standard) - 2 + lag] for lag in range(3)]))
    means = torch.from_numpy(neighbour_means(learner.graph_).astype(np.float32))
    latents = encode(weights, means, windows).double().numpy()[:20]
    atoms = learner.components_.T.astype(float)
    alpha = 0.05 / 2.0 / len(atoms)
    theirs = Lasso(alpha, fit_intercept=False, tol=1e-12, max_iter=1_000_000).fit(atoms, latents.T).coef_
    np.testing.assert_allclose(codes[2:22], theirs, atol=1e-4 * np.abs(theirs).max())


# -- the network -------------------------------------------------------------------------------------------------


def test_encoder_against_a_cell_written_out() -> None:
    rng = np.random.default_rng(1)
    weights = first_weights(4, np.random.RandomState(0))
    means = neighbour_means(np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    windows = rng.standard_normal((5, 2, 3))

    def sigmoid(values: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-values))

    expected = np.empty((2, 3, 4))
    for sample in range(2):
        hidden, cell = np.zeros((3, 4)), np.zeros((3, 4))
        for step in range(5):
            gates = windows[step, sample][:, None] * weights["encoder.input"] + weights["encoder.bias"]
            gates = gates + np.hstack([hidden, means @ hidden]) @ weights["encoder.hidden"]
            take, keep, show, candidate = np.split(gates, 4, axis=1)
            cell = sigmoid(keep) * cell + sigmoid(take) * np.tanh(candidate)
            hidden = sigmoid(show) * np.tanh(cell)
        expected[sample] = hidden
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    found = encode(tensors, torch.from_numpy(means.astype(np.float32)), torch.from_numpy(windows.astype(np.float32)))
    np.testing.assert_allclose(found.numpy(), expected.reshape(2, 12), atol=1e-6)


def test_decoders_see_each_sensor_alone() -> None:
    weights = {name: torch.from_numpy(value) for name, value in first_weights(4, np.random.RandomState(0)).items()}
    latents = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 12)).astype(np.float32))
    changed = latents.clone()
    changed[:, 4:8] += 1.0
    moved = (decode(weights, changed, 3) != decode(weights, latents, 3)).numpy()
    np.testing.assert_array_equal(moved, np.broadcast_to([False, True, False], (2, 3)))
    edges = decode_edges(latents, 3)
    nodes = latents.numpy().reshape(2, 3, 4)
    np.testing.assert_allclose(edges[1, 0, 2], 1.0 / (1.0 + np.exp(-nodes[1, 0] @ nodes[1, 2])), rtol=1e-5)


# -- training ----------------------------------------------------------------------------------------------------


def test_gradient_of_the_decoders_reaches_the_encoder(readings: np.ndarray) -> None:
    training = make_training(readings)
    for value in training.weights.values():
        value.requires_grad_(True)
    for term in ("node", "edge"):
        losses = training.losses(torch.arange(50))
        gradients = torch.autograd.grad(losses[term], [training.weights["encoder.input"]])
        assert float(gradients[0].abs().max()) > 1e-6


def test_codes_are_constants_to_the_gradient(readings: np.ndarray) -> None:
    training = make_training(readings)
    training.atoms.requires_grad_(True)
    losses = training.losses(torch.arange(50))
    found = torch.autograd.grad(losses["loss"], [training.atoms])[0].numpy()
    windows = torch.stack([training.readings[lag : 50 + lag] for lag in range(3)])
    latents = encode(training.weights, training.means, windows).numpy()
    codes, atoms = training.codes[:50].numpy(), training.atoms.detach().numpy()
    assert np.count_nonzero(codes) > 50
    np.testing.assert_allclose(found, -2.0 / 50 * (latents - codes @ atoms.T).T @ codes, atol=1e-5)


def test_losses_fall_and_are_what_they_say(learner: DeepSTGDL) -> None:
    curve = learner.loss_curve_
    assert list(curve) == ["loss", "coding", "node", "edge"]
    assert all(values.shape == (25,) for values in curve.values())
    np.testing.assert_allclose(curve["loss"], curve["coding"] + 0.25 * curve["node"] + 0.25 * curve["edge"], rtol=1e-5)
    assert curve["loss"][-1] < 0.2 * curve["loss"][0]
    assert curve["node"][-1] < 0.1 * curve["node"][0]


def test_atoms_have_length_one(learner: DeepSTGDL) -> None:
    assert learner.components_.shape == (10, 8 * 6)
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0, rtol=1e-5)


def test_reconstruction_beats_the_mean(learner: DeepSTGDL, readings: np.ndarray) -> None:
    errors = {}
    for count in (2, 10):
        codes = learner.set_params(n_nonzero=count).transform(readings)
        errors[count] = np.mean((learner.inverse_transform(codes) - readings) ** 2)
    assert errors[10] < 0.05 * readings.var()
    assert errors[10] <= errors[2] < 0.5 * readings.var()


def test_the_seed_decides_and_nothing_global_moves(fitted: bytes, readings: np.ndarray) -> None:
    generator, dtype = torch.get_rng_state(), torch.get_default_dtype()
    state = np.random.get_state()[1].copy()  # noqa: NPY002  (the global state is what must not move)
    first: DeepSTGDL = pickle.loads(fitted)
    with torch.no_grad():  # a caller's context must not turn training off
        second = small().fit(readings)
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal(first.transform(readings), second.transform(readings))
    assert (small(random_state=1, n_epochs=1).fit(readings).components_ != first.components_).any()
    assert torch.equal(torch.get_rng_state(), generator) and torch.get_default_dtype() == dtype
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_callbacks_see_every_epoch_and_can_stop(readings: np.ndarray) -> None:
    seen = []

    def third(epoch: int, losses: dict[str, float]) -> bool:
        seen.append((epoch, losses["loss"]))
        return epoch == 3

    learner = small(callbacks=[third]).fit(readings)
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    np.testing.assert_array_equal(learner.loss_curve_["loss"], [loss for _, loss in seen])
    with pytest.raises(TypeError, match="write \\[function\\]"):
        small(callbacks=third).fit(readings)


# -- using what was learnt ---------------------------------------------------------------------------------------


def test_words_of_the_coding_may_change_after_fit(learner: DeepSTGDL, readings: np.ndarray) -> None:
    before = {name: value.copy() for name, value in learner.weights_.items()}
    sizes = []
    for penalty in (0.001, 0.1, 100.0):
        codes = learner.set_params(penalty=penalty).transform(readings)
        sizes.append(np.abs(codes).sum())
    assert sizes[0] > sizes[1] > sizes[2] == 0.0
    for count in (1, 3, 100):
        codes = learner.set_params(penalty=0.01, n_nonzero=count).transform(readings)
        assert 0 < np.count_nonzero(codes, axis=1).max() <= count
    for name, value in learner.weights_.items():
        np.testing.assert_array_equal(value, before[name])


def test_history(learner: DeepSTGDL, readings: np.ndarray) -> None:
    codes = learner.transform(readings)
    assert codes.shape == (300, 10)
    np.testing.assert_allclose(learner.transform(readings[98:110])[2:], codes[100:110], atol=1e-5)
    one = np.repeat(readings[50:51], 3, axis=0)
    np.testing.assert_allclose(learner.transform(readings[50:51]), learner.transform(one)[2:], atol=1e-5)
    assert np.abs(learner.transform(readings[50:51]) - codes[50]).max() > 1e-4


def test_inputs_are_not_written_to(readings: np.ndarray) -> None:
    given_rows = readings.copy()
    given_rows.flags.writeable = False
    learner = small(n_epochs=1).fit(given_rows)
    codes = learner.transform(given_rows)
    codes.flags.writeable = False
    learner.inverse_transform(codes)
    np.testing.assert_array_equal(given_rows, readings)


def test_pickles_and_clones(fitted: bytes, readings: np.ndarray) -> None:
    first: DeepSTGDL = pickle.loads(fitted)
    second: DeepSTGDL = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(first.transform(readings), second.transform(readings))
    assert len(first.get_feature_names_out()) == 10
    with pytest.raises(NotFittedError):
        clone(first).transform(readings)


# -- bad input ---------------------------------------------------------------------------------------------------


def test_bad_rows(learner: DeepSTGDL, readings: np.ndarray) -> None:
    for value in (np.nan, np.inf):
        bad = readings.copy()
        bad[7, 3] = value
        for call in (small().fit, learner.transform):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                call(bad)
    with pytest.raises(ValueError, match="features"):
        learner.transform(readings[:, :5])
    with pytest.raises(ValueError, match="codes must have shape"):
        learner.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="codes must be finite"):
        learner.inverse_transform(np.full((2, 10), np.nan))


@pytest.mark.parametrize(
    "words",
    [
        *({name: 0} for name in ("n_components", "window", "hidden", "n_epochs", "batch_size", "n_neighbours")),
        *({name: -0.1} for name in ("penalty", "learning_rate", "node_weight", "edge_weight")),
        {"penalty": 0.0},
        {"penalty": np.nan},
        {"n_nonzero": 0},
        {"window": None},
        {"hidden": 2.5},
    ],
    ids=str,
)
def test_bad_words(words: dict[str, Any], readings: np.ndarray) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(words))} must be"):
        small(**{"n_components": 10} | words).fit(readings)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((20, 3)), np.full((20, 3), 3.1), np.arange(4.0)[None], np.arange(40.0).reshape(2, 20)[:, :5]],
    ids=["zeros", "constants", "one row", "fewer rows than the window"],
)
def test_readings_without_variety(rows: np.ndarray) -> None:
    learner = small(n_epochs=2).fit(rows)
    assert np.isfinite(learner.components_).all()
    assert np.isfinite(learner.inverse_transform(learner.transform(rows))).all()


def test_one_sensor(readings: np.ndarray) -> None:
    rows = readings[:, :1]
    learner = small(n_epochs=40).fit(rows)
    assert (learner.graph_ == 0.0).all() and (learner.loss_curve_["edge"] == 0.0).all()
    assert np.mean((learner.inverse_transform(learner.transform(rows)) - rows) ** 2) < 0.1 * rows.var()


def test_units_do_not_matter(readings: np.ndarray) -> None:
    codes = small(n_epochs=2).fit(readings).transform(readings)
    for unit in (2.0**-200, 2.0**200):
        learner = small(n_epochs=2).fit(readings * unit)
        np.testing.assert_allclose(learner.transform(readings * unit), codes, atol=1e-4)
    outlier = readings[:10].copy()
    outlier[5, 2] = 1e300
    learner = small(n_epochs=2).fit(readings)
    assert np.isfinite(learner.inverse_transform(learner.transform(outlier))).all()


#: A row is coded with the rows before it: these two ask that it is not.
REMEMBERS = {
    "check_methods_subset_invariance": "a row is coded with its history",
    "check_methods_sample_order_invariance": "a row is coded with its history",
}


@parametrize_with_checks(
    [DeepSTGDL(4, hidden=3, window=2, n_epochs=2, random_state=0)],
    expected_failed_checks=lambda _: REMEMBERS,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# -- without torch -----------------------------------------------------------------------------------------------


def test_message_without_torch(monkeypatch: pytest.MonkeyPatch, learner: DeepSTGDL, readings: np.ndarray) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for call in (small().fit, learner.transform):
        with pytest.raises(ImportError, match=r"^DeepSTGDL needs torch: pip install 'orthostream\[deep\]'$"):
            call(readings)
    with pytest.raises(ImportError, match="DeepSTGDL needs torch"):
        learner.inverse_transform(np.zeros((1, 10)))


def test_imports_and_unpickles_without_torch(tmp_path: Path, fitted: bytes) -> None:
    file = tmp_path / "learner.pickle"
    file.write_bytes(fitted)
    program = f"""
import sys, pickle
import orthostream.baselines.deep_stgdl
assert "torch" not in sys.modules, "torch is imported before it is needed"
sys.modules["torch"] = None
import orthostream.baselines.spatiotemporal_training
learner = pickle.load(open({str(file)!r}, "rb"))
try:
    learner.transform(learner.graph_)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "DeepSTGDL needs torch: pip install 'orthostream[deep]'"
