"""What carries messages between edges and the cloud."""

from orthostream.link.transport.memory import MemoryBroker, MemoryTransport
from orthostream.link.transport.transport import Handler, Transport

__all__ = ["Handler", "MemoryBroker", "MemoryTransport", "Transport"]
