"""`orthostream query`: what is in the store comes out, in every format."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli.main import main
from orthostream.compression import Column, Schema, TimeAxis
from orthostream.compression.stream.header import StreamHeader
from orthostream.link import open_store
from orthostream.link.store import Batch, Chunk, NewMessage, NewStream, Store
from orthostream.link.store.wide_rows import wide_rows

from ..link.postgres_server import PASSWORD, running_postgres

START = 1_500_000_000


def fill(
    store: Store, edge: str, names: list[str], unit: str, times: object, values: object, generation: int = 0
) -> None:
    """Store a stream with one message."""
    boot = f"{edge[:6]:6}{generation:02d}".encode()
    header = StreamHeader(Schema(tuple(Column(name, "degC") for name in names), TimeAxis("time", unit))).to_bytes()
    stream = NewStream(edge, boot, generation, header, [(name, "degC") for name in names], unit, ())
    readings, moments = np.array(values, dtype=float), np.array(times, dtype=np.int64)
    store.add(Batch([stream], [NewMessage(edge, boot, 0, b"data", 0, readings, moments)]))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two edges: minutes in seconds with a missing reading, and seconds in milliseconds."""
    place = tmp_path / "store.db"
    with open_store(str(place)) as opened:
        values = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]])
        fill(opened, "roof", ["a", "b"], "s", START + 60 * np.arange(3), values)
        fill(opened, "cellar", ["a", "x, y"], "ms", 1000 * START + 1000 * np.arange(2), [[0.1, -5.0], [0.2, np.inf]])
    return place


@pytest.fixture
def one_edge(tmp_path: Path) -> Path:
    place = tmp_path / "one.db"
    with open_store(str(place)) as opened:
        fill(opened, "roof", ["b", "a"], "s", [0, 60, 120], [[1.0, 10.0], [2.0, np.nan], [np.nan, 30.0]])
        fill(opened, "roof", ["b", "a", "c"], "s", [180, 240], [[4.0, 40.0, 7.0], [5.0, 50.0, 8.0]], 1)
    return place


def query(*words: str | Path) -> int:
    return main(["query", *map(str, words)])


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_all_readings_as_csv(store: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert query(store) == 0
    out, err = capfdbinary.readouterr()
    assert rows_of(out.decode()) == [
        ["time", "edge", "sensor", "unit", "value"],
        ["2017-07-14T02:40:00.000+00:00", "cellar", "a", "degC", "0.1"],
        ["2017-07-14T02:40:01.000+00:00", "cellar", "a", "degC", "0.2"],
        ["2017-07-14T02:40:00.000+00:00", "cellar", "x, y", "degC", "-5.0"],
        ["2017-07-14T02:40:01.000+00:00", "cellar", "x, y", "degC", "inf"],
        ["2017-07-14T02:40:00+00:00", "roof", "a", "degC", "1.0"],
        ["2017-07-14T02:41:00+00:00", "roof", "a", "degC", "2.0"],
        ["2017-07-14T02:42:00+00:00", "roof", "a", "degC", "3.0"],
        ["2017-07-14T02:40:00+00:00", "roof", "b", "degC", "10.0"],
        ["2017-07-14T02:42:00+00:00", "roof", "b", "degC", "30.0"],
    ]
    assert err == b""


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["--edge", "roof"], [1.0, 2.0, 3.0, 10.0, 30.0]),
        (["--sensor", "a"], [0.1, 0.2, 1.0, 2.0, 3.0]),
        (["--edge", "roof", "--sensor", "b"], [10.0, 30.0]),
        (["--edge", "roof", "cellar", "--sensor", "b", "a"], [0.1, 0.2, 1.0, 2.0, 3.0, 10.0, 30.0]),
        (["--edge", "roof", "--from", "2017-07-14T02:41"], [2.0, 3.0, 30.0]),
        (["--from", "2017-07-14T02:40:01Z", "--to", "2017-07-14T02:42"], [0.2, np.inf, 2.0]),
        (["--from", "2017-07-14T04:41:00+02:00"], [2.0, 3.0, 30.0]),
        (["--to", "2017-07-14T02:40:00"], []),
    ],
)
def test_a_part_as_json(
    store: Path, words: list[str], values: list[float], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name in ("json", "jsonl"):
        assert query(store, *words, "--format", name) == 0
        out, err = capfdbinary.readouterr()
        assert [float(json.loads(line)["value"]) for line in out.splitlines()] == values
        assert (b"there are no such readings" in err) == (not values)


def test_an_object_of_json(store: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert query(store, "--edge", "roof", "--sensor", "b", "--format", "json") == 0
    first = capfdbinary.readouterr().out.splitlines()[0]
    expected = {"time": "2017-07-14T02:40:00+00:00", "edge": "roof", "sensor": "b", "unit": "degC", "value": 10.0}
    assert json.loads(first) == expected


def test_parquet(store: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    place = tmp_path / "out.parquet"
    assert query(store, "-o", place) == 0
    table = parquet.read_table(place)
    assert str(table.schema.field("time").type) == "timestamp[ms, tz=UTC]"
    assert table.column("value").to_pylist() == [0.1, 0.2, -5.0, np.inf, 1.0, 2.0, 3.0, 10.0, 30.0]
    assert table.column("sensor").to_pylist()[2:5] == ["x, y", "x, y", "a"]
    seconds = [moment.timestamp() for moment in table.column("time").to_pylist()]
    assert seconds[4:7] == [START, START + 60, START + 120]
    assert query(store, "-o", place) == 2
    assert query(store, "--edge", "roof", "-o", place, "--force") == 0
    # Parquet has no seconds.
    assert str(parquet.read_table(place).schema.field("time").type) == "timestamp[ms, tz=UTC]"


def test_parquet_needs_its_extra(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for more in ([], ["--wide", "--edge", "roof"]):
        assert query(store, *more, "-o", tmp_path / "out.parquet") == 2
        assert capsys.readouterr().err == "orthostream: Parquet needs pyarrow: pip install 'orthostream[parquet]'\n"
    assert not (tmp_path / "out.parquet").exists()


class TestWide:
    def test_csv(self, one_edge: Path, tmp_path: Path) -> None:
        place = tmp_path / "out.csv"
        assert query(one_edge, "--wide", "-o", place) == 0
        assert place.read_text().splitlines() == [
            "time,b,a,c",
            "1970-01-01T00:00:00+00:00,1.0,10.0,",
            "1970-01-01T00:01:00+00:00,2.0,,",
            "1970-01-01T00:02:00+00:00,,30.0,",
            "1970-01-01T00:03:00+00:00,4.0,40.0,7.0",
            "1970-01-01T00:04:00+00:00,5.0,50.0,8.0",
        ]

    def test_json(self, one_edge: Path, tmp_path: Path) -> None:
        place = tmp_path / "out.jsonl"
        assert query(one_edge, "--wide", "--sensor", "a", "b", "--to", "1970-01-01T00:02", "-o", place) == 0
        assert [json.loads(line) for line in place.read_text().splitlines()] == [
            {"time": "1970-01-01T00:00:00+00:00", "b": 1.0, "a": 10.0},
            {"time": "1970-01-01T00:01:00+00:00", "b": 2.0},
        ]

    def test_parquet(self, one_edge: Path, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        place = tmp_path / "out.pq"
        assert query(one_edge, "--wide", "-o", place) == 0
        table = parquet.read_table(place)
        assert table.column("a").to_pylist() == [10.0, None, 30.0, 40.0, 50.0]
        assert table.schema.field("a").metadata == {b"unit": b"degC"}
        assert str(table.schema.field("time").type) == "timestamp[ms, tz=UTC]"

    def test_several_edges(self, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert query(store, "--wide") == 2
        assert "a wide table has one unit of time" in capsys.readouterr().err
        with open_store(str(store)) as opened:
            fill(opened, "attic", ["a", "time"], "s", [START, START + 30], [[7.0, 1.0], [8.0, 2.0]])
        assert query(store, "--wide", "--edge", "roof", "attic", "--sensor", "a", "-o", tmp_path / "out.csv") == 0
        assert rows_of((tmp_path / "out.csv").read_text()) == [
            ["time", "attic/a", "roof/a"],
            ["2017-07-14T02:40:00+00:00", "7.0", "1.0"],
            ["2017-07-14T02:40:30+00:00", "8.0", ""],
            ["2017-07-14T02:41:00+00:00", "", "2.0"],
            ["2017-07-14T02:42:00+00:00", "", "3.0"],
        ]
        assert query(store, "--wide", "--edge", "attic", "-o", tmp_path / "b.csv") == 0
        assert (tmp_path / "b.csv").read_text().splitlines()[0] == "time_,a,time"

    def test_rows_are_the_same_however_readings_are_cut(self) -> None:
        random = np.random.default_rng(0)
        columns = []
        for _ in range(5):
            # Some times come twice or more.
            times = np.sort(random.integers(0, 60, size=int(random.integers(0, 80))))
            columns.append((times, random.normal(size=len(times))))

        def cut(times: np.ndarray, values: np.ndarray, size: int) -> Iterator[Chunk]:
            for start in range(0, len(times), size):
                part = slice(start, start + size)
                yield Chunk("e", "s", "", "s", times[part], values[part])

        expected: dict[tuple[int, int], dict[int, float]] = {}
        for place, (times, values) in enumerate(columns):
            for i, (time, value) in enumerate(zip(times.tolist(), values.tolist(), strict=True)):
                turn = i - int(np.searchsorted(times, time))
                expected.setdefault((time, turn), {})[place] = value
        for size in (1, 2, 3, 7, 100):
            parts = list(wide_rows([cut(*column, size) for column in columns]))
            times = np.concatenate([part[0] for part in parts])
            rows = np.concatenate([part[1] for part in parts])
            found = [{i: v for i, v in enumerate(row) if v == v} for row in rows.tolist()]
            assert found == [expected[key] for key in sorted(expected)]
            assert times.tolist() == [time for time, _ in sorted(expected)]

    def test_a_clock_that_was_set_back_between_streams_loses_nothing(self, tmp_path: Path) -> None:
        place = tmp_path / "back.db"
        with open_store(str(place)) as opened:
            fill(opened, "roof", ["a", "b"], "s", [100, 200], [[1.0, 2.0], [3.0, 4.0]])
            fill(opened, "roof", ["a", "b"], "s", [50, 150, 250], [[5.0, 6.0], [7.0, 8.0], [9.0, 0.5]], 1)
        assert query(place, "--wide", "-o", tmp_path / "out.csv") == 0
        rows = rows_of((tmp_path / "out.csv").read_text())[1:]
        assert sorted(float(cell) for row in rows for cell in row[1:] if cell) == [0.5, *range(1, 10)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--edge", "attic"], "there is no edge 'attic' in store.db; there are: cellar, roof"),
        (["--edge", "roof", "--sensor", "c"], "there is no sensor 'c' in store.db; there are: a, b"),
        (["--from", "yesterday"], "--from: 'yesterday' is not a date"),
        (["--to", "5"], "--to: '5' is not a date"),
        (["-o", "no/such/out.csv"], "there is no folder no/such to write out.csv to"),
        (["-o", "store.db"], "store.db is the input; choose another name for the output"),
        (["-o", "."], ". is a folder, not a file"),
    ],
)
def test_errors_are_one_line(
    store: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(store.parent)
    assert query("store.db", *words) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"orthostream: {message}") and err.count("\n") == 1, err
    assert out == ""


@pytest.mark.parametrize("content", [None, b"time,a\n" * 1000], ids=["missing", "foreign"])
def test_what_is_no_store(tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "other.db"
    if content is not None:
        place.write_bytes(content)
    assert query(place, "-o", tmp_path / "out.csv") == 2
    err = capsys.readouterr().err
    assert err.startswith("orthostream: ") and "other.db" in err and err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_plain_numbers_as_times(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    place = tmp_path / "plain.db"
    with open_store(str(place)) as opened:
        fill(opened, "roof", ["a"], "", [-3, 5, 9], [[1.0], [2.0], [3.0]])
    assert query(place, "--from", "5", "--to", "9") == 0
    assert capfdbinary.readouterr().out.splitlines()[1:] == [b"5,roof,a,degC,2.0"]
    assert query(place, "--wide", "--format", "json", "--to", "0") == 0
    assert json.loads(capfdbinary.readouterr().out) == {"time": -3, "a": 1.0}
    with open_store(str(place)) as opened:
        fill(opened, "cellar", ["a"], "s", [0], [[1.0]])
    assert query(place, "--from", "5") == 2
    assert b"some of these edges have dates and others have numbers" in capfdbinary.readouterr().err
    assert query(place, "-o", tmp_path / "out.parquet") == 2
    assert b"one kind of times" in capfdbinary.readouterr().err


def test_an_empty_store(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_store(str(tmp_path / "empty.db")):
        pass
    for more in ([], ["--wide"]):
        assert query(tmp_path / "empty.db", *more) == 0
        assert b"no such readings" in capfdbinary.readouterr().err


def peak_of(*words: str | Path) -> float:
    """Return the megabytes that a process takes for a query."""
    code = (
        "import re, sys; from pathlib import Path; from orthostream.cli.main import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, "query", *map(str, words)], capture_output=True, check=True)
    return float(done.stdout) / 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc to read the memory from")
def test_memory_does_not_grow_with_the_store(tmp_path: Path) -> None:
    sizes = (100_000, 500_000)
    for n in sizes:
        with open_store(str(tmp_path / f"{n}.db")) as opened:
            fill(opened, "roof", ["a", "b"], "s", np.arange(n), np.random.default_rng(0).normal(size=(n, 2)))
    for words in (["--format", "csv"], ["--format", "json"], ["--format", "parquet"], ["--wide"]):
        peaks = []
        for n in sizes:
            out = tmp_path / "out"
            peaks.append(peak_of(tmp_path / f"{n}.db", *words, "-o", out, "--force"))
            if "parquet" not in words:
                n_lines = out.read_bytes().count(b"\n") - ("json" not in words)
                assert n_lines == (n if "--wide" in words else 2 * n)
        # 800,000 more readings would take over 100 MB as Python objects.
        assert peaks[1] < peaks[0] + 40.0, (words, peaks)


def test_a_postgresql_store(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running_postgres(tmp_path) as url:
        assert query(url) == 2
        assert b"there is no store at postgresql://" in capfdbinary.readouterr().err
        with open_store(url) as opened:
            fill(opened, "roof", ["a", "b"], "s", [0, 60], [[1.0, 10.0], [2.0, np.nan]])
        assert query(url, "--edge", "roof", "--format", "json") == 0
        assert [json.loads(line)["value"] for line in capfdbinary.readouterr().out.splitlines()] == [1.0, 2.0, 10.0]
        assert query(url, "--wide") == 0
        assert capfdbinary.readouterr().out.splitlines()[1] == b"1970-01-01T00:00:00+00:00,1.0,10.0"
        for words in (["--edge", "attic"], ["--sensor", "c"], ["--from", "never"]):
            assert query(url, *words) == 2
            assert PASSWORD.encode() not in capfdbinary.readouterr().err
    assert query(url) == 2
    assert PASSWORD.encode() not in capfdbinary.readouterr().err
