"""Noise, Laplacian codes and drift of the synthetic streams."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.datasets import DriftingDictionary, make_bernoulli_gaussian


def first_version(n_samples: int, n_features: int, sparsity: float, seed: int) -> tuple[np.ndarray, ...]:
    """The draws in their original order: the seeds of other tests depend on it."""
    rng = np.random.RandomState(seed)
    q, r = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    components = (q * np.sign(np.diagonal(r))).T
    codes = rng.standard_normal((n_samples, n_features)) * (rng.uniform(size=(n_samples, n_features)) < sparsity)
    return codes @ components, codes, components


@pytest.mark.parametrize("shape", [(30, 6), (5, 1), (1, 7), (0, 3)])
def test_plain_streams_are_what_they_always_were(shape: tuple[int, int]) -> None:
    data = make_bernoulli_gaussian(*shape, sparsity=0.4, random_state=3)
    for made, old in zip((data.samples, data.codes, data.components), first_version(*shape, 0.4, 3), strict=True):
        assert made.tobytes() == old.tobytes()
    np.testing.assert_array_equal(data.components_at(17), data.components)


@pytest.mark.parametrize("parameters", [{"noise": 0.5}, {"drift": 0.01}, {"noise": 0.1, "drift": 0.3}])
def test_extras_leave_codes_and_the_first_dictionary_alone(parameters: dict[str, float]) -> None:
    plain, made = (make_bernoulli_gaussian(40, 6, random_state=1, **extra) for extra in ({}, parameters))
    np.testing.assert_array_equal(made.codes, plain.codes)
    np.testing.assert_array_equal(made.components, plain.components)
    assert np.abs(made.samples - plain.samples).max() > 1e-3


def test_noise_is_white_with_its_standard_deviation() -> None:
    clean, noisy = (make_bernoulli_gaussian(40_000, 5, noise=noise, random_state=0).samples for noise in (0.0, 0.3))
    np.testing.assert_allclose(np.cov((noisy - clean).T), 0.09 * np.eye(5), atol=2e-3)


def test_laplacian_codes() -> None:
    plain, made = (make_bernoulli_gaussian(60_000, 4, codes=codes, random_state=0) for codes in ("gaussian", "laplace"))
    np.testing.assert_array_equal(made.codes != 0, plain.codes != 0)
    active = made.codes[made.codes != 0]
    assert np.var(active) == pytest.approx(1.0, abs=0.03)
    # Values for a Laplacian variable of variance 1; a normal one has 0.798 and 3.
    assert np.mean(np.abs(active)) == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert np.mean(active**4) == pytest.approx(6.0, abs=0.4)
    np.testing.assert_allclose(made.codes @ made.components, made.samples, atol=1e-12)


@given(
    n_features=st.integers(1, 9),
    drift=st.floats(-3.0, 3.0),
    sample=st.integers(0, 11),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_drift_turns_a_dictionary(n_features: int, drift: float, sample: int, seed: int) -> None:
    data = make_bernoulli_gaussian(12, n_features, drift=drift, random_state=seed)
    atoms = data.components_at(sample)
    np.testing.assert_allclose(atoms @ atoms.T, np.eye(n_features), atol=1e-12)
    np.testing.assert_allclose(data.codes[sample] @ atoms, data.samples[sample], atol=1e-12)
    np.testing.assert_allclose(data.components_at(0), data.components, atol=1e-15)
    if n_features % 2 == 0:
        cosines = (data.components_at(sample + 1) * atoms).sum(axis=1)
        np.testing.assert_allclose(cosines, np.cos(drift), atol=1e-12)


def test_drift_is_the_power_of_one_rotation() -> None:
    data = make_bernoulli_gaussian(3, 5, drift=0.2, random_state=0)
    rotation = data.components.T @ data.components_at(1)
    power = np.linalg.matrix_power(rotation, 7)
    np.testing.assert_allclose(data.components @ power, data.components_at(7), atol=1e-12)
    angles = np.sort(np.angle(np.linalg.eigvals(rotation)))
    np.testing.assert_allclose(angles, [-0.2, -0.2, 0.0, 0.2, 0.2], atol=1e-12)


def test_a_drifting_dictionary_can_be_pickled() -> None:
    data = pickle.loads(pickle.dumps(make_bernoulli_gaussian(4, 6, drift=0.1, random_state=0)))
    assert isinstance(data.components_at, DriftingDictionary)
    np.testing.assert_allclose(data.codes[3] @ data.components_at(3), data.samples[3])


@pytest.mark.parametrize(
    "parameters",
    [{"noise": -1.0}, {"noise": np.nan}, {"noise": np.inf}, {"drift": np.nan}, {"drift": np.inf}, {"codes": "cauchy"}],
)
def test_bad_parameters(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must"):
        make_bernoulli_gaussian(**parameters)
