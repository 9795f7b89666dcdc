"""The benchmark of large files, on a small one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from benchmarks import files


@pytest.mark.slow
def test_a_small_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SIZES", {True: (2_000,), False: ()})
    files.run(argparse.Namespace(quick=True, json=tmp_path / "files.json", figure=None))
    assert "2,000" in capsys.readouterr().out
    records = json.loads((tmp_path / "files.json").read_text(encoding="utf-8"))
    assert {record["metric"] for record in records} == {"seconds", "peak megabytes", "bytes"}
    assert all(record["value"] > 0 for record in records)
