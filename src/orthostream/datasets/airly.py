"""The data of section V-C: a year of hourly readings from the Airly sensors in Krakow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from orthostream._checks import one_of
from orthostream._typing import FloatArray
from orthostream.datasets.data_folder import DataFolderError, find_folder, read_numbers, read_table
from orthostream.datasets.fill import check_fill, filled

_QUANTITIES = ("temperature", "humidity", "pressure", "pm1", "pm25", "pm10")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# The data set ends in the first hour of 25 December.
_HOURS_OF_DECEMBER = 577
_TIME = "UTC time"
_LOCATIONS = "sensor_locations.csv"
_REMEDY = (
    'Download the Kaggle data set "Air quality data from extensive network of sensors" '
    "(https://www.kaggle.com/datasets/datascienceairly/air-quality-data-from-extensive-network-of-sensors) "
    "and unpack all of its files into one folder."
)


def load_airly(
    folder: str | os.PathLike[str] | None = None, quantity: str = "temperature", *, fill: str | None = None
) -> Bunch:
    """Load hourly readings of 56 sensors in Krakow, 1 January to 25 December 2017.

    The data set is not part of this package: it is "Air quality data from extensive network of sensors" on Kaggle,
    twelve files ``MONTH-2017.csv`` and ``sensor_locations.csv``. Readings are not cleaned: humidity, for one, has many
    impossible values.

    Parameters
    ----------
    folder : path, optional
        The folder with the files, or one whose sub-folder ``airly`` has them. By default, the folder in the environment
        variable ORTHOSTREAM_DATA.
    quantity : {"temperature", "humidity", "pressure", "pm1", "pm25", "pm10"}
    fill : {"row mean"}, optional
        Replace each missing reading by the mean of that hour's readings, as the paper does. Hours without any reading
        stay missing.

    Returns
    -------
    Bunch
        ``data`` (hours, sensors) with NaN where missing, ``time`` (datetime64[h], UTC, ascending), ``sensors`` (the
        names of the columns, as text), ``locations`` (sensors, 2) as latitude and longitude.

    Raises
    ------
    DataFolderError
        If there is no such folder, or its files are incomplete or damaged.

    Examples
    --------
    >>> airly = load_airly("path/to/airly")  # doctest: +SKIP
    >>> airly.data.shape, airly.sensors[:3].tolist()  # doctest: +SKIP
    ((8593, 56), ['3', '140', '142'])
    """
    one_of("quantity", quantity, _QUANTITIES)
    check_fill(fill)
    path = find_folder(folder, "airly", _REMEDY)
    sensors, locations = _read_locations(path / _LOCATIONS)
    months = [_read_month(path, number, sensors, quantity) for number in range(1, 13)]
    data = np.concatenate([readings for _, readings in months])
    return Bunch(
        data=filled(data, fill),
        time=np.concatenate([time for time, _ in months]),
        sensors=np.array(sensors),
        locations=locations,
    )


def _read_locations(path: Path) -> tuple[list[str], FloatArray]:
    header, rows = read_table(path, _REMEDY)
    sensors = [row[0] for row in _picked(path, header, rows, ["id"])]
    if not sensors or len(set(sensors)) < len(sensors):
        raise DataFolderError(f"{path} does not list each sensor once. {_REMEDY}")
    columns = ["latitude", "longitude"]
    locations = read_numbers(path, columns, _picked(path, header, rows, columns), _REMEDY)
    if np.isnan(locations).any():
        raise DataFolderError(f"{path} does not give each sensor a latitude and a longitude. {_REMEDY}")
    return sensors, locations


def _read_month(
    folder: Path, number: int, sensors: list[str], quantity: str
) -> tuple[NDArray[np.datetime64], FloatArray]:
    path = folder / f"{_MONTHS[number - 1]}-2017.csv"
    header, rows = read_table(path, _REMEDY)
    columns = [f"{sensor}_{quantity}" for sensor in sensors]
    readings = read_numbers(path, columns, _picked(path, header, rows, columns), _REMEDY)
    unknown = {column for column in header if column.endswith(f"_{quantity}")}.difference(columns)
    if unknown:
        raise DataFolderError(f"{folder / _LOCATIONS} lacks the sensor of column {min(unknown)!r}. {_REMEDY}")
    times = np.array([row[0] for row in _picked(path, header, rows, [_TIME])])
    order = np.argsort(times, kind="stable")
    hours = _check_hours(path, number, times[order])
    return hours, readings[order]


def _check_hours(path: Path, number: int, times: NDArray[np.str_]) -> NDArray[np.datetime64]:
    """Return the hours of a month's sorted rows; each hour must occur exactly once."""
    month = np.datetime64(f"2017-{number:02d}", "M")
    hours = np.arange(month, month + 1, dtype="datetime64[h]")
    least = _HOURS_OF_DECEMBER if number == 12 else len(hours)
    expected = np.datetime_as_string(hours, unit="s")
    shared = min(len(times), len(hours))
    wrong = np.flatnonzero(times[:shared] != expected[:shared])
    if wrong.size:
        found, due = str(times[wrong[0]])[:40], str(expected[wrong[0]])
        raise DataFolderError(f"{path}, column {_TIME!r}: {found!r} instead of {due!r}. {_REMEDY}")
    if not least <= len(times) <= len(hours):
        raise DataFolderError(f"{path} has {len(times)} hours instead of {least}. {_REMEDY}")
    return hours[: len(times)]


def _picked(path: Path, header: list[str], rows: list[list[str]], columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the cells of some columns."""
    place = {column: index for index, column in enumerate(header)}
    for column in columns:
        if column not in place:
            raise DataFolderError(f"{path} has no column {column!r}. {_REMEDY}")
    indices = [place[column] for column in columns]
    return [tuple([row[index] for index in indices]) for row in rows]
