"""The examples of the document on compression run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

_TEXT = (Path(__file__).parents[2] / "docs" / "compression.md").read_text(encoding="utf-8")
_TARGETS, _STREAM = re.findall(r"```python\n(.*?)```", _TEXT, re.DOTALL)


def test_every_target_packs_the_readings(capsys: pytest.CaptureFixture[str]) -> None:
    exec(_TARGETS, {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert all(0 < int(line.rsplit(" ", 1)[1]) < 500 * 3 * 8 for line in lines)


def test_a_stream_is_decoded_frame_by_frame() -> None:
    rows = np.round(np.cumsum(np.random.default_rng(0).normal(size=(20, 56)), axis=0), 1)
    names = {"stream": [rows[:7], rows[7:]]}
    exec(_STREAM, names)
    assert [len(part) for part in names["last"]] == [2]
    assert np.abs(names["last"][0] - rows[18:]).max() <= 0.5
