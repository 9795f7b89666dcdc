"""Example 1 of the paper, the network: edges, a broker, the cloud and its store."""

from orthostream.link.cloud import Cloud
from orthostream.link.edge import Edge
from orthostream.link.errors import LinkError, MessageError, OutboxFullError, StoreError
from orthostream.link.names import Shard
from orthostream.link.outbox import Outbox
from orthostream.link.rebuilding import rebuild
from orthostream.link.store import SqliteStore, Store, open_store
from orthostream.link.transport import MemoryBroker, MemoryTransport, Transport

__all__ = [
    "Cloud",
    "Edge",
    "LinkError",
    "MemoryBroker",
    "MemoryTransport",
    "MessageError",
    "Outbox",
    "OutboxFullError",
    "Shard",
    "SqliteStore",
    "Store",
    "StoreError",
    "Transport",
    "open_store",
    "rebuild",
]
