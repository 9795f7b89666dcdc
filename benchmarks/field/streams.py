"""All streams of `orthostream bench compression --field`: measured ones where there are data, and simulated ones."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

import numpy as np

from orthostream._typing import FloatArray
from orthostream.datasets import load_airly, load_noaa
from orthostream.datasets.data_folder import DataFolderError

from . import machines, motion, switches, tables, weather
from .stream import REPORT, TUNE, Recipe, Stream

#: Samples and sensors of measured streams, at most; samples of all streams with --quick.
MEASURED, SENSORS, QUICK = 1200, 50, 400


def _airly(quantity: str) -> Callable[[np.random.Generator], FloatArray]:
    return lambda rng: _part(rng, load_airly(None, quantity).data)


def _noaa(rng: np.random.Generator) -> FloatArray:
    return _part(rng, load_noaa().data)


def _part(rng: np.random.Generator, rows: FloatArray) -> FloatArray:
    """Return a stretch of the samples; the seed decides which."""
    start = int(rng.integers(max(1, len(rows) - MEASURED)))
    found = np.array(rows[start : start + MEASURED], dtype=np.float64)
    return found[:, ~np.isnan(found).all(axis=0)][:, :SENSORS]


MEASURED_RECIPES = (
    Recipe("Airly temperature", "field", TUNE, _airly("temperature"), 1.0, 1.0, period=24, simulated=False),
    Recipe("Airly PM2.5", "field", REPORT, _airly("pm25"), 2.0, 1.0, period=24, simulated=False),
    Recipe("Airly humidity", "field", TUNE, _airly("humidity"), 1.0, 1.0, period=24, simulated=False),
    Recipe("Airly pressure", "field", REPORT, _airly("pressure"), 20.0, 1.0, period=24, simulated=False),
    Recipe("NOAA Tmax", "field", REPORT, _noaa, 1.0, 1.0, simulated=False),
)
SIMULATED_RECIPES = weather.RECIPES + switches.RECIPES + machines.RECIPES + motion.RECIPES + tables.RECIPES
RECIPES = MEASURED_RECIPES + SIMULATED_RECIPES


def made(recipe: Recipe, seed: int = 0) -> Stream:
    """Return the stream of a recipe; another seed gives another realisation."""
    rng = np.random.default_rng([seed, zlib.crc32(recipe.name.encode())])
    rows = np.ascontiguousarray(recipe.make(rng), dtype=np.float64)
    fields = recipe._asdict() | {"rows": rows}
    del fields["make"]
    return Stream(**fields)


def names(split: str = "all") -> list[str]:
    """Return the names of a split's streams, in small letters."""
    return [recipe.name.lower() for recipe in RECIPES if split in ("all", recipe.split)]


def streams(
    split: str = "all", *, seed: int = 0, only: str | None = None, quick: bool = False
) -> tuple[list[Stream], list[str]]:
    """Return the streams of a split, and a line for each data set that is absent.

    >>> found, missing = streams("tune", only="switch,rain")
    >>> [(stream.name, stream.rows.shape) for stream in found]
    [('rain, 12 stations', (4000, 12)), ('switch', (20000, 1))]
    """
    words = [word.strip().lower() for word in only.split(",")] if only else [""]
    chosen = [
        recipe
        for recipe in RECIPES
        if split in ("all", recipe.split) and any(word in recipe.name.lower() for word in words)
    ]
    if not os.environ.get("ORTHOSTREAM_DATA"):
        measured = any(not recipe.simulated for recipe in chosen)
        chosen = [recipe for recipe in chosen if recipe.simulated]
        line = "real sensors are left out: ORTHOSTREAM_DATA names no folder with airly/ and noaa/ in it."
        missing = {line: None} if measured else {}
    else:
        missing = {}
    found = []
    for recipe in chosen:
        try:
            stream = made(recipe, seed)
        except DataFolderError as error:
            missing[f"{recipe.name.split()[0]} is left out: {error}"] = None
            continue
        found.append(stream._replace(rows=stream.rows[:QUICK]) if quick else stream)
    return found, list(missing)
