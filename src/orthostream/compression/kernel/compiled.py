"""The same functions as machine code, where Numba is installed."""

from __future__ import annotations

import importlib.util
import os
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any


def can_compile() -> bool:
    """Return whether Numba is installed, and not turned off for this process (``ORTHOSTREAM_FAST=0``)."""
    return os.environ.get("ORTHOSTREAM_FAST") != "0" and importlib.util.find_spec("numba") is not None


def _digest(modules: tuple[ModuleType, ...]) -> str:
    return f"{zlib.crc32(b''.join(Path(str(module.__file__)).read_bytes() for module in modules)):08x}"


def kept_on_disk(modules: tuple[ModuleType, ...], name: str) -> bool:
    """Return whether a function was compiled before, so that it takes no time to have it again."""
    if not can_compile():
        return False
    folder = Path(str(compiled(modules)[name].stats.cache_path))  # type: ignore[attr-defined]
    return any(folder.glob(f"*{name}_{_digest(modules)}*.nbi"))


@cache
def compiled(modules: tuple[ModuleType, ...]) -> dict[str, Callable[..., Any]]:
    """Return the functions of some modules, compiled, by name; later modules may call what earlier ones define.

    They are kept on disk under names that change with the text of any of the modules, since a function takes the
    constants and the functions that it uses into itself.
    """
    import numba

    digest = _digest(modules)
    space: dict[str, Any] = {"__name__": __name__, "__builtins__": __builtins__}
    functions: dict[str, Callable[..., Any]] = {}
    for module in modules:
        names = [(name, value) for name, value in vars(module).items() if not name.startswith("__")]
        space.update((name, value) for name, value in names if name not in functions)
        for name, value in names:
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                bound = FunctionType(value.__code__, space, value.__name__, value.__defaults__)
                bound.__qualname__ = f"{name}_{digest}"
                functions[name] = space[name] = numba.njit(cache=True, error_model="numpy")(bound)
    return functions
