"""The Airly data set: loading it, and messages about missing and damaged files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from orthostream.datasets import DataFolderError, load_airly

MONTHS = pd.date_range("2017-01-01", periods=12, freq="MS")
QUANTITIES = ("temperature", "humidity", "pressure", "pm1", "pm25", "pm10")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set of the same layout: two sensors; sensor 140 misses every third reading."""
    folder = tmp_path_factory.mktemp("shipped") / "airly"
    folder.mkdir()
    (folder / "sensor_locations.csv").write_text("id,latitude,longitude\r\n3,50.0,19.9\r\n140,50.1,20.0\r\n")
    for month in MONTHS:
        end = month + pd.offsets.MonthBegin() if month.month < 12 else pd.Timestamp("2017-12-25T01")
        hours = pd.date_range(month, end, freq="h", inclusive="left")
        table = pd.DataFrame({"UTC time": hours.strftime("%Y-%m-%dT%H:%M:%S")})
        for place, sensor in enumerate((3, 140)):
            for number, quantity in enumerate(QUANTITIES):
                cells = np.array(
                    [f"{hour % 50 - 10 + 100 * number + place}" for hour in range(len(hours))], dtype=object
                )
                if sensor == 140:
                    cells[::3] = ""
                table[f"{sensor}_{quantity}"] = cells
        table.to_csv(folder / f"{month:%B}-2017.csv".lower(), index=False, lineterminator="\r\n")
    return folder


@pytest.fixture
def damaged(shipped: Path, tmp_path: Path) -> Path:
    """A copy of the small data set, to be damaged."""
    return Path(shutil.copytree(shipped, tmp_path / "airly"))


def test_the_fields(shipped: Path) -> None:
    airly = load_airly(shipped)
    assert airly.data.shape == (8593, 2) and airly.data.dtype == np.float64
    np.testing.assert_array_equal(airly.time, np.arange("2017-01-01T00", "2017-12-25T01", dtype="datetime64[h]"))
    assert airly.time.dtype == "datetime64[h]"
    assert airly.sensors.tolist() == ["3", "140"]
    np.testing.assert_array_equal(airly.locations, [[50.0, 19.9], [50.1, 20.0]])
    np.testing.assert_array_equal(airly.data[:4], [[-10, np.nan], [-9, -8], [-8, -7], [-7, np.nan]])


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_each_quantity(shipped: Path, quantity: str) -> None:
    airly = load_airly(shipped, quantity)
    assert airly.data[0, 0] == 100 * QUANTITIES.index(quantity) - 10


def test_fill_with_the_mean_of_the_hour(shipped: Path) -> None:
    gappy, full = load_airly(shipped).data, load_airly(shipped, fill="row mean").data
    np.testing.assert_array_equal(full, np.where(np.isnan(gappy), np.nanmean(gappy, axis=1)[:, None], gappy))


def test_an_hour_without_a_reading_stays_missing(damaged: Path) -> None:
    edit(damaged, "january-2017.csv", lambda text: text.replace("00:00:00,-10,", "00:00:00,,", 1))
    airly = load_airly(damaged, fill="row mean")
    assert np.isnan(airly.data).sum() == 2
    assert np.isnan(airly.data[0]).all()


def test_rows_are_sorted_by_time_and_columns_by_sensor(shipped: Path, damaged: Path) -> None:
    path = damaged / "may-2017.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.iloc[::-1, ::-1].to_csv(path, index=False)
    expected, airly = load_airly(shipped), load_airly(damaged)
    np.testing.assert_array_equal(airly.data, expected.data)
    np.testing.assert_array_equal(airly.time, expected.time)


def test_a_byte_order_mark_and_blank_lines_do_no_harm(shipped: Path, damaged: Path) -> None:
    path = damaged / "may-2017.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\r\n")
    np.testing.assert_array_equal(load_airly(damaged).data, load_airly(shipped).data)


def test_the_folder_may_be_named_in_four_ways(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_airly(shipped).data
    np.testing.assert_array_equal(load_airly(str(shipped.parent)).data, expected)
    for named in (shipped, shipped.parent):
        monkeypatch.setenv("ORTHOSTREAM_DATA", str(named))
        np.testing.assert_array_equal(load_airly().data, expected)


def test_bad_parameters_are_plain_errors(shipped: Path) -> None:
    for parameters in ({"quantity": "wind"}, {"fill": "zero"}):
        with pytest.raises(ValueError, match=next(iter(parameters))) as caught:
            load_airly(shipped, **parameters)
        assert not isinstance(caught.value, DataFolderError)


def edit(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = folder / name
    text = path.read_bytes().decode()
    assert change(text) != text
    path.write_bytes(change(text).encode())


def drop_column(name: str) -> Callable[[Path], None]:
    def drop(folder: Path) -> None:
        path = folder / "june-2017.csv"
        pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns=name).to_csv(path, index=False)

    return drop


def edited(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda folder: edit(folder, name, change)


def without_line(text: str, line: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:line] + lines[line + 1 :])


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no month": (lambda folder: (folder / "july-2017.csv").unlink(), r"july-2017\.csv is not in .*airly\."),
    "no locations": (lambda folder: (folder / "sensor_locations.csv").unlink(), r"sensor_locations\.csv is not in"),
    "half a row": (
        edited("march-2017.csv", lambda text: text[: len(text) // 2 + 20]),
        r"march-2017\.csv, row \d+: \d+ cells instead of 13; the file is cut short",
    ),
    "half a file": (
        edited("march-2017.csv", lambda text: "".join(text.splitlines(keepends=True)[:300])),
        r"march-2017\.csv has 299 hours instead of 744",
    ),
    "december cut": (
        edited("december-2017.csv", lambda text: "".join(text.splitlines(keepends=True)[:-1])),
        r"december-2017\.csv has 576 hours instead of 577",
    ),
    "an hour absent": (
        edited("may-2017.csv", lambda text: without_line(text, 31)),
        r"may-2017\.csv, column 'UTC time': '2017-05-02T07:00:00' instead of '2017-05-02T06:00:00'",
    ),
    "an hour twice": (
        edited("may-2017.csv", lambda text: text.replace("2017-05-02T06", "2017-05-02T05")),
        r"may-2017\.csv, column 'UTC time': '2017-05-02T05:00:00' instead of '2017-05-02T06:00:00'",
    ),
    "another month": (
        lambda folder: shutil.copy(folder / "may-2017.csv", folder / "july-2017.csv"),
        r"july-2017\.csv, column 'UTC time'",
    ),
    "header alone": (
        edited("may-2017.csv", lambda text: text.splitlines(keepends=True)[0]),
        r"may-2017\.csv has 0 hours instead of 744",
    ),
    "empty file": (edited("may-2017.csv", lambda text: ""), r"may-2017\.csv is empty"),
    "no column": (drop_column("140_temperature"), r"june-2017\.csv has no column '140_temperature'"),
    "no time": (drop_column("UTC time"), r"june-2017\.csv has no column 'UTC time'"),
    "column twice": (
        edited("june-2017.csv", lambda text: text.replace("3_humidity", "3_temperature", 1)),
        r"june-2017\.csv: the column '3_temperature' occurs twice",
    ),
    "a sensor without a place": (
        edited("sensor_locations.csv", lambda text: without_line(text, 2)),
        r"sensor_locations\.csv lacks the sensor of column '140_temperature'",
    ),
    "a place of words": (
        edited("sensor_locations.csv", lambda text: text.replace("50.1", "north")),
        r"sensor_locations\.csv, row 3, column 'latitude': 'north' is not a number",
    ),
    "no place": (
        edited("sensor_locations.csv", lambda text: text.replace("50.1", "")),
        r"sensor_locations\.csv does not give each sensor a latitude",
    ),
    "a sensor twice": (
        edited("sensor_locations.csv", lambda text: text.replace("140,", "3,")),
        r"sensor_locations\.csv does not list each sensor once",
    ),
    **{
        f"cell {text!r}": (
            edited("june-2017.csv", lambda old, text=text: old.replace("T02:00:00,-8,", f"T02:00:00,{text},", 1)),
            r"june-2017\.csv, row 4, column '3_temperature': .* is not a number",
        )
        for text in ("warm", "nan", "inf", "1e999", "1_0", "-", "٣", '"8\n9"', " ")
    },
    "bytes": (
        lambda folder: (folder / "june-2017.csv").write_bytes(bytes(range(256)) * 9),
        r"june-2017\.csv cannot be read as CSV",
    ),
    "one byte": (
        lambda folder: (folder / "june-2017.csv").write_bytes(
            (folder / "june-2017.csv").read_bytes().replace(b"140_pm10", b"140_\xff10")
        ),
        r"june-2017\.csv cannot be read as CSV: 'utf-8' codec",
    ),
    "zero bytes": (
        edited("june-2017.csv", lambda text: text.replace("140_pm10", "140_\0m10")),
        r"june-2017\.csv cannot be read as CSV: it contains zero bytes",
    ),
    "an open quote": (
        edited("june-2017.csv", lambda text: text.replace("T02:00:00,-8,", 'T02:00:00,"-8,', 1)),
        r"june-2017\.csv cannot be read as CSV",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_in_one_line(damaged: Path, name: str) -> None:
    damage, message = DAMAGES[name]
    damage(damaged)
    with pytest.raises(DataFolderError, match=message) as caught:
        load_airly(damaged)
    assert "\n" not in str(caught.value)
    assert "www.kaggle.com/datasets/datascienceairly" in str(caught.value)


def test_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    for folder, message in (
        (None, "set the environment variable ORTHOSTREAM_DATA"),
        (tmp_path / "ab\nsent", "is not a folder"),
        (tmp_path, r"sensor_locations\.csv is not in"),
    ):
        with pytest.raises(DataFolderError, match=message) as caught:
            load_airly(folder)
        assert "\n" not in str(caught.value) and "www.kaggle.com" in str(caught.value)
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataFolderError, match="named by ORTHOSTREAM_DATA, is not a folder"):
        load_airly()


@pytest.mark.parametrize(
    ("quantity", "missing", "least", "most"),
    [
        ("temperature", 0.2277, -22, 46),
        ("humidity", 0.2278, -10157, 337),
        ("pressure", 0.3585, 97386, 104217),
        ("pm1", 0.1930, 0, 1234),
        ("pm25", 0.1929, 0, 397),
        ("pm10", 0.1929, -1, 664),
    ],
)
def test_the_real_data(airly_folder: Path, quantity: str, missing: float, least: float, most: float) -> None:
    airly = load_airly(airly_folder, quantity)
    assert airly.data.shape == (8593, 56)
    assert np.isnan(airly.data).mean() == pytest.approx(missing, abs=1e-4)
    assert (np.nanmin(airly.data), np.nanmax(airly.data)) == (least, most)
    assert airly.sensors[[0, 1, -1]].tolist() == ["3", "140", "895"]
    assert airly.locations[0].tolist() == [50.057748, 19.961375]
    june = pd.read_csv(airly_folder / "june-2017.csv")
    rows = (airly.time >= np.datetime64("2017-06")) & (airly.time < np.datetime64("2017-07"))
    np.testing.assert_array_equal(airly.data[rows, 5], june[f"{airly.sensors[5]}_{quantity}"])


def test_loading_is_quick(airly_folder: Path) -> None:
    start = time.process_time()
    load_airly(airly_folder)
    assert time.process_time() - start < 2.0
