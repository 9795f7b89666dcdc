"""The figures of section V-C: errors over the number of coefficients, training curves, the readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orthostream.experiments.methods import DEEP
from orthostream.experiments.outcome import Picture
from orthostream.experiments.paper_values import ETAS
from orthostream.experiments.plan import SensorReadings
from orthostream.experiments.protocol import AFTER, BEFORE
from orthostream.experiments.registry import METHODS
from orthostream.experiments.sensor_results import SensorResults
from orthostream.experiments.style import new_figure, paper_style
from orthostream.experiments.task import TaskResult


def rmse_picture(found: SensorResults) -> Picture:
    """Return a figure of the errors of all methods over the number of coefficients, under both protocols."""
    columns: dict[str, Any] = {"eta0": ETAS}
    for method in found.measured:
        for protocol in (AFTER, BEFORE):
            columns[f"{method} ({protocol})"] = [float(value) for value in found.percent(method, protocol)]

    def draw() -> Any:
        with paper_style():
            figure = new_figure(7.2, 3.4)
            axes = figure.subplots(1, 2, sharey=True)
            titles = {AFTER: "the paper's protocol", BEFORE: "causal protocol"}
            for axis, protocol in zip(axes, titles, strict=True):
                for method in found.measured:
                    values = columns[f"{method} ({protocol})"]
                    axis.semilogy(ETAS, values, label=method, marker="o", ms=2.5, **METHODS[method].line._asdict())
                axis.set(xlabel=r"coefficients kept, $\eta_0$", title=titles[protocol], xticks=ETAS)
            axes[0].set_ylabel("relative RMSE, %")
            handles = axes[0].get_legend_handles_labels()
            figure.legend(*handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=4)
            figure.tight_layout()
            return figure

    return Picture("sensors-rmse", "Relative RMSE of every method over the coefficients kept.", draw, columns)


def readings_picture(readings: SensorReadings) -> Picture:
    """Return a figure of the readings of all sensors along the year."""
    columns = {
        "time": [str(t) for t in readings.time],
        "mean": readings.rows.mean(axis=1).tolist(),
        "lowest": readings.rows.min(axis=1).tolist(),
        "highest": readings.rows.max(axis=1).tolist(),
    }

    def draw() -> Any:
        with paper_style():
            figure = new_figure(7.2, 2.4)
            axis = figure.subplots()
            time = readings.time.astype("datetime64[ms]").astype(object)
            axis.plot(time, readings.rows, lw=0.2, color="#0b5fa5", alpha=0.08, rasterized=True)
            axis.plot(time, columns["mean"], lw=0.5, color="#0a2f51")
            axis.set(ylabel="temperature, °C", xlim=(time[0], time[-1]))
            figure.tight_layout()
            return figure

    caption = f"The readings ({readings.source}): each sensor, and in dark the mean of them."
    return Picture("sensors-readings", caption, draw, columns)


def training_picture(trained: Mapping[str, TaskResult]) -> Picture:
    """Return a figure of the training curves of baselines that have some."""
    curves = {
        method: {key.removeprefix("curve "): found[key] for key in found if key.startswith("curve ")}
        for method, found in trained.items()
    }
    longest = max(len(curve) for found in curves.values() for curve in found.values())
    columns: dict[str, Any] = {"epoch or sweep": range(1, longest + 1)}
    for method, found in curves.items():
        for name, curve in found.items():
            columns[f"{method} {name}"] = [*curve.tolist(), *[None] * (longest - len(curve))]

    def draw() -> Any:
        with paper_style():
            figure = new_figure(7.2, 2.6)
            axes = figure.subplots(1, len(curves), squeeze=False)
            for axis, (method, found) in zip(axes[0], curves.items(), strict=True):
                for name, curve in found.items():
                    if method == DEEP or name.startswith("rmse"):
                        label = name if method == DEEP else name.replace("rmse ", "a0/n = ")
                        axis.semilogy(np.arange(1, len(curve) + 1), curve, lw=1.2, label=label)
                axis.set(title=f"{method}, training", xlabel="epoch" if method == DEEP else "sweep")
                axis.set_ylabel("loss" if method == DEEP else "RMSE, °C")
                axis.xaxis.get_major_locator().set_params(integer=True)
                axis.legend()
            figure.tight_layout()
            return figure

    return Picture("sensors-training", "Training curves of the baselines that are trained.", draw, columns)
