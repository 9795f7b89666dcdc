"""Names of edges, the topics that their messages go by, and how edges are shared out over processes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

#: Edges are shared out over this many buckets, which are part of the topic.
BUCKETS = 256
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
#: The first level of every topic.
ROOT = "orthostream"


def check_edge(name: str) -> str:
    """Return the name of an edge; raise ValueError unless it can be part of a topic."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"an edge must have a name of 1 to 64 letters, digits, '_', '.' or '-', got {name!r}.")
    return name


def bucket_of(edge: str) -> int:
    """Return the bucket of an edge: the same on every machine."""
    return hashlib.blake2b(edge.encode(), digest_size=1).digest()[0]


def topic_of_readings(edge: str) -> str:
    """Return the topic that an edge sends to.

    Examples
    --------
    >>> topic_of_readings("roof")
    'orthostream/71/roof/up'
    """
    return f"{ROOT}/{bucket_of(edge):02x}/{edge}/up"


def topic_of_answers(edge: str) -> str:
    """Return the topic that an edge listens to."""
    return f"{ROOT}/{bucket_of(edge):02x}/{edge}/down"


def edge_of_topic(topic: str) -> str | None:
    """Return the edge that sends to a topic; None if it is no topic of an edge."""
    parts = topic.split("/")
    if len(parts) != 4 or parts[0] != ROOT or parts[3] != "up" or not _NAME.match(parts[2]):
        return None
    return parts[2] if parts[1] == f"{bucket_of(parts[2]):02x}" else None


@dataclass(frozen=True)
class Shard:
    """A part of all edges: those of each ``count``-th bucket, from bucket ``index`` - 1 on.

    Examples
    --------
    >>> Shard.parse("2/8")
    Shard(index=2, count=8)
    >>> len(Shard.parse("2/8").filters), Shard().filters
    (32, ['orthostream/+/+/up'])
    """

    index: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that a text such as "2/8" stands for: the second of eight."""
        found = re.fullmatch(r"(\d{1,3})/(\d{1,3})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]) <= BUCKETS:
            raise ValueError(f"a shard is written as 2/8, the second of eight (at most {BUCKETS}), got {text!r}.")
        return cls(int(found[1]), int(found[2]))

    def holds(self, edge: str) -> bool:
        """Return whether an edge belongs to this part."""
        return bucket_of(edge) % self.count == self.index - 1

    @property
    def filters(self) -> list[str]:
        """The topics to subscribe to."""
        if self.count == 1:
            return [f"{ROOT}/+/+/up"]
        return [f"{ROOT}/{bucket:02x}/+/up" for bucket in range(self.index - 1, BUCKETS, self.count)]
