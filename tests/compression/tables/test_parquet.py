"""Parquet files of others."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression.schema import Column, Schema
from orthostream.compression.tables import ParquetTable, ParquetWriter, TableError
from orthostream.compression.tables.parquet_writer import TypeMismatchError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def stored(**columns: object) -> io.BytesIO:
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file


def test_a_file_of_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2017-01-01", periods=3, freq="h", tz="Europe/Warsaw", name="when")
    frame = pandas.DataFrame({"a": [1.5, None, 2.5], "n": [1, 2, 3]}, index=index)
    frame.to_parquet(tmp_path / "a.parquet")
    table = ParquetTable(tmp_path / "a.parquet")
    assert table.schema.time is not None
    assert (table.schema.time.name, table.schema.time.zone) == ("when", "Europe/Warsaw")
    ((rows, times),) = list(table)
    assert np.array_equal(rows, [[1.5, 1.0], [np.nan, 2.0], [2.5, 3.0]], equal_nan=True)
    assert (
        times is not None
        and np.diff(times).tolist() == [3600 * 10 ** {"ms": 3, "us": 6, "ns": 9}[table.schema.time.unit]] * 2
    )
    assert [column.dtype for column in table.schema.columns] == ["float64", "int64"]


def test_many_row_groups_are_one_stream(tmp_path: Path) -> None:
    numbers = np.arange(500_000.0)
    parquet.write_table(
        pyarrow.table({"a": numbers, "t": numbers.astype(int)}), tmp_path / "a.pq", row_group_size=70_000
    )
    with ParquetTable(tmp_path / "a.pq") as table:
        found = list(table)
        assert table.rows_read == table.n_rows == 500_000
    assert len(found) > 2
    assert np.array_equal(np.concatenate([rows[:, 0] for rows, _ in found]), numbers)


def test_types() -> None:
    table = ParquetTable(
        stored(d=[Decimal("1.25"), None], f=pyarrow.array([0.5, None], pyarrow.float16()), z=[None, None])
    )
    assert np.array_equal(next(iter(table))[0], [[1.25, 0.5, np.nan], [np.nan] * 3], equal_nan=True)
    days = ParquetTable(stored(day=[datetime.date(2017, 1, 1), datetime.date(2017, 1, 2)], a=[1, 2]))
    assert days.schema.time is not None and days.schema.time.text == "%Y-%m-%d"
    assert next(iter(days))[1].tolist() == [1483228800, 1483315200]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"a": ["x", "y"]}, "column 'a' is of type string and holds no numbers"),
        ({"t": [1, 2, 2], "a": [1, 2, 3]}, "row 3: the time 2 comes twice"),
        ({"t": [1, 3, 2], "a": [1, 2, 3]}, "row 3: the time 2 comes after 3"),
        ({"t": [1, None, 2], "a": [1, 2, 3]}, "row 2: the time is missing"),
        ({"a": [1, 2**53 + 1]}, r"row 2, column 'a': 9007199254740993 is an integer beyond"),
        ({"a": pyarrow.array([], pyarrow.int8())}, "has no rows"),
    ],
)
def test_what_is_wrong_and_where(columns: dict[str, list], match: str) -> None:
    with pytest.raises(TableError, match=match):
        list(ParquetTable(stored(**columns)))


def test_what_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="is not a Parquet file"):
        ParquetTable(tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError):
        ParquetTable(tmp_path / "b.parquet")


def test_choice_of_columns() -> None:
    table = ParquetTable(stored(s=["x"], a=[1], k=[7]), columns=["a"], time="k", units={"a": "m"})
    assert table.schema.columns == (Column("a", "m", "int64"),)
    assert next(iter(table))[1].tolist() == [7]  # type: ignore[union-attr]
    with pytest.raises(TableError, match="holds no times"):
        ParquetTable(stored(s=["x"], a=[1]), columns=["a"], time="s")


@pytest.mark.parametrize(
    ("dtype", "value"), [("int8", 0.5), ("int8", 200.0), ("float32", 0.1), ("bool", 2.0), ("Int64", np.inf)]
)
def test_readings_that_do_not_fit_their_type(dtype: str, value: float) -> None:
    writer = ParquetWriter(io.BytesIO(), Schema(columns=(Column("a", dtype=dtype),), time=None))
    with pytest.raises(TypeMismatchError, match="does not fit its type") as caught:
        writer.write(np.array([[value]]), None)
    assert caught.value.column == "a"
    writer.close()
