"""The times of version 2, decoded by the program in C that was written from their specification."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.adaptive_times import AdaptiveTimes

_FOLDER = Path(__file__).parents[2] / "examples" / "c"
#: Reads lines of a count and a section in hexadecimal, or "-" for none, and prints times; "restart" forgets.
_DRIVER = r"""
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include "ost.h"

static jmp_buf refused;
static AdaptiveTimes times, before;
static char line[1 << 20];
static u8 bytes[1 << 19];
static i64 decoded[1 << 10];

void fail(const char *format, ...) { (void)format; longjmp(refused, 1); }

int main(void)
{
    while (fgets(line, sizeof line, stdin)) {
        int count, at;
        if (sscanf(line, "%d %n", &count, &at) != 1) { restart_adaptive_times(&times); continue; }
        before = times;
        if (setjmp(refused)) { times = before; puts("refused"); continue; }
        size_t size = strspn(line + at, "0123456789abcdef") / 2;
        for (size_t i = 0; i < size; i++) sscanf(line + at + 2 * i, "%2hhx", &bytes[i]);
        Bytes section = {bytes, bytes + size};
        decode_adaptive_times(&times, line[at] == '-' ? NULL : &section, decoded, (u64)count);
        for (int i = 0; i < count; i++) printf("%" PRId64 "%c", decoded[i], i + 1 < count ? ' ' : '\n');
    }
}
"""

_LEAST, _MOST = -(2**63), 2**63 - 1


def _streams(generator: np.random.Generator, pick: random.Random) -> list[list[int]]:
    k = np.arange(400)
    made = [
        10**12 + 1000 * k + generator.integers(-5, 6, 400),
        np.cumsum(generator.choice([60, 60, 60, 60, 60, 61, 120, 3600, -7], 400)),
        k * 1000 // 128,
        10**6 * np.cumsum(generator.choice([1000, 1000, 1000, 1000, 1001, 37], 400)),
        np.cumsum(generator.exponential(1e9, 400).astype(int)),
        60 * k + 3600 * (k // 100),
        generator.integers(-20, 20, 400),
    ]
    extreme = [pick.choice([_LEAST, _MOST, 0, 1, pick.randint(_LEAST, _MOST)]) for _ in range(400)]
    return [extreme, [_MOST - 2, _MOST - 1, _MOST], *(stream.tolist() for stream in made)]


def test_times_in_c_are_the_same(tmp_path: Path) -> None:
    """Also what becomes of bytes that nobody wrote."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "driver.c").write_text(_DRIVER)
    sources = [tmp_path / "driver.c", _FOLDER / "adaptive_times.c", _FOLDER / "range_coder.c"]
    command = [
        compiler,
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-O2",
        f"-I{_FOLDER}",
        "-o",
        tmp_path / "times",
        *sources,
        "-lm",
    ]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr

    generator, pick = np.random.default_rng(0), random.Random(0)
    lines: list[str] = []
    expected: list[str] = []
    for stream in _streams(generator, pick) * 3:
        times, at = AdaptiveTimes(), 0
        lines.append("restart")
        while at < len(stream):
            frame = stream[at : at + pick.choice([1, 3, 24, 200])]
            at += len(frame)
            section = times.encode(frame)
            lines.append(f"{len(frame)} {'-' if section is None else section.hex() or 'empty'}")
            expected.append(" ".join(map(str, frame)))
        for _ in range(6):
            count, section = pick.randint(1, 40), pick.choice([None, pick.randbytes(pick.randint(1, 40))])
            lines.append(f"{count} {'-' if section is None else section.hex()}")
            try:
                expected.append(" ".join(map(str, times.decode(section, count))))
            except FrameError:
                expected.append("refused")
    text = "\n".join([*lines, ""])
    result = subprocess.run([tmp_path / "times"], input=text, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.splitlines() == expected
    assert "refused" in expected
