"""Files of a link that were cut or garbled at many bytes: refused, or a part of the readings, never a wrong one."""

from __future__ import annotations

import io
import logging
import multiprocessing
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from orthostream.compression import Column, Decoder, Encoder, FrameError, MaxError, Schema, TimeAxis
from orthostream.link import Cloud, Edge, LinkError, MemoryBroker, SqliteStore, rebuild

_log = logging.getLogger(__name__)

OUTBOX, STORE = "outbox.db", "store.db"
SCHEMA = Schema(tuple(Column(f"s{k}") for k in range(3)), TimeAxis("time", "s"))
BOUND = 0.1
_SAMPLES = 44
_RNG = np.random.default_rng(7)
ROWS = np.round(20.0 + np.cumsum(_RNG.normal(0.0, 0.3, (_SAMPLES, 3)), axis=0), 2)
TIMES = 1_700_000_000 + 60 * np.arange(_SAMPLES)
#: What can become of a damaged file; the last two must not be.
OUTCOMES = ("refused", "part", "all", "wrong", "crashed")
#: Files in a folder whose power was cut, and in one whose programs have ended.
_FILES = {
    "outbox, its log": ("cut off", f"{OUTBOX}-wal"),
    "store, its log": ("cut off", f"{STORE}-wal"),
    "outbox": ("at rest", OUTBOX),
    "store": ("at rest", STORE),
}
_SNAPSHOTS = {"encoder snapshot": Encoder, "decoder snapshot": Decoder}
SUBJECTS = (*_FILES, *_SNAPSHOTS)
_PROCESSES, _AT_ONCE = 2, 200


@dataclass
class Damaged:
    """What became of one file, cut and garbled at many bytes."""

    subject: str
    n_bytes: int
    places: int = 0
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: {"cut": Counter(), "garbled": Counter()})

    @property
    def is_right(self) -> bool:
        """Whether no reading was wrong, and no program crashed."""
        return not any(each["wrong"] or each["crashed"] for each in self.outcomes.values())


class _Link:
    """An edge and a cloud with their files in a folder, and a clock that is set by hand."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        broker = MemoryBroker()
        self.up = broker.transport()
        self.edge = Edge(
            "edge", SCHEMA, MaxError(BOUND), folder / OUTBOX, self.up, max_delay=60.0, clock=lambda: self.now
        )
        try:
            self.cloud = Cloud(str(folder / STORE), broker.transport(), clock=lambda: self.now)
        except BaseException:
            self.edge.outbox.close()
            raise

    def push(self, start: int, stop: int) -> None:
        self.edge.push(ROWS[start:stop], TIMES[start:stop])

    def run(self, rounds: int = 3) -> None:
        for _ in range(rounds):
            self.edge.step()
            self.cloud.step()
            self.edge.step()
            self.now += 25.0

    def leave(self) -> None:
        """Close the files as they are."""
        self.up.close()
        self.edge.outbox.close()
        self.cloud.store.close()


def record(folder: Path) -> None:
    """Record a run: messages that were acknowledged, some that were not sent, samples that wait.

    The files are copied to "cut off" while the programs run, and to "at rest" with all of it in the databases.
    """
    (folder / "run").mkdir(parents=True)
    link = _Link(folder / "run")
    for start in range(0, 24, 8):
        link.push(start, start + 8)
        link.edge.flush()
        link.run()
    link.up.is_connected = False
    for start in range(24, 40, 8):
        link.push(start, start + 8)
        link.edge.flush()
    link.push(40, _SAMPLES)
    shutil.copytree(folder / "run", folder / "cut off")
    link.edge.close()
    link.cloud.close()
    shutil.copytree(folder / "run", folder / "at rest")
    for name in (OUTBOX, STORE):
        connection = sqlite3.connect(folder / "at rest" / name)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    for name, (subject, table, column) in zip(
        (OUTBOX, STORE),
        (("encoder snapshot", "snapshot", "encoder"), ("decoder snapshot", "snapshots", "decoder")),
        strict=True,
    ):
        connection = sqlite3.connect(folder / "at rest" / name)
        (data,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
        connection.close()
        (folder / subject).write_bytes(data)


def content(folder: Path, subject: str) -> bytes:
    """Return the bytes of one of the recorded files."""
    if subject in _SNAPSHOTS:
        return (folder / subject).read_bytes()
    return (folder / Path(*_FILES[subject])).read_bytes()


def outcome(folder: Path, subject: str, data: bytes, place: Path) -> str:
    """Go on with one of the recorded files replaced, in an empty ``place``; return what came of it."""
    try:
        return _outcome(folder, subject, data, place)
    except Exception:
        _log.exception("%s of %d bytes", subject, len(data))
        return "crashed"


def _outcome(folder: Path, subject: str, data: bytes, place: Path) -> str:
    if subject in _SNAPSHOTS:
        return _outcome_of_snapshot(folder, subject, data)
    state, name = _FILES[subject]
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / state, place)
    (place / name).write_bytes(data)
    try:
        if subject == "store":
            # Readings have no checksums, but messages do: what is made again from them is right.
            with SqliteStore(place / STORE) as store:
                rebuild(store)
                return _compared(store)
        link = _Link(place)
    except (LinkError, FrameError):
        return "refused"
    try:
        for _ in range(2):
            link.run()
        return _compared(link.cloud.store)
    except LinkError:
        return "refused"
    finally:
        link.leave()


def _outcome_of_snapshot(folder: Path, subject: str, data: bytes) -> str:
    try:
        _SNAPSHOTS[subject].load(io.BytesIO(data))
    except FrameError:
        return "refused"
    return "all" if data == content(folder, subject) else "wrong"


def _compared(store: object) -> str:
    count = 0
    for sensor in range(ROWS.shape[1]):
        chunks = list(store.readings("edge", f"s{sensor}"))  # type: ignore[attr-defined]
        times = np.concatenate([np.empty(0, dtype=np.int64), *(chunk.times for chunk in chunks)])
        values = np.concatenate([np.empty(0), *(chunk.values for chunk in chunks)])
        places = np.minimum(np.searchsorted(TIMES, times), _SAMPLES - 1)
        is_known = (TIMES[places] == times).all() and len(np.unique(times)) == len(times)
        if not is_known or not (np.abs(values - ROWS[places, sensor]) <= BOUND * (1.0 + 1e-12)).all():
            return "wrong"
        count += len(times)
    return "all" if count == ROWS.size else "part"


def try_places(folder: Path, subject: str, places: Sequence[int]) -> dict[str, Counter[str]]:
    """Cut a recorded file at each of some bytes, and garble each of them; return what came of it."""
    data = content(folder, subject)
    found: dict[str, Counter[str]] = {"cut": Counter(), "garbled": Counter()}
    with tempfile.TemporaryDirectory(prefix="orthostream-damage-") as name:
        place = Path(name) / "files"
        for offset in places:
            garbled = data[:offset] + bytes([data[offset] ^ 0x55]) + data[offset + 1 :]
            found["cut"][outcome(folder, subject, data[:offset], place)] += 1
            found["garbled"][outcome(folder, subject, garbled, place)] += 1
    return found


def run_damage(step: int, step_of_logs: int, progress: Callable[[int, int, int], None] | None = None) -> list[Damaged]:
    """Damage each file at every ``step``-th byte, and the logs of databases at every ``step_of_logs``-th.

    ``progress`` is called with how many bytes are done, how many led to wrong readings, and how many there are.
    """
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="orthostream-damage-") as name:
        folder = Path(name)
        record(folder)
        results = {subject: Damaged(subject, len(content(folder, subject))) for subject in SUBJECTS}
        with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
            futures = {}
            for subject, result in results.items():
                places = range(0, result.n_bytes, step_of_logs if subject.endswith("log") else step)
                for start in range(0, len(places), _AT_ONCE):
                    piece = places[start : start + _AT_ONCE]
                    futures[pool.submit(try_places, folder, subject, piece)] = subject, len(piece)
            done, total = 0, sum(size for _, size in futures.values())
            for future in as_completed(futures):
                subject, size = futures[future]
                results[subject].places += size
                for what, counts in future.result().items():
                    results[subject].outcomes[what] += counts
                done += size
                if progress is not None:
                    counters = [counts for each in results.values() for counts in each.outcomes.values()]
                    wrong = sum(counts["wrong"] + counts["crashed"] for counts in counters)
                    progress(done, wrong, total)
    return list(results.values())
