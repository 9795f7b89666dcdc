"""The same functions as machine code."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream._compile import can_compile, compiled
from orthostream.compression.kernel import compiled_rows, learning, presence, range_coder, slot, slot_state, student

pytestmark = pytest.mark.skipif(not can_compile(), reason="Numba is not installed: there is nothing to compare with")

MODULES = (range_coder, compiled_rows, student, presence, slot_state, learning, slot)


def test_every_function_is_compiled_once() -> None:
    functions = compiled(MODULES)
    assert {"code_samples", "code_cell", "code_presence", "factorise", "code_interval"} <= set(functions)
    assert compiled(MODULES) is functions


def test_the_distribution_has_the_same_bits() -> None:
    x = np.concatenate([np.linspace(-50, 50, 1001), 10.0 ** np.arange(-300, 150, 7.0)])
    for name in ("below", "density"):
        plain, fast = getattr(student, name), compiled(MODULES)[name]
        assert (
            np.array([plain(float(value)) for value in x]).tobytes() == np.array([fast(value) for value in x]).tobytes()
        )


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
