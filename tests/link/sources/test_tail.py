"""A file that grows: half lines, rotation, truncation, bad lines and restarts at every byte."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from orthostream.compression.tables import TableError
from orthostream.link.sources import TailSource

HEADER = b"time,a,b\n"


def row(number: int) -> bytes:
    return b"%d,%d.5,%d\n" % (number, number, -number)


def taken(source: TailSource) -> list[int]:
    times: list[int] = []
    for _ in range(10):
        samples = source.poll()
        if samples is not None:
            times += samples.times.tolist()
    return times


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_bytes(HEADER + row(0))
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_line_counts_when_its_line_feed_is_there(path: Path) -> None:
    with TailSource(path) as source:
        assert taken(source) == [0]
        for place in range(len(row(1)) - 1):
            append(path, row(1)[place : place + 1])
            assert source.poll() is None
        append(path, b"\n" + row(2))
        assert taken(source) == [1, 2]
        assert not source.is_finished and source.counts == {}


def test_a_restart_after_every_line_neither_loses_nor_doubles(path: Path) -> None:
    mark, times = None, []
    for number in range(1, 30):
        append(path, row(number)[:4] if number % 2 else row(number - 1)[4:] + row(number))
        with TailSource(path, mark=mark) as source:
            for _ in range(number % 3):
                samples = source.poll()
                if samples is not None:
                    times += samples.times.tolist()
                    mark = samples.mark
    with TailSource(path, mark=mark) as source:
        times += taken(source)
    assert times == list(range(29))


def test_the_schema_stays_when_a_file_has_grown(path: Path) -> None:
    path.write_bytes(b"time,a\n2017-01-01T00:00:00,1\n")
    with TailSource(path) as source:
        samples = source.poll()
        schema = source.schema
    assert samples is not None
    append(path, b"2017-01-01T00:00:01.000,1.5\n")
    with TailSource(path, mark=samples.mark) as source:
        assert source.schema == schema and len(taken(source)) == 1


def test_rotation_reads_the_old_file_to_its_end(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), TailSource(path) as source:
        assert taken(source) == [0]
        append(path, row(1))
        path.rename(path.with_suffix(".1"))
        append(path.with_suffix(".1"), row(2))
        assert taken(source) == [1, 2]
        path.write_bytes(HEADER)
        assert taken(source) == []
        append(path, row(3))
        assert taken(source) == [3]
        path.unlink()
        path.write_bytes(row(4))
        assert taken(source) == [4]
        assert source.counts == {"rotations": 2}
    assert "was replaced" in caplog.text


def test_a_restart_after_a_rotation_goes_on_in_the_new_file(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with TailSource(path) as source:
        path.rename(path.with_suffix(".1"))
        path.write_bytes(HEADER + row(1) + row(2))
        assert source.poll() is not None
        assert source.poll() is None
        second = source.poll()
        assert second is not None and second.times.tolist() == [1, 2]
    append(path, row(3))
    with TailSource(path, mark=second.mark) as source:
        assert taken(source) == [3]
    path.write_bytes(HEADER + row(7))
    with caplog.at_level(logging.WARNING), TailSource(path, mark=second.mark) as source:
        assert taken(source) == [7]
    assert "is not the file that was read before" in caplog.text


def test_truncation_begins_again_and_says_so(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    append(path, row(1) + row(2))
    with caplog.at_level(logging.WARNING), TailSource(path) as source:
        assert taken(source) == [0, 1, 2]
        path.write_bytes(HEADER + row(3))
        assert taken(source) == [3]
        assert source.counts == {"truncations": 1}
    assert "was truncated" in caplog.text


def test_other_columns_after_a_rotation_are_an_error(path: Path) -> None:
    with TailSource(path) as source:
        assert taken(source) == [0]
        path.unlink()
        path.write_bytes(b"time,a,c\n1,2,3\n")
        with pytest.raises(TableError, match="has other columns than before"):
            taken(source)


def test_bad_lines_are_left_out_and_counted(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bad = [b"1,2\n", b"x,1,2\n", b"1,x,2\n", b'1,"2,3\n', b"\xff\xfe,1,2\n", b"1,\0,2\n", b"1,1e999,2\n"]
    for line in bad:
        append(path, line)
    append(path, b"\n \n" + row(1).replace(b"\n", b"\r\n") + row(0))
    with caplog.at_level(logging.WARNING), TailSource(path) as source:
        assert taken(source) == [0, 1, 0]
        assert source.counts == {"lines refused": len(bad)}
    assert f"{path}, byte {len(HEADER + row(0))}: a line is left out: 2 cells where 3 are expected" in caplog.text


def test_a_line_without_end_is_left_out(path: Path) -> None:
    append(path, b"7" * 600_000 + b"\n" + row(1))
    with TailSource(path) as source:
        assert taken(source) == [0, 1]
        assert source.counts["lines refused"] >= 1


def test_a_file_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "later.csv"
    timer = threading.Timer(0.3, lambda: path.write_bytes(HEADER + row(0)))
    timer.start()
    with TailSource(path) as source:
        assert taken(source) == [0]
    timer.join()
    stop = threading.Event()
    stop.set()
    with pytest.raises(TableError, match="there is no file"):
        TailSource(tmp_path / "never.csv", stop=stop)
    (tmp_path / "header.csv").write_bytes(HEADER)
    with pytest.raises(TableError, match="has no rows"):
        TailSource(tmp_path / "header.csv", stop=stop)
