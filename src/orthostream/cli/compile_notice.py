"""A line about the minute that the first use of the codec on a machine takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from orthostream._compile import announcing

_NOTICE = "orthostream: compiling the codec once, about a minute ..."
# As wide as a progress bar, which may stand on the same line.
_WIDTH = 100


@contextmanager
def compile_notice() -> Iterator[None]:
    """Say once that compilation has begun, on a terminal; nothing is said of code that was compiled before."""
    told = False

    def tell() -> None:
        nonlocal told
        if not told and sys.stderr.isatty():
            sys.stderr.write("\r" + _NOTICE.ljust(_WIDTH) + "\n")
            sys.stderr.flush()
        told = True

    with announcing(tell):
        yield
