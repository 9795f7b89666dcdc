"""Parts of a step that Numba can compile, and the compiled step made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from orthostream._compile import compiled, compiled_with
from orthostream.optimize import take_step


class Kernel(NamedTuple):
    """A function that both Python and Numba can run, and the modules that it is compiled from."""

    name: str
    modules: tuple[str, ...]
    """Each may call functions of the modules before it; the last one defines the function."""


class CompiledStep(NamedTuple):
    """The functions of `take_step` as machine code."""

    single: Callable[..., Any]
    stack: Callable[..., Any]


@cache
def compiled_step(update: Kernel, oracle: Kernel, post_step: Kernel) -> CompiledStep:
    """Return the step made of the kernels of an estimate, a set and a post-step, as machine code."""
    parts = {"update": update, "oracle": oracle, "post_step": post_step}
    given = {name: _functions(kernel)[kernel.name] for name, kernel in parts.items()}
    names = dict.fromkeys(name for kernel in parts.values() for name in kernel.modules)
    sources = (*(import_module(name) for name in names), take_step)
    functions = compiled_with(take_step, given, sources, contract=True)
    return CompiledStep(functions["take_step"], functions["take_steps"])


@cache
def compiled_kernel(kernel: Kernel) -> Callable[..., Any]:
    """Return one kernel as machine code."""
    return _functions(kernel)[kernel.name]


def _functions(kernel: Kernel) -> dict[str, Callable[..., Any]]:
    return compiled(tuple(import_module(name) for name in kernel.modules), contract=True)
