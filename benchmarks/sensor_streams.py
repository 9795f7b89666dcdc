"""Real sensors, coded causally: part of `orthostream bench tracking`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.baselines import ForgettingPCA
from orthostream.datasets import load_airly
from orthostream.datasets.data_folder import DataFolderError
from orthostream.datasets.fill import filled
from orthostream.experiments.methods import PROPOSED
from orthostream.experiments.registry import contender
from orthostream.optimize import polar

from .measure import Record, say, table

NAME = "tracking"
ETAS = (2, 8, 10, 17, 25, 35)
SLOT, INITIAL, UNUSED = 6, 100, 4000


class SensorEffort(NamedTuple):
    """How much is run."""

    factors: tuple[float, ...] = (
        *(0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94),
        *(0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999),
    )
    streams: int = 3
    oracle_iterations: int = 150


def sensors(effort: SensorEffort) -> tuple[dict[str, tuple[FloatArray, FloatArray]], list[str]]:
    """Return the first rows and the test rows of each stream that is there, and a line for what is not."""
    folder = os.environ.get("ORTHOSTREAM_DATA")
    if not folder:
        return {}, ["real sensors are left out: ORTHOSTREAM_DATA names no folder with airly/ and noaa/ in it."]
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    missing: dict[str, None] = {}
    for name, quantity in (("Airly temperature", "temperature"), ("Airly PM2.5", "pm25"))[: effort.streams]:
        try:
            rows = _whole(load_airly(folder, quantity).data)
        except DataFolderError as error:
            missing[f"Airly is left out: {error}"] = None
            continue
        found[name] = rows[UNUSED : UNUSED + INITIAL], rows[UNUSED + INITIAL :]
    if effort.streams > 2:
        path = Path(folder) / "noaa" / "wide_Tmax.csv"
        if path.is_file():
            rows = _whole(np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:])
            found["NOAA Tmax"] = rows[:INITIAL], rows[INITIAL:]
        else:
            missing[f"NOAA is left out: there is no {path}."] = None
    return found, list(missing)


def _whole(rows: FloatArray) -> FloatArray:
    """Return the rows that have a reading, missing ones replaced by the mean of the row."""
    return filled(rows[~np.isnan(rows).all(axis=1)], "row mean")


def compress(name: str, first: FloatArray, test: FloatArray, effort: SensorEffort) -> list[Record]:
    """Return the relative error of every method in percent, slots coded with what was known before them."""
    say(f"{name}: {len(test)} rows of {test.shape[1]} sensors ...")
    etas = [eta for eta in ETAS if eta < test.shape[1]]
    errors: dict[str, FloatArray] = {}
    tried = []
    for factor in sorted({*effort.factors, 0.95}):
        rival = ForgettingPCA(forgetting=factor).partial_fit(first)
        tried.append(_causal(rival, test, etas))
        if factor == 0.95:
            errors["forgetting PCA, 0.95"] = tried[-1]
    best = np.min(tried, axis=0)
    errors = {"forgetting PCA, best factor in hindsight": best} | errors
    for preset, start in (("compression", "random"), ("exact", "data")):
        learner = OrthogonalDictionaryLearning.preset(preset, init=start, random_state=0).partial_fit(first)
        errors[preset] = _causal(learner, test, etas)
    errors["paper"] = _causal(_Papers(first), test, etas)
    axes = np.linalg.eigh(test.T @ test)[1][:, ::-1]
    errors["oracle: PCA of the test rows"] = _error(_left(test @ axes, etas), test)
    if effort.oracle_iterations:
        found = [_top_k(test, eta, axes, effort.oracle_iterations) for eta in etas]
        parts = [_error(_left(test @ d, [eta]), test)[0] for d, eta in zip(found, etas, strict=True)]
        errors["oracle: best for each eta0"] = np.array(parts)
    records = []
    for method, values in errors.items():
        for eta, value, least in zip(etas, values, best, strict=True):
            records.append(Record(NAME, method, f"{name} eta0={eta}", "relative_rmse_percent", float(value)))
            records.append(
                Record(
                    NAME, method, f"{name} eta0={eta}", "percent_above_best_factor", float(100 * (value / least - 1))
                )
            )
    return records


class _Papers:
    """The paper's learner with the start that its protocol gives it, as an estimator."""

    def __init__(self, first: FloatArray) -> None:
        self._learner: Any = contender(PROPOSED, 0)
        self._learner.start(first)

    @property
    def components_(self) -> FloatArray:
        return np.asarray(self._learner.state.x.T)

    def partial_fit(self, rows: FloatArray) -> None:
        self._learner.learn(rows)


def _causal(learner: Any, rows: FloatArray, etas: Sequence[int]) -> FloatArray:
    left = np.zeros(len(etas))
    for begin in range(0, len(rows), SLOT):
        slot = rows[begin : begin + SLOT]
        left += _left(slot @ learner.components_.T, etas)
        learner.partial_fit(slot)
    return _error(left, rows)


def _left(codes: FloatArray, etas: Sequence[int]) -> FloatArray:
    """Return the energy that is left when only the largest coefficients of each row are kept."""
    squares = -np.sort(-np.square(codes), axis=1)
    return np.array([squares[:, eta:].sum() for eta in etas])


def _error(left: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray(100.0 * np.sqrt(left / np.square(rows).sum()))


def _top_k(rows: FloatArray, eta: int, start: FloatArray, iterations: int) -> FloatArray:
    """Return a dictionary whose eta largest coefficients of each row hold much of the energy of these rows."""
    x = start
    for _ in range(iterations):
        codes = rows @ x
        least = -np.partition(-np.abs(codes), eta - 1, axis=1)[:, eta - 1 : eta]
        x = polar(rows.T @ np.where(np.abs(codes) >= least, codes, 0.0))[0]
    return x


def report_sensors(name: str, records: list[Record]) -> str:
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records))
    rows = []
    for method in dict.fromkeys(r.method for r in records):
        cells = []
        for s in settings:
            value, above = (values[method, s, m] for m in ("relative_rmse_percent", "percent_above_best_factor"))
            cells.append(f"{value:.3f} ({above:+.1f})")
        rows.append((method, cells))
    title = f"\n{name}: causal RMSE in percent, and by how many percent it is above the best factor's"
    return table(title, "", [s.split()[-1] for s in settings], rows)
