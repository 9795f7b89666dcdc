"""What the columns of a stream are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression import Column, FrameError, Schema, TimeAxis
from orthostream.compression.schema import MOST_COLUMNS, TABLE_TYPES

texts = st.text(st.characters(codec="utf-8"), max_size=6)
columns = st.lists(st.builds(Column, texts, texts, st.sampled_from(sorted(TABLE_TYPES))), min_size=1, max_size=6)
axes = st.none() | st.builds(TimeAxis, texts, texts, texts, texts)


@given(columns, axes, st.sampled_from(["array", "table", "nameless series"]))
def test_a_schema_comes_back(columns: list[Column], axis: TimeAxis | None, kind: str) -> None:
    schema = Schema(tuple(columns), axis, kind)
    assert Schema.from_plain(json.loads(json.dumps(schema.to_plain()))) == schema


def test_what_goes_without_saying_is_left_out() -> None:
    assert Schema.of(100).to_plain() == {"n": 100}
    assert Schema.of(2, "int8").to_plain() == {"n": 2, "dtype": "int8"}


def test_days() -> None:
    ticks = {unit: TimeAxis("t", unit).ticks_per_day() for unit in ("ns", "ms", "s", "", "1e-3")}
    assert ticks == {"ns": 86400 * 10**9, "ms": 86400 * 1000, "s": 86400, "": None, "1e-3": None}


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        "text",
        7,
        {},
        {"n": 0},
        {"n": -1},
        {"n": True},
        {"n": 2.0},
        {"n": "2"},
        {"n": None},
        {"n": MOST_COLUMNS + 1},
        {"n": 10**30},
        {"n": 2, "name": ["a"]},
        {"n": 2, "name": ["a", 1]},
        {"n": 2, "name": 5},
        {"n": 2, "unit": ["a", "b", "c"]},
        {"n": 2, "unit": None, "dtype": 5},
        {"n": 2, "dtype": "object"},
        {"n": 2, "dtype": ["int8", "complex64"]},
        {"n": 2, "time": []},
        {"n": 2, "time": ["a", "s", "", 1]},
        {"n": 2, "time": 4},
        {"n": 2, "kind": 1},
        {"n": 2, "kind": None},
    ],
)
def test_impossible_schemas(plain: object) -> None:
    with pytest.raises(FrameError):
        Schema.from_plain(plain)
