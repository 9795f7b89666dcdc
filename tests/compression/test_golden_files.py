"""Files that were written once decode to the same bits for ever, on any CPU and with or without a compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression import compress, decompress

from .golden_streams import FOLDER, all_cases, checksum

VERSIONS = all_cases()
SUMS = {
    (version, name): value
    for version in VERSIONS
    for name, value in json.loads((FOLDER / f"checksums.v{version}.json").read_text(encoding="utf-8")).items()
}
#: Kept within a bound that holds for every reading.
BOUNDED = [
    (version, name)
    for version, cases in VERSIONS.items()
    for name, (_, words) in cases.items()
    if "max_error" in words or "relative_error" in words
]


def golden(version: int, name: str) -> bytes:
    return (FOLDER / f"{name}.v{version}.ost").read_bytes()


def test_every_golden_file_has_its_checksum() -> None:
    files = {path.name.removesuffix(".ost") for path in FOLDER.glob("*.ost")}
    assert files == {f"{name}.v{version}" for version, name in SUMS}
    assert set(SUMS) == {(version, name) for version, cases in VERSIONS.items() for name in cases}


@pytest.mark.parametrize(("version", "name"), SUMS)
def test_a_golden_file_decodes_to_the_same_bits(version: int, name: str) -> None:
    assert checksum(decompress(golden(version, name))) == SUMS[version, name]


@pytest.mark.parametrize(("version", "name"), BOUNDED)
def test_a_golden_file_is_what_an_encoder_writes_today(version: int, name: str) -> None:
    """And is within its bound of what was measured."""
    rows, words = VERSIONS[version][name]
    data = golden(version, name)
    assert compress(rows, version=version, **words) == data
    decoded = decompress(data).astype(float)
    np.testing.assert_array_equal(np.isnan(decoded), np.isnan(rows.astype(float)))
    known = np.isfinite(rows)
    relative = words.get("relative_error")
    bound = np.abs(rows) * relative if relative else np.broadcast_to(words["max_error"], rows.shape)
    assert (np.abs(decoded[known] - rows[known]) <= bound[known]).all()
    np.testing.assert_array_equal(decoded[~known], rows[~known])
    if words.get("max_error") == 0 and version > 1:
        np.testing.assert_array_equal(decoded.view(np.int64), rows.view(np.int64))


PROGRAM = Path(__file__).parent / "golden_check.py"

SOME_OFF, ALL_OFF = ("", "X86_V4 AVX512_ICL AVX512_SPR"), "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX2 FMA3"


@pytest.mark.slow
@pytest.mark.parametrize("features", [*SOME_OFF, ALL_OFF])
def test_plain_code_gives_the_same_bits_at_every_level_of_instructions(features: str) -> None:
    """In a process of its own, without Numba; NumPy warns of names of features that this machine does not have."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM)],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": features},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {f"{name}.v{version}": value for (version, name), value in SUMS.items()}
