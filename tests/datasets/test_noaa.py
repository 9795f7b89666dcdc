"""The NOAA data set: loading it, and messages about missing and damaged files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from orthostream.datasets import DataFolderError, load_noaa

READINGS = "t,3804,3810\n1990-01-01,35.0,55.0\n1990-01-02,,45.0\n1990-01-03,49.0,-5.0\n"
STATIONS = "id,lat,lon\n3810.0,35.733334,-81.383331\n3804.0,39.349998,-81.433334\n"


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A small data set of the same layout."""
    folder = tmp_path / "noaa"
    folder.mkdir()
    (folder / "wide_Tmax.csv").write_text(READINGS)
    (folder / "stations.csv").write_text(STATIONS)
    return folder


def test_the_fields(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(shipped.parent))
    for noaa in (load_noaa(shipped), load_noaa(shipped.parent), load_noaa()):
        np.testing.assert_array_equal(noaa.data, [[35.0, 55.0], [np.nan, 45.0], [49.0, -5.0]])
        np.testing.assert_array_equal(noaa.time, np.arange("1990-01-01", "1990-01-04", dtype="datetime64[D]"))
        assert noaa.stations.tolist() == ["3804", "3810"]
        np.testing.assert_array_equal(noaa.locations, [[39.349998, -81.433334], [35.733334, -81.383331]])


def edited(name: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text((folder / name).read_text().replace(old, new, 1))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no readings": (lambda folder: (folder / "wide_Tmax.csv").unlink(), r"wide_Tmax\.csv is not in .*noaa\."),
    "no stations": (lambda folder: (folder / "stations.csv").unlink(), r"stations\.csv is not in .*noaa\."),
    "no time": (edited("wide_Tmax.csv", "t,3804", "day,3804"), r"wide_Tmax\.csv has no column 't'"),
    "header alone": (lambda folder: (folder / "wide_Tmax.csv").write_text("t,3804\n"), "no column 't' followed by"),
    "half a row": (edited("wide_Tmax.csv", "1990-01-02,,45.0", "1990-01-02"), "row 3: 1 cells instead of 3"),
    "a word": (edited("wide_Tmax.csv", "49.0", "warm"), "row 4, column '3804': 'warm' is not a number"),
    "no date": (edited("wide_Tmax.csv", "1990-01-02", "2 January"), "row 3, column 't': '2 January' is not a date"),
    "no such date": (edited("wide_Tmax.csv", "1990-01-02", "1990-13-02"), "column 't': .*13"),
    "a day twice": (edited("wide_Tmax.csv", "01-03", "01-02"), "row 4: 1990-01-02 does not follow the day above"),
    "no place": (edited("stations.csv", "39.349998", ""), "does not give the place of station '3804'"),
    "a station absent": (edited("stations.csv", "3804.0", "3805.0"), "does not give the place of station '3804'"),
    "other columns": (edited("stations.csv", "lat", "north"), r"columns \['id', 'north', 'lon'\] instead of id"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_in_one_line(shipped: Path, name: str) -> None:
    damage, message = DAMAGES[name]
    damage(shipped)
    with pytest.raises(DataFolderError, match=message) as caught:
        load_noaa(shipped)
    assert "\n" not in str(caught.value) and "STRbook" in str(caught.value)


def test_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    for folder, message in ((None, "ORTHOSTREAM_DATA"), (tmp_path / "absent", "is not a folder")):
        with pytest.raises(DataFolderError, match=message):
            load_noaa(folder)


def test_the_real_data() -> None:
    folder = Path(os.environ.get("ORTHOSTREAM_DATA", "")) / "noaa"
    if not os.environ.get("ORTHOSTREAM_DATA") or not folder.is_dir():
        pytest.skip("ORTHOSTREAM_DATA does not name a folder with the NOAA data set")
    noaa = load_noaa(folder)
    assert noaa.data.shape == (1461, 137)
    assert np.isnan(noaa.data).mean() == pytest.approx(0.0195, abs=1e-3)
    assert (np.nanmin(noaa.data), np.nanmax(noaa.data)) == (-12.0, 110.0)
    np.testing.assert_array_equal(noaa.time, np.arange("1990-01-01", "1994-01-01", dtype="datetime64[D]"))
    assert noaa.locations[0].tolist() == [39.349998, -81.433334]
