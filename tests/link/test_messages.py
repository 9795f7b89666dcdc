"""Messages come back as they were; any other bytes are a MessageError."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.link.authentication import MAC_BYTES, check_key, sign, verify
from orthostream.link.errors import MessageError
from orthostream.link.messages import MOST_BYTES, Answer, Frames, Opening, Replaced, read_answer, read_message
from orthostream.link.names import Shard, bucket_of, check_edge, edge_of_topic, topic_of_answers, topic_of_readings

TAGS = st.binary(min_size=4, max_size=4)
NUMBERS = st.integers(0, 2**62 - 1)
PARTS = st.lists(st.binary(max_size=40), min_size=1, max_size=5).map(tuple)
OPENINGS = st.builds(
    Opening,
    st.binary(min_size=8, max_size=8),
    NUMBERS,
    st.binary(max_size=60),
    PARTS,
    st.lists(st.builds(Replaced, TAGS, NUMBERS), max_size=3).map(tuple),
).filter(lambda opening: all(each.tag != opening.tag for each in opening.replaced))
FRAMES = st.builds(Frames, TAGS, st.integers(1, 2**62 - 1), PARTS)
KEY = bytes(range(16))


@given(OPENINGS | FRAMES)
def test_messages_come_back(message: Opening | Frames) -> None:
    assert read_message(message.to_bytes()) == message
    with pytest.raises(MessageError):
        read_answer(message.to_bytes())


@given(st.builds(Answer, TAGS, NUMBERS, st.booleans()))
def test_answers_come_back(answer: Answer) -> None:
    assert read_answer(answer.to_bytes()) == answer
    with pytest.raises(MessageError):
        read_message(answer.to_bytes())


@given(st.binary(max_size=80))
def test_any_bytes_are_refused_or_a_message(data: bytes) -> None:
    for read in (read_message, read_answer):
        with contextlib.suppress(MessageError):
            read(data)


@given(OPENINGS | FRAMES, st.integers(0, 200))
def test_a_cut_message_is_refused_or_another_one(message: Opening | Frames, cut: int) -> None:
    data = message.to_bytes()
    try:
        assert read_message(data[:cut]) != message or cut >= len(data)
    except MessageError:
        assert cut < len(data)


def test_large_messages_are_refused() -> None:
    with pytest.raises(MessageError, match="a message has 1 to"):
        read_message(Frames(b"tags", 1, (bytes(MOST_BYTES),)).to_bytes())


def test_an_opening_has_frames() -> None:
    with pytest.raises(MessageError, match="has no frames"):
        read_message(Opening(bytes(8), 0, b"header", ()).to_bytes())


def test_tags_show_who_wrote_a_message() -> None:
    topic = topic_of_readings("roof")
    signed = sign(b"message", KEY, topic)
    assert len(signed) == 7 + MAC_BYTES
    assert verify(signed, KEY, topic) == b"message"
    assert sign(b"message", None, topic) == verify(b"message", None, topic) == b"message"
    wrong = [(signed[:i] + bytes([signed[i] ^ 1]) + signed[i + 1 :], KEY, topic) for i in range(len(signed))]
    wrong += [(signed, KEY[::-1], topic), (signed, KEY, topic_of_answers("roof")), (b"", KEY, topic)]
    for data, key, name in wrong:
        with pytest.raises(MessageError, match="authentication"):
            verify(data, key, name)
    with pytest.raises(ValueError, match="16 to 64 bytes"):
        check_key(b"short")


def test_topics_name_their_edge() -> None:
    assert edge_of_topic(topic_of_readings("roof-1")) == "roof-1"
    for topic in ("", "a/b", "orthostream/00/roof/up", topic_of_answers("roof"), "orthostream/72/ro of/up", "x" * 200):
        assert edge_of_topic(topic) is None
    for name in ("", "a/b", "a b", "#", "+", "x" * 65, "ü", "roof\n"):
        with pytest.raises(ValueError, match="an edge must have a name"):
            check_edge(name)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 256])
def test_every_edge_belongs_to_one_shard(count: int) -> None:
    shards = [Shard.parse(f"{i}/{count}") for i in range(1, count + 1)]
    filters = [each for shard in shards for each in shard.filters]
    assert len(set(filters)) == len(filters)
    for edge in ("roof", "cellar", "a", "b.c"):
        assert sum(shard.holds(edge) for shard in shards) == 1
        (mine,) = (shard for shard in shards if shard.holds(edge))
        assert count == 1 or f"orthostream/{bucket_of(edge):02x}/+/up" in mine.filters


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/257", "a/b", "-1/2", "1/2 "])
def test_bad_shards(text: str) -> None:
    with pytest.raises(ValueError, match="a shard is written as"):
        Shard.parse(text)
