"""What the commands say: the file that is meant, the error that was promised, what a table loses."""

from __future__ import annotations

import errno
import importlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from orthostream._compile import announcing, compiled_with
from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.main import main
from orthostream.compression.file.reader import OstReader
from orthostream.compression.file.source import FrameSource

from .test_compress import compress, decompress, readings


def test_a_relative_error_is_told_as_such(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a\n" + "".join(f"{value:.3f}\n" for value in np.geomspace(10.0, 1e6, 400))
    table.write_text(text)
    assert compress(table, "--relative-error", "0.05") == 0
    told = capsys.readouterr().err
    found = re.search(r"largest relative error ([\d.e-]+), verified", told)
    assert found and "root mean square" not in told, told
    assert decompress(table.with_suffix(".ost"), table.with_name("b.csv")) == 0
    before, after = (np.array(path.read_text().split()[1:], float) for path in (table, table.with_name("b.csv")))
    assert float(found[1]) == pytest.approx(np.max(np.abs(before - after) / before), rel=1e-5)
    assert main(["inspect", str(table.with_suffix(".ost"))]) == 0
    assert "both in the unit of the readings" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["decompress", "inspect", "inspect --recover", "append"])
@pytest.mark.parametrize("data", [b"", b"OST", b"OST\x02rubbish", b"a,b\n1,2\n", b"\0" * 100], ids=repr)
def test_what_is_no_ost_file_is_named_once(
    table: Path, data: bytes, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = table.with_name("bad.ost")
    bad.write_bytes(data)
    words = ["compress", str(table), str(bad), "--append"] if command == "append" else [*command.split(), str(bad)]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert told.count("bad.ost") == 1 and told.count("\n") == 1, told
    assert ("is empty: it has 0 bytes" in told) == (data == b"")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,a\n2017-01-01,1\n2017-01-02,x\n", "line 3"),
        ("time,a\n01/02/2017,1\n", "its day or with its month"),
        ("time,a,a\n2017-01-01,1,2\n", "two columns"),
        ("", "is empty"),
    ],
)
def test_bad_tables_are_named_once(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.csv").write_text(text)
    assert compress(tmp_path / "bad.csv", tmp_path / "out.ost") == 2
    told = capsys.readouterr().err
    assert message in told and told.count("bad.csv") == 1 and "out.ost" not in told
    (tmp_path / "bad.csv").write_text("time,a\n2017-01-01,1\n")
    assert compress(tmp_path / "bad.csv", tmp_path / "out.ost", "--columns", "a", "a") == 2
    assert "bad.csv: column 'a' is chosen twice" in capsys.readouterr().err


def test_a_file_is_named_whatever_its_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("column", "the"):
        Path(name).write_text("time,a\n2017-01-01,1\n")
    assert compress("column", "out.ost", "--columns", "a", "a") == 2
    assert capsys.readouterr().err.startswith("orthostream: column: column 'a' is chosen twice")
    assert decompress("the", "out.csv") == 2
    assert capsys.readouterr().err.startswith("orthostream: the: ")
    Path("the").write_bytes(b"")
    assert decompress("the", "out.csv") == 2
    assert capsys.readouterr().err.startswith("orthostream: the: the file is empty")


def test_a_tiny_number_with_many_digits_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,1234567890123456789e-99999999999999999999\n")
    assert compress(tmp_path / "a.csv") == 0
    assert "line 2, column 'b'" in capsys.readouterr().err


def test_standard_input_is_named(orthostream) -> None:
    done = orthostream("compress", "-", "-", stdin=b"a\nx\n1\n")
    assert done.stderr.startswith(b"orthostream: standard input, line 2"), done.stderr
    done = orthostream("decompress", "-", "-", stdin=b"rubbish")
    assert done.stderr.startswith(b"orthostream: standard input: "), done.stderr


def test_a_moment_that_cannot_be_read_is_not_the_fault_of_a_file(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compress(table) == 0
    capsys.readouterr()
    assert decompress(table.with_suffix(".ost"), table.with_name("b.csv"), "--from", "noon") == 2
    assert capsys.readouterr().err.startswith("orthostream: --from: 'noon' is not a date")


def test_a_disk_that_cannot_be_read_is_not_the_fault_of_the_output(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compress(table) == 0
    capsys.readouterr()

    def fail(_: FrameSource) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(FrameSource, "next", fail)
    for words in ([], ["--from", "2017-12-24T18:00"]):
        assert decompress(table.with_suffix(".ost"), table.with_name("b.csv"), *words) == 2
        told = capsys.readouterr().err
        assert told == f"orthostream: {table.with_suffix('.ost')}: Input/output error\n"


def halves(table: Path) -> tuple[Path, Path]:
    lines = table.read_text().splitlines(keepends=True)
    first, second = table.with_name("first.csv"), table.with_name("second.csv")
    first.write_text("".join(lines[:100]))
    second.write_text("".join(lines[:1] + lines[100:]))
    return first, second


@pytest.mark.parametrize(
    "target", [["--max-error", "0.5"], ["--relative-error", "0.1"], ["--rmse", "0.5"], ["--max-error-for", "b=1"]]
)
def test_appending_keeps_the_target(table: Path, target: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    first, second = halves(table)
    packed = table.with_name("a.ost")
    assert compress(first, packed, *target) == 0
    with OstReader(packed) as reader:
        before = reader.header.target
    assert compress(second, packed, "--append") == 0
    assert ("relative error" in capsys.readouterr().err) == (target[0] == "--relative-error")
    with OstReader(packed) as reader:
        assert reader.header.target == before and sum(len(values) for values, _ in reader) == 168


def test_appending_with_another_target_is_refused_in_words(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = halves(table)
    packed = table.with_name("a.ost")
    assert compress(first, packed, "--max-error", "0.5") == 0
    capsys.readouterr()
    for words, asked in ((["--rmse", "1"], "a root mean square error of 1"), (["--lossless"], "a maximum error of 0 ")):
        assert compress(second, packed, "--append", *words) == 2
        told = capsys.readouterr().err
        assert "a.ost was written with a maximum error of 0.5, so" in told and asked in told and "{" not in told
    assert compress(second, packed, "--append", "--max-error", "0.5") == 0


def test_times_with_and_without_an_offset_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "a.csv"
    zoned, plain = "2017-01-01T01:00+01:00", "2017-01-01T02:00"
    for first, second, kind in ((zoned, plain, "no"), (plain, zoned.replace("01T01", "01T05"), "an")):
        table.write_text(f"time,a\n{first},1\n{second},2\n")
        assert compress(table, "--any-order", "--force") == 2
        told = capsys.readouterr().err
        assert f"line 3, column 'time': '{second}' has {kind} offset from UTC, unlike the time in line 2" in told
        table.write_text(f"time,a\n{first},1\n")
        assert compress(table, "--force") == 0
        table.with_name("b.csv").write_text(f"time,a\n{second},1\n")
        assert compress(table.with_name("b.csv"), table.with_suffix(".ost"), "--append") == 2
        assert "have an offset from UTC" in capsys.readouterr().err


@pytest.mark.parametrize("quote", ["", '"'])
def test_digits_that_a_double_does_not_hold_are_told_once(
    quote: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "a.csv"
    cells = [
        "1.5",
        "0.1000000000000000055511151231257827",
        "0.1234567890123456789",
        "0.9876543210987654321",
        "1.5" + "0" * 30,
    ]
    table.write_text("n,a b\n" + "".join(f"{quote}1{quote},{cell}\n" for cell in cells))
    assert compress(table) == 0
    told = capsys.readouterr().err
    assert (
        told.count("warning") == 1 and told.count("a.csv, line 4, column 'a b': '0.1234567890123456789' has more") == 1
    )
    table.write_text(
        "a\n" + "".join(f"{value:.18e}\n{value!r}\n" for value in np.random.default_rng(0).normal(size=500).tolist())
    )
    assert compress(table, "--force") == 0
    assert "warning" not in capsys.readouterr().err


def test_a_long_decimal_among_many_doubles_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [repr(value) for value in np.random.default_rng(0).uniform(1.0, 9.0, 2_000).tolist()]
    cells[1_500] = "1.23456789012345678901"
    (tmp_path / "a.csv").write_text("a\n" + "\n".join(cells) + "\n")
    assert compress(tmp_path / "a.csv", "--max-error", "0.1") == 0
    assert "line 1502, column 'a'" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_compilation_is_announced_once_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    (tmp_path / "toy_kernel.py").write_text("def twice(x):\n    return 2 * x\n\n\ndef thrice(x):\n    return 3 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    toy_kernel = importlib.import_module("toy_kernel")
    monkeypatch.delitem(sys.modules, "toy_kernel")
    functions = compiled_with(toy_kernel, {}, (toy_kernel,))
    for stream, times in ((Terminal(), 1), (io.StringIO(), 0)):
        monkeypatch.setattr(sys, "stderr", stream)
        value = 1 if times else 1.5
        with compile_notice():
            assert functions["twice"](value) == 2 * value and functions["thrice"](value) == 3 * value
        assert stream.getvalue().count("compiling the codec once, about a minute ...") == times
    calls: list[int] = []
    with announcing(lambda: calls.append(1)):
        functions["twice"](1)
    assert not calls


def test_key_every(table: Path) -> None:
    packed = table.with_name("a.ost")
    assert compress(table, packed, "--key-every", "120", "--samples-per-frame", "10") == 0
    with OstReader(packed) as reader:
        list(reader)
        assert [key.sample for key in reader.keys] == [0, 40, 80, 120, 160]
    data = bytearray(packed.read_bytes())
    data[reader.keys[1].offset + 8] ^= 1
    packed.write_bytes(data)
    assert decompress(packed, table.with_name("b.csv"), "--recover") == 1
    assert len(readings(table.with_name("b.csv"))[0]) == 128


def test_what_is_compressed_already_is_told_as_such(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compress(table, "--lossless") == 0
    packed = table.with_suffix(".ost")
    capsys.readouterr()
    assert main(["compress", str(packed), str(table.with_name("again.ost")), "--lossless"]) == 2
    told = capsys.readouterr().err
    assert "is an .ost file" in told and told.count(packed.name) == 1, told


@pytest.mark.parametrize("order", ["{i} {o} --max-error 0.5", "{i} --max-error 0.5 {o}", "--max-error 0.5 {i} {o}"])
def test_files_and_options_come_in_any_order(table: Path, order: str) -> None:
    packed = table.with_name("packed.ost")
    words = order.format(i=table, o=packed).split()
    assert main(["compress", *words]) == 0
    assert main(["inspect", "--recover", str(packed)]) == 0
    assert main(["decompress", str(packed), "--recover", str(table.with_name("back.csv"))]) == 0
