"""Payloads that were written once decode to the same bits for ever, on any CPU and with or without a compiler."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

from orthostream._compile import can_compile
from orthostream.compression.codecs.codec import READINGS, Payload
from orthostream.compression.codecs.transform import TransformCodec

#: 120 samples of six sensors, with a gap, an infinite reading and two that are far off; rmse 1.
BODIES = (
    "hQEP+Av/YKCh4UICs2Jptw==",
    "I6suAEr0gA==",
    "V9RA",
    "fvVLyljJlkTsAAADUA==",
    "cpzkx7+jkA36Wr7/+DpGConVfDA=",
    "hzXp",
)
READINGS_CHECKSUM, DIGEST = 943854573, 4143999757


def decoded(fast: bool | None) -> tuple[np.ndarray, int]:
    codec = TransformCodec(6, rmse=1.0, fast=fast)
    rows = np.concatenate([codec.decode(Payload(READINGS, base64.b64decode(body))) for body in BODIES])
    return rows, codec.digest


@pytest.mark.parametrize(
    "fast", [False, pytest.param(True, marks=pytest.mark.skipif(not can_compile(), reason="Numba"))]
)
def test_known_payloads(fast: bool) -> None:
    rows, digest = decoded(fast)
    assert rows.shape == (120, 6)
    assert np.isnan(rows[30:50, 2]).all() and np.isnan(rows).sum() == 20
    assert rows[70, 1] == np.inf
    assert rows[80, 4] == -9999.0
    assert rows[90, 3] == 1e17 + 0.5
    assert zlib.crc32(rows.astype("<f8").tobytes()) == READINGS_CHECKSUM
    assert digest == DIGEST


SOME_OFF, ALL_OFF = ("X86_V4", "AVX512F AVX2 FMA3"), "X86_V4 X86_V3"


@pytest.mark.parametrize("features", [*(pytest.param(names, marks=pytest.mark.slow) for names in SOME_OFF), ALL_OFF])
def test_known_payloads_with_other_instructions(features: str) -> None:
    program = f"""
import base64, zlib
from orthostream.compression.codecs.codec import Payload
from orthostream.compression.codecs.transform import TransformCodec
codec, checksum = TransformCodec(6, rmse=1.0, fast=False), 0
for body in {BODIES!r}:
    checksum = zlib.crc32(codec.decode(Payload(0, base64.b64decode(body))).astype("<f8").tobytes(), checksum)
print(checksum, codec.digest)
"""
    # NumPy warns of names that it does not know, as they change between its versions.
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": features},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [str(READINGS_CHECKSUM), str(DIGEST)]
