"""One process at a time writes to a store in a file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orthostream.compression.file.lock import open_locked
from orthostream.link.errors import StoreError
from orthostream.link.store.sqlite import SqliteStore
from orthostream.link.store.store import Store


@contextmanager
def only_writer(store: Store) -> Iterator[None]:
    """Keep other processes from writing to a store in a file; raise StoreError if one of them does.

    The lock is on a file of its own, ``<store>-lock``. SQLite would lose its own locks on the store if another handle
    of that file was closed. The operating system gives the lock back when the process ends, however it ends. PostgreSQL
    needs none of this.
    """
    if not isinstance(store, SqliteStore) or store.path == ":memory:":
        yield
        return
    try:
        lock = open_locked(Path(f"{store.path}-lock"), create=True)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise StoreError(f"{store.path}-lock: {error.strerror or error}") from error
        raise StoreError(f"{store.path}: another cloud writes to it; stop that one first, or use PostgreSQL") from error
    with lock:
        yield
