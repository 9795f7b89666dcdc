"""The cosine dictionary."""

from __future__ import annotations

import numpy as np

from orthostream.baselines import DCT


def test_the_atoms_are_the_cosines(stream: np.ndarray) -> None:
    atoms = DCT().fit(stream).components_
    k, i = np.mgrid[:8, :8]
    cosines = np.cos(np.pi * (i + 0.5) * k / 8.0)
    np.testing.assert_allclose(atoms, cosines / np.linalg.norm(cosines, axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(atoms @ atoms.T, np.eye(8), atol=1e-12)


def test_the_samples_do_not_matter(stream: np.ndarray) -> None:
    np.testing.assert_array_equal(DCT().fit(stream).components_, DCT().fit(stream[:3] * 7.0).components_)
