"""The functions of the kernel, as NumPy runs them or as Numba compiles them: both give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import MappingProxyType
from typing import Any

from orthostream._compile import can_compile, compiled, kept_on_disk
from orthostream.compression.kernel import (
    account,
    adaptation,
    compiled_rows,
    expectation,
    features,
    group_state,
    halving,
    jumps,
    learning,
    logistic,
    memory,
    mixture,
    presence,
    questions,
    range_coder,
    raw_reading,
    readings,
    repeats,
    rows,
    sample,
    student,
    ways,
)

_CODING = (student, presence, logistic, mixture, repeats, questions, halving, memory)
_LEARNING = (
    group_state,
    raw_reading,
    adaptation,
    account,
    expectation,
    jumps,
    features,
    learning,
    ways,
    readings,
    sample,
)
_COMPILED = (range_coder, compiled_rows, *_CODING, *_LEARNING)
_PLAIN = (range_coder, rows, *_CODING, *_LEARNING)
#: Readings that plain code handles before it is worth the seconds that compiling takes, once on a machine.
_PATIENCE = 1 << 15


class KernelFunctions:
    """Looks functions of the kernel up by their names, plain ones or compiled ones.

    Parameters
    ----------
    accelerate : bool, optional
        Whether functions are compiled; by default where Numba is installed, at once if they were compiled before on
        this machine, otherwise as soon as there is enough to do.
    """

    def __init__(self, accelerate: bool | None) -> None:
        self._waits = accelerate is None and can_compile() and not _compiled_before()
        self._n_readings = 0
        self._functions = _functions(can_compile() and not self._waits if accelerate is None else accelerate)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self._functions[name]

    def expect(self, n_readings: int) -> None:
        """Count readings that are about to be coded, and compile once there are enough of them."""
        if self._waits:
            # From the same state both give the same bits, so that it does not matter when one replaces the other.
            self._n_readings += n_readings
            if self._n_readings > _PATIENCE:
                self._waits = False
                self._functions = _functions(True)


@cache
def _functions(accelerate: bool) -> MappingProxyType[str, Callable[..., Any]]:
    if accelerate:
        return MappingProxyType(compiled(_COMPILED))
    return MappingProxyType({name: value for module in _PLAIN for name, value in vars(module).items()})


def _compiled_before() -> bool:
    """Return whether compiled code is available at once: compiled in this process, or kept on disk."""
    functions = _functions(True)
    return bool(functions["code_samples"].signatures) or _on_disk()  # type: ignore[attr-defined]


@cache
def _on_disk() -> bool:
    return kept_on_disk(_COMPILED, "code_samples")
