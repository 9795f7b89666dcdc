"""`--recover` as a user meets it: all that can be decoded, and one line about the rest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli.main import main
from orthostream.compression import Column, OstReader, OstWriter, Schema, TimeAxis


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A file of 90 samples, a key frame every 30, of which the second was damaged."""
    path = tmp_path / "readings.ost"
    schema = Schema((Column("a"), Column("b")), TimeAxis("t"))
    with OstWriter(path, schema, max_error=0.1, samples_per_frame=10, key_every=60) as writer:
        writer.write(np.arange(180.0).reshape(90, 2), np.arange(90))
    with OstReader(path) as reader:
        list(reader)
    data = bytearray(path.read_bytes())
    data[reader.keys[1].offset + 6] ^= 1
    path.write_bytes(data)
    return path


def test_decompress(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decompress", str(damaged)]) == 1
    assert "--recover goes on at the next frame" in capsys.readouterr().err
    table = damaged.with_suffix(".csv")
    assert len(table.read_text().splitlines()) == 31
    assert main(["decompress", str(damaged), "--recover", "--force"]) == 1
    warning = capsys.readouterr().err
    assert "lost: 30 samples from number 30 on (bytes" in warning and warning.count("\n") == 1
    times = [int(line.split(",")[0]) for line in table.read_text().splitlines()[1:]]
    assert times == [*range(30), *range(60, 90)]


def test_what_is_lost_before_the_last_time_is_told(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decompress", str(damaged), "--recover", "--to", "80"]) == 1
    assert "lost: 30 samples from number 30 on" in capsys.readouterr().err


def test_inspect(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(damaged)]) == 2
    assert "damaged" in capsys.readouterr().err
    assert main(["inspect", str(damaged), "--recover"]) == 1
    text = capsys.readouterr().out
    assert "version 2, DAMAGED" in text and "lost      30 samples from number 30 on" in text
    assert main(["inspect", str(damaged), "--recover", "--json"]) == 1
    info = json.loads(capsys.readouterr().out)
    assert info["n_samples"] == 60 and (info["lost"][0]["first"], info["lost"][0]["last"]) == (30, 59)


def test_a_whole_file_is_as_without_it(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compress", str(table), "--max-error", "0.25"]) == 0
    assert main(["decompress", str(table.with_suffix(".ost")), str(table.with_name("again.csv")), "--recover"]) == 0
    capsys.readouterr()
    assert main(["inspect", str(table.with_suffix(".ost")), "--recover"]) == 0
    text = capsys.readouterr().out
    assert "times  " in text and "trailer  " in text and "version 2" in text


@pytest.fixture(params=[1, 2])
def whole(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A whole file of 90 samples in one of the versions of the format."""
    path = tmp_path / "whole.ost"
    schema = Schema((Column("a"), Column("b")), TimeAxis("t"))
    with OstWriter(path, schema, max_error=0.1, samples_per_frame=10, key_every=60, version=request.param) as writer:
        writer.write(np.arange(180.0).reshape(90, 2), np.arange(90))
    return path


@pytest.mark.parametrize("where", ["junk", "mark", "trailer", "cut mark"])
def test_an_end_that_is_damaged_loses_no_reading(whole: Path, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    with OstReader(whole) as reader:
        list(reader)
    data = whole.read_bytes()
    end, size = reader.end_of_frames, len(data)
    flipped = {"mark": size - 1, "trailer": end + 4}.get(where)
    if flipped is not None:
        data = data[:flipped] + bytes([data[flipped] ^ 1]) + data[flipped + 1 :]
    whole.write_bytes({"junk": data + b"rubbish", "cut mark": data[:-2]}.get(where, data))
    what = {
        "junk": f"bytes after the end (bytes {size} to {size + 6})",
        "cut mark": f"an end that is cut short (bytes {end} to {size - 3})",
    }.get(where, f"a damaged end (bytes {end} to {size - 1})")
    assert main(["decompress", str(whole), "--recover"]) == 1
    told = capsys.readouterr().err
    assert f"all readings before that were written; ignored: {what}" in told and told.count("\n") == 1, told
    assert len(whole.with_suffix(".csv").read_text().splitlines()) == 91
    assert main(["inspect", str(whole), "--recover"]) == 1
    text = capsys.readouterr().out
    assert "DAMAGED at its end only: all readings before that are there" in text and f"ignored   {what}" in text


def test_frames_that_are_missing_before_an_end_are_lost(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with OstReader(whole) as reader:
        list(reader)
    data = whole.read_bytes()
    whole.write_bytes(data[: reader.keys[1].offset] + data[reader.end_of_frames :])
    count = "an unknown number of" if reader.header.version == 1 else "60"
    for words, told in (([], "is damaged (the end of the file"), (["--recover"], f"damaged; lost: {count} samples")):
        assert main(["decompress", str(whole), "--force", *words]) == 1
        warning = capsys.readouterr().err
        assert told in warning and "all readings" not in warning and warning.count("\n") == 1, warning
    assert main(["inspect", str(whole), "--recover"]) == 1
    text = capsys.readouterr().out
    assert ", DAMAGED\n" in text and "from number 30 on (missing" in text


@pytest.mark.parametrize("words", [[], ["--recover"]])
def test_bytes_after_the_end_are_told_with_and_without_recover(
    whole: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    whole.write_bytes(whole.read_bytes() + b"rubbish")
    assert main(["decompress", str(whole), *words]) == 1
    told = capsys.readouterr().err
    assert "damaged at its end only" in told and "bytes after the end" in told and told.count("\n") == 1


def test_readings_that_are_cut_off_are_not_called_complete(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with OstReader(whole) as reader:
        list(reader)
    whole.write_bytes(whole.read_bytes()[: reader.end_of_frames - 1])
    assert main(["decompress", str(whole), "--recover"]) == 1
    told = capsys.readouterr().err
    assert "lost: an unknown number of samples (perhaps none) from number 80 on" in told and "all readings" not in told
