"""The example of the document on novelty runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_TEXT = (Path(__file__).parents[2] / "docs" / "novelty.md").read_text(encoding="utf-8")
(_STREAM,) = re.findall(r"```python\n(.*?)```", _TEXT, re.DOTALL)


def test_a_stream_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stream = [["cocoa prices rose", "the bank cut interest rates"] * 50] * 10
    names = {"stream": stream}
    exec(_STREAM, names)
    assert names["detector"].n_documents_ == 1000
    assert Path("news.state").is_file()
