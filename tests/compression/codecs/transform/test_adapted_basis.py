"""The basis stays orthonormal whatever it sees, and finds the axes that matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.fft import dct

from orthostream.compression.codecs.transform.adapted_basis import AdaptedBasis, seeded
from orthostream.compression.codecs.transform.cosines import cosines


@pytest.mark.parametrize("size", [1, 2, 3, 24, 56, 137])
def test_cosines_are_those_of_scipy(size: int) -> None:
    np.testing.assert_allclose(cosines(size), dct(np.eye(size), axis=0, norm="ortho"), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rank", [0, 1, 5, 12])
def test_it_stays_orthonormal(rank: int, scale: float) -> None:
    generator = np.random.default_rng(rank)
    basis = AdaptedBasis(12)
    atoms = generator.normal(size=(rank, 12))
    for _ in range(30):
        basis.learn(scale * generator.normal(size=(24, rank)) @ atoms, 0.1)
        np.testing.assert_allclose(basis.components @ basis.components.T, np.eye(12), atol=1e-12)


def test_it_finds_the_principal_axes() -> None:
    generator = np.random.default_rng(0)
    axes = np.linalg.qr(generator.normal(size=(10, 10)))[0].T
    basis = AdaptedBasis(10)
    for _ in range(60):
        basis.learn((generator.normal(size=(24, 10)) * 2.0 ** -np.arange(10)) @ axes, 1e-3)
    assert (np.abs(np.sum(basis.components * axes, axis=1)[:5]) > 0.97).all()


def test_atoms_from_elsewhere_come_first() -> None:
    generator = np.random.default_rng(1)
    components, other = (np.linalg.qr(generator.normal(size=(9, 9)))[0].T for _ in range(2))
    # Energies that differ: equal ones would be sorted by rounding, which is not the same on all processors.
    moment = other.T @ np.diag(np.arange(9.0, 0.0, -1.0)) @ other
    basis = seeded(components, other[:3], moment)
    np.testing.assert_allclose(basis @ basis.T, np.eye(9), atol=1e-12)
    np.testing.assert_allclose(np.abs(basis[:3] @ other[:3].T), np.eye(3), atol=1e-12)
