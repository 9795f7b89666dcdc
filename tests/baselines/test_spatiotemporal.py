"""The parts of DeepSTGDL: the graph, the lasso, the network, the losses of its training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from orthostream.baselines.spatiotemporal_graph import neighbour_means, sensor_graph
from orthostream.baselines.spatiotemporal_lasso import lasso
from orthostream.baselines.spatiotemporal_network import decode, decode_edges, encode, first_weights
from orthostream.baselines.spatiotemporal_training import Settings, Training

torch = pytest.importorskip("torch", reason="DeepSTGDL needs torch: the extra [deep]")
pytestmark = pytest.mark.usefixtures("one_torch_thread")


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


def make_training(readings: np.ndarray) -> Training:
    chosen = Settings(
        n_components=10,
        window=3,
        hidden=6,
        penalty=0.03,
        node_weight=0.25,
        edge_weight=0.25,
        n_epochs=25,
        batch_size=50,
        learning_rate=0.005,
    )
    standard = ((readings - readings.mean()) / readings.std()).astype(np.float32)
    padded = np.concatenate([np.repeat(standard[:1], chosen.window - 1, axis=0), standard])
    return Training(padded, sensor_graph(readings, 3), chosen, np.random.RandomState(0))


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
