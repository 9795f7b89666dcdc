"""Many decimals at once are what one at a time would be."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from orthostream.compression.tables.decimals import parse_decimals

plain = st.from_regex(r"[-+]?[0-9]{0,20}(\.[0-9]{0,20})?", fullmatch=True)
anything = st.text(st.sampled_from("0123456789+-.,eEnaif "), max_size=12).filter(lambda text: "," not in text)


def parse(cells: list[str], point: str = ".") -> tuple[np.ndarray, np.ndarray]:
    text = ",".join(cells).encode() + b"\n"
    ends = np.cumsum([len(cell) + 1 for cell in cells]) - 1
    starts = ends - [len(cell) for cell in cells]
    return parse_decimals(np.frombuffer(text, np.uint8), starts, ends, ord(point))


@given(st.lists(plain | anything, min_size=1))
@example(["9007199254740993", "0.30000000000000004", "-0", "+.5", "5.", ".", "-", "1e5", "00000000000000000012.5"])
def test_a_number_is_the_one_of_python_or_left_for_another_look(cells: list[str]) -> None:
    numbers, odd = parse(cells)
    for cell, number, is_odd in zip(cells, numbers.tolist(), odd.tolist(), strict=True):
        if is_odd:
            assert math.isnan(number)
        elif cell:
            assert (number, math.copysign(1.0, number)) == (float(cell), math.copysign(1.0, float(cell)))
        else:
            assert math.isnan(number)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(0, 6))
def test_plain_decimals_need_no_other_look(mantissas: list[int], decimals: int) -> None:
    cells = [f"{mantissa / 10**decimals:.{decimals}f}" for mantissa in mantissas]
    numbers, odd = parse(cells)
    assert not odd.any()
    assert numbers.tolist() == list(map(float, cells))


def test_decimal_comma() -> None:
    numbers, odd = parse_decimals(np.frombuffer(b"1,5;1.5", np.uint8), np.array([0, 4]), np.array([3, 7]), ord(","))
    assert numbers[0] == 1.5 and odd.tolist() == [False, True]


def test_more_cells_than_a_block_in_any_shape() -> None:
    cells = [str(number) for number in range(40_000)]
    text = ",".join(cells).encode() + b"\n"
    ends = (np.cumsum([len(cell) + 1 for cell in cells]) - 1).reshape(-1, 4)
    starts = ends - np.array([len(cell) for cell in cells]).reshape(-1, 4)
    numbers, odd = parse_decimals(np.frombuffer(text, np.uint8), starts, ends)
    assert not odd.any() and numbers.tolist() == np.arange(40_000.0).reshape(-1, 4).tolist()
