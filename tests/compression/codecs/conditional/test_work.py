"""A few bytes that nobody wrote never ask for endless work."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression.codecs.codec import READINGS, Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.work import WorkPerByte, WorkPerFrame
from orthostream.compression.errors import FrameError

from .crafted import N_BYTES, body_of, bound_of, crafted, opening, receiver

SHAPES = [(1, 1), (12, 1), (56, 1), (160, 1), (160, 160)]


def without_work(codec: ConditionalCodec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a codec fail as soon as it codes a sample."""

    def code_samples(*_: object) -> None:
        raise AssertionError("samples are coded")

    monkeypatch.setattr(codec._call, "_functions", dict(codec._call._functions) | {"code_samples": code_samples})


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(("n_sensors", "n_groups"), SHAPES)
@pytest.mark.parametrize("content", ["random", "zeros", "ones"])
def test_crafted_payloads_are_decoded_or_refused(n_sensors: int, n_groups: int, content: str, fresh: bool) -> None:
    payload, count = crafted(n_sensors, n_groups, content, fresh=fresh)
    codec = receiver(n_sensors, n_groups, fresh=fresh)
    try:
        found = codec.decode(payload)
    except FrameError:
        return
    assert found.shape == (count, n_sensors)


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(("n_sensors", "n_groups"), SHAPES)
def test_what_can_be_afforded_reaches_the_kernel(
    n_sensors: int, n_groups: int, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next test would say nothing."""
    codec = receiver(n_sensors, n_groups, fresh=fresh, accelerate=False)
    without_work(codec, monkeypatch)
    with pytest.raises(AssertionError, match="samples are coded"):
        codec.decode(crafted(n_sensors, n_groups, "zeros", fresh=fresh)[0])


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(("n_sensors", "n_groups"), SHAPES)
@pytest.mark.parametrize("more", [1, 10**9])
def test_more_is_refused_before_work_is_done(
    n_sensors: int, n_groups: int, fresh: bool, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    codec = receiver(n_sensors, n_groups, fresh=fresh, accelerate=False)
    without_work(codec, monkeypatch)
    with pytest.raises(FrameError, match="bytes cannot be"):
        codec.decode(crafted(n_sensors, n_groups, "zeros", fresh=fresh, more=more)[0])


def test_no_samples_are_refused() -> None:
    with pytest.raises(FrameError, match="bytes cannot be 0 samples"):
        ConditionalCodec(1).decode(Payload(READINGS, opening(1, 1) + body_of(0, "zeros")))


def test_many_groups_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkPerFrame, "free", 0)
    codec = ConditionalCodec(160, accelerate=False)
    monkeypatch.setattr(codec, "_open", lambda groups: pytest.fail("groups are made"))
    with pytest.raises(FrameError, match="cannot begin 2 groups"):
        codec.decode(Payload(READINGS, opening(160, 2).ljust(30, b"\0")))


def test_many_sensors_are_refused_before_they_are_read() -> None:
    with pytest.raises(FrameError, match="cannot begin a stream of 30000 sensors"):
        ConditionalCodec(30000).decode(Payload(READINGS, bytes(50)))


@pytest.mark.parametrize("n_sensors", [1, 24, 25, 300])
def test_what_an_encoder_may_send_is_always_understood(n_sensors: int) -> None:
    """With as many samples in a payload as the codec says, and with more, which are filled up with zeros."""
    sender, reader = ConditionalCodec(n_sensors, bound=bound_of(n_sensors)), ConditionalCodec(n_sensors)
    rows = np.zeros((1, n_sensors))
    reader.decode(sender.encode(rows)[0])
    for count in (sender.most_samples, sender.most_samples + 7):
        (payload,) = sender.encode(np.repeat(rows, count, axis=0))
        assert len(payload.body) >= WorkPerFrame().least_bytes(sender._work(count, False))
        assert len(reader.decode(payload)) == count
        assert sender.digest == reader.digest


@pytest.mark.parametrize("limit", [WorkPerByte(), WorkPerFrame()])
def test_the_least_bytes_are_enough_and_no_more_than_that(limit: WorkPerByte | WorkPerFrame) -> None:
    for work in (0, 1, 64, 65, 128, 131072, 131073, 10**6):
        n_bytes = limit.least_bytes(work)
        assert limit.afforded(n_bytes) >= work
        assert n_bytes == 0 or limit.afforded(n_bytes - 1) < work


def test_crafted_payloads_have_the_size_that_they_should() -> None:
    assert all(len(crafted(*shape, "random", fresh=True)[0].body) == N_BYTES for shape in SHAPES)
