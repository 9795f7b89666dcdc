"""Where the cloud keeps messages and readings."""

from orthostream.link.store.only_writer import only_writer
from orthostream.link.store.open_store import open_store
from orthostream.link.store.sqlite import SqliteStore
from orthostream.link.store.store import Batch, Chunk, NewMessage, NewSnapshot, NewStream, Store, Stream

__all__ = [
    "Batch",
    "Chunk",
    "NewMessage",
    "NewSnapshot",
    "NewStream",
    "SqliteStore",
    "Store",
    "Stream",
    "only_writer",
    "open_store",
]
