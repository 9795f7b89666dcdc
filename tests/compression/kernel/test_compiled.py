"""The same functions as machine code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from orthostream._compile import can_compile, compiled
from orthostream.compression.codecs.conditional.functions import _COMPILED
from orthostream.compression.kernel import logistic, range_coder, student

pytestmark = pytest.mark.skipif(not can_compile(), reason="Numba is not installed: there is nothing to compare with")

MODULES = _COMPILED


def test_every_function_is_compiled_once() -> None:
    functions = compiled(MODULES)
    assert {"code_samples", "code_cell", "code_presence", "factorise", "code_interval", "mixed_bit"} <= set(functions)
    assert compiled(MODULES) is functions


def test_the_distribution_has_the_same_bits() -> None:
    x = np.concatenate([np.linspace(-50, 50, 1001), 10.0 ** np.arange(-300, 150, 7.0)])
    for name, shape in itertools.product(("below", "density"), (student.FOUR, student.TEN)):
        plain, fast = getattr(student, name), compiled(MODULES)[name]
        expected = np.array([plain(float(value), shape) for value in x])
        assert expected.tobytes() == np.array([fast(value, shape) for value in x]).tobytes()


def test_the_logarithm_has_the_same_bits() -> None:
    x = 10.0 ** np.arange(-300.0, 300.0, 1.7)
    fast = compiled(MODULES)["log2_of"]
    expected = np.array([logistic.log2_of(float(value)) for value in x])
    assert expected.tobytes() == np.array([fast(value) for value in x]).tobytes()


def test_integers_have_the_same_bytes() -> None:
    values = [0, 1, 2, 3, 1000, 2**20, 2**40 - 2, 0, 0, 5]
    packed = []
    for functions in (vars(range_coder), compiled(MODULES)):
        coder, buffer = np.zeros(range_coder.CODER_SIZE, dtype=np.int64), np.zeros(200, dtype=np.uint8)
        bits = np.full(range_coder.INTEGER_BITS, range_coder.EVEN, dtype=np.int64)
        functions["start_encoding"](coder)
        for value in values:
            functions["code_integer"](coder, buffer, bits, 0, value)
        packed.append((buffer[: functions["finish_encoding"](coder, buffer)].tobytes(), bits.tobytes()))
    assert packed[0] == packed[1]
