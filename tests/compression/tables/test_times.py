"""Times: found, read, and written as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.schema import TimeAxis
from orthostream.compression.tables import TableError
from orthostream.compression.tables.dates import TimeTextError, guess_pattern, is_date
from orthostream.compression.tables.time_pattern import TimePattern
from orthostream.compression.tables.times import TimeColumn, guess_time, parse_time, time_texts


def column(texts: list[str], name: str = "time", **words: object) -> TimeColumn:
    found = guess_time(name, texts, **words)  # type: ignore[arg-type]
    assert found is not None
    return found


def parse(texts: list[str], **words: object) -> list[int]:
    return column(texts, **words).parse(np.array([text.encode() for text in texts])).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("text", "moment", "unit"),
    [
        ("2017-12-24", "2017-12-24T00:00:00", "s"),
        ("2017-12-24T18:30", "2017-12-24T18:30:00", "s"),
        ("2017-12-24 18:30:15", "2017-12-24T18:30:15", "s"),
        ("2017/12/24 18:30:15", "2017-12-24T18:30:15", "s"),
        ("2017-12-24T18:30:15.5", "2017-12-24T18:30:15.500", "ms"),
        ("2017-12-24T18:30:15.250", "2017-12-24T18:30:15.250", "ms"),
        ("2017-12-24T18:30:15.123456", "2017-12-24T18:30:15.123456", "us"),
        ("2017-12-24T18:30:15.123456789", "2017-12-24T18:30:15.123456789", "ns"),
        ("2017-12-24T18:30:15Z", "2017-12-24T18:30:15", "s"),
        ("2017-12-24 18:30:15 UTC", "2017-12-24T18:30:15", "s"),
        ("2017-12-24T18:30:15+02:00", "2017-12-24T16:30:15", "s"),
        ("2017-12-24T18:30:15-0130", "2017-12-24T20:00:15", "s"),
        ("24.12.2017 18:30", "2017-12-24T18:30:00", "s"),
        ("24.12.2017", "2017-12-24T00:00:00", "s"),
        ("24/12/2017 18:30", "2017-12-24T18:30:00", "s"),
        ("12/24/2017 18:30:15", "2017-12-24T18:30:15", "s"),
        ("4.2.2017 8:05", "2017-02-04T08:05:00", "s"),
        ("1950-01-01T00:00:00", "1950-01-01T00:00:00", "s"),
        ("2016-02-29", "2016-02-29T00:00:00", "s"),
    ],
)
def test_dates_round_trip(text: str, moment: str, unit: str) -> None:
    found = column([text])
    assert found.axis.unit == unit
    ticks = found.parse(np.array([text.encode()]))
    assert ticks.tolist() == [np.datetime64(moment, unit).astype(np.int64)]
    assert time_texts(ticks, found.axis) == [text]


@given(
    st.lists(st.datetimes(), min_size=1),
    st.sampled_from(
        ["%Y-%m-%dT%H:%M:%S.%f", "%d.%m.%Y %H:%M:%S.%f", "%m/%d/%Y %H:%M:%S.%f", "at %H:%M:%S.%f %Y-%m-%d"]
    ),
)
def test_patterns_agree_with_python(moments: list, pattern: str) -> None:
    # strftime does not pad years to four digits everywhere.
    years = [moment.strftime(pattern.replace("%Y", "~")).replace("~", f"{moment.year:04d}") for moment in moments]
    ours = TimePattern(pattern, "us")
    done = ours.parse(np.array([text.encode() for text in years]))
    assert done is not None
    ticks, offsets = done
    assert ticks.tolist() == [np.datetime64(moment, "us").astype(np.int64) for moment in moments]
    assert ours.format(ticks, offsets) == years


@pytest.mark.parametrize("text", ["2017-02-29", "2017-13-01", "2017-01-01 24:00", "2017-01-01 00:60", "2017-00-10"])
def test_dates_that_are_none(text: str) -> None:
    with pytest.raises(TimeTextError, match="is not a date"):
        parse(["2017-01-01 00:00" if " " in text else "2017-01-01", text])


@pytest.mark.parametrize("text", ["20170101", "12:30", "2017", "1.5", "2017-1", "", "2017-01-01T", "2017-01-01x"])
def test_what_is_no_date(text: str) -> None:
    assert not is_date(text)


def test_day_or_month_first() -> None:
    assert guess_pattern(["01/02/2017", "13/02/2017"]) == ("%d/%m/%Y", "s")
    assert guess_pattern(["01/02/2017", "01/13/2017"]) == ("%m/%d/%Y", "s")
    for texts in (["01/02/2017"], ["13/01/2017", "01/13/2017"]):
        with pytest.raises(TableError, match="begin with its day or with its month"):
            guess_pattern(texts)
    assert parse(["01/02/2017"], pattern="%d/%m/%Y", named=True) == [1485907200]
    assert parse(["01/02/2017"], pattern="%m/%d/%Y", named=True) == [1483315200]


def test_mixed_ways_of_writing_are_one_time() -> None:
    texts = ["2017-01-01T00:00:00", "2017-01-01T00:00:00.500000", "2017-01-01"]
    assert np.diff(parse(texts)).tolist() == [500_000, -500_000]
    texts = ["2017-01-01T00:00Z", "2017-01-01T01:00+01:00"]
    assert np.diff(parse(texts)).tolist() == [0]


def test_an_offset_that_changes_keeps_the_instants() -> None:
    texts = ["2017-03-26T01:59:00+01:00", "2017-03-26T03:00:00+02:00"]
    found = column(texts)
    ticks = found.parse(np.array([text.encode() for text in texts]))
    assert np.diff(ticks).tolist() == [60]
    assert time_texts(ticks, found.axis) == ["2017-03-26T01:59:00+01:00", "2017-03-26T02:00:00+01:00"]


def test_a_finer_time_later_on() -> None:
    found = column(["2017-01-01T00:00:00"])
    with pytest.raises(TimeTextError, match="finer than the unit") as caught:
        found.parse(np.array([b"2017-01-01T00:00:00", b"2017-01-01T00:00:00.5"]))
    assert caught.value.place == 1
    assert parse(["2017-01-01T00:00:00"], unit="ms") == [1483228800000]


@pytest.mark.parametrize("texts", [["0", "1", "-5"], ["1500000000123"], [str(2**62)]])
def test_whole_numbers(texts: list[str]) -> None:
    found = column(texts)
    ticks = found.parse(np.array([text.encode() for text in texts]))
    assert ticks.tolist() == list(map(int, texts)) and found.axis.unit == ""
    assert time_texts(ticks, found.axis) == texts


@pytest.mark.parametrize(
    "texts", [["0.00", "0.25", "-0.50"], ["1.5", "2", "2.25"], ["1500000000.123456789", "1500000001.000000001"]]
)
def test_decimal_numbers(texts: list[str]) -> None:
    found = column(texts)
    ticks = found.parse(np.array([text.encode() for text in texts]))
    scale = 10 ** int(found.axis.unit[3:])
    assert [tick / scale for tick in ticks.tolist()] == list(map(float, texts))
    assert time_texts(ticks, found.axis) == texts


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1), st.integers(1, 9))
def test_decimal_numbers_are_exact(ticks: list[int], decimals: int) -> None:
    axis = TimeAxis("t", f"1e-{decimals}", f"%.{decimals}f")
    texts = time_texts(np.array(ticks), axis)
    assert column(texts).parse(np.array([text.encode() for text in texts])).tolist() == ticks


@pytest.mark.parametrize(("first", "wrong"), [("1", "x"), ("1", "1.5"), ("1.5", "1.25"), ("1", str(10**20)), ("1", "")])
def test_numbers_that_are_no_times(first: str, wrong: str) -> None:
    with pytest.raises(TimeTextError) as caught:
        column([first]).parse(np.array([first.encode(), wrong.encode()]))
    assert caught.value.place == 1


def test_numbers_are_times_only_under_a_name_that_says_so() -> None:
    assert guess_time("temperature", ["1", "2"]) is None
    assert guess_time("temperature", ["1", "2"], named=True) is not None
    assert guess_time("Timestamp", ["1", "2"]) is not None
    assert guess_time("time", ["a", "b"]) is None


def test_named_zones() -> None:
    axis = TimeAxis("t", "s", zone="Europe/Warsaw")
    assert time_texts(np.array([1483228800, 1498867200]), axis) == [
        "2017-01-01T01:00:00+01:00",
        "2017-07-01T02:00:00+02:00",
    ]
    assert parse_time("2017-01-01T01:00", axis) == 1483228800
    assert parse_time("2017-01-01T01:00Z", axis) == 1483232400
    with pytest.raises(TableError, match="not known here"):
        time_texts(np.array([0]), TimeAxis("t", "s", zone="Europe/Nowhere"))


def test_times_beyond_the_years_of_four_digits() -> None:
    for unit in ("s", "ms", "us", "ns"):
        for tick in (2**63 - 1, -(2**63) + 1):
            assert len(time_texts(np.array([tick]), TimeAxis("t", unit))) == 1


@pytest.mark.parametrize(("text", "unit"), [("yesterday", "s"), ("x", ""), ("1e400000000000000000000", "1e-3")])
def test_what_a_user_types_wrongly(text: str, unit: str) -> None:
    with pytest.raises(TableError, match="is not a"):
        parse_time(text, TimeAxis("t", unit))


@pytest.mark.parametrize(
    ("axis", "text"),
    [
        (TimeAxis("t", "s", "notes of somebody else"), "1970-01-01T00:01:00"),
        (TimeAxis("t", "1e-999999999"), "60"),
        (TimeAxis("t", "fortnights"), "60"),
    ],
)
def test_an_axis_that_is_not_ours(axis: TimeAxis, text: str) -> None:
    assert time_texts(np.array([60]), axis) == [text]


@pytest.mark.parametrize("pattern", ["%H:%M", "%Y-%m-%d %p", "%Y"])
def test_bad_patterns(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern of moments"):
        TimePattern(pattern, "s")
