"""Saved encoders and decoders go on as if nothing had happened, and what is no saved one is refused."""

from __future__ import annotations

import hashlib
import io
import json
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.compression import (
    BitsPerReading,
    Decoder,
    Encoder,
    FrameError,
    MaxError,
    Paper,
    RelativeError,
    Rmse,
    Schema,
)
from orthostream.compression.stream.saved_state import pack_state, unpack_state
from orthostream.compression.targets import Target
from orthostream.datasets import load_airly

Make = Callable[..., np.ndarray]

TARGETS: dict[str, tuple[Target, dict[str, Any]]] = {
    "max_error": (MaxError(0.1), {}),
    "one for each": (MaxError([0.1, 0.2, 0.0]), {"resolution": [0.1, 0.1, 0.01]}),
    "relative_error": (RelativeError(0.01), {}),
    "rmse": (Rmse(0.3), {}),
    "rmse, learning": (Rmse(0.3, learn=True), {}),
    "bits_per_reading": (BitsPerReading(4), {}),
    "paper": (Paper(2, value_bits=6, threshold=0.1), {}),
    "no checksums": (MaxError(0.1), {"checksums": False}),
    "version 1": (MaxError(0.1), {"version": 1}),
    "not verified": (MaxError(0.1), {"verify": False, "resolution": None}),
}


def again(side: Any) -> Any:
    """Return an encoder or decoder that was saved and loaded."""
    file = io.BytesIO()
    side.save(file)
    file.seek(0)
    return type(side).load(file)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "timed"),
    [
        # These two take longest; the others will do.
        pytest.param(name, timed, marks=[pytest.mark.slow] * (name in ("one for each", "relative_error")))
        for name in TARGETS
        for timed in (False, True)
    ],
)
def test_saving_after_every_frame_changes_nothing(
    name: str, timed: bool, make_readings: Make, timed_schema: Callable[..., Schema]
) -> None:
    target, words = TARGETS[name]
    n_samples = 200 if name in ("max_error", "one for each") else 120
    rows = make_readings(n_samples)
    times = np.cumsum(np.random.default_rng(3).integers(1, 5, n_samples)) * 60 if timed else None
    schema = timed_schema(3) if timed else Schema.of(3)
    words = {"samples_per_frame": 2 if "e" in name[:3] else 6, "key_every": 200, "stream": 5} | words
    plain, saved, decoder = Encoder(schema, target, **words), Encoder(schema, target, **words), Decoder()
    for start in range(0, n_samples, 5):
        part = slice(start, start + 5)
        stamps = None if times is None else times[part]
        frames = plain.push(rows[part], stamps)
        saved = again(saved)
        assert saved.push(rows[part], stamps) == frames
        if start == 0 or decoder.header is None:
            if not frames:
                continue
            decoder.push(plain.header)
        for frame in frames:
            decoder = again(decoder)
            decoder.push(frame, frame.number)
    assert saved.header == plain.header
    assert again(saved).flush() == plain.flush()
    assert saved.achieved.bytes_by_component == {**saved.achieved.bytes_by_component}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_year_of_real_readings(name: str, airly_folder: Path) -> None:
    target, words = TARGETS[name]
    if name == "one for each":
        target, words = MaxError(1.0), {"resolution": 0.01}
    rows = load_airly(airly_folder, "temperature").data[:8760]
    words = {"samples_per_frame": 24, "stream": 5} | words
    plain, saved = Encoder(rows.shape[1], target, **words), Encoder(rows.shape[1], target, **words)
    for start in range(0, len(rows), 24):
        saved = again(saved)
        assert saved.push(rows[start : start + 24]) == plain.push(rows[start : start + 24])


def test_before_anything_was_sent(timed_schema: Callable[..., Schema]) -> None:
    encoder = again(Encoder(timed_schema(2), max_error=0.5, stream=3))
    other = Encoder(timed_schema(2), max_error=0.5, stream=3)
    rows, times = np.zeros((200, 2)), np.arange(200)
    assert encoder.push(rows, times) == other.push(rows, times)
    assert again(Decoder(max_sensors=5)).header is None


def test_paths(tmp_path: Path, make_readings: Make) -> None:
    encoder, decoder = Encoder(3, max_error=0.1, samples_per_frame=5), Decoder()
    decoder.push(encoder.header)
    decoder.push(encoder.push(make_readings(7))[0])
    encoder.save(tmp_path / "encoder")
    decoder.save(str(tmp_path / "decoder"))
    frame = Encoder.load(tmp_path / "encoder").push(make_readings(3))[0]
    assert len(Decoder.load(tmp_path / "decoder").push(frame).values) == 5
    with pytest.raises(FrameError, match="no saved decoder"):
        Decoder.load(tmp_path / "encoder")
    with pytest.raises(FrameError, match="no saved encoder"):
        Encoder.load(tmp_path / "decoder")


@pytest.fixture(scope="module")
def saved_bytes() -> bytes:
    encoder = Encoder(3, max_error=0.1, samples_per_frame=5)
    encoder.push(np.arange(36.0).reshape(12, 3))
    file = io.BytesIO()
    encoder.save(file)
    return file.getvalue()


def test_every_flip_and_every_cut_is_refused(saved_bytes: bytes) -> None:
    for size in range(0, len(saved_bytes), 7):
        with pytest.raises(FrameError):
            Encoder.load(io.BytesIO(saved_bytes[:size]))
    with pytest.raises(FrameError):
        Encoder.load(io.BytesIO(saved_bytes + b"x"))
    for bit in range(0, 8 * len(saved_bytes), 13):
        damaged = bytearray(saved_bytes)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FrameError):
            Encoder.load(io.BytesIO(bytes(damaged)))


ODD = [None, True, -1, 0, 2**70, 1.5, float("nan"), "", "a", [], [1], {}, {"a": 1}, np.zeros(3), np.zeros((2, 2), int)]


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all values of a tree."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree[:2]) if isinstance(tree, list) else ()
    return [path, *(found for key, part in inner for found in places(part, (*path, key)))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["max_error", "rmse", "paper"])
@pytest.mark.filterwarnings("ignore")
def test_forged_states_with_a_right_checksum(
    name: str, make_readings: Make, timed_schema: Callable[..., Schema]
) -> None:
    """Whoever can make a checksum can make an encoder that encodes nonsense, but nothing else."""
    target, words = TARGETS[name]
    encoder = Encoder(timed_schema(3), target, samples_per_frame=5, **words)
    encoder.push(make_readings(13), np.arange(13))
    file = io.BytesIO()
    encoder.save(file)
    tree = unpack_state(file.getvalue())
    chance = random.Random(0)
    for path in [place for place in places(tree) if place]:
        inner = tree
        for key in path[:-1]:
            inner = inner[key]
        true = inner[path[-1]]
        for value in chance.sample(ODD, 3):
            inner[path[-1]] = value
            forged = pack_state(tree)
            inner[path[-1]] = true
            try:
                Encoder.load(io.BytesIO(forged))
            except FrameError:
                continue


def packed(raw: bytes, size: int | None = None, version: int = 1) -> bytes:
    body = zlib.compress(raw)
    head = b"OSTSTATE" + struct.pack("<BQQ", version, len(body), len(raw) if size is None else size)
    return head + hashlib.sha256(head + body).digest() + body


def with_json(plain: Any, arrays: bytes = b"") -> bytes:
    text = json.dumps(plain).encode()
    return packed(struct.pack("<I", len(text)) + text + arrays)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"OSTSTATE",
        packed(b""),
        packed(b"{}"),
        packed(b"\0\0\0\0"),
        packed(struct.pack("<I", 2**31) + b"{}"),
        packed(struct.pack("<I", 2) + b"{}", size=2**40),
        packed(struct.pack("<I", 2) + b"{}", version=2),
        packed(struct.pack("<I", 2) + b"[]"),
        with_json({}, b"x"),
        with_json({"a": {"array": ["float64", [2]]}}, bytes(15)),
        with_json({"a": {"array": ["float64", [2**40, 2**40]]}}),
        with_json({"a": {"array": ["float64", [-1]]}}),
        with_json({"a": {"array": ["object", [1]]}}, bytes(8)),
        with_json({"a": {"array": ["float64"]}}, bytes(8)),
        with_json({"what": "encoder", "content": 3}),
        with_json({"what": "encoder", "content": {}}),
    ],
)
def test_bytes_that_are_no_state(data: bytes) -> None:
    with pytest.raises(FrameError):
        Encoder.load(io.BytesIO(data))


def test_values_come_back() -> None:
    tree = {"a": [1, 2.5, None, True, "x"], "b": {"c": np.arange(6.0).reshape(2, 3), "d": np.arange(3)}, "e": np.inf}
    found = unpack_state(pack_state(tree))
    assert found["a"] == tree["a"] and found["e"] == np.inf
    np.testing.assert_array_equal(found["b"]["c"], tree["b"]["c"])  # type: ignore[index, call-overload]
    assert found["b"]["d"].dtype == np.int64
