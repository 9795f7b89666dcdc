"""An edge that has its key and means harm: it is refused, and neither stops the cloud nor touches other edges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.link.one_link import ROWS, SCHEMA, TIMES, Link, check

from orthostream.compression import Encoder, MaxError, Paper, Schema
from orthostream.compression.codecs.registry import MOST_SENSORS
from orthostream.compression.schema import Column, TimeAxis
from orthostream.link import Edge, StoreError
from orthostream.link.messages import Answer, Frames, Opening, Replaced
from orthostream.link.names import topic_of_answers, topic_of_readings
from orthostream.link.store import Batch, NewSnapshot

BOOT = bytes(range(8))
WIDE = Schema(tuple(Column(f"w{k}") for k in range(40)), TimeAxis("time", "s"))


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Link]:
    """A link whose honest edge has sent 20 samples."""
    found = Link(tmp_path)
    found.push(0, 20)
    found.run()
    yield found
    found.close()


def attack(link: Link, *messages: Opening | Frames) -> None:
    """Send messages as the edge "cellar"."""
    hostile = link.broker.transport()
    for message in messages:
        hostile.publish(topic_of_readings("cellar"), message.to_bytes())
        link.cloud.step()
    hostile.close()


def frames_of(schema: Schema, **options: object) -> tuple[bytes, tuple[bytes, ...]]:
    encoder = Encoder(schema, MaxError(0.5), samples_per_frame=None, **options)
    rows = np.arange(3.0 * len(schema.columns)).reshape(3, -1)
    times = None if schema.time is None else np.arange(3)
    frames = tuple(map(bytes, encoder.push(rows, times)))
    return encoder.header, frames


def goes_on(link: Link) -> None:
    """Assert that the attack was refused and counted, and that the honest edge is as well off as before."""
    assert link.cloud.counts["cellar", "refused"] > 0
    link.push(20, 40)
    link.run()
    assert link.edge.is_done
    check(link.cloud.store, 0, 40)


def test_a_wider_header_in_the_middle_of_a_stream(link: Link) -> None:
    header, frames = frames_of(SCHEMA)
    other_header, other_frames = frames_of(WIDE)
    attack(link, Opening(BOOT, 0, header, frames), Frames(BOOT[:4], 1, (other_header, *other_frames)))
    goes_on(link)


def test_a_header_without_times_in_the_middle_of_a_stream(link: Link) -> None:
    header, frames = frames_of(SCHEMA)
    other_header, other_frames = frames_of(Schema(SCHEMA.columns, None))
    attack(link, Opening(BOOT, 0, header, (*frames, other_header, *other_frames)))
    attack(link, Opening(BOOT, 0, other_header, other_frames))
    goes_on(link)


def test_a_stream_without_checksums(link: Link) -> None:
    attack(link, Opening(BOOT, 0, *frames_of(SCHEMA, checksums=False)))
    goes_on(link)


def test_an_opening_that_replaces_itself(link: Link) -> None:
    attack(link, Opening(BOOT, 0, *frames_of(SCHEMA), (Replaced(BOOT[:4], 0),)))
    goes_on(link)


def test_many_openings_that_replace_many(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orthostream.link.cloud._DECODERS", 4)
    hostile = link.broker.transport()
    for _ in range(6):
        replaced = tuple(Replaced(os.urandom(4), 0) for _ in range(3))
        boot = os.urandom(8)
        header, frames = frames_of(SCHEMA)
        hostile.publish(topic_of_readings("cellar"), Opening(boot, 0, header, frames, replaced).to_bytes())
    link.push(20, 40)
    link.run(6)
    assert link.edge.is_done
    check(link.cloud.store, 0, 40)
    hostile.close()


def test_an_answer_that_ends_an_old_stream_and_asks_for_a_new_one(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.up.is_connected = False
    link.push(0, 10)
    link.crash_edge(target=MaxError(0.25))
    link.push(10, 20)
    old = link.edge.outbox.boots()[0]
    cloud = link.broker.transport()
    cloud.publish(topic_of_answers("roof"), Answer(old.name[:4], old.next, restart=True).to_bytes())
    link.edge.step()
    assert [boot.generation for boot in link.edge.outbox.boots()] == [old.generation + 1]
    link.close()


def test_an_interrupt_between_decoding_and_storing_loses_nothing(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    link.push(20, 30)

    def interrupted(batch: Batch) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(link.cloud.store, "add", interrupted)
        link.edge.step()
        with pytest.raises(KeyboardInterrupt):
            link.cloud.step()
    link.down.close()
    link.cloud.close()
    link.cloud = link.new_cloud()
    for _ in range(4):
        link.run()
    assert link.edge.is_done
    check(link.cloud.store, 0, 30)


def test_a_snapshot_that_is_ahead_of_its_messages_is_not_used(link: Link) -> None:
    stream = link.cloud.store.streams()[0]
    receiving = next(iter(link.cloud._receiving.values()))
    assert receiving is not None
    snapshot = receiving.snapshot(now=True)
    assert snapshot is not None
    link.cloud.store.add(Batch(snapshots=[NewSnapshot("roof", stream.boot, stream.next + 5, snapshot.decoder)]))
    link.crash_cloud()
    link.push(20, 40)
    link.run()
    assert link.edge.is_done
    check(link.cloud.store, 0, 40)


def test_a_store_that_cannot_be_read_is_a_failure(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    link.push(20, 30)
    link.crash_cloud()

    def fails(edge: str | None = None) -> None:
        raise StoreError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(link.cloud.store, "streams", fails)
        link.edge.step()
        assert link.cloud.step() == 0
        assert link.cloud.counts["", "failures of the store"] == 1 and link.cloud.last_error == "gone"
    link.run(5)
    assert link.edge.is_done
    check(link.cloud.store, 0, 30)


def test_readings_that_the_target_cannot_carry_are_refused_at_once(tmp_path: Path) -> None:
    link = Link(tmp_path, max_delay=60.0)
    link.crash_edge(target=Paper(2))
    rows = ROWS[:5].copy()
    rows[2, 1] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        link.edge.push(rows, TIMES[:5])
    link.push(0, 5)
    link.edge.flush()
    link.run()
    assert link.edge.is_done
    link.close()


def test_too_many_sensors_for_an_edge(tmp_path: Path) -> None:
    schema = Schema(tuple(Column(str(k)) for k in range(MOST_SENSORS + 1)), TimeAxis("time", "s"))
    with pytest.raises(ValueError, match="at most 8192 sensors"):
        Edge("wide", schema, MaxError(0.5), tmp_path / "out.db", Link(tmp_path).broker.transport())
