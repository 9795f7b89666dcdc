"""Principal components of a data set."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from orthostream.baselines import OfflinePCA


def test_centred_it_is_scikit_learns(stream: np.ndarray) -> None:
    rows = stream + 3.0
    ours, theirs = OfflinePCA(4, centre=True).fit(rows), PCA(4).fit(rows)
    np.testing.assert_allclose(ours.mean_, theirs.mean_)
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_.T), np.eye(4), atol=1e-6)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(rows)), theirs.inverse_transform(theirs.transform(rows)), atol=1e-9
    )


def test_as_it_is_no_other_basis_is_better_with_the_first_atoms(stream: np.ndarray) -> None:
    rows = stream + 1.0
    axes = OfflinePCA(3).fit(rows).components_
    best = (np.linalg.svd(rows, compute_uv=False)[3:] ** 2).sum()
    assert ((rows - rows @ axes.T @ axes) ** 2).sum() == pytest.approx(best)


def test_too_many_components(stream: np.ndarray) -> None:
    with pytest.raises(ValueError, match="n_components must be an integer from 1 to n_features = 8, got 9"):
        OfflinePCA(9).fit(stream)
