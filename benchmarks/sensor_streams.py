"""Real sensors, coded causally: part of `orthostream bench tracking`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.datasets.data_folder import DataFolderError
from orthostream.experiments.methods import PROPOSED
from orthostream.experiments.registry import contender
from orthostream.optimize import polar

from .causal_codes import FACTORS, Orthonormal, coded, energy_left, forgetting, relative_error
from .measure import Record, say, table
from .real_streams import AIRLY, NOAA, data_folder, whole_sensor_rows

NAME = "tracking"
ETAS = (2, 8, 10, 17, 25, 35)
SLOT, INITIAL, UNUSED = 6, 100, 4000


class SensorEffort(NamedTuple):
    """How much is run."""

    factors: tuple[float, ...] = FACTORS
    streams: int = 3
    oracle_iterations: int = 150


def sensors(effort: SensorEffort) -> tuple[dict[str, tuple[FloatArray, FloatArray]], list[str]]:
    """Return the first rows and the test rows of each stream that is there, and a line for what is not."""
    if data_folder() is None:
        return {}, ["real sensors are left out: ORTHOSTREAM_DATA names no folder with airly/ and noaa/ in it."]
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    missing: dict[str, None] = {}
    for name in (*AIRLY, NOAA)[: effort.streams]:
        try:
            rows = whole_sensor_rows(name)
        except DataFolderError as error:
            missing[f"{name.split()[0]} is left out: {error}"] = None
            continue
        begin = 0 if name == NOAA else UNUSED
        found[name] = rows[begin : begin + INITIAL], rows[begin + INITIAL :]
    return found, list(missing)


def compress(name: str, first: FloatArray, test: FloatArray, effort: SensorEffort) -> list[Record]:
    """Return the relative error of every method in percent, slots coded with what was known before them."""
    say(f"{name}: {len(test)} rows of {test.shape[1]} sensors ...")
    etas = [eta for eta in ETAS if eta < test.shape[1]]
    errors: dict[str, FloatArray] = {}
    tried = forgetting({*effort.factors, 0.95}, [first], test, etas, SLOT)
    best = np.min([found.errors for found in tried.values()], axis=0)
    errors["forgetting PCA, best factor in hindsight"] = best
    errors["forgetting PCA, 0.95"] = tried[0.95].errors
    for preset, start in (("compression", "random"), ("exact", "data")):
        learner = OrthogonalDictionaryLearning.preset(preset, init=start, random_state=0).partial_fit(first)
        errors[preset] = coded(Orthonormal(learner), test, etas, SLOT).errors
    errors["paper"] = coded(Orthonormal(_Papers(first)), test, etas, SLOT).errors
    axes = np.linalg.eigh(test.T @ test)[1][:, ::-1]
    errors["oracle: PCA of the test rows"] = relative_error(energy_left(test @ axes, etas), test)
    if effort.oracle_iterations:
        found = [_top_k(test, eta, axes, effort.oracle_iterations) for eta in etas]
        parts = [relative_error(energy_left(test @ d, [eta]), test)[0] for d, eta in zip(found, etas, strict=True)]
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
