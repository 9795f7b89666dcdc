"""The simulated city, and how it compares with the real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.datasets import load_airly, make_city
from orthostream.datasets.drop_outs import drop_outs

YEAR = 8593


@pytest.fixture(scope="module")
def city():
    return make_city(YEAR, random_state=0)


def test_the_fields(city) -> None:
    assert city.data.shape == city.truth.shape == (YEAR, 56)
    assert city.time[0] == np.datetime64("2017-01-01T00") and city.time.dtype == "datetime64[h]"
    np.testing.assert_array_equal(np.diff(city.time).astype(int), 1)
    assert city.sensors.dtype.kind == "U" and len(set(city.sensors)) == 56
    assert city.locations.shape == (56, 2)
    assert np.abs(city.locations - [50.06, 19.94]).max() < 0.15
    assert np.isfinite(city.truth).all()


def test_readings_are_whole_degrees_near_the_truth(city) -> None:
    read = city.data[~np.isnan(city.data)]
    np.testing.assert_array_equal(read, np.round(read))
    assert not np.signbit(read[read == 0.0]).any()
    errors = (city.data - city.truth)[~np.isnan(city.data)]
    assert np.quantile(np.abs(errors), 0.5) < 0.5 < np.quantile(np.abs(errors), 0.95)


def test_the_truth_does_not_depend_on_how_it_is_read() -> None:
    read, fine, whole = (
        make_city(300, 9, random_state=4, **parameters)
        for parameters in ({}, {"quantised": 0.0, "missing": 0.0}, {"missing": 0.0})
    )
    np.testing.assert_array_equal(read.truth, fine.truth)
    assert not np.isnan(fine.data).any() and np.isnan(read.data).any()
    np.testing.assert_array_equal(whole.data, np.round(fine.data))
    np.testing.assert_array_equal(read.data[~np.isnan(read.data)], whole.data[~np.isnan(read.data)])


def test_steps_of_half_a_degree() -> None:
    data = make_city(50, 5, quantised=0.5, missing=0.0, random_state=0).data
    np.testing.assert_array_equal(2.0 * data, np.round(2.0 * data))
    assert (data != np.round(data)).any()


def test_fill() -> None:
    gappy, full = (make_city(400, 8, fill=fill, random_state=1).data for fill in (None, "row mean"))
    np.testing.assert_allclose(full, np.where(np.isnan(gappy), np.nanmean(gappy, axis=1)[:, None], gappy))


def test_one_seed_one_city() -> None:
    first, again, other = (make_city(100, 6, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.data, again.data)
    assert np.abs(first.truth - other.truth).max() > 0.1


def test_days_and_seasons(city) -> None:
    mean = city.truth.mean(axis=1)
    july, january = (city.time.astype("datetime64[M]") == np.datetime64(month) for month in ("2017-07", "2017-01"))
    assert mean[july].mean() - mean[january].mean() > 14.0
    hour = np.arange(YEAR) % 24
    assert mean[july & (hour == 13)].mean() - mean[july & (hour == 3)].mean() > 5.0


def test_near_places_are_alike_and_the_centre_is_warm_at_night(city) -> None:
    kilometres = (city.locations - [50.06, 19.94]) * [111.2, 71.4]
    radius = np.linalg.norm(kilometres, axis=1)
    night = city.truth[np.arange(YEAR) % 24 == 1].mean(axis=0)
    assert night[radius < 4.0].mean() - night[radius > 7.0].mean() > 0.3
    distance = np.linalg.norm(kilometres[:, None] - kilometres, axis=2)
    alike = np.corrcoef((city.truth - city.truth.mean(axis=1, keepdims=True)).T)
    pairs = np.triu(np.ones((56, 56), dtype=bool), 1)
    assert alike[pairs & (distance < 3.0)].mean() - alike[pairs & (distance > 9.0)].mean() > 0.2


def test_what_instruments_do() -> None:
    city = make_city(YEAR, quantised=0.0, missing=0.0, random_state=0)
    errors = city.data - city.truth
    hour = np.arange(YEAR) % 24
    heat = np.stack([errors[hour == h].mean(axis=0) for h in range(24)])
    assert 8 <= ((heat.max(axis=0) - heat[:4].mean(axis=0)) > 1.0).sum() <= 30
    assert np.isin(heat.argmax(axis=0)[np.ptp(heat, axis=0) > 1.0], np.arange(7, 17)).all()
    nights = errors[hour < 4]
    aged = np.abs(nights[-100:].mean(axis=0) - nights[:100].mean(axis=0))
    assert np.median(aged) < 0.5 < 2.0 < aged.max()


def lengths(lost: np.ndarray) -> np.ndarray:
    edges = np.diff(np.pad(lost.T.astype(int), ((0, 0), (1, 1))), axis=1)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    return ends[:, 1] - starts[:, 1]


def test_gaps_of_all_kinds(city) -> None:
    lost = np.isnan(city.data)
    assert lost.mean() == pytest.approx(0.23, abs=0.02)
    assert not lost.all(axis=1).any()
    runs = lengths(lost)
    for least, most in ((1, 1), (2, 5), (6, 23), (24, 167), (168, 671)):
        assert ((runs >= least) & (runs <= most)).sum() >= 10
    assert (lost[:500].all(axis=0)).sum() >= 3
    assert (lost[-500:].all(axis=0)).sum() >= 6


@given(
    n_hours=st.integers(1, 400),
    n_sensors=st.integers(1, 12),
    missing=st.floats(0.0, 0.5),
    quantised=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_any_size(n_hours: int, n_sensors: int, missing: float, quantised: float, seed: int) -> None:
    city = make_city(n_hours, n_sensors, missing=missing, quantised=quantised, random_state=seed)
    assert city.data.shape == city.truth.shape == (n_hours, n_sensors)
    assert len(city.time) == n_hours and len(city.sensors) == len(city.locations) == n_sensors
    assert np.isfinite(city.truth).all() and not np.isinf(city.data).any()
    if missing == 0.0:
        assert not np.isnan(city.data).any()


@pytest.mark.parametrize("missing", [0.05, 0.23, 0.5])
def test_the_share_of_gaps_is_what_was_asked_for(missing: float) -> None:
    shares = [drop_outs(2000, 40, missing, np.random.RandomState(seed)).mean() for seed in range(5)]
    assert np.mean(shares) == pytest.approx(missing, rel=0.12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_hours": 0},
        {"n_hours": 2.5},
        {"n_sensors": -1},
        {"n_sensors": True},
        {"quantised": -1.0},
        {"quantised": np.nan},
        {"missing": 0.6},
        {"missing": np.nan},
        {"fill": "zero"},
    ],
)
def test_bad_parameters(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must"):
        make_city(**parameters)


def statistics(data: np.ndarray) -> dict[str, np.ndarray]:
    """Statistics that the simulated city was tuned to; all are positive, and compared by their ratios."""
    means = np.nanmean(data, axis=1)
    deviations = data - means[:, None]
    pairs = pd.DataFrame(data).corr(min_periods=500).to_numpy()[np.triu_indices(data.shape[1], 1)]
    lagged = [pd.Series(column).autocorr() for column in data.T]
    values = np.linalg.svd(np.where(np.isnan(data), means[:, None], data), compute_uv=False)
    energy = np.cumsum(values[::-1] ** 2)[::-1]
    return {
        "share missing": np.isnan(data).mean(),
        "one minus median correlation of two sensors": 1.0 - np.nanmedian(pairs),
        "standard deviation": np.nanstd(data),
        "one minus median correlation with the hour before": 1.0 - np.nanmedian(lagged),
        "mean change in an hour": np.nanmean(np.abs(np.diff(data, axis=0))),
        "share of unchanged readings": np.nanmean(
            np.where(np.isnan(np.diff(data, axis=0)), np.nan, np.diff(data, axis=0) == 0.0)
        ),
        "deviation from the mean of the hour": np.nanstd(deviations),
        "singular values 2 to 45": values[1:45] / values[0],
        "energy beyond 2, 8, 17 and 35 singular values": np.sqrt(energy[[2, 8, 17, 35]] / energy[0]),
    }


FACTORS = {
    "share missing": 1.1,
    "one minus median correlation of two sensors": 1.4,
    "standard deviation": 1.15,
    "one minus median correlation with the hour before": 1.8,
    "mean change in an hour": 1.2,
    "share of unchanged readings": 1.25,
    "deviation from the mean of the hour": 1.3,
    "singular values 2 to 45": 1.8,
    "energy beyond 2, 8, 17 and 35 singular values": 1.35,
}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_resembles_the_real_city(airly_folder: Path, seed: int) -> None:
    real = statistics(load_airly(airly_folder).data)
    simulated = statistics(make_city(YEAR, random_state=seed).data)
    for name, factor in FACTORS.items():
        ratio = simulated[name] / real[name]
        assert np.all((ratio < factor) & (ratio > 1.0 / factor)), f"{name}: {ratio}"
