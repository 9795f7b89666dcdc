"""The decoder in C, compiled for the tests: as it is meant to be, and with checks of memory and arithmetic."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_SOURCES = sorted((Path(__file__).parents[2] / "examples" / "c").glob("*.c"))
_PROBE = "#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }\n"
_WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
_BUILDS = {
    "plain": ("-O2",),
    "sanitised": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}

Decode = Callable[[bytes], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", params=_BUILDS)
def decode(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Decode:
    """Return a function that runs the program on the bytes of a file."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("c")
    (folder / "probe.c").write_text(_PROBE)
    build = _BUILDS[request.param]
    probe = [compiler, *build, "-o", folder / "probe", folder / "probe.c", "-lz"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("zlib.h or a sanitiser is not installed")
    program = folder / "ost_decode"
    command = [compiler, *_WARNINGS, *build, "-o", program, *_SOURCES, "-lz", "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    # Leaks are looked for by a second process, which containers often forbid.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "exitcode=99"}

    def run(data: bytes) -> subprocess.CompletedProcess[str]:
        (folder / "readings.ost").write_bytes(data)
        return subprocess.run(
            [program, folder / "readings.ost"],
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            env=environment,
        )

    return run
