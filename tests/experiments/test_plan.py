"""Bad plans and names are refused before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orthostream.datasets import make_city
from orthostream.experiments import EXPERIMENTS, Plan, SensorReadings, reproduce
from orthostream.experiments.methods import PROPOSED
from orthostream.experiments.registry import OPTIONAL
from orthostream.experiments.reproduction import reductions


@pytest.mark.parametrize(
    ("parameters", "error", "told"),
    [
        ({"trials": 0}, ValueError, "trials must be a positive integer, got 0"),
        ({"steps": -1}, ValueError, "steps must be"),
        ({"epochs": 2.5}, ValueError, "epochs must be"),
        ({"seed": None}, ValueError, "seed must be an integer of at least 0, got None"),
        ({"without": {"bogus"}}, ValueError, "'bogus' cannot be left out"),
        ({"without": {PROPOSED}}, ValueError, "'proposed' cannot be left out"),
        ({"readings": make_city(10, 3, random_state=0)}, TypeError, "SensorReadings.of"),
    ],
)
def test_bad_plans(parameters: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Plan(**parameters)


@pytest.mark.parametrize("names", [["x"], "x", [], ["sparsity", "y"]])
def test_unknown_experiments(names: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="names must be among batch-size"):
        reproduce(names, Plan(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sensors_want_readings(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"SensorReadings\.of"):
        reproduce("sensors", Plan(), tmp_path / "out")


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_bad_numbers_of_processes(workers: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers must be a positive integer"):
        reproduce("sparsity", Plan(), tmp_path / "out", workers=workers)


def test_a_name_and_a_path_as_text_will_do(tmp_path: Path) -> None:
    done = reproduce("sparse-pca", Plan(trials=2, steps=3), str(tmp_path))
    assert (tmp_path / "report.html") in done.files
    assert done.notes == ["A quick look, not to be quoted: 2 trials instead of 100; 3 mini-batches instead of 3,000."]
    assert {record.experiment for record in done.records} == {"sparse-pca"}


def test_the_full_plan_needs_no_note() -> None:
    assert reductions(Plan(), list(EXPERIMENTS)) == []
    city = SensorReadings.of("A simulated city", make_city(10, 3, random_state=0), real=False)
    assert "a simulated city" in reductions(Plan(readings=city), ["sensors"])[0]
    assert reductions(Plan(readings=city), ["sparsity"]) == []


def test_every_method_but_the_proposed_can_be_left_out() -> None:
    assert Plan(without=frozenset(OPTIONAL)).without == set(OPTIONAL)
