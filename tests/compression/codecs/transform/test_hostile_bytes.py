"""Bytes that nobody wrote raise FrameError and nothing else, soon, and without much memory."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.codecs.codec import DICTIONARY, READINGS, UPDATE, Payload
from orthostream.compression.codecs.transform import TransformCodec
from orthostream.compression.codecs.transform.codec import MOST_READINGS
from orthostream.compression.errors import FrameError


def received(codec: TransformCodec, body: bytes) -> None:
    try:
        rows = codec.decode(Payload(READINGS, body))
    except FrameError:
        return
    assert rows.shape[1] == codec.n_sensors
    assert 1 <= rows.size <= MOST_READINGS


def used_codec(n_sensors: int = 6) -> TransformCodec:
    codec = TransformCodec(n_sensors, rmse=0.5, fast=False)
    generator = np.random.default_rng(1)
    codec.encode(np.cumsum(generator.normal(size=(24, n_sensors)), axis=0))
    return codec


@settings(max_examples=300, deadline=None)
@given(body=st.binary(max_size=200))
def test_random_bytes(body: bytes) -> None:
    received(TransformCodec(5, rmse=0.5, fast=False), body)
    received(used_codec(), body)


@pytest.mark.parametrize("fill", [0, 255, 128, 1])
@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_monotonous_bytes(fill: int, length: int) -> None:
    for _ in range(3):
        received(used_codec(), bytes([fill]) * length)


def test_a_thousand_bytes_take_no_time() -> None:
    generator = np.random.default_rng(2)
    taken = []
    for _ in range(30):
        codec = TransformCodec(56, rmse=0.5)
        body = generator.bytes(1000)
        start = time.perf_counter()
        received(codec, body)
        taken.append(time.perf_counter() - start)
    # The first ones may wait for a compiler.
    assert np.median(taken) < 0.05


@settings(max_examples=100, deadline=None)
@given(bit=st.integers(0, 10_000), cut=st.integers(0, 100))
def test_true_payloads_that_were_changed(bit: int, cut: int) -> None:
    edge, cloud = used_codec(), used_codec()
    generator = np.random.default_rng(3)
    body = bytearray(edge.encode(generator.normal(size=(24, 6)) * 5.0)[0].body)
    body[bit // 8 % len(body)] ^= 1 << bit % 8
    received(cloud, bytes(body[: len(body) - cut]))


@pytest.mark.parametrize("kind", [DICTIONARY, UPDATE, 7])
def test_other_kinds_of_payload(kind: int) -> None:
    with pytest.raises(FrameError, match=r"kind|dictionary"):
        used_codec().decode(Payload(kind, b"1234"))
