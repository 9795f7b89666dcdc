"""One BLAS thread inside the loops: at these sizes several threads only wait for each other."""

from __future__ import annotations

from functools import cache
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

#: Up to this size BLAS uses a single thread anyway.
SINGLE_THREADED = 64


@cache
def _blas_libraries() -> list[Any]:
    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


class one_blas_thread:  # noqa: N801  (read as a verb: with one_blas_thread(): ...)
    """Limit every loaded BLAS to one thread, and restore the previous numbers of threads.

    threadpoolctl's own context manager takes 50 microseconds for this. This one first asks whether anything has to
    change, and takes about one.
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = []
        for library in _blas_libraries():
            threads = library.get_num_threads()
            if threads != 1:
                self._before.append((library, threads))
                library.set_num_threads(1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for library, threads in self._before:
            library.set_num_threads(threads)
