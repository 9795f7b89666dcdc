"""A disk that loses what was not synced when a process is killed, as a machine without power does."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

#: Bytes that a disk writes at once or not at all.
_SECTOR = 512
_COPIES = ".synced"
#: Milliseconds that a sync takes.
_SYNC = 40


class LossyDisk:
    """A folder that forgets unsynced writes of processes that were started with `environment`.

    Parameters
    ----------
    folder : path
        Made if it is not there; files in it, not those in further folders, are forgotten.
    library : path
        As `build_library` returns it.
    kept : float
        Probability that a sector which was not synced is on the disk all the same: 0 drops them all. With more, a crash
        leaves files whose unsynced parts are partly new and partly old.
    seed : int

    Attributes
    ----------
    crashes, torn : int
        How often it crashed, and how often there was something that was not synced.
    dropped_bytes : int
        Bytes of sectors that were not synced.
    """

    def __init__(self, folder: Path, library: Path, *, kept: float = 0.0, seed: int = 0) -> None:
        self.folder = folder.resolve()
        (self.folder / _COPIES).mkdir(parents=True, exist_ok=True)
        self._kept = kept
        self._rng = random.Random(seed)
        self.environment = {
            "LD_PRELOAD": str(library),
            "LOSSY_FOLDER": str(self.folder),
            "LOSSY_MILLISECONDS": str(_SYNC),
        }
        self.crashes = self.torn = self.dropped_bytes = 0

    def crash(self) -> None:
        """Drop what was not synced; the processes must have ended."""
        self.crashes += 1
        before = self.dropped_bytes
        copies = self.folder / _COPIES
        names = {path.name for path in (*self.folder.iterdir(), *copies.iterdir()) if path.is_file()}
        for name in sorted(names):
            path, copy = self.folder / name, copies / name
            if name.startswith(".") or name.endswith("-shm"):
                path.unlink(missing_ok=True)
                continue
            synced = copy.read_bytes() if copy.exists() else None
            found = path.read_bytes() if path.exists() else None
            left = self._left(synced, found)
            if left is None:
                path.unlink(missing_ok=True)
                copy.unlink(missing_ok=True)
            else:
                # What is found after a crash stays.
                path.write_bytes(left)
                copy.write_bytes(left)
        self.torn += int(self.dropped_bytes > before)

    def _left(self, synced: bytes | None, found: bytes | None) -> bytes | None:
        """Return what is left of a file: as synced, but for sectors that were written all the same."""
        if synced == found:
            return synced
        self.dropped_bytes += _differing(synced or b"", found or b"")
        if not self._kept or found is None or synced is None:
            # A file may be there or not, and both are tried.
            return found if self._rng.random() < self._kept else synced
        size = len(found) if self._rng.random() < self._kept else len(synced)
        left = bytearray(synced[:size].ljust(size, b"\0"))
        for place in range(0, min(size, len(found)), _SECTOR):
            if self._rng.random() < self._kept:
                part = found[place : min(place + _SECTOR, size)]
                left[place : place + len(part)] = part
        return bytes(left)


def build_library(folder: Path) -> Path:
    """Compile the library that watches syncs; raise RuntimeError where that is not possible."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not sys.platform.startswith("linux"):
        raise RuntimeError("a disk that loses writes needs Linux")
    if compiler is None:
        raise RuntimeError("a disk that loses writes needs a C compiler")
    library = folder / "lossy_disk.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(Path(__file__).with_suffix(".c")), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the library of the lossy disk cannot be built: {done.stderr.strip()[:300]}")
    return library


def _differing(one: bytes, other: bytes) -> int:
    """Return how many bytes of sectors differ."""
    size = max(len(one), len(other))
    return sum(
        _SECTOR for place in range(0, size, _SECTOR) if one[place : place + _SECTOR] != other[place : place + _SECTOR]
    )
