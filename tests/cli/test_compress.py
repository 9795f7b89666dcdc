"""`compress` and `decompress` as a user meets them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli.main import main
from orthostream.compression.file.reader import OstReader
from orthostream.compression.tables import CsvTable

FULL = Path("/dev/full")


def readings(source: str | Path | bytes) -> tuple[np.ndarray, np.ndarray]:
    with CsvTable(io.BytesIO(source) if isinstance(source, bytes) else source) as table:
        rows, times = zip(*table, strict=True)
    return np.concatenate(rows), np.concatenate(times)


def compress(*arguments: object) -> int:
    return main(["compress", *map(str, arguments)])


def decompress(*arguments: object) -> int:
    return main(["decompress", *map(str, arguments)])


def test_lossless_gives_the_same_file_back(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compress(table, "--lossless") == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "504 readings (10 missing)" in told.err and "largest error 0," in told.err and "verified" in told.err
    small = table.with_suffix(".ost")
    assert decompress(small, table.with_name("again.csv")) == 0
    assert table.with_name("again.csv").read_bytes() == table.read_bytes()
    assert sorted(path.name for path in table.parent.iterdir()) == ["again.csv", "readings.csv", "readings.ost"]


def test_nothing_said_is_lossless(table: Path) -> None:
    assert compress(table) == 0
    assert decompress(table.with_suffix(".ost"), table.with_name("again.csv")) == 0
    assert table.with_name("again.csv").read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "bounds"),
    [
        (["--max-error", "0.5"], [0.5, 0.5, 0.5]),
        (["--max-error", "0.25", "--max-error-for", "b=1", "--max-error-for", "n=0"], [0.25, 1.0, 0.0]),
        (["--max-error-for", "a [degC]=2"], [2.0, 0.0, 0.0]),
        (["--max-error", "0.3", "--resolution", "none"], [0.3, 0.3, 0.3]),
        (["--max-error", "0.3", "--resolution", "0.1", "--samples-per-frame", "1"], [0.3, 0.3, 0.3]),
    ],
)
def test_maximum_errors_hold(table: Path, arguments: list[str], bounds: list[float]) -> None:
    assert compress(table, table.with_name("a.ost"), *arguments) == 0
    assert decompress(table.with_name("a.ost"), table.with_name("b.csv")) == 0
    (before, moments), (after, others) = readings(table), readings(table.with_name("b.csv"))
    assert np.array_equal(moments, others)
    assert np.array_equal(np.isnan(before), np.isnan(after))
    assert (np.nanmax(np.abs(before - after), axis=0) <= bounds).all()


@pytest.mark.parametrize(
    "target", [["--relative-error", "0.05"], ["--rmse", "0.5"], ["--bits-per-reading", "4"], ["--paper", "2"]]
)
def test_other_targets(table: Path, target: list[str]) -> None:
    assert compress(table, table.with_name("a.ost"), *target) == 0
    assert decompress(table.with_name("a.ost"), table.with_name("b.csv")) == 0
    before, after = readings(table)[0], readings(table.with_name("b.csv"))[0]
    assert np.array_equal(np.isnan(before), np.isnan(after))
    if target[0] == "--relative-error":
        assert (np.abs(before - after) <= 0.05 * np.abs(before))[~np.isnan(before)].all()
    if target[0] == "--rmse":
        assert np.sqrt(np.nanmean(np.square(before - after))) <= 0.5


def test_parquet_in_and_out(table: Path) -> None:
    pytest.importorskip("pyarrow")
    assert compress(table, table.with_name("a.ost")) == 0
    assert decompress(table.with_name("a.ost"), table.with_name("a.parquet")) == 0
    assert compress(table.with_name("a.parquet"), table.with_name("b.ost")) == 0
    assert decompress(table.with_name("b.ost"), table.with_name("b.csv")) == 0
    before, after = readings(table), readings(table.with_name("b.csv"))
    assert np.array_equal(before[0], after[0], equal_nan=True)
    assert np.array_equal(1000 * before[1], after[1])


def test_whole_numbers_that_are_none_any_more_are_written_to_parquet_all_the_same(table: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert compress(table, table.with_name("a.ost"), "--max-error", "0.7", "--resolution", "none") == 0
    assert decompress(table.with_name("a.ost"), table.with_name("a.parquet")) == 0
    stored = parquet.read_table(table.with_name("a.parquet")).column("n").to_numpy()
    assert np.abs(stored - readings(table)[0][:, 2]).max() <= 0.7


def test_pipes(table: Path, orthostream) -> None:
    packed = orthostream("compress", "-", "-", "--max-error", "0.25", stdin=table.read_bytes())
    assert packed.returncode == 0
    back = orthostream("decompress", "-", "-", stdin=packed.stdout)
    assert back.returncode == 0 and back.stderr == b""
    (before, moments), (after, others) = readings(table), readings(back.stdout)
    assert np.nanmax(np.abs(before - after)) <= 0.25 and np.array_equal(moments, others)


@pytest.mark.slow
def test_parquet_through_pipes(table: Path, orthostream) -> None:
    pytest.importorskip("pyarrow")
    assert compress(table) == 0
    columns = orthostream("decompress", "-", "--format", "parquet", stdin=table.with_suffix(".ost").read_bytes())
    again = orthostream("compress", "-", "--format", "parquet", stdin=columns.stdout)
    with OstReader(io.BytesIO(again.stdout)) as reader:
        back = np.concatenate([piece.values for piece in reader])
    assert np.array_equal(back, readings(table)[0], equal_nan=True)


def test_choice_of_columns_and_times(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = table.with_name("a.ost")
    assert compress(table, small, "--columns", "n", "b", "--time", "time", "--unit", "b=K") == 0
    with OstReader(small) as reader:
        assert [(column.name, column.unit) for column in reader.schema.columns] == [("n", ""), ("b", "K")]
    words = ["--from", "2017-01-02", "--to", "2017-01-03T12:00", "--columns", "b"]
    assert decompress(small, table.with_name("b.csv"), *words) == 0
    rows, times = readings(table.with_name("b.csv"))
    before, moments = readings(table)
    kept = (moments >= times[0]) & (moments <= times[-1])
    assert len(rows) == 36 and times[0] == np.datetime64("2017-01-02", "s").astype(int)
    assert np.array_equal(rows[:, 0], before[kept, 1], equal_nan=True)
    assert decompress(small, table.with_name("c.csv"), "--from", "noon") == 2
    assert "'noon' is not a date" in capsys.readouterr().err


def test_append(table: Path) -> None:
    lines = table.read_text().splitlines(keepends=True)
    first, second = table.with_name("first.csv"), table.with_name("second.csv")
    first.write_text("".join(lines[:100]))
    second.write_text("".join(lines[:1] + lines[100:]))
    small = table.with_name("a.ost")
    for part in (first, second):
        assert compress(part, small, "--append") == 0
    assert decompress(small, table.with_name("b.csv")) == 0
    assert table.with_name("b.csv").read_text() == table.read_text()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("2020-01-02T00:00,1,2\n2020-01-02T01:00,x,3\n", "line 3"),
        ("2020-01-01T00:00,1,2\n2020-01-02T01:00,2,3\n", "begins before"),
    ],
    ids=["a bad line", "times that go back"],
)
def test_appending_what_is_refused_leaves_the_file_as_it_was(
    rows: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, packed = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "both.ost"
    first.write_text("t,a,b\n2020-01-01T00:00,1,2\n2020-01-01T01:00,2,3\n", encoding="utf-8")
    second.write_text("t,a,b\n" + rows, encoding="utf-8")
    assert compress(first, packed) == 0
    before = packed.read_bytes()
    assert compress(second, packed, "--append") == 2
    assert message in capsys.readouterr().err
    assert packed.read_bytes() == before


@pytest.mark.parametrize("share", [0.6, 0.9, 0.999])
def test_a_file_cut_short_gives_its_beginning(table: Path, share: float, capsys: pytest.CaptureFixture[str]) -> None:
    small = table.with_name("a.ost")
    assert compress(table, small, "--samples-per-frame", "4") == 0
    data = small.read_bytes()
    small.write_bytes(data[: int(share * len(data))])
    capsys.readouterr()
    assert decompress(small, table.with_name("b.csv")) == 1
    assert "warning" in capsys.readouterr().err
    text = table.with_name("b.csv").read_bytes()
    assert table.read_bytes().startswith(text) and text.count(b"\n") > 1


def test_a_damaged_file_gives_what_comes_before(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = table.with_name("a.ost")
    assert compress(table, small, "--samples-per-frame", "4") == 0
    data = bytearray(small.read_bytes())
    data[int(0.7 * len(data))] ^= 0x10
    small.write_bytes(data)
    capsys.readouterr()
    assert decompress(small, table.with_name("b.csv")) == 1
    assert "warning" in capsys.readouterr().err
    lines = set(table.read_text().splitlines())
    assert set(table.with_name("b.csv").read_text().splitlines()) <= lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,a\n2017-01-01,1\n2017-01-02\n", "line 3: 1 cell where 2"),
        ("time,a\n2017-01-01,1\n2017-01-02,x\n", "line 3, column 'a': 'x' is not a number"),
        ("time,a\n2017-01-01,1\n2017-01-01,2\n", "line 3: the time 2017-01-01 comes twice"),
        ("time,a\n2017-01-02,1\n2017-01-01,2\n", "line 3: the time 2017-01-01 comes after"),
        ("", "is empty"),
        ("time,a\n", "line 1: a header and no rows"),
    ],
)
def test_bad_tables_leave_nothing(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.csv").write_text(text)
    assert compress(tmp_path / "bad.csv") == 2
    told = capsys.readouterr().err
    assert message in told and told.startswith("orthostream: ") and told.count("\n") == 1
    assert not (tmp_path / "bad.ost").exists()


def test_a_bad_line_far_down_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Long cells, so that few samples fill more than one block.
    line = f"1.5{'0' * 20_000},2\n"
    (tmp_path / "bad.csv").write_text("a,b\n" + line * 100 + "1.5,two\n")
    assert compress(tmp_path / "bad.csv") == 2
    assert "line 102" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_errors_that_a_user_can_fix(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, small = table.parent, table.with_suffix(".ost")
    assert compress(table) == 0
    (folder / "sub").mkdir()
    capsys.readouterr()
    calls: list[tuple[list[object], str]] = [
        (["compress", table], "exists already; --force replaces it"),
        (["compress", folder / "nothing.csv"], "there is no file"),
        (["compress", folder], "is a folder"),
        (["compress", table, folder / "sub"], "is a folder"),
        (["compress", table, folder / "no" / "a.ost"], "there is no folder"),
        (["compress", table, table, "--force"], "is the input"),
        (["compress", table, folder / "a.ost", "--max-error-for", "zz=1"], "no column 'zz'"),
        (["compress", table, folder / "a.ost", "--max-error-for", "b=much"], "'much' is not a number"),
        (["compress", table, folder / "a.ost", "--max-error-for", "b"], "takes COLUMN=VALUE"),
        (["compress", table, folder / "a.ost", "--rmse", "1", "--max-error-for", "b=1"], "goes with --max-error"),
        (["compress", table, folder / "a.ost", "--columns", "zz"], "has no column 'zz'"),
        (["compress", table, folder / "a.ost", "--time", "zz"], "has no column 'zz'"),
        (["compress", table, folder / "a.ost", "--resolution", "fine"], "--resolution is auto, none or"),
        (["compress", table, folder / "a.ost", "--append", "--force"], "choose one"),
        (["compress", table, "-", "--append"], "needs a file"),
        (["compress", table, folder / "a.ost", "--format", "parquet"], "is not a Parquet file"),
        (["decompress", small, table], "exists already; --force replaces it"),
        (["decompress", small, small, "--force"], "is the input"),
        (["decompress", folder / "nothing.ost"], "there is no file"),
        (["decompress", folder], "is a folder"),
        (["decompress", table, folder / "a.csv"], ""),
        (["decompress", small, folder / "a.csv", "--columns", "zz"], "has no column 'zz'"),
    ]
    before = sorted(folder.iterdir())
    for arguments, message in calls:
        assert main(list(map(str, arguments))) == 2, arguments
        told = capsys.readouterr().err
        assert told.startswith("orthostream: ") and told.count("\n") == 1
        assert message in told, told
    assert sorted(folder.iterdir()) == before


def test_force_replaces(table: Path) -> None:
    assert compress(table) == 0
    assert compress(table, "--force", "--max-error", "1") == 0
    assert decompress(table.with_suffix(".ost"), table, "--force") == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--max-error", "-1"],
        ["--rmse", "0"],
        ["--samples-per-frame", "0"],
        ["--rmse", "1", "--lossless"],
        ["--max-error", "nan"],
    ],
)
def test_bad_words(words: list[str], orthostream) -> None:
    done = orthostream("compress", "a.csv", *words)
    assert done.returncode == 2 and b"usage" in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compress(table) == 0
    small = table.with_suffix(".ost")
    for arguments in (["compress", table, FULL], ["decompress", small, FULL]):
        assert main(list(map(str, arguments))) == 2
        assert "no space left" in capsys.readouterr().err
    assert FULL.is_char_device()
    for arguments in (["compress", table, "-"], ["decompress", small, "-"]):
        command = [sys.executable, "-m", "orthostream.cli.main", *map(str, arguments)]
        with FULL.open("wb") as full:
            again = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert again.returncode == 2 and b"no space left" in again.stderr and b"Traceback" not in again.stderr


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{k % 100},{k % 7}\n" for k in range(30_000)))
    assert compress(tmp_path / "a.csv", "--no-verify", "--samples-per-frame", "1000") == 0
    command = [sys.executable, "-m", "orthostream.cli.main", "decompress", str(tmp_path / "a.ost"), "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"a,b\n"
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141 and told == b""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_leaves_nothing_that_pretends_to_be_complete(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "orthostream.cli.main", "compress", "-", str(tmp_path / "a.ost")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(b"a,b\n" + f"1.5{'0' * 20_000},2\n".encode() * 120)
    process.stdin.flush()
    deadline = time.monotonic() + 60.0
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.stdin.close()
        told = process.stderr.read()
        process.stderr.close()
    assert b"interrupted" in told and b"Traceback" not in told
    assert not (tmp_path / "a.ost").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write anywhere")
def test_no_permission(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.chmod(0)
    assert compress(table) == 2
    assert "no permission" in capsys.readouterr().err
