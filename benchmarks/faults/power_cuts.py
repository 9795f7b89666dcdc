"""Power that fails at any write or sync, with a disk that loses what was not synced."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from orthostream.link import open_store

from .comparison import Comparison, compare
from .growing_table import GrowingTable
from .lossy_disk import LossyDisk

BOUND = 0.05
#: Operations between two power cuts, at most.
_OPERATIONS = 600


class PowerCuts(NamedTuple):
    """How often the power failed, how often something was not synced then, and what the store holds at the end."""

    cuts: int
    #: Of the cuts, those after everything had arrived.
    idle: int
    torn: int
    dropped_bytes: int
    #: What went wrong in a process, "" if nothing did.
    failure: str
    comparison: Comparison

    @property
    def is_right(self) -> bool:
        """Whether everything is as it should be."""
        return not self.failure and self.comparison.is_right


def run_power_cuts(
    count: int, folder: Path, library: Path, kept: float, seed: int, progress: Callable[[int], None] | None = None
) -> PowerCuts:
    """Cut the power of an edge and a cloud on one disk ``count`` times, then let them end, and compare."""
    rng = random.Random(seed)
    disk = LossyDisk(folder / "disk", library, kept=kept, seed=seed)
    table = GrowingTable(folder / "source.csv", seed)
    # More than are sent between all cuts, so that there is something to do until the last one.
    table.append(30 * count)
    environment = {**os.environ, **disk.environment, "OPENBLAS_NUM_THREADS": "1"}
    del environment["LOSSY_MILLISECONDS"]
    log = folder / "process.log"
    program = str(Path(__file__).with_name("power_cut_process.py"))
    failure, idle = "", 0
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, program, str(disk.folder), str(table.path), str(BOUND)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        for cut in range(count + 1):
            operations = int(_OPERATIONS ** rng.random()) if cut < count else 0
            process.stdin.write(f"{operations}\n")
            process.stdin.flush()
            status = int(process.stdout.readline() or -1)
            if status not in (0, signal.SIGKILL):
                failure = f"after cut {cut}: {log.read_text()[-1000:]}"
                break
            if cut < count:
                idle += int(status == 0)
                disk.crash()
            if progress is not None:
                progress(cut)
        process.stdin.close()
    with open_store(str(disk.folder / "store.db"), create=False) as store:
        comparison = compare(store, "edge", table.path, BOUND)
    return PowerCuts(disk.crashes, idle, disk.torn, disk.dropped_bytes, failure, comparison)
