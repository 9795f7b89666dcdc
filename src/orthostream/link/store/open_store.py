"""Stores by their address."""

from __future__ import annotations

from orthostream.link.store.sqlite import SqliteStore
from orthostream.link.store.store import Store


def open_store(address: str, *, create: bool = True) -> Store:
    """Return the store at an address: the path of a SQLite file, or a PostgreSQL URL (``postgresql://…``)."""
    if address.startswith(("postgresql://", "postgres://")):
        from orthostream.link.store.postgres import PostgresStore

        return PostgresStore(address, create=create)
    return SqliteStore(address, create=create)
