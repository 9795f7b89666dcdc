"""A connection to PostgreSQL that is made again after it was lost, with errors that never show a password."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orthostream.link.errors import StoreError

if TYPE_CHECKING:
    import psycopg

#: What a connection is made with unless the URL says otherwise: seconds, and milliseconds.
_DEFAULTS: dict[str, Any] = {"connect_timeout": 10, "tcp_user_timeout": 30_000, "application_name": "orthostream"}
_SECRETS = ("password", "sslpassword")
_HIDDEN = "***"
_DISK_FULL, _NOT_UNIQUE = "53100", "23505"
#: Errors of a lost connection, and of a server that stops.
_LOST = ("08", "57P")


def import_psycopg() -> ModuleType:
    """Return psycopg; raise StoreError if it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise StoreError("a PostgreSQL store needs psycopg: pip install 'orthostream[postgres]'") from error
    return psycopg


class PostgresConnection:
    """One connection, shared by the threads of a process.

    Parameters
    ----------
    url : str
        ``postgresql://user:password@host:port/database``, with the options of libpq after a question mark.

    Attributes
    ----------
    address : str
        The URL as it may be shown: without passwords.
    """

    def __init__(self, url: str) -> None:
        self._psycopg = import_psycopg()
        self._arguments = _parsed(url)
        self._secrets = [str(self._arguments[name]) for name in _SECRETS if self._arguments.get(name)]
        self.address = _shown(self._arguments)
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._is_closed = False

    def close(self) -> None:
        """Close the connection for good."""
        with self._lock:
            self._is_closed = True
            self._drop()

    @contextmanager
    def use(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection; each statement is a transaction of its own."""
        with self._lock, self._translated():
            if self._connection is None or self._connection.closed:
                self._drop()
                self._connection = self._connected()
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection; all statements within the block are stored at once, or none of them."""
        with self.use() as connection, connection.transaction():
            yield connection

    def _connected(self) -> psycopg.Connection[Any]:
        if self._is_closed:
            raise StoreError(f"{self.address}: the store is closed")
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            **{**_DEFAULTS, **self._arguments, "client_encoding": "UTF8"}, autocommit=True
        )
        # A process that is stopped within a transaction must not stop the others.
        connection.execute("SET lock_timeout = '30s'")
        connection.execute("SET idle_in_transaction_session_timeout = '60s'")
        # What is acknowledged must be on disk, whatever the database is set to by default.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            if self._connection is not None and self._connection.closed:
                self._drop()
            raise StoreError(f"{self.address}: {self._advice(error)}") from error

    def _advice(self, error: psycopg.Error) -> str:
        state = error.sqlstate or ""
        if state == _DISK_FULL:
            return "the disk of the database is full; make room, nothing that was acknowledged is lost"
        if state == _NOT_UNIQUE:
            return "another process has stored the same"
        text = " ".join((error.diag.message_primary or str(error)).split())
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        if state.startswith(_LOST) or (not state and isinstance(error, self._psycopg.OperationalError)):
            return f"no connection to the database ({text})"
        return text or type(error).__name__


def _parsed(url: str) -> dict[str, Any]:
    """Return the parts of a URL; messages of libpq are not passed on, since they may quote a part of the password."""
    psycopg = import_psycopg()
    problem = (
        "the URL of the store cannot be read; write it as postgresql://user:password@host:port/database,"
        " with %40 for @, %2F for /, %3A for : and %25 for % within a password"
    )
    try:
        parts = urlsplit(url)
        rest = parts.path + parts.query + parts.fragment
        if "@" in rest or parts.fragment or parts.netloc.count("@") > 1:
            # A password with one of @/?# in it: the rest of it would be taken for something else.
            raise StoreError(problem)
        found: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except (ValueError, psycopg.Error):
        raise StoreError(problem) from None
    if not all(port.isdecimal() for port in str(found.get("port", 0)).split(",")):
        raise StoreError(problem)
    return found


def _shown(arguments: dict[str, Any]) -> str:
    """Return an address without passwords.

    >>> _shown({"user": "cloud", "password": "secret", "host": "db", "port": "5432", "dbname": "readings"})
    'postgresql://cloud@db:5432/readings'
    """
    user, host, port = (str(arguments.get(name) or "") for name in ("user", "host", "port"))
    is_socket = host.startswith("/")
    place = "" if is_socket else host
    return (
        f"postgresql://{user + '@' if user else ''}{place}{':' + port if port else ''}/{arguments.get('dbname') or ''}"
        + (f"?host={host}" if is_socket else "")
    )
