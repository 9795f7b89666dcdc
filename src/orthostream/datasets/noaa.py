"""Four years of daily maximum temperatures at 137 weather stations in the middle of the United States."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from orthostream._typing import FloatArray
from orthostream.datasets.data_folder import DataFolderError, find_folder, read_numbers, read_table

_READINGS, _STATIONS = "wide_Tmax.csv", "stations.csv"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_REMEDY = (
    "The readings are those of NOAA_df_1990 in the R package STRbook (https://github.com/andrewzm/STRbook) whose proc "
    f'is "Tmax": write them to {_READINGS}, one row for each date, with the columns "t" and the id of each station, '
    f"and to {_STATIONS} the columns id, lat and lon."
)


def load_noaa(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load daily maximum temperatures in degrees Fahrenheit, 1990 to 1993.

    The data set is not part of this package: it was measured by NOAA, and is NOAA_df_1990 in the R package STRbook.

    Parameters
    ----------
    folder : path, optional
        The folder with ``wide_Tmax.csv`` and ``stations.csv``, or one whose sub-folder ``noaa`` has them. By
        default, the folder in the environment variable ORTHOSTREAM_DATA.

    Returns
    -------
    Bunch
        ``data`` (days, stations) with NaN where missing, ``time`` (datetime64[D], ascending), ``stations`` (the names
        of the columns, as text), ``locations`` (stations, 2) as latitude and longitude.

    Raises
    ------
    DataFolderError
        If there is no such folder, or its files are not as described.

    Examples
    --------
    >>> noaa = load_noaa("path/to/noaa")  # doctest: +SKIP
    >>> noaa.data.shape, noaa.stations[:3].tolist()  # doctest: +SKIP
    ((1461, 137), ['3804', '3810', '3811'])
    """
    path = find_folder(folder, "noaa", _REMEDY)
    header, rows = read_table(path / _READINGS, _REMEDY)
    if header[0] != "t" or len(header) < 2 or not rows:
        raise DataFolderError(f"{path / _READINGS} has no column 't' followed by readings of stations. {_REMEDY}")
    stations = header[1:]
    return Bunch(
        data=read_numbers(path / _READINGS, stations, [row[1:] for row in rows], _REMEDY),
        time=_days(path / _READINGS, [row[0] for row in rows]),
        stations=np.array(stations),
        locations=_locations(path / _STATIONS, stations),
    )


def _days(path: Path, texts: list[str]) -> NDArray[np.datetime64]:
    for number, text in enumerate(texts, start=2):
        if not _DAY.fullmatch(text):
            raise DataFolderError(f"{path}, row {number}, column 't': {text[:40]!r} is not a date. {_REMEDY}")
    try:
        days = np.array(texts, dtype="datetime64[D]")
    except ValueError as error:
        raise DataFolderError(f"{path}, column 't': {error}. {_REMEDY}") from error
    late = np.flatnonzero(np.diff(days) <= np.timedelta64(0, "D"))
    if late.size:
        raise DataFolderError(
            f"{path}, row {late[0] + 3}: {days[late[0] + 1]} does not follow the day above. {_REMEDY}"
        )
    return days


def _locations(path: Path, stations: list[str]) -> FloatArray:
    header, rows = read_table(path, _REMEDY)
    if header[:3] != ["id", "lat", "lon"]:
        raise DataFolderError(f"{path} has the columns {header[:3]} instead of id, lat and lon. {_REMEDY}")
    cells = read_numbers(path, header[:3], [row[:3] for row in rows], _REMEDY)
    # Some tools write the number of a station as 3804.0.
    places = {f"{station:.0f}": place for station, *place in cells.tolist()}
    for station in stations:
        if station not in places or np.isnan(places[station]).any():
            raise DataFolderError(f"{path} does not give the place of station {station[:40]!r}. {_REMEDY}")
    return np.array([places[station] for station in stations])
