"""The streams and memory layouts of `orthostream bench learner --field`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.datasets.data_folder import DataFolderError
from orthostream.datasets.fill import filled

from .measure import SEED
from .real_streams import AIRLY, NOAA, Stream, patches, sensor_rows, whole_sensor_rows

#: The stream whose layouts are measured, and whose products have a goal.
TEMPERATURE = "Airly temperature, filled"
SYNTHETIC = "Bernoulli-Gaussian"
PHOTOGRAPH = "8x8 patches"
PLAIN_LAYOUT = "C float64"


def streams() -> tuple[list[Stream], list[str]]:
    """Return the streams that can be loaded, and a line for each that cannot."""
    found: list[Stream] = []
    missing: list[str] = []
    for name in AIRLY:
        try:
            rows = sensor_rows(name)
        except DataFolderError as error:
            missing.append(f"{name} is left out: {error}")
            continue
        whole = filled(rows, "row mean")
        centred = whole - whole.mean(axis=0)
        found += [Stream(f"{name}, filled", whole), Stream(f"{name}, centred", centred)]
        found.append(Stream(f"{name}, NaN", rows))
    try:
        found.append(Stream(f"{NOAA}, filled", whole_sensor_rows(NOAA)))
    except DataFolderError as error:
        missing.append(f"{NOAA} is left out: {error}")
    try:
        found.append(Stream(PHOTOGRAPH, patches()))
    except ImportError as error:
        missing.append(f"{PHOTOGRAPH} of a photograph are left out: {' '.join(str(error).split())}")
    return found, missing


def synthetic(size: int = 10, count: int = 12_000) -> FloatArray:
    """Return the small stream whose layouts are measured."""
    return np.asarray(make_bernoulli_gaussian(count, size, sparsity=0.3, random_state=0).samples)


def cut(rows: Any, batch: int) -> list[Any]:
    """Return rows as mini-batches; what is left over is dropped."""
    return [rows[i : i + batch] for i in range(0, len(rows) - batch + 1, batch)]


def layouts(rows: FloatArray, batch: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the same mini-batches in every layout, those with gaps and zeros, and a line for what is missing."""
    rng = np.random.default_rng(SEED)
    frozen = rows.copy()
    frozen.flags.writeable = False
    gaps = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    gaps[np.isnan(gaps).all(axis=1)] = 0.0
    zeros = rows.copy()
    zeros[::2] = 0.0
    each: dict[str, Callable[[], list[Any]]] = {
        PLAIN_LAYOUT: lambda: cut(rows, batch),
        "Fortran": lambda: [np.asfortranarray(part) for part in cut(rows, batch)],
        "float32": lambda: cut(rows.astype(np.float32), batch),
        "strided": lambda: cut(np.repeat(rows, 2, axis=0)[::2], batch),
        "read-only": lambda: cut(frozen, batch),
        "list of lists": lambda: [part.tolist() for part in cut(rows, batch)],
        "DataFrame": lambda: _frames(rows, batch),
        "10 % missing": lambda: cut(gaps, batch),
        "half of the rows zero": lambda: cut(zeros, batch),
    }
    found: dict[str, list[Any]] = {}
    missing: list[str] = []
    for name, make in each.items():
        try:
            found[name] = make()
        except ImportError as error:
            missing.append(f"layout {name} is left out: {error}")
    return found, missing


def _frames(rows: FloatArray, batch: int) -> list[Any]:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[f"sensor {i}" for i in range(rows.shape[1])])
    return [frame.iloc[i : i + batch] for i in range(0, len(rows) - batch + 1, batch)]
