"""CSV files as people make them, and as they should not be."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression.schema import Column
from orthostream.compression.tables import CsvTable, TableError

START = 1483228800


def read(text: str | bytes, **words: object) -> tuple[CsvTable, list, list | None]:
    data = text.encode() if isinstance(text, str) else text
    table = CsvTable(io.BytesIO(data), **words)  # type: ignore[arg-type]
    pieces = list(table)
    times = None if pieces[0][1] is None else [time for _, part in pieces for time in part.tolist()]
    return table, [row for rows, _ in pieces for row in rows.tolist()], times


def fails(text: str | bytes, match: str, **words: object) -> None:
    with pytest.raises(TableError, match=match):
        read(text, **words)


@pytest.mark.parametrize(
    "text",
    [
        "time,a,b\n2017-01-01T00:00,1.5,2\n2017-01-01T01:00,-3.5,4\n",
        "time,a,b\r\n2017-01-01T00:00,1.5,2\r\n2017-01-01T01:00,-3.5,4\r\n",
        "\ufefftime,a,b\n2017-01-01T00:00,1.5,2\n2017-01-01T01:00,-3.5,4",
        "time;a;b\n2017-01-01T00:00;1,5;2\n2017-01-01T01:00;-3,5;4\n",
        "time;a;b\n2017-01-01T00:00;1.5;2\n2017-01-01T01:00;-3.5;4\n",
        "time\ta\tb\n2017-01-01T00:00\t1.5\t2\n2017-01-01T01:00\t-3.5\t4\n",
        '"time","a","b"\n"2017-01-01T00:00","1.5","2"\n"2017-01-01T01:00","-3.5","4"\n',
        "time, a, b\n2017-01-01T00:00, 1.5, 2\n2017-01-01T01:00, -3.5 , 4\n",
        "\ntime,a,b\n\n2017-01-01T00:00,1.5,2\n\n2017-01-01T01:00,-3.5,4\n\n\n",
        "time,a,b\n2017-01-01T00:00,15e-1,2\n2017-01-01T01:00,-3.50000000000000000000,4.0\n",
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 7, 1_000_000])
def test_the_same_table_in_many_dresses(text: str, block_bytes: int) -> None:
    table, rows, times = read(text, block_bytes=block_bytes)
    assert rows == [[1.5, 2.0], [-3.5, 4.0]]
    assert times == [START, START + 3600]
    assert [column.name.strip() for column in table.schema.columns] == ["a", "b"]
    assert table.bytes_read == len(text.encode())


def test_schema() -> None:
    table, _, _ = read("a [degC],wind (m/s),n,m,ok,x\n1.5,2.5,3,4,True,\n1,2,3,,False,\n", units={"n": "1"})
    assert table.schema.columns == (
        Column("a [degC]", "degC", "float64"),
        Column("wind (m/s)", "m/s", "float64"),
        Column("n", "1", "int64"),
        Column("m", "", "Int64"),
        Column("ok", "", "bool"),
        Column("x", "", "float64"),
    )
    assert table.schema.time is None


def test_missing_and_infinite_readings() -> None:
    _, rows, _ = read("a,b,c\n,NaN,NA\nnull,None,-\ninf,-inf,+Inf\n1,n/a,2\n")
    assert np.isnan(rows[:2]).all()
    assert rows[2] == [math.inf, -math.inf, math.inf]
    assert rows[3][0] == 1.0 and math.isnan(rows[3][1])


def test_header_or_not() -> None:
    assert read("1,2\n3,4\n")[0].schema.columns[1].name == "column_2"
    assert read("1,2\n3,4\n")[1] == [[1.0, 2.0], [3.0, 4.0]]
    table, rows, _ = read("1,2\n3,4\n", header=True)
    assert [column.name for column in table.schema.columns] == ["1", "2"] and rows == [[3.0, 4.0]]
    table, rows, times = read(",3,140\n2017-01-01,1,2\n")
    assert [column.name for column in table.schema.columns] == ["3", "140"] and times == [START]


def test_choice_of_columns_and_time() -> None:
    text = "station,when,a,b\nKrakow,2017-01-01,1,2\nKrakow,2017-01-02,3,4\n"
    table, rows, times = read(text, columns=["b", "a"])
    assert rows == [[2.0, 1.0], [4.0, 3.0]] and times == [START, START + 86400]
    assert table.schema.time is not None and table.schema.time.name == "when"
    _, rows, times = read("k,a\n5,1\n6,2\n", time="k")
    assert rows == [[1.0], [2.0]] and times == [5, 6]
    fails(text, r"line 2, column 'station': 'Krakow' is not a number")
    fails(text, "has no column 'c'; it has 'station'", columns=["c"])
    fails(text, "chosen twice", columns=["a", "a"])
    fails(text, "holds no times, but for example 'Krakow'", time="station")
    fails(text, "has no column 'x'", time="x")
    fails(text, "has no column 'x'", units={"x": "m"}, columns=["a"])


def test_one_column_may_have_blank_cells() -> None:
    _, rows, _ = read("a\n1\n\n2\n")
    assert rows[0] == [1.0] and math.isnan(rows[1][0]) and rows[2] == [2.0]


@pytest.mark.parametrize("block_bytes", [1, 16, 1_000_000])
@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a,b\n1,2\n3\n", r"line 3: 1 cell where 2 are expected; fix the line"),
        ("a,b\n1,2\n3,4,5\n6\n", r"line 3: 3 cells where 2"),
        ("a,b\n1,2\n3\n4,5,6\n", r"line 3: 1 cell where 2"),
        ("a,b\n\n1,2\n\n3,x\n", r"line 5, column 'b': 'x' is not a number; leave the cell empty"),
        ("a,b\n1,2\n1,2\n1_000,2\n", r"line 4, column 'a': '1_000' is not a number"),
        ('a,b\n1,"2"\n1,"2 m"\n', r"line 3, column 'b': '2 m' is not a number"),
        ('a,b\n1,2\n1,"2\n', r"line 3: a quotation mark is opened and not closed"),
        ("time,a\n2017-01-01,1\n2017-01-01,2\n", r"line 3: the time 2017-01-01 comes twice"),
        ("time,a\n2017-01-02,1\n2017-01-03,2\n2017-01-01,2\n", r"line 4: the time 2017-01-01 comes after 2017-01-03"),
        ("time,a\n2017-01-01,1\n,2\n", r"line 3, column 'time': the time is missing"),
        ("time,a\n2017-01-01,1\nnoon,2\n", r"line 3, column 'time': 'noon' is not a date"),
        ("t,a\n1,1\n2,1\n2,2\n", r"line 4: the time 2 comes twice"),
        ("", r"is empty; a table has a header"),
        ("\n\n", r"is empty"),
        ("a,b\n", r"line 1: a header and no rows"),
        ("a,a\n1,2\n", r"line 1: two columns are called 'a'"),
        ("a,b\n1,2\n1,\0\n", r"line 3: a NUL byte"),
        ("a,b\r1,2\r", r"line 1: a carriage return without a line feed"),
        ("a,b\n1,2\n9007199254740993,2\n", r"line 3, column 'a': .* beyond 2\*\*53"),
        ("time,a\n01/02/2017,1\n", r"column 'time': the date '01/02/2017' may begin with its day"),
    ],
)
def test_what_is_wrong_and_where(text: str, match: str, block_bytes: int) -> None:
    fails(text, match, block_bytes=block_bytes)


def test_bytes_that_are_no_utf_8() -> None:
    fails(b"a,b\n1,2\n1,\xff\n", r"line 3: byte 0xff is not UTF-8; save the table as UTF-8")
    fails("a,b\n1,2\n".encode("utf-16"), r"UTF-16 or UTF-32")
    fails("température,b\n1,2\n".encode("latin-1"), r"line 1: byte 0xe9 is not UTF-8")
    assert read("température,b\n1,2\n")[0].schema.columns[0].name == "température"


def test_a_line_without_end() -> None:
    fails(b"a,b\n" + b"1" * 2_500_000, r"line 2: longer than 1,000,000 bytes")
    fails(b"x" * 1_500_000 + b"\n1\n", r"line 1: longer than 1,000,000 bytes")


def test_any_order() -> None:
    _, _, times = read("t,a\n3,1\n1,2\n1,3\n", any_order=True)
    assert times == [3, 1, 1]


def test_a_wrong_order_over_the_edge_of_a_block() -> None:
    lines = [f"{second},{second % 7}" for second in range(400_000)]
    lines[300_000] = "299999,1"
    fails("t,a\n" + "\n".join(lines), r"line 300002: the time 299999 comes twice")


def test_a_path_and_its_name_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text("a,b\n1,x\n")
    with pytest.raises(TableError, match=r"readings\.csv, line 2"), CsvTable(path) as table:
        list(table)
    with pytest.raises(FileNotFoundError):
        CsvTable(tmp_path / "nothing.csv")


def test_memory_does_not_grow_with_the_file() -> None:
    import tracemalloc

    class Long(io.RawIOBase):
        def __init__(self, blocks: int) -> None:
            self.left = blocks

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return b"1.5,2.5\n" * 1_000 if self.left >= 0 else b""

    def peak(blocks: int) -> int:
        tracemalloc.start()
        for _ in CsvTable(Long(blocks)):  # type: ignore[arg-type]
            pass
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(1_200) < 1.1 * peak(400) < 110e6
