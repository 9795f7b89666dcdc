"""Section V-C, the last figure: the decoded readings of one sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.dictionary.sparse_coding import keep_largest
from orthostream.experiments.methods import CONSTANT, PROPOSED
from orthostream.experiments.outcome import Claim, Experiment, Outcome, Picture, Verdict
from orthostream.experiments.paper_values import SENSOR_45
from orthostream.experiments.plan import Plan, SensorReadings
from orthostream.experiments.protocol import AFTER, BEFORE, INITIAL, TRAINING, slots
from orthostream.experiments.record import Record
from orthostream.experiments.registry import contender
from orthostream.experiments.style import new_figure, paper_style
from orthostream.experiments.task import Task, TaskReport, TaskResult

#: The column of the paper's 45th sensor, and the period that its figure shows.
_SENSOR = 44
_FIRST, _HOURS = np.datetime64("2017-10-27T21"), 1000
_METHODS = (PROPOSED, CONSTANT)


class SensorFigure(Experiment):
    """A thousand readings of the 45th sensor, original and decoded, with the largest errors."""

    name = "sensor-45"
    summary = "the decoded readings of one sensor, with the largest errors"
    needs_readings = True

    def tasks(self, plan: Plan) -> list[Task]:
        readings = plan.needed_readings
        first = _first(readings)
        return [
            Task(
                _name(method),
                decode,
                {"method": method, "rows": readings.rows[: first + _HOURS], "first": first, "seed": plan.seed},
                2.0,
            )
            for method in _methods(plan)
        ]

    def outcome(self, plan: Plan, results: Mapping[str, TaskResult]) -> Outcome:
        readings = plan.needed_readings
        first = _first(readings)
        truth, time = readings.rows[first : first + _HOURS], readings.time[first : first + _HOURS]
        silent = np.asarray(readings.gaps[first : first + _HOURS].all(axis=0))
        sensor = min(_SENSOR, truth.shape[1] - 1)
        worst = {
            (method, eta, protocol): np.abs(results[_name(method)][_key(eta, protocol)] - truth).max(axis=0)
            for method in _methods(plan)
            for eta in SENSOR_45
            for protocol in (AFTER, BEFORE)
        }
        columns: dict[str, Any] = {"time": [str(t) for t in time], "reading": truth[:, sensor].tolist()}
        for eta in SENSOR_45:
            for protocol in (AFTER, BEFORE):
                columns[_key(eta, protocol)] = results[_name(PROPOSED)][_key(eta, protocol)][:, sensor].tolist()
        caption = (
            f"{len(truth):,} readings of the 45th sensor (column 45) from {time[0]} on, and what is decoded "
            "from eta0 coefficients of the whole network (the paper's protocol). Below each: the error, causal in grey."
        )
        return Outcome(
            self.name,
            "One sensor: number 45",
            "The readings of one sensor, decoded from the codes of the proposed method.",
            records=[
                Record(
                    self.name,
                    method,
                    _key(eta, protocol),
                    "largest_error_degrees",
                    float(errors[sensor]),
                    SENSOR_45[eta] if readings.real and (method, protocol) == (PROPOSED, AFTER) else None,
                )
                for (method, eta, protocol), errors in worst.items()
            ],
            claims=[_claim(readings, eta, sensor, silent, worst) for eta in SENSOR_45],
            pictures=[Picture(self.name, caption, lambda: _draw(columns), columns)],
        )


def decode(method: str, rows: FloatArray, first: int, seed: int, report: TaskReport) -> TaskResult:
    """Follow the stream; return the decoded rows from row ``first`` on, under both protocols."""
    runner = contender(method, seed)
    start = TRAINING + INITIAL
    runner.start(rows[TRAINING:start])
    decoded = {_key(eta, protocol): np.empty_like(rows) for eta in SENSOR_45 for protocol in (BEFORE, AFTER)}
    for slot in slots(start, len(rows)):
        for protocol in (BEFORE, AFTER):
            if protocol == AFTER:
                runner.learn(rows[slot])
            codes = runner.code(rows[slot])
            for eta in SENSOR_45:
                decoded[_key(eta, protocol)][slot] = runner.decode(keep_largest(codes, eta))
        report(slot.stop / len(rows))
    return {key: estimates[first:] for key, estimates in decoded.items()}


def _first(readings: SensorReadings) -> int:
    """Return the first row of the figure: that of the paper, or an earlier one if there are too few rows after it."""
    latest = max(len(readings.time) - _HOURS, TRAINING + INITIAL)
    return min(int(np.searchsorted(readings.time, _FIRST)), latest)


def _methods(plan: Plan) -> list[str]:
    return [method for method in _METHODS if method not in plan.without]


def _name(method: str) -> str:
    return f"sensor-45 {method}"


def _key(eta: int, protocol: str) -> str:
    return f"eta0={eta} {protocol}"


def _claim(
    readings: SensorReadings,
    eta: int,
    sensor: int,
    silent: NDArray[np.bool_],
    worst: dict[tuple[str, int, str], FloatArray],
) -> Claim:
    said, errors = SENSOR_45[eta], worst[PROPOSED, eta, AFTER]
    ours = float(errors[sensor])
    verdict = Verdict.BETTER if ours < 0.95 * said else Verdict.AGREES if ours < 1.1 * said else Verdict.DIFFERS
    remark = f"causal: {worst[PROPOSED, eta, BEFORE][sensor]:.2f} °C"
    if (CONSTANT, eta, AFTER) in worst:
        remark += f"; with a constant step {worst[CONSTANT, eta, AFTER][sensor]:.2f} °C"
    if not silent[sensor] and silent.any():
        heard, unheard = errors[~silent], errors[silent]
        remark += (
            f"; over the sensors with readings of their own {heard.min():.2f} to {heard.max():.2f}, over the "
            f"{len(unheard)} that are silent in these weeks, and stand for the hour's mean, {unheard.min():.2f} to "
            f"{unheard.max():.2f} °C"
        )
    return Claim(
        f"Largest error at sensor 45, eta0 = {eta}",
        f"{said:.2f} °C",
        f"{ours:.2f} °C",
        verdict if readings.real else Verdict.NOT_COMPARABLE,
        remark,
    )


def _draw(columns: dict[str, Any]) -> Any:
    with paper_style():
        figure = new_figure(7.2, 5.6)
        axes = figure.subplots(4, 1, sharex=True, gridspec_kw={"height_ratios": [2.2, 1, 2.2, 1]})
        time = np.array(columns["time"], "datetime64[ms]").astype(object)
        truth = np.array(columns["reading"])
        for (top, bottom), eta in zip((axes[:2], axes[2:]), SENSOR_45, strict=True):
            estimate = np.array(columns[_key(eta, AFTER)])
            top.plot(time, truth, color="#b5b5b5", lw=2.2, label="reading")
            top.plot(time, estimate, color="#0b5fa5", lw=0.8, label=rf"decoded, $\eta_0={eta}$")
            top.set_ylabel("°C")
            top.legend(loc="upper right", ncol=2)
            bottom.plot(time, np.array(columns[_key(eta, BEFORE)]) - truth, color="#c9c9c9", lw=2.0)
            bottom.plot(time, estimate - truth, color="#c8553d", lw=0.7)
            bottom.set_ylabel("error, °C")
        figure.align_ylabels()
        figure.tight_layout()
        return figure
