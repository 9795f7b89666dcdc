"""What a writer writes, a reader reads, to the bit."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression.schema import Column, Schema, TimeAxis
from orthostream.compression.tables import CsvTable, CsvWriter, ParquetTable, ParquetWriter

names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1),
    min_size=1,
    max_size=5,
    unique=True,
)
decimals = st.integers(-(10**6), 10**6).map(lambda number: number / 100)
readings = st.floats() | decimals | st.just(np.nan) | st.integers(-(2**53), 2**53).map(float)
axes = st.sampled_from(
    [
        TimeAxis("", "s", "%Y-%m-%dT%H:%M:%S"),
        TimeAxis("", "ms"),
        TimeAxis("", "us", "", "+05:30"),
        TimeAxis("", "ns", "%Y-%m-%d %H:%M:%S.%fZ", "UTC"),
        TimeAxis("", "s", "%d.%m.%Y %H:%M:%S"),
        None,
    ]
)
ticks = st.lists(st.integers(-(2**31), 2**32), min_size=1, max_size=30, unique=True).map(sorted)


def pieces(table: CsvTable | ParquetTable) -> tuple[np.ndarray, np.ndarray | None]:
    found = list(table)
    times = None if found[0][1] is None else np.concatenate([part for _, part in found])
    return np.concatenate([rows for rows, _ in found]), times


@settings(deadline=None)
@given(st.data(), names, axes, ticks, st.sampled_from([5, 1_000_000]))
def test_csv(data: st.DataObject, names: list[str], axis: TimeAxis | None, moments: list[int], block: int) -> None:
    rows = data.draw(arrays(float, (len(moments), len(names)), elements=readings))
    before = rows.copy()
    times = None if axis is None else np.array(moments)
    file = io.BytesIO()
    writer = CsvWriter(file, Schema(columns=tuple(map(Column, names)), time=axis))
    for start in range(0, len(rows), 7):
        writer.write(rows[start : start + 7], None if times is None else times[start : start + 7])
    writer.close()
    assert np.array_equal(rows, before, equal_nan=True)
    text = file.getvalue()
    file.seek(0)
    table = CsvTable(file, block_bytes=block, header=True, time="" if axis is not None else None, any_order=True)
    if axis is None and table.schema.time is not None:
        return  # one of the names says that its numbers are times
    again, moments_again = pieces(table)
    assert [column.name for column in table.schema.columns] == names
    assert np.array_equal(again, rows, equal_nan=True)
    assert np.array_equal(np.signbit(again[rows == 0.0]), np.signbit(rows[rows == 0.0]))
    if axis is not None:
        assert moments_again is not None and moments_again.tolist() == moments
    second = io.BytesIO()
    CsvWriter(second, Schema(columns=tuple(map(Column, names)), time=table.schema.time)).write(again, moments_again)
    assert second.getvalue() == text


dtypes = ("float64", "float32", "int64", "Int64", "int8", "UInt16", "bool", "boolean")


@settings(deadline=None)
@given(st.data(), axes, ticks)
def test_parquet(data: st.DataObject, axis: TimeAxis | None, moments: list[int]) -> None:
    size = len(moments)
    missing = st.just(np.nan)
    elements = {
        "float64": st.floats(),
        "float32": st.floats(width=32),
        "int64": st.integers(-(2**53), 2**53).map(float),
        "Int64": missing | st.integers(-(2**53), 2**53).map(float),
        "int8": st.integers(-128, 127).map(float),
        "UInt16": missing | st.integers(0, 65535).map(float),
        "bool": st.sampled_from([0.0, 1.0]),
        "boolean": missing | st.sampled_from([0.0, 1.0]),
    }
    rows = np.stack([data.draw(arrays(float, size, elements=elements[dtype])) for dtype in dtypes], axis=1)
    columns = tuple(Column(f"c{place}", "m", dtype) for place, dtype in enumerate(dtypes))
    file = io.BytesIO()
    writer = ParquetWriter(file, Schema(columns=columns, time=axis))
    writer.write(rows, None if axis is None else np.array(moments))
    writer.close()
    table = ParquetTable(file)
    again, times = pieces(table)
    assert np.array_equal(again, rows, equal_nan=True)
    for column, found, values in zip(columns, table.schema.columns, rows.T, strict=True):
        assert (found.name, found.unit) == (column.name, column.unit)
        assert found.dtype.lower().replace("boolean", "bool") == column.dtype.lower().replace("boolean", "bool")
        if column.dtype[:5] != "float":
            assert (found.dtype[0].isupper() or found.dtype == "boolean") == bool(np.isnan(values).any())
    if axis is not None:
        # Parquet has no whole seconds.
        scale = 1000 if axis.unit == "s" else 1
        assert times is not None and times.tolist() == [scale * moment for moment in moments]
        assert table.schema.time is not None and table.schema.time.zone == axis.zone


@pytest.mark.parametrize("axis", [TimeAxis("t", ""), TimeAxis("t", "1e-3", "%.3f"), TimeAxis("t", "s", "%Y-%m-%d")])
def test_other_times_in_parquet(axis: TimeAxis) -> None:
    file = io.BytesIO()
    writer = ParquetWriter(file, Schema(columns=(Column("a"),), time=axis))
    writer.write(np.array([[1.0], [2.0]]), np.array([86400, 172800]))
    writer.close()
    table = ParquetTable(file)
    assert table.schema.time is not None and (table.schema.time.name, table.schema.time.unit) == ("t", axis.unit)
    assert pieces(table)[1].tolist() == [86400, 172800]  # type: ignore[union-attr]
