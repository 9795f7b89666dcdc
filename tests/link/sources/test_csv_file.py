"""A CSV file: all samples once, also over any number of restarts."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression.tables import TableError
from orthostream.link.sources import CsvFileSource, TailSource


def write(path: Path, count: int, value: float = 0.0) -> Path:
    lines = [f"{i},{value + i},{value - i}" for i in range(count)]
    path.write_text("time,a,b\n" + "".join(line + "\n" for line in lines))
    return path


def read_all(source: CsvFileSource) -> tuple[list[int], list[str | None]]:
    times: list[int] = []
    marks: list[str | None] = []
    while not source.is_finished:
        samples = source.poll()
        if samples is not None:
            assert samples.readings.shape == (len(samples.times), len(source.schema.columns))
            times += samples.times.tolist()
            marks.append(samples.mark)
    return times, marks


def test_all_samples_come_in_order_and_in_pieces(tmp_path: Path) -> None:
    with CsvFileSource(write(tmp_path / "a.csv", 20_000)) as source:
        times, marks = read_all(source)
        assert source.share == 1.0 and source.poll(1.0) is None
    assert times == list(range(20_000)) and len(marks) > 1


def test_a_restart_at_any_mark_goes_on_behind_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 20_000)
    with CsvFileSource(path) as source:
        _, marks = read_all(source)
    for mark in marks:
        with CsvFileSource(path, mark=mark) as source:
            rest, _ = read_all(source)
        with CsvFileSource(path) as source:
            before: list[int] = []
            while (samples := source.poll()) is not None:
                before += samples.times.tolist()
                if samples.mark == mark:
                    break
        assert before + rest == list(range(20_000))


def test_rows_that_were_appended_since_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 10)
    with CsvFileSource(path) as source:
        _, marks = read_all(source)
    write(path, 25)
    with CsvFileSource(path, mark=marks[-1]) as source:
        assert read_all(source)[0] == list(range(10, 25))


def test_another_file_is_read_from_its_beginning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path / "a.csv", 10)
    with CsvFileSource(path) as source:
        _, marks = read_all(source)
    write(path, 10, 5.0)
    with caplog.at_level(logging.WARNING), CsvFileSource(path, mark=marks[-1]) as source:
        assert read_all(source)[0] == list(range(10))
    assert "is not the file that was read before" in caplog.text


@pytest.mark.parametrize(
    "mark", ["", "7", "[]", "{}", '{"place": -1, "head": 0, "digest": "", "unit": "samples"}', '{"next": 5}']
)
def test_a_mark_of_another_kind_of_source_is_ignored(tmp_path: Path, mark: str) -> None:
    with CsvFileSource(write(tmp_path / "a.csv", 10), mark=mark) as source:
        assert read_all(source)[0] == list(range(10))


def test_integers_of_the_first_rows_do_not_make_the_column_one_of_integers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,a\n" + "".join(f"{i},{i}\n" for i in range(3000)) + "3000,0.5\n")
    with CsvFileSource(path) as source:
        assert source.schema.columns[0].dtype == "float64"
        assert read_all(source)[0][-1] == 3000


def test_what_is_wrong_with_a_file_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,a\n1,1\n2,x\n")
    with pytest.raises(TableError, match="line 3, column 'a'"), CsvFileSource(path) as source:
        source.poll()
    path.write_text("a,b\n1,1\n")
    with pytest.raises(TableError, match="no column of times"):
        CsvFileSource(path)
    with pytest.raises(FileNotFoundError):
        CsvFileSource(tmp_path / "none.csv")


def test_missing_readings_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,a,b\n1,,2\n")
    with CsvFileSource(path) as source:
        samples = source.poll()
    assert samples is not None
    np.testing.assert_array_equal(samples.readings, [[np.nan, 2.0]])


def test_a_file_may_be_followed_after_it_was_read_but_not_the_other_way_round(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 20_000)
    with CsvFileSource(path) as source:
        first = source.poll()
    assert first is not None
    with TailSource(path, mark=first.mark) as tail:
        samples = None
        while samples is None:
            samples = tail.poll()
    assert samples.times[0] == len(first.times)
    with pytest.raises(TableError, match="go on with --follow"):
        CsvFileSource(path, mark=samples.mark)
