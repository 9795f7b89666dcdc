"""The hard streams: each can be drawn again, has a true dictionary, and is what its name says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream.cli import bench

STEPS = 40
CASES = {case.name: case for case in bench._load("adverse").CASES}


def draw(name: str, steps: int = STEPS, seed: int = 0) -> tuple[Any, list[Any]]:
    stream = CASES[name].make(np.random.default_rng(seed), steps)
    return stream, list(stream.batches)


def codes_of(name: str, steps: int = 1000) -> Any:
    stream, batches = draw(name, steps)
    return np.concatenate(batches) @ stream.truth


def test_names_are_unique_and_there_are_enough() -> None:
    assert len(CASES) == len(bench._load("adverse").CASES) >= 44


@pytest.mark.parametrize("name", CASES)
def test_contract(name: str) -> None:
    stream, batches = draw(name)
    again, same = draw(name)
    np.testing.assert_array_equal(stream.truth, again.truth)
    for rows, others in zip(batches, same, strict=True):
        np.testing.assert_array_equal(rows, others)
    assert not np.array_equal(batches[0], draw(name, seed=1)[1][0])

    assert len(batches) == STEPS
    assert stream.truth.shape[:-2] in ((), (STEPS,))
    for t in (1, STEPS):
        truth = stream.truth_at(t)
        np.testing.assert_allclose(truth.T @ truth, np.eye(truth.shape[1]), atol=1e-12)
    features, atoms = stream.truth.shape[-2:]
    assert {rows.shape[1] for rows in batches} == {features}
    assert CASES[name].atoms in (None, atoms)

    everything = np.concatenate(batches)
    assert not np.isinf(everything).any()
    assert np.isnan(everything).any() == ("missing" in name)
    assert not np.isnan(everything).all(axis=1).any()
    assert everything.dtype == (np.float32 if "float32" in name else np.float64)


def test_only_true_atoms_that_occur_are_asked_for() -> None:
    for name, size in (("two atoms never occur", 10), ("rank 8 of 12", 12)):
        stream, batches = draw(name)
        assert stream.truth.shape == (size, 8)
        assert np.linalg.matrix_rank(np.concatenate(batches)) == 8


@pytest.mark.parametrize(("name", "missing"), [("10 % missing", 0.1), ("50 % missing", 0.5)])
def test_missing_part(name: str, missing: float) -> None:
    # One reading of each row is kept, a tenth of them.
    gaps = np.isnan(np.concatenate(draw(name, 1000)[1]))
    assert gaps.mean() == pytest.approx(0.9 * missing, rel=0.03)


def test_sensors_are_missing_in_blocks() -> None:
    gaps = np.isnan(np.concatenate(draw("sensors missing in blocks")[1]))
    assert (gaps.sum(axis=1) == 3).all()
    assert (gaps[:200] == gaps[0]).all() and (gaps[200] != gaps[0]).any()


@pytest.mark.parametrize(
    ("name", "correlation"), [("supports of pairs correlated by .5", 0.5), ("supports of pairs correlated by .8", 0.8)]
)
def test_correlation_of_pairs(name: str, correlation: float) -> None:
    gates = np.abs(codes_of(name)) > 1e-10
    found = np.corrcoef(gates.T)
    assert gates.mean() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_allclose(found[np.arange(0, 10, 2), np.arange(1, 10, 2)], correlation, atol=0.05)
    assert np.abs(found[::2, ::2] - np.eye(5)).max() < 0.05


def test_correlation_of_all() -> None:
    found = np.corrcoef((np.abs(codes_of("supports all correlated by .5")) > 1e-10).T)
    np.testing.assert_allclose(found[np.triu_indices(10, 1)], 0.5, atol=0.05)


@pytest.mark.parametrize("name", ["supports in blocks of 2", "supports in blocks of 5"])
def test_blocks(name: str) -> None:
    size = int(name[-1])
    gates = np.abs(codes_of(name)) > 1e-10
    found = np.corrcoef(gates.T)
    assert gates.mean() == pytest.approx(0.3, abs=0.02)
    same = np.kron(np.eye(10 // size), np.ones((size, size))).astype(bool)
    assert found[same].min() > 0.5 and np.abs(found[~same]).max() < 0.05


def test_supports_stay() -> None:
    gates = np.abs(codes_of("supports stay 100 samples", 100)) > 1e-10
    assert all((part == part[0]).all() for part in np.split(gates, 10))


def test_halves_take_turns_and_atoms_appear() -> None:
    active = np.abs(codes_of("half of the atoms at a time", 100)) > 1e-10
    assert not active[:500, 5:].any() and not active[500:, :5].any()
    active = np.abs(codes_of("two atoms appear later", 100)) > 1e-10
    assert not active[:500, :2].any() and active[500:, :2].any(axis=0).all()


def test_repeats() -> None:
    rows = np.concatenate(draw("samples repeated 50 times")[1])
    assert len(np.unique(rows, axis=0)) == 400 // 50
    batches = draw("mini-batches repeated 10 times")[1]
    assert (batches[0] == batches[9]).all() and (batches[9] != batches[10]).any()
    rows = np.concatenate(draw("200 samples cycled")[1])
    np.testing.assert_array_equal(rows[:200], rows[200:])


def test_signal_comes_and_goes() -> None:
    lengths = np.linalg.norm(np.concatenate(draw("bursts", 100)[1]), axis=1)
    np.testing.assert_array_less(lengths[100:500], 0.01)
    assert np.median(lengths[:100]) > 1.0 and np.median(lengths[500:600]) > 1.0
    lengths = np.linalg.norm(np.concatenate(draw("low signal after a silence", 100)[1]), axis=1)
    assert lengths[:600].max() < 0.01 and np.median(lengths[600:]) > 1.0


def test_dictionaries_that_move() -> None:
    truth = draw("abrupt change")[0].truth
    assert (truth[:20] == truth[0]).all() and (truth[20:] == truth[-1]).all() and (truth[0] != truth[-1]).any()
    truth = draw("two regimes in turns")[0].truth
    assert (truth[:8] == truth[-8:]).all() and (truth[7] != truth[8]).any()
    truth = draw("drift .002")[0].truth
    angles = np.arccos(np.einsum("tij,tij->tj", truth[:-1], truth[1:]).clip(-1.0, 1.0))
    np.testing.assert_allclose(angles, 0.002, rtol=1e-6)


def test_readings() -> None:
    assert max(np.abs(rows).max() for rows in draw("one row of 1e100")[1]) > 1e99
    rows = np.concatenate(draw("readings rounded to .1")[1])
    np.testing.assert_allclose(10.0 * rows, np.round(10.0 * rows), atol=1e-9)
    rows = np.concatenate(draw("saturation at 2 deviations", 1000)[1])
    assert np.abs(rows).max() == pytest.approx(2.0 * 0.3**0.5)
    rows = np.concatenate(draw("offset .5", 1000)[1])
    assert (rows.mean(axis=0) ** 2).mean() ** 0.5 == pytest.approx(0.5 * 0.3**0.5, rel=0.5)
    sizes = [len(rows) for rows in draw("uneven mini-batches, 1 to 100", 500)[1]]
    assert min(sizes) == 1 and 90 < max(sizes) <= 100
