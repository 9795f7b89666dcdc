"""Errors of files and arguments as one line each."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from orthostream.cli.errors import UserError


@contextmanager
def bad_values() -> Iterator[None]:
    """Turn the ValueError of a check into a `UserError` with the same text.

    >>> with bad_values():
    ...     raise ValueError("--steps must be a positive integer, got 0.")
    Traceback (most recent call last):
    ...
    orthostream.cli.errors.UserError: --steps must be a positive integer, got 0
    """
    try:
        yield
    except ValueError as error:
        raise UserError(_one_line(error)) from error


@contextmanager
def trouble_with(path: str) -> Iterator[None]:
    """Turn an error of a file, or of its content, into a `UserError` that names the file.

    >>> with trouble_with("readings.csv"):
    ...     open("no/such/readings.csv")
    Traceback (most recent call last):
    ...
    orthostream.cli.errors.UserError: there is no file no/such/readings.csv
    """
    with bad_values(), disk_trouble_with(path):
        try:
            yield
        except ValueError as error:
            # Loaded here because it imports NumPy, which --help does not need.
            from orthostream.compression.errors import FrameError
            from orthostream.compression.tables.errors import TableError

            # Other ValueErrors are about arguments.
            if not isinstance(error, FrameError | TableError):
                raise
            if isinstance(error, TableError) and error.names_table:
                raise
            raise UserError(f"{path}: {_one_line(error)}") from error


@contextmanager
def disk_trouble_with(path: str) -> Iterator[None]:
    """Turn an error of the operating system into a `UserError` that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(explain(error, path)) from error


def _one_line(error: ValueError) -> str:
    return " ".join(str(error).split()).removesuffix(".") or type(error).__name__


def explain(error: OSError, path: str) -> str:
    """Return one line about an error of the operating system."""
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
