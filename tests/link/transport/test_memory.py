"""The broker in memory does what tests and small programs need of a broker."""

from __future__ import annotations

import pytest

from orthostream.link import MemoryBroker
from orthostream.link.transport.memory import matches


@pytest.mark.parametrize(
    ("topic_filter", "topic", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/b/c", False),
        ("a/b/c", "a/b", False),
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a//c", True),
        ("+", "a", True),
        ("+", "a/b", False),
        ("#", "a/b", True),
        ("a/#", "a", True),
        ("a/#", "ab", False),
        ("orthostream/+/+/up", "orthostream/72/roof/up", True),
        ("orthostream/+/+/up", "orthostream/72/roof/down", False),
    ],
)
def test_filters_of_mqtt(topic_filter: str, topic: str, expected: bool) -> None:
    assert matches(topic_filter, topic) is expected


def test_everyone_who_listens_gets_a_message_once_and_in_order() -> None:
    broker = MemoryBroker()
    sender, first, second = broker.transport(), broker.transport(), broker.transport()
    got: list[tuple[str, str, bytes]] = []
    first.subscribe(["a/+", "b"], lambda topic, data: got.append(("first", topic, data)))
    second.subscribe(["b"], lambda topic, data: got.append(("second", topic, data)))
    assert sender.publish("a/1", b"one")
    assert sender.publish("b", b"two")
    assert sender.publish("c", b"nobody")
    assert got == [("first", "a/1", b"one"), ("first", "b", b"two"), ("second", "b", b"two")]


def test_a_client_that_is_cut_off_neither_sends_nor_receives_and_counts_its_return() -> None:
    broker = MemoryBroker()
    one, other = broker.transport(), broker.transport()
    got: list[bytes] = []
    other.subscribe(["t"], lambda _, data: got.append(data))
    other.is_connected = False
    assert one.publish("t", b"lost")
    assert not other.publish("t", b"not sent")
    other.is_connected = True
    assert one.publish("t", b"heard")
    assert got == [b"heard"]
    assert (one.reconnects, other.reconnects) == (0, 1)


def test_after_close_nothing_is_heard() -> None:
    broker = MemoryBroker()
    got: list[bytes] = []
    with broker.transport() as other:
        other.subscribe(["t"], lambda _, data: got.append(data))
    assert broker.transport().publish("t", b"late")
    assert not other.is_connected
    assert got == []
