"""Numbers, missing readings and types of columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.tables.number_texts import NumberTexts
from orthostream.compression.tables.numbers import MISSING, column_type, parse_number


@pytest.mark.parametrize("cell", sorted(MISSING))
def test_missing(cell: str) -> None:
    assert math.isnan(parse_number(f" {cell} "))


@pytest.mark.parametrize(
    ("cell", "number"),
    [("12", 12.0), ("+1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1E-3", 0.001), ("inf", math.inf), ("-Inf", -math.inf)],
)
def test_numbers(cell: str, number: float) -> None:
    assert parse_number(cell) == number


@pytest.mark.parametrize(
    "cell", ["1_000", "١٢", "0x10", "1,5", "abc", "1 2", "--1", "1e", ".", "1.5.5", "nan(1)", "\u22121"]
)
def test_what_is_no_number(cell: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        parse_number(cell)


def test_numbers_that_do_not_fit() -> None:
    assert parse_number("9007199254740992") == 2.0**53
    assert parse_number("18446744073709551616") == 2.0**64
    with pytest.raises(ValueError, match="cannot hold exactly"):
        parse_number("9007199254740993")
    with pytest.raises(ValueError, match="too large"):
        parse_number("1e400")


def test_decimal_comma_and_thousands() -> None:
    assert parse_number("1234,5", ",") == 1234.5
    with pytest.raises(ValueError, match="not a number"):
        parse_number("1.234,5", ",")


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "-2", "+3"], "int64"),
        (["1", "", "3"], "Int64"),
        (["1", "2.0"], "float64"),
        (["true", "FALSE"], "bool"),
        (["True", "NA"], "boolean"),
        (["True", "1"], "float64"),
        (["", "nan"], "float64"),
        (["1e3"], "float64"),
        ([], "float64"),
    ],
)
def test_types_of_columns(cells: list[str], dtype: str) -> None:
    assert column_type(cells) == dtype


@given(st.lists(st.floats()), st.sampled_from(["float64", "int64", "Int16", "bool", "boolean"]))
def test_texts_read_as_the_same_numbers(values: list[float], dtype: str) -> None:
    texts = NumberTexts(dtype, "nan")(np.array(values, dtype=float))
    for value, text in zip(values, texts, strict=True):
        read = {"True": 1.0, "False": 0.0}.get(text)
        read = float(text) if read is None else read
        assert read == value or (math.isnan(read) and math.isnan(value))


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_single_precision_is_written_short_and_exactly(values: list[float]) -> None:
    texts = NumberTexts("float32")(np.array(values, dtype=float))
    assert [float(np.float32(text)) for text in texts] == values


def test_minus_zero_keeps_its_sign() -> None:
    texts = NumberTexts()
    assert texts(np.array([0.0, 1.0])) == ["0.0", "1.0"]
    assert texts(np.array([-0.0, 0.0])) == ["-0.0", "0.0"]


def test_many_different_numbers_do_not_fill_the_memory() -> None:
    texts = NumberTexts()
    for start in range(0, 400_000, 4_096):
        values = np.arange(start, start + 4_096) / 7.0
        assert texts(values) == list(map(repr, values.tolist()))
    assert len(texts._known) <= 65_536
