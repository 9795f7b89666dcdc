"""Tags that show who wrote a message: keyed BLAKE2, for brokers that one does not trust."""

from __future__ import annotations

import hashlib
import hmac

from orthostream.link.errors import MessageError

#: Bytes of an authentication tag.
MAC_BYTES = 12
#: Bytes of a key, at least and at most.
LEAST_KEY, MOST_KEY = 16, 64


def check_key(key: bytes | None) -> bytes | None:
    """Return a key, or None; raise ValueError if it is too short or too long."""
    if key is not None and not LEAST_KEY <= len(key) <= MOST_KEY:
        raise ValueError(f"a key must have {LEAST_KEY} to {MOST_KEY} bytes, got {len(key)}.")
    return key


def sign(message: bytes, key: bytes | None, topic: str) -> bytes:
    """Return a message with its tag; as it is if there is no key."""
    return message if key is None else message + _tag(message, key, topic)


def verify(message: bytes, key: bytes | None, topic: str) -> bytes:
    """Return a message without its tag; raise MessageError if the tag is wrong.

    The tag covers the topic, so that a message cannot be sent again under another edge's name or in the other
    direction.
    """
    if key is None:
        return message
    content, tag = message[:-MAC_BYTES], message[-MAC_BYTES:]
    if not hmac.compare_digest(tag, _tag(content, key, topic)):
        raise MessageError("the authentication tag is wrong")
    return content


def _tag(content: bytes, key: bytes, topic: str) -> bytes:
    name = topic.encode()
    digest = hashlib.blake2b(key=key, digest_size=MAC_BYTES, person=b"ost-link")
    digest.update(len(name).to_bytes(2, "big") + name + content)
    return digest.digest()
