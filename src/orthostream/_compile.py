"""The only module that uses Numba: it compiles functions of this package, and tells whether it can.

Functions are written once, as ordinary Python. Where Numba is installed, `compiled` turns the same text into machine
code. ``ORTHOSTREAM_FAST=0`` in the environment turns it off for a process, `without_numba` for a
block of code.
"""

from __future__ import annotations

import importlib.util
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_allowed: ContextVar[bool] = ContextVar("allowed", default=True)
_announce: ContextVar[Callable[[], None] | None] = ContextVar("announce", default=None)


@cache
def _installed() -> bool:
    return os.environ.get("ORTHOSTREAM_FAST") != "0" and importlib.util.find_spec("numba") is not None


def can_compile() -> bool:
    """Return whether Numba is installed, and not turned off for this process or this block."""
    return _allowed.get() and _installed()


@contextmanager
def without_numba() -> Iterator[None]:
    """Use plain NumPy within the block."""
    token = _allowed.set(False)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def announcing(announce: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever Numba begins to compile within the block; cached code is not compiled."""
    token = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(token)


@cache
def _listen_to_numba() -> None:
    """Let Numba tell when it begins to compile, from now on."""
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, event: Any) -> None:
            announce = _announce.get()
            if announce is not None:
                announce()

        def on_end(self, event: Any) -> None:
            # Required by Numba's Listener; unused.
            pass

    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call, unused-ignore]


def _digest(modules: tuple[ModuleType, ...]) -> str:
    """Return a digest of the source of some modules, and of this module, which the cached code refers to."""
    files = (__file__, *(str(module.__file__) for module in modules))
    return f"{zlib.crc32(b''.join(Path(file).read_bytes() for file in files)):08x}"


def kept_on_disk(modules: tuple[ModuleType, ...], name: str) -> bool:
    """Return whether Numba's cache already holds a function, so that it loads quickly."""
    if not can_compile():
        return False
    folder = Path(str(compiled(modules)[name].stats.cache_path))  # type: ignore[attr-defined]
    return any(folder.glob(f"*{name}_{_digest(modules)}*.nbi"))


@cache
def compiled(modules: tuple[ModuleType, ...], *, contract: bool = False) -> dict[str, Callable[..., Any]]:
    """Return the compiled functions of some modules by name; later modules may call functions of earlier ones.

    ``contract`` lets the compiler fuse multiplications with additions and reorder sums: faster, with other rounding.
    """
    functions: dict[str, Callable[..., Any]] = {}
    for i, module in enumerate(modules):
        functions |= compiled_with(module, functions, modules[: i + 1], contract=contract)
    return functions


def compiled_with(
    module: ModuleType,
    given: Mapping[str, Callable[..., Any]],
    sources: tuple[ModuleType, ...],
    *,
    contract: bool = False,
) -> dict[str, Callable[..., Any]]:
    """Return the compiled functions of a module; they may call the ``given`` compiled functions by name.

    Numba's cache on disk checks the file of a function, but not the files whose functions and constants are compiled
    into it. The cached names therefore carry a digest of all the sources.
    """
    import numba

    _listen_to_numba()
    digest = _digest(sources)
    options: dict[str, Any] = {"cache": True, "error_model": "numpy"}
    if not getattr(module, "ALLOCATES", True):
        # Without memory to manage, arrays need no reference counts, which take more time than short functions do.
        options["_nrt"] = False
    if contract:
        options["fastmath"] = {"contract", "reassoc", "nsz"}
    # A call copies every array of a parameter that is made of many; inlined functions copy nothing.
    inlines = getattr(module, "INLINES", None)
    names = [(name, value) for name, value in vars(module).items() if not name.startswith("__")]
    space: dict[str, Any] = {"__name__": __name__, "__builtins__": __builtins__} | dict(names) | dict(given)
    functions: dict[str, Callable[..., Any]] = {}
    for name, value in names:
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            bound = FunctionType(value.__code__, space, value.__name__, value.__defaults__)
            bound.__qualname__ = f"{name}_{digest}"
            parameters = value.__code__.co_varnames[: value.__code__.co_argcount]
            functions[name] = space[name] = numba.njit(**options, forceinline=inlines in parameters)(bound)
    return functions
