"""DeepSTGDL as an estimator: training, codes, bad input, and errors without torch."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthostream.baselines.deep_stgdl import DeepSTGDL
from orthostream.baselines.spatiotemporal_graph import neighbour_means
from orthostream.baselines.spatiotemporal_network import encode

torch = pytest.importorskip("torch", reason="DeepSTGDL needs torch: the extra [deep]")
pytestmark = pytest.mark.usefixtures("one_torch_thread")

SMALL: dict[str, Any] = {"hidden": 6, "window": 3, "n_epochs": 25, "batch_size": 50, "random_state": 0}


def small(n_components: int = 10, **parameters: Any) -> DeepSTGDL:
    return DeepSTGDL(n_components, **(SMALL | parameters))


@pytest.fixture(scope="module")
def fitted(readings: np.ndarray) -> bytes:
    """A fitted learner, pickled so that tests cannot change it for each other."""
    return pickle.dumps(small().fit(readings))


@pytest.fixture
def learner(fitted: bytes) -> DeepSTGDL:
    found: DeepSTGDL = pickle.loads(fitted)
    return found


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


def test_parameters_of_the_coding_may_change_after_fit(learner: DeepSTGDL, readings: np.ndarray) -> None:
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
    "parameters",
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
def test_bad_parameters(parameters: dict[str, Any], readings: np.ndarray) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        small(**{"n_components": 10} | parameters).fit(readings)


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


#: A row is coded with the rows before it, which these two checks forbid.
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
