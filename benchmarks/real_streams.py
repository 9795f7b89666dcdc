"""Other people's data as streams: Airly, NOAA, patches of photographs, digits."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.datasets import load_airly, load_noaa
from orthostream.datasets.fill import filled

from .measure import SEED

AIRLY = {"Airly temperature": "temperature", "Airly PM2.5": "pm25"}
NOAA = "NOAA Tmax"


class Stream(NamedTuple):
    """A name and rows, with NaN where a reading is missing."""

    name: str
    rows: FloatArray


def data_folder() -> str | None:
    """Return the folder that the environment variable ORTHOSTREAM_DATA names."""
    return os.environ.get("ORTHOSTREAM_DATA") or None


def sensor_rows(name: str) -> FloatArray:
    """Return the rows of Airly or NOAA that have a reading, NaN where one is missing; may raise DataFolderError."""
    rows = (load_noaa(data_folder()) if name == NOAA else load_airly(data_folder(), AIRLY[name])).data
    return np.asarray(rows[~np.isnan(rows).all(axis=1)])


def whole_sensor_rows(name: str) -> FloatArray:
    """Return the same rows, missing readings replaced by the mean of the row."""
    return filled(sensor_rows(name), "row mean")


def patches(photograph: str = "china", count: int = 20_000, *, without_mean: bool = False) -> FloatArray:
    """Return 8 x 8 patches from random places of a grey photograph, as rows; grey levels are between 0 and 1."""
    from sklearn.datasets import load_sample_image

    grey = load_sample_image(f"{photograph}.jpg").mean(axis=2) / 255.0
    windows = np.lib.stride_tricks.sliding_window_view(grey, (8, 8)).reshape(-1, 64)
    chosen = np.random.default_rng(SEED).choice(len(windows), count, replace=False)
    rows = np.ascontiguousarray(windows[chosen])
    return rows - rows.mean(axis=1, keepdims=True) if without_mean else rows


def digits() -> FloatArray:
    """Return scikit-learn's 1,797 pictures of digits, 8 x 8 pixels, in their own order."""
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().data, dtype=float)
