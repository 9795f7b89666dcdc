"""What may go wrong with files, told in one line each."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from orthostream.cli.errors import UserError


@contextmanager
def trouble_with(path: str) -> Iterator[None]:
    """Turn what goes wrong with a file, or with what is in it, into an error that a user can mend.

    >>> with trouble_with("readings.csv"):
    ...     open("no/such/readings.csv")
    Traceback (most recent call last):
    ...
    orthostream.cli.errors.UserError: there is no file no/such/readings.csv
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(explain(error, path)) from error
    except ValueError as error:
        # TableError and FrameError are such, and so is what the library says of a bad argument.
        raise UserError(" ".join(str(error).split()).removesuffix(".") or type(error).__name__) from error


def explain(error: OSError, path: str) -> str:
    """Return a line about an error of the operating system."""
    name = error.filename if isinstance(error.filename, str) else path
    if isinstance(error, FileNotFoundError):
        return f"there is no file {name}"
    if isinstance(error, IsADirectoryError):
        return f"{name} is a folder, not a file"
    if isinstance(error, PermissionError):
        return f"no permission to open {name}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"cannot write {path}: no space left on the disk"
    return f"{name}: {error.strerror or error}"
