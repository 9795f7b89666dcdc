"""Student's t with four or ten degrees of freedom, and the cells that it makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from orthostream.compression.kernel.range_coder import CODER_SIZE, finish_encoding, start_decoding, start_encoding
from orthostream.compression.kernel.student import FOUR, TEN, below, code_cell, density, new_escape_bits

DEGREES = {FOUR: 4, TEN: 10}
shapes = pytest.mark.parametrize("shape", DEGREES)


@shapes
def test_the_distribution(shape: int) -> None:
    x = np.linspace(-30, 30, 401)
    np.testing.assert_allclose([below(value, shape) for value in x], stats.t.cdf(x, DEGREES[shape]), atol=1e-12)
    np.testing.assert_allclose([density(value, shape) for value in x], stats.t.pdf(x, DEGREES[shape]), atol=1e-12)


numbers = st.tuples(
    st.floats(-0.5, 0.5), st.floats(0.02, 2.0**36), st.integers(-(2**38), 2**38) | st.integers(-300, 300)
)


@settings(max_examples=200, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=10), st.sampled_from([FOUR, TEN]))
@example([(-0.37088599823097446, 0.021484375, -4)], TEN)
@example([(0.5, 0.02, 0), (-0.5, 0.02, -1), (0.0, 64.0, 515), (0.0, 64.0001, -516), (0.0, 2.0**20, 2**38)], FOUR)
@example([(0.0, 1.0, 11), (0.0, 1.0, -11), (0.0, 1.0, 12), (0.0, 1.0, -12)], TEN)
def test_cells_come_back(sent: list[tuple[float, float, int]], shape: int) -> None:
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(80 * len(sent) + 16, dtype=np.uint8)
    start_encoding(coder)
    escapes = new_escape_bits()
    for centre, scale, cell in sent:
        assert code_cell(coder, buffer, escapes, centre, scale, cell, shape) == cell
    data = buffer[: finish_encoding(coder, buffer)].copy()
    start_decoding(coder, data, len(data))
    after, escapes = escapes, new_escape_bits()
    found = [code_cell(coder, data, escapes, centre, scale, 0, shape) for centre, scale, _ in sent]
    assert found == [cell for *_, cell in sent]
    np.testing.assert_array_equal(escapes, after)


@shapes
@pytest.mark.parametrize("scale", [0.3, 3.0, 40.0, 1000.0])
def test_cells_cost_what_the_distribution_says(scale: float, shape: int) -> None:
    degrees = DEGREES[shape]
    cells = np.rint(scale * np.random.default_rng(0).standard_t(degrees, 3000)).astype(int)
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(20_000, dtype=np.uint8)
    start_encoding(coder)
    escapes = new_escape_bits()
    for cell in cells.tolist():
        code_cell(coder, buffer, escapes, 0.0, scale, cell, shape)
    upper, lower = (cells + 0.5) / scale, (cells - 0.5) / scale
    ideal = -np.log2(stats.t.cdf(upper, degrees) - stats.t.cdf(lower, degrees)).sum()
    assert 8 * finish_encoding(coder, buffer) <= 1.02 * ideal + 64


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=30), st.floats(-0.5, 0.5), st.floats(0.02, 2.0**36), st.sampled_from([FOUR, TEN]))
def test_any_bytes_can_be_read(data: bytes, centre: float, scale: float, shape: int) -> None:
    array = np.frombuffer(data, dtype=np.uint8)
    coder, escapes = np.zeros(CODER_SIZE, dtype=np.int64), new_escape_bits()
    start_decoding(coder, array, len(array))
    for _ in range(10):
        assert abs(code_cell(coder, array, escapes, centre, scale, 0, shape)) < 2**62
