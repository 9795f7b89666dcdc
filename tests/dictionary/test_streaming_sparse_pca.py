"""Sparse principal components: the default, and the paper's method of section V-D."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from orthostream import StreamingSparsePCA
from orthostream._typing import FloatArray
from orthostream.datasets import make_sparse_component

each_method = pytest.mark.parametrize("method", ["eigenvectors", "paper"])


def learn(n_features: int, n_nonzero: int, batch: int, steps: int, seed: int = 0, **words: Any) -> float:
    data = make_sparse_component(batch * steps, n_features, n_nonzero=n_nonzero, random_state=seed)
    learner = StreamingSparsePCA(random_state=seed, **words)
    for start in range(0, batch * steps, batch):
        learner.partial_fit(data.samples[start : start + batch])
    return error(learner.components_[0], data.component)


def error(component: FloatArray, truth: FloatArray) -> float:
    return abs(1.0 - abs(float(component @ truth)))


def plain(rows: FloatArray) -> FloatArray:
    """Return the leading eigenvector of the second moment."""
    leading: FloatArray = np.linalg.eigh(rows.T @ rows)[1][:, -1]
    return leading


@each_method
@pytest.mark.parametrize(("n_features", "batch", "n_nonzero"), [(10, 10, 3), (50, 10, 5), (50, 1, 5), (100, 10, 10)])
def test_finds_the_planted_component(n_features: int, batch: int, n_nonzero: int, method: str) -> None:
    assert np.mean([learn(n_features, n_nonzero, batch, 1000, seed, method=method) for seed in range(3)]) < 0.01


@each_method
def test_error_falls_along_the_stream(method: str) -> None:
    early, late = (np.mean([learn(30, 5, 10, steps, seed, method=method) for seed in range(5)]) for steps in (30, 1500))
    assert late < early / 5


# -- the default ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "nonzero", "variance"),
    [(20, 5, 100.0), (50, 2, 100.0), (50, 20, 100.0), (100, 5, 2.0), (40, 8, 2.0), (30, 4, 1.5), (40, 20, 1.5)],
)
def test_closer_than_the_running_eigenvector_and_close_to_the_known_support(
    features: int, nonzero: int, variance: float
) -> None:
    ours, dense, oracle, right = [], [], [], 0
    for seed in range(100, 106):
        data = make_sparse_component(10_000, features, n_nonzero=nonzero, variance=variance, random_state=seed)
        found = StreamingSparsePCA().partial_fit(data.samples).components_[0]
        known = np.pad(plain(data.samples[:, :nonzero]), (0, features - nonzero))
        for errors, component in ((ours, found), (dense, plain(data.samples)), (oracle, known)):
            errors.append(error(component, data.component))
        right += np.array_equal(found.nonzero()[0], np.arange(nonzero))
    assert np.mean(ours) < np.mean(dense)
    assert np.mean(ours) < 1.5 * np.mean(oracle)
    assert right >= 3


@pytest.mark.parametrize("samples", [20, 100, 500])
def test_where_nothing_is_sparse_or_certain_it_is_about_the_eigenvector(samples: int) -> None:
    ours, dense = [], []
    for seed in range(100, 130):
        data = make_sparse_component(samples, 30, n_nonzero=30, variance=2.0, random_state=seed)
        ours.append(error(StreamingSparsePCA().fit(data.samples).components_[0], data.component))
        dense.append(error(plain(data.samples), data.component))
    assert np.mean(ours) < 1.1 * np.mean(dense)


def test_components_without_zeros_get_as_close_as_the_eigenvector() -> None:
    """Unless a part of the variance may be lost however certain the entries are."""
    errors: dict[str, list[float]] = {"default": [], "loss": [], "plain": []}
    for seed in range(100, 105):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal(40)
        truth /= np.linalg.norm(truth)
        rows = rng.standard_normal((20_000, 40)) + 9.0 * rng.standard_normal((20_000, 1)) * truth
        for name, words in {"default": {}, "loss": {"variance_loss": 0.001}}.items():
            errors[name].append(error(StreamingSparsePCA(**words).fit(rows).components_[0], truth))
        errors["plain"].append(error(plain(rows), truth))
    default, loss, dense = (np.mean(found) for found in errors.values())
    assert default < 2.0 * dense
    assert loss > 5.0 * default


@pytest.fixture(scope="module")
def digits() -> FloatArray:
    rows: FloatArray = load_digits().data
    return rows - rows.mean(axis=0)


def test_digits_are_explained_with_fewer_entries_than_by_pca(digits: FloatArray) -> None:
    sparse_components = StreamingSparsePCA(10).fit(digits).components_
    dense_components = PCA(10).fit(digits).components_
    explained, most = (np.sum((digits @ rows.T) ** 2) for rows in (sparse_components, dense_components))
    assert explained > 0.995 * most
    assert np.count_nonzero(sparse_components) < 0.8 * np.count_nonzero(dense_components)


def test_more_variance_may_be_given_up_for_zeros_at_any_time(digits: FloatArray, tmp_path: Path) -> None:
    learner = StreamingSparsePCA(3, variance_loss=0.0).fit(digits)
    most = np.sum(learner.transform(digits)[:, 0] ** 2)
    counts = []
    for loss in (0.0, 0.01, 0.1, 0.5):
        learner.set_params(variance_loss=loss)
        counts.append(np.count_nonzero(learner.components_[0]))
        assert np.sum(learner.transform(digits)[:, 0] ** 2) >= (1.0 - loss) * most * (1.0 - 1e-12)
        learner.save(tmp_path / "learner")
        again = StreamingSparsePCA.load(tmp_path / "learner", variance_loss=0.01)
        assert np.count_nonzero(again.components_[0]) == np.count_nonzero(
            StreamingSparsePCA(3, variance_loss=0.01).fit(digits).components_[0]
        )
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < 0.25 * counts[0]


@pytest.mark.parametrize("size", [1, 7, 300])
def test_components_depend_on_the_samples_alone(size: int, digits: FloatArray, fed: Any) -> None:
    rows = digits[:600]
    whole = StreamingSparsePCA(3).fit(rows).components_
    pieces = fed(StreamingSparsePCA(3), rows, size).components_
    np.testing.assert_array_equal(pieces != 0.0, whole != 0.0)
    np.testing.assert_allclose(np.abs((pieces * whole).sum(axis=1)), 1.0, atol=1e-10)


def test_components_are_orthonormal_and_transform_is_a_projection(digits: FloatArray) -> None:
    learner = StreamingSparsePCA(20, variance_loss=0.05).fit(digits)
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(20), atol=1e-12)
    codes = learner.transform(digits)
    np.testing.assert_allclose(learner.transform(learner.inverse_transform(codes)), codes, atol=1e-10)


def test_two_planted_components_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3000, 40))
    for place, size in ((slice(0, 6), 5.0), (slice(4, 12), 3.0)):
        rows[:, place] += size * rng.standard_normal((3000, 1)) / (place.stop - place.start) ** 0.5
    learner = StreamingSparsePCA(2, batch_size=10).partial_fit(rows)
    assert set(np.flatnonzero(learner.components_.any(axis=0))) == set(range(12))
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(2), atol=1e-12)


def test_all_components_are_a_basis(digits: FloatArray) -> None:
    rows = digits[:, 1:31:3]
    learner = StreamingSparsePCA(10).fit(rows)
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(rows)), rows, atol=1e-9)


def test_more_components_than_there_is_variance() -> None:
    rows = np.zeros((30, 6))
    rows[:, 2] = np.random.default_rng(0).standard_normal(30)
    learner = StreamingSparsePCA(4).fit(rows)
    np.testing.assert_allclose(np.abs(learner.components_[0]), np.eye(6)[2], atol=1e-12)
    np.testing.assert_allclose(learner.components_ @ learner.components_.T, np.eye(4), atol=1e-12)
    nothing = StreamingSparsePCA(4).fit(np.zeros((5, 6)))
    np.testing.assert_array_equal(nothing.components_, np.eye(4, 6))
    nothing.partial_fit(rows)
    np.testing.assert_allclose(np.abs(nothing.components_[0]), np.eye(6)[2], atol=1e-12)


def test_sparse_rows_weights_and_repetitions_are_the_same(digits: FloatArray) -> None:
    rows = digits[:300] * (np.abs(digits[:300]) > 4.0)
    counts = np.random.default_rng(0).integers(0, 4, 300)
    repeated = StreamingSparsePCA(2).partial_fit(np.repeat(rows, counts, axis=0)).components_
    for kind in (np.asarray, sparse.csr_matrix, sparse.csr_array):
        weighted = StreamingSparsePCA(2).partial_fit(kind(rows), sample_weight=counts).components_
        np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_signs_stay_the_same_along_the_stream(digits: FloatArray) -> None:
    learner = StreamingSparsePCA(1).partial_fit(digits[:100])
    assert learner.components_.ravel()[np.abs(learner.components_).argmax()] > 0.0
    last = learner.components_[0]
    for start in range(100, 1500, 10):
        now = learner.partial_fit(digits[start : start + 10]).components_[0]
        assert now @ last > 0.0
        last = now


def test_a_half_life_follows_a_change() -> None:
    rng = np.random.default_rng(0)
    errors = {}
    for half_life in (None, 200.0):
        learner = StreamingSparsePCA(half_life=half_life)
        for step in range(400):
            rows = rng.standard_normal((10, 20))
            place = slice(0, 4) if step < 300 else slice(10, 14)
            rows[:, place] += 3.0 * rng.standard_normal((10, 1))
            learner.partial_fit(rows)
        errors[half_life] = error(learner.components_[0], np.eye(20)[10:14].sum(axis=0) / 2.0)
    assert errors[200.0] < 1e-2
    assert errors[None] > 0.5


def test_many_features_take_memory_in_proportion() -> None:
    rng = np.random.default_rng(0)
    learner = StreamingSparsePCA(2)
    for _ in range(30):
        rows = rng.standard_normal((50, 3000))
        rows[:, :10] += 2.0 * rng.standard_normal((50, 1))
        rows[:, 100:110] -= 1.5 * rng.standard_normal((50, 1))
        learner.partial_fit(rows)
    assert learner.state_.memory.array.size < 250 * 3000
    for component, place in zip(learner.components_, (slice(0, 10), slice(100, 110)), strict=True):
        truth = np.zeros(3000)
        truth[place] = 10**-0.5
        assert error(component, truth) < 0.01
        assert np.count_nonzero(component) < 30


def test_a_look_changes_nothing(digits: FloatArray) -> None:
    looked, blind = StreamingSparsePCA(2), StreamingSparsePCA(2)
    for start in range(0, 500, 10):
        looked.partial_fit(digits[start : start + 10]).transform(digits[:2])
        blind.partial_fit(digits[start : start + 10])
    np.testing.assert_array_equal(looked.components_, blind.components_)
    np.testing.assert_array_equal(looked.state_.memory.array, blind.state_.memory.array)


def test_a_missing_reading_is_refused(digits: FloatArray) -> None:
    learner = StreamingSparsePCA().partial_fit(digits[:50])
    before = learner.components_
    bad = digits[50:60].copy()
    bad[3, 20] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        learner.partial_fit(bad)
    np.testing.assert_array_equal(learner.components_, before)


# -- the paper's method ----------------------------------------------------------------------------------------------


def test_penalty_shrinks_small_entries() -> None:
    rng = np.random.default_rng(0)
    direction = np.array([1.0, 1.0, 0.15, 0.15, 0.0, 0.0])
    direction /= np.linalg.norm(direction)
    rows = np.outer(rng.standard_normal(20_000), direction) * 2 + 0.1 * rng.standard_normal((20_000, 6))
    small = {}
    for penalty in (0.0, 1.0):
        learner = StreamingSparsePCA(method="paper", penalty=penalty, mu=0.02, batch_size=10, random_state=0)
        small[penalty] = np.abs(learner.partial_fit(rows).components_[0, 2:]).max()
    assert small[1.0] < 0.3 * small[0.0]


def test_several_components_are_those_of_pca_without_a_penalty() -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    rows = (rng.standard_normal((40_000, 8)) * np.array([8, 5, 3, 1, 1, 1, 1, 1])) @ axes.T
    learner = StreamingSparsePCA(3, method="paper", penalty=0.0, batch_size=20, random_state=0).partial_fit(rows)
    assert (np.abs(np.diagonal(learner.components_ @ axes[:, :3])) > 0.98).all()
    assert learner.inverse_transform(learner.transform(rows[:4])).shape == (4, 8)


def test_a_learner_may_change_its_method(digits: FloatArray, tmp_path: Path) -> None:
    learner = StreamingSparsePCA(2, method="paper", random_state=0).partial_fit(digits[:100])
    learner.set_params(method="eigenvectors")
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0)
    learner.partial_fit(digits[100:])
    fresh = StreamingSparsePCA(2).partial_fit(digits[100:])
    np.testing.assert_allclose(learner.components_, fresh.components_, atol=1e-12)
    learner.save(tmp_path / "learner")
    back = StreamingSparsePCA.load(tmp_path / "learner", method="paper")
    np.testing.assert_allclose(back.components_, learner.components_, atol=1e-12)
    assert np.isfinite(back.partial_fit(digits[:50]).components_).all()


# -- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        {"n_components": 0},
        {"method": "best"},
        {"variance_loss": -0.1},
        {"half_life": 0.0},
        {"method": "paper", "init": "data"},
        {"method": "paper", "init": np.ones((2, 6))},
        {"method": "paper", "mu": 0.0},
    ],
)
def test_bad_words(words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        StreamingSparsePCA(**words).fit(np.eye(6))


@pytest.mark.parametrize(
    ("words", "method"),
    [
        ({"penalty": 0.3}, "paper"),
        ({"schedule": "sfw"}, "paper"),
        ({"method": "paper", "variance_loss": 0.1}, "eigenvectors"),
        ({"method": "paper", "half_life": 100.0}, "eigenvectors"),
    ],
)
def test_a_parameter_of_the_other_method_is_refused(words: dict[str, Any], method: str) -> None:
    with pytest.raises(ValueError, match=f"method='{method}'"):
        StreamingSparsePCA(**words).fit(np.eye(6))


# -- centring ------------------------------------------------------------------------------------------------------


def test_centred_digits_have_the_components_of_pca() -> None:
    rows = load_digits().data
    found = StreamingSparsePCA(3, center="running", variance_loss=0.0).fit(rows)
    assert found.mean_ is not None
    np.testing.assert_allclose(found.mean_, rows.mean(axis=0), atol=1e-9)
    expected = PCA(3).fit(rows)
    assert (np.abs((found.components_ * expected.components_).sum(axis=1)) > 0.999).all()
    mean = rows.mean(axis=0)
    alone = StreamingSparsePCA(1, variance_loss=0.0).fit(rows).components_[0]
    assert abs(alone @ mean) > 0.99 * np.linalg.norm(mean)
    codes = found.transform(rows)
    np.testing.assert_allclose(codes, (rows - mean) @ found.components_.T, atol=1e-9)
    np.testing.assert_allclose(found.inverse_transform(codes), codes @ found.components_ + mean, atol=1e-9)


@each_method
def test_a_stream_with_an_offset(method: str) -> None:
    data = make_sparse_component(10_000, 20, n_nonzero=4, random_state=0)
    offset = np.linspace(-50.0, 50.0, 20)
    found = {}
    for center in (None, "running", offset):
        learner = StreamingSparsePCA(method=method, center=center, random_state=0)
        for start in range(0, 10_000, 10):
            learner.partial_fit(data.samples[start : start + 10] + offset)
        found[str(center)[:4]] = error(learner.components_[0], data.component)
    assert found["None"] > 0.2
    assert max(found["runn"], found[str(offset)[:4]]) < 0.01


def test_a_centred_learner_goes_on_after_a_file(tmp_path: Path) -> None:
    rows = make_sparse_component(400, 20, n_nonzero=4, random_state=0).samples + 5.0
    learner = StreamingSparsePCA(2, center="running").partial_fit(rows[:10]).partial_fit(rows[10:200])
    learner.save(tmp_path / "learner")
    loaded = StreamingSparsePCA.load(tmp_path / "learner")
    np.testing.assert_array_equal(loaded.mean_, learner.mean_)
    for one in (learner, loaded):
        one.partial_fit(rows[200:])
    np.testing.assert_array_equal(loaded.components_, learner.components_)
    assert loaded._centre.limit == learner._centre.limit == 20_000.0
    with pytest.raises(ValueError, match="use dense rows"):
        learner.partial_fit(sparse.csr_matrix(rows))
    assert StreamingSparsePCA().fit(rows).mean_ is None
