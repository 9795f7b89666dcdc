"""SQLite files as the link uses them: written ahead, synced at every commit, checked when they are opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orthostream.link.errors import StoreError

#: Seconds to wait for another process that writes, and for one that has a file for itself.
_PATIENCE, _SHORT_PATIENCE = 10.0, 0.5
#: Application id of our files: "orth".
_APPLICATION = 0x6F727468
#: What every SQLite file begins with.
_MAGIC = b"SQLite format 3\0"
#: Bytes of a page, at least.
_LEAST_PAGE = 512
_DAMAGED = "the file is damaged ({}); put it aside and begin with a new one, or bring back a copy"


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite into StoreError, with the name of the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_advice(error)}") from error


def _advice(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return "the disk is full; make room, nothing that was acknowledged is lost"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process has it open"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return _DAMAGED.format(error)
    return f"{error} ({name})" if name else str(error)


def _check_file(path: str, what: str) -> None:
    """Raise StoreError for a file of another kind, and for one that was cut off within a page.

    SQLite would take what is missing for zeros.
    """
    file, log = Path(path), Path(f"{path}-wal")
    size = file.stat().st_size if file.is_file() else 0
    if not size or (log.is_file() and log.stat().st_size):
        # The log has what the file lacks.
        return
    with file.open("rb") as content:
        start = content.read(18)
    if not start.startswith(_MAGIC[: len(start)]):
        raise StoreError(
            f"{path} is not the {what} of a link: it is no SQLite file; "
            "name another file, or, if it was one, put it aside and bring back a copy"
        )
    page = int.from_bytes(start[16:], "big")
    # 65,536 does not fit into the two bytes: it is written as 1.
    if size < _LEAST_PAGE or size % max(page if page > 1 else 65_536, _LEAST_PAGE):
        raise StoreError(f"{path}: {_DAMAGED.format('it was cut off')}")


def open_database(
    path: str, what: str, version: int, schema: str, *, exclusive: bool = False, create: bool = True
) -> sqlite3.Connection:
    """Return a connection to a file of ours, which is made if it is not there; raise StoreError for any other file."""
    if path != ":memory:":
        _check_file(path, what)
    with translated(path):
        address = path if path == ":memory:" or create else f"{Path(path).absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address,
            timeout=_SHORT_PATIENCE if exclusive else _PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            uri=address.startswith("file:"),
        )
    try:
        with translated(path):
            if exclusive and path != ":memory:":
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            if create and application == 0 and tables == 0:
                for statement in schema.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {version}")
                connection.execute("INSERT INTO about VALUES ('what', ?)", (what,))
            connection.execute("COMMIT")
        _check(connection, path, what, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: str, what: str, version: int) -> None:
    with translated(path):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            raise StoreError(f"{path} is a database of another program")
        row = connection.execute("SELECT value FROM about WHERE name = 'what'").fetchone()
        if row is None:
            raise StoreError(f"{path}: {_DAMAGED.format('it does not say what it is')}")
        if row[0] != what:
            raise StoreError(f"{path} is not the {what} of a link, but its {row[0]}")
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        if number != version:
            raise StoreError(f"{path} is of version {number}, and only version {version} is known")
