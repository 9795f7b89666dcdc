"""An edge and a cloud in one process, whose power fails at a given write or sync.

Arguments are a folder, the path of a CSV file, and the error bound. Each line of standard input is a number of
operations on the disk: a child sends what is left of the file, and is killed by `lossy_disk.c` in the last of them; 0
lets it go on to the end.
For each, "0" is written if the child ended by itself, and another number if it did not.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Column, MaxError, Schema, TimeAxis
from orthostream.link import Cloud, Edge, MemoryBroker

#: Samples that are pushed at once, at most.
_AT_ONCE = 8
#: Steps without samples after which everything must have arrived.
_PATIENCE = 400


def send(outbox: str, store: str, times: IntArray, rows: FloatArray, sensors: list[str], bound: float) -> None:
    """Send what is left of some samples, until the cloud has acknowledged all of them."""
    now = 0.0
    schema = Schema(tuple(Column(name) for name in sensors), TimeAxis("time", "s"))
    broker = MemoryBroker()
    up, down = broker.transport(), broker.transport()
    with (
        Cloud(store, down, clock=lambda: now) as cloud,
        Edge("edge", schema, MaxError(bound), outbox, up, max_delay=1.0, clock=lambda: now) as edge,
    ):
        done = int(edge.mark or 0)
        rng = np.random.default_rng()
        for _ in range(len(rows) + _PATIENCE):
            if done < len(rows):
                end = min(len(rows), done + int(rng.integers(1, _AT_ONCE)))
                edge.push(rows[done:end], times[done:end], str(end))
                done = end
            elif edge.is_done:
                return
            edge.step()
            cloud.step()
            now += 0.5
    raise AssertionError(f"not everything arrived: {edge.status()}")


def main() -> None:
    """Fork a child for each line, so that modules are imported and compiled only once."""
    sys.path.insert(0, str(Path(__file__).parent))
    from growing_table import SENSORS, read_table  # type: ignore[import-not-found]

    folder, source, bound = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    times, rows = read_table(source)
    send(":memory:", ":memory:", times[:50], rows[:50], SENSORS, bound)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            if int(line):
                os.environ["LOSSY_OPERATIONS"] = line.strip()
            code = 1
            try:
                send(str(folder / "outbox.db"), str(folder / "store.db"), times, rows, SENSORS, bound)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)


if __name__ == "__main__":
    main()
