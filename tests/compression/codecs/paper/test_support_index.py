"""Subsets as numbers."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.codecs.paper.support_index import support_bits, support_number, support_of_number
from orthostream.compression.errors import FrameError


@pytest.mark.parametrize(("components", "nonzero"), [(6, 3), (5, 5), (7, 1), (1, 1)])
def test_each_subset_has_its_number(components: int, nonzero: int) -> None:
    numbers = {}
    for support in combinations(range(components), nonzero):
        numbers[support_number(support)] = list(support)
    assert sorted(numbers) == list(range(comb(components, nonzero)))
    assert max(numbers) < 1 << support_bits(components, nonzero)
    for number, support in numbers.items():
        assert support_of_number(number, components, nonzero) == support


@given(st.sets(st.integers(0, 299), min_size=1))
def test_long_numbers(support: set[int]) -> None:
    number = support_number(sorted(support))
    assert number.bit_length() <= support_bits(300, len(support))
    assert support_of_number(number, 300, len(support)) == sorted(support)


@pytest.mark.parametrize("number", [-1, comb(9, 4), 1 << 80])
def test_numbers_of_no_subset(number: int) -> None:
    with pytest.raises(FrameError, match="not the number of a subset of 4 out of 9"):
        support_of_number(number, 9, 4)
