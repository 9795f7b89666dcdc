"""Bits beside the integers of readings of which nearly all are different: sent as they are."""

from __future__ import annotations

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import code_bits


def code_rests(coder: IntArray, buffer: ByteArray, bits: IntArray, rests: IntArray) -> None:
    """Code rests of so many bits each, sample by sample; on return, of both sides, ``rests`` are what was coded."""
    for t in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            rests[t, i] = code_bits(coder, buffer, int(rests[t, i]), int(bits[t, i]))
