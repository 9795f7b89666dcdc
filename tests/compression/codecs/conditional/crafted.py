"""Payloads that nobody wrote, with the largest number of samples that their bytes can afford."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from orthostream.compression.codecs.codec import READINGS, Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.lattices import Linear, SensorLattice
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices
from orthostream.compression.codecs.conditional.opening import opening_to_bytes
from orthostream.compression.codecs.conditional.work import WorkPerFrame
from orthostream.compression.kernel.range_coder import (
    CODER_SIZE,
    EVEN,
    INTEGER_BITS,
    TOTAL,
    code_bit,
    code_bits,
    code_integer,
    code_interval,
    finish_centred,
    start_encoding,
)
from orthostream.compression.targets import ErrorBound

N_BYTES = 1024


def words(content: str) -> Iterable[int]:
    """Return what follows the number of samples, 16 bits at a time."""
    if content == "random":
        return np.random.default_rng(0).integers(0, TOTAL, N_BYTES // 2).tolist()
    return [{"zeros": 0, "ones": TOTAL - 1}[content]] * (N_BYTES // 2)


def body_of(count: int, content: str) -> bytes:
    """Return a number of samples and some bits, as the second payload of a stream whose first had one sample."""
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(2 * N_BYTES, dtype=np.uint8)
    counts = np.full(INTEGER_BITS + 1, EVEN, dtype=np.int64)
    start_encoding(coder)
    code_interval(coder, buffer, 0, TOTAL - 256)
    if code_bit(coder, buffer, counts, 0, 250, int(count != 1)):
        code_integer(coder, buffer, counts, 1, count)
    for word in words(content):
        code_bits(coder, buffer, word, 16)
    return buffer[: finish_centred(coder, buffer)].tobytes()


def opening(n_sensors: int, n_groups: int, lattice: SensorLattice | None = None) -> bytes:
    """Return equal lattices and groups of neighbours."""
    groups = np.arange(n_sensors) * n_groups // n_sensors
    return opening_to_bytes(Lattices([lattice or Linear()] * n_sensors), groups, 2)


def crafted(n_sensors: int, n_groups: int, content: str, *, fresh: bool, more: int = 0) -> tuple[Payload, int]:
    """Return a payload of 1 kB, and how many samples it says it has: all that it can afford, and some ``more``."""
    limit = WorkPerFrame()
    sizes = np.bincount(np.arange(n_sensors) * n_groups // n_sensors).tolist()
    left = limit.afforded(N_BYTES) - (limit.of_start(n_sensors, n_groups) if fresh else 0)
    count = left // limit.of_sample(sizes) + more
    start = opening(n_sensors, n_groups) if fresh else b""
    body = (start + body_of(count, content))[:N_BYTES].ljust(N_BYTES, b"\0")
    return Payload(READINGS, body), count


def receiver(n_sensors: int, n_groups: int, *, fresh: bool, accelerate: bool | None = None) -> ConditionalCodec:
    """Return a codec that decodes; unless it is fresh, one sample was decoded already."""
    codec = ConditionalCodec(n_sensors, accelerate=accelerate)
    if not fresh:
        codec.decode(Payload(READINGS, opening(n_sensors, n_groups) + body_of(1, "zeros")))
        codec._counts[:] = EVEN
    return codec


def bound_of(n_sensors: int, error: float = 0.0) -> ErrorBound:
    none = np.zeros(n_sensors, dtype=bool)
    return ErrorBound(np.full(n_sensors, error), None, none, none)
