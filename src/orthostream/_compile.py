"""The one module that knows Numba: it compiles functions of this package, or says that it cannot.

Functions are written once, so that Python runs them as they stand. Where Numba is installed, `compiled` turns the same
text into machine code. ``ORTHOSTREAM_FAST=0`` in the environment turns it off for a process, `without_numba` for a block.
"""

from __future__ import annotations

import importlib.util
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_allowed: ContextVar[bool] = ContextVar("allowed", default=True)


@cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def can_compile() -> bool:
    """Return whether Numba is installed, and not turned off for this process or this block."""
    return _allowed.get() and os.environ.get("ORTHOSTREAM_FAST") != "0" and _installed()


@contextmanager
def without_numba() -> Iterator[None]:
    """Use plain NumPy within the block."""
    token = _allowed.set(False)
    try:
        yield
    finally:
        _allowed.reset(token)


def _digest(modules: tuple[ModuleType, ...]) -> str:
    return f"{zlib.crc32(b''.join(Path(str(module.__file__)).read_bytes() for module in modules)):08x}"


def kept_on_disk(modules: tuple[ModuleType, ...], name: str) -> bool:
    """Return whether a function was compiled before and is in Numba's cache, so that loading it is quick."""
    if not can_compile():
        return False
    folder = Path(str(compiled(modules)[name].stats.cache_path))  # type: ignore[attr-defined]
    return any(folder.glob(f"*{name}_{_digest(modules)}*.nbi"))


@cache
def compiled(
    modules: tuple[ModuleType, ...], *, aliases: tuple[tuple[str, str], ...] = (), contract: bool = False
) -> dict[str, Callable[..., Any]]:
    """Return the functions of some modules, compiled, by name; later modules may call functions of earlier ones.

    Numba's cache on disk checks the file of a function, but not the files whose functions and constants are compiled
    into it. The cached names therefore carry a digest of all the modules.

    Parameters
    ----------
    modules : tuple of modules
    aliases : tuple of pairs (name, function), optional
        Names that the last module calls without defining them, and the functions that they stand for.
    contract : bool, default False
        Allow a multiplication and an addition to be fused, which is faster and rounds differently.
    """
    import numba

    digest = _digest(modules)
    options: dict[str, Any] = {"cache": True, "error_model": "numpy"}
    if contract:
        options["fastmath"] = {"contract"}
    space: dict[str, Any] = {"__name__": __name__, "__builtins__": __builtins__}
    functions: dict[str, Callable[..., Any]] = {}
    for module in modules:
        if module is modules[-1]:
            space.update((name, functions[function]) for name, function in aliases)
        names = [(name, value) for name, value in vars(module).items() if not name.startswith("__")]
        space.update((name, value) for name, value in names if name not in functions)
        suffix = "_".join([digest, *(function for _, function in aliases)]) if module is modules[-1] else digest
        for name, value in names:
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                bound = FunctionType(value.__code__, space, value.__name__, value.__defaults__)
                bound.__qualname__ = f"{name}_{suffix}"
                functions[name] = space[name] = numba.njit(**options)(bound)
    return functions
