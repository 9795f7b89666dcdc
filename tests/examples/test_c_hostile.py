"""Payloads that no encoder writes, in frames whose checksums fit: the decoder in C refuses those that ours refuses."""

from __future__ import annotations

import csv
import io
import random
from functools import cache

import numpy as np
import pytest

from orthostream.compression import FrameError, OstReader, compress
from orthostream.compression.stream.decoder import Decoder
from orthostream.compression.stream.frame import RESTART, with_length
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.varint import Reader

from .conftest import Decode


@cache
def _streams() -> list[bytes]:
    """Return files of a few frames, of all kinds of lattice."""
    generator = np.random.default_rng(0)
    walks = 20.0 + np.cumsum(generator.normal(size=(40, 3)), axis=0)
    rain = np.where(generator.random((40, 3)) < 0.2, np.round(generator.exponential(2.0, (40, 3)), 1), 0.0)
    levels = generator.choice(generator.normal(size=9), size=(40, 3))
    walks[generator.random(walks.shape) < 0.1] = np.nan
    words = {"samples_per_frame": 10}
    return [
        compress(walks, max_error=0.1, **words),
        compress(walks, max_error=0.1, version=1, **words),
        compress(walks, max_error=0.0, **words),
        compress(walks, relative_error=0.01, **words),
        compress(rain, max_error=0.0, time=60 * np.arange(40), **words),
        compress(levels, max_error=0.0, **words),
        compress(np.concatenate([np.round(walks), np.round(walks, 2)]), max_error=0.0, **words),
    ]


def _changed(body: bytes, pick: random.Random) -> bytes:
    changed = bytearray(body or b"\0")
    for _ in range(pick.randint(1, 3)):
        at = pick.randrange(len(changed))
        changed[at] = pick.choice([changed[at] ^ 1 << pick.randrange(8), pick.randrange(256)])
    if pick.random() < 0.2:
        del changed[pick.randint(1, len(changed)) :]
    return bytes(changed) + (pick.randbytes(pick.randint(1, 30)) if pick.random() < 0.2 else b"")


def _hostile(data: bytes, pick: random.Random) -> bytes:
    """Return a file that ends with a frame whose body was changed, under a checksum that fits."""
    header, size = StreamHeader.read(data)
    decoder, reader, out = Decoder(), Reader(data, size), data[:size]
    decoder.open(header)
    for _ in range(pick.randint(0, 3)):
        frame = reader.take(reader.varint())
        decoder.take(decoder.open_frame(frame), frame)
        out += with_length(frame)
    kind, flags, body = decoder.open_frame(reader.take(reader.varint()))
    chain = None if flags & RESTART else decoder.chain
    return out + with_length(decoder.checks.pack_marked(kind, flags, _changed(body, pick), chain))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_hostile_payloads(decode: Decode, seed: int) -> None:
    pick = random.Random(seed)
    for stream in _streams():
        data = _hostile(stream, pick)
        done = decode(data)
        parts = []
        try:
            reader = OstReader(io.BytesIO(data))
            for part in reader:
                parts.append(part.values)
            accepted = True
        except FrameError:
            accepted = False
        # 2: there is no end.
        assert done.returncode == (2 if accepted else 1), done.stderr
        values = np.concatenate([np.empty((0, 3)), *parts])
        lines = list(csv.reader(io.StringIO(done.stdout)))[1:]
        decoded = np.array([[float(cell or "nan") for cell in line[-3:]] for line in lines]).reshape(-1, 3)
        np.testing.assert_array_equal(decoded, values)
