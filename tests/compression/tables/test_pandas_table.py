"""Tables in, the same tables out."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from orthostream.compression import FrameError, Schema, TimeAxis, compress, decompress
from orthostream.compression.tables.pandas_table import arrays_to_table

pd = pytest.importorskip("pandas", reason="pandas is not installed")

HOURS = pd.date_range("2020-03-28", periods=30, freq="h")


def same(table: Any, **target: Any) -> Any:
    """Send a table there and back without any error, and return what came."""
    back = decompress(compress(table, **(target or {"max_error": 0})))
    check = pd.testing.assert_series_equal if isinstance(table, pd.Series) else pd.testing.assert_frame_equal
    check(back, table, check_freq=False)
    return back


def table(index: Any = None, n_rows: int = 30) -> Any:
    values = np.round(np.random.default_rng(0).normal(size=(n_rows, 2)), 2)
    values[3, 1] = np.nan
    return pd.DataFrame(values, columns=["roof", "cellar"], index=index)


def test_readings_within_the_bound() -> None:
    given = table(HOURS)
    back = decompress(compress(given, max_error=[0.1, 0.05]))
    assert list(back.columns) == ["roof", "cellar"]
    assert (back.index == given.index).all()
    assert ((back - given).abs().max() <= [0.1, 0.05]).all()
    assert (back.isna() == given.isna()).all().all()


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], ["", " "], ["same", "same"], ["numbered", "series"], [0, 1], [7, -3], ["0", "1"], ["żółć", "µ\n"]],
)
def test_names(labels: list[Any]) -> None:
    given = table()
    given.columns = pd.Index(labels)
    same(given)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Warsaw", "Asia/Kathmandu", "+02:00", "UTC-03:30"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates(zone: str | None, unit: str) -> None:
    index = HOURS.as_unit(unit).tz_localize("UTC").tz_convert(zone)
    back = same(table(index.rename("when")))
    assert back.index.dtype == index.dtype
    assert str(back.index.tz) == str(index.tz)


def test_dates_out_of_order_and_far_away() -> None:
    same(table(pd.DatetimeIndex(HOURS.to_numpy()[np.random.default_rng(0).permutation(30)])))
    same(table(pd.date_range("1600-01-01", periods=30, unit="s")))
    same(table(pd.DatetimeIndex(["2020-01-01"] * 30)))


def test_a_zone_that_is_an_offset() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
    same(table(HOURS.tz_localize(zone)))


@pytest.mark.parametrize("name", [None, "when", ""])
@pytest.mark.parametrize(
    "index",
    [
        HOURS,
        pd.RangeIndex(30),
        pd.RangeIndex(5, 35),
        pd.RangeIndex(0, 60, 2),
        pd.Index(np.arange(30)[::-1]),
        pd.Index(np.arange(30, dtype=np.uint8)),
        pd.Index(np.arange(30, dtype=np.uint64) + np.uint64(2**63 + 9)),
        pd.Index(np.arange(30) - 2**50),
        pd.timedelta_range("1h", periods=30, freq="5min"),
    ],
    ids=["dates", "range", "late range", "steps", "backwards", "small", "unsigned", "large", "differences"],
)
def test_indices(index: Any, name: str | None) -> None:
    same(table(index.rename(name)))


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float32", [1.5, np.nan, -0.1]),
        ("float64", [1.5, np.nan, np.inf]),
        ("int8", [1, -100, 100]),
        ("uint8", [0, 255, 3]),
        ("int16", [-30000, 7, 1]),
        ("uint32", [0, 2**32 - 1, 1]),
        ("int64", [-(2**53), 2**53, 0]),
        ("uint64", [0, 2**53, 1]),
        ("bool", [True, False, True]),
        ("boolean", [True, None, False]),
        ("Int8", [1, None, -128]),
        ("UInt16", [None, None, 65535]),
        ("Int64", [None, 2**53, 0]),
        ("Float32", [1.5, None, -0.1]),
        ("Float64", [1.5, None, 0.1]),
    ],
)
def test_types(dtype: str, values: list[Any]) -> None:
    series = pd.Series(pd.array(values, dtype=dtype), name="a")
    assert same(series).dtype == series.dtype
    same(pd.DataFrame({"a": series, "other": [0.1, 0.2, 0.3]}))


def test_series() -> None:
    same(pd.Series([1.0, 2.0], name="a"))
    same(pd.Series([1.0, 2.0]))
    same(pd.Series([1, 2], name=5))
    same(pd.Series([0.5] * 30, index=HOURS))


def test_no_rows() -> None:
    same(table().iloc[:0])
    same(table(HOURS).iloc[:0])


@pytest.mark.parametrize("words", [{"rmse": 0.01}, {"relative_error": 0.01}, {"n_nonzero": 1}])
def test_other_targets(words: dict[str, float]) -> None:
    given = table(HOURS)
    back = decompress(compress(given, **words))
    assert (back.index == given.index).all()
    assert back.shape == given.shape


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x", "y"], r"column 'a' holds .*; readings must be numbers"),
        ([datetime.datetime(2020, 1, 1)] * 2, r"column 'a' holds datetime64"),
        (pd.Categorical([1, 2]), r"column 'a' holds category"),
        ([1j, 2], r"column 'a' holds complex128"),
        ([2**60, 1], r"column 'a' holds integers beyond 2\*\*53"),
    ],
)
def test_columns_that_cannot_be_kept(column: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compress(pd.DataFrame({"a": column}), max_error=0)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (pd.Index(["a", "b"]), "an index of .* cannot be kept"),
        (pd.Index([0.5, 1.5]), "an index of float64 cannot be kept"),
        (pd.Index([True, False]), "an index of bool cannot be kept"),
        (pd.period_range("2020", periods=2, freq="D"), "cannot be kept"),
        (pd.MultiIndex.from_tuples([(1, 2), (1, 3)]), "cannot be kept"),
        (pd.DatetimeIndex(["2020", None]), "times that are missing"),
        (pd.TimedeltaIndex(["1h", None]), "cannot be kept|missing"),
        (pd.Index([1, 2], name=5), "named by a text, got 5"),
    ],
)
def test_indices_that_cannot_be_kept(index: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compress(pd.DataFrame({"a": [1.0, 2.0]}, index=index), max_error=0)


def test_tables_that_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="no columns"):
        compress(pd.DataFrame(index=[1, 2]), max_error=0)
    with pytest.raises(ValueError, match="several levels"):
        compress(pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])), max_error=0)
    for labels in (["a", 1], [True, False], [1.5, 2.5]):
        with pytest.raises(ValueError, match="named by texts, or by integers"):
            compress(pd.DataFrame(np.eye(2), columns=labels), max_error=0)
    with pytest.raises(ValueError, match="its index"):
        compress(table(), max_error=0, time=np.arange(30))


@pytest.mark.parametrize("dtype", ["int64", "Int64"])
def test_the_first_integer_that_doubles_do_not_hold(dtype: str) -> None:
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        compress(pd.DataFrame({"a": pd.array([2**53 + 1, 3], dtype=dtype)}), max_error=0)


def test_an_index_of_nullable_integers() -> None:
    same(table(pd.Index(np.arange(30), dtype="Int64")))


def test_zones_of_dateutil() -> None:
    given = table(HOURS.tz_localize("UTC").tz_convert("dateutil/Europe/Warsaw"))
    try:
        packed = compress(given, max_error=0)
    except ValueError:
        return
    assert (decompress(packed).index == given.index).all()


@pytest.mark.parametrize(
    ("axis", "kind", "name"),
    [
        (None, "table numbered", "x"),
        (TimeAxis("t", "s", "pandas", "Nowhere/Land"), "table", "x"),
        (TimeAxis("t", "fortnight", "pandas timedelta"), "table", "x"),
        (TimeAxis("t", "", "pandas float16x"), "table", "x"),
        (None, "heap", "x"),
    ],
)
def test_hostile_headers(axis: TimeAxis | None, kind: str, name: str) -> None:
    schema = Schema((Schema.of(1).columns[0].__class__(name),), axis, kind)
    with pytest.raises(FrameError):
        arrays_to_table(np.zeros((1, 1)), None if axis is None else np.zeros(1, dtype=np.int64), schema)
