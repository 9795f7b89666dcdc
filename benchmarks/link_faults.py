"""Nothing lost, nothing doubled, nothing beyond the bound, whatever fails: `orthostream bench link --faults`.

Programs are killed, disks lose what was not synced, and a simulated network loses, doubles, delays and reorders. What
the store holds at the end is compared with the source.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .faults.kills import Outcome, Setting, run_kills
from .faults.lossy_disk import LossyDisk, build_library
from .faults.power_cuts import PowerCuts, run_power_cuts
from .faults.program import embedded_broker, mosquitto
from .faults.schedules import Schedules, run_schedules
from .measure import SEED, Record, say, table, write_json
from .postgres_server import running_postgres

#: Seconds of each setting with kills, power cuts, and schedules: in full, and with --quick.
_SECONDS = {False: 120.0, True: 10.0}
_CUTS = {False: 400, True: 40}
_SCHEDULES = {False: 10_000, True: 500}
_BROKERS = {"Mosquitto": mosquitto, "embedded broker": embedded_broker}
_SETTINGS = (
    ("Mosquitto", "SQLite"),
    ("embedded broker", "SQLite"),
    ("Mosquitto", "PostgreSQL"),
    ("embedded broker", "PostgreSQL"),
    ("Mosquitto", "SQLite on a slow disk that drops unsynced writes"),
)
#: Disks, and the probability that they hold a sector that was not synced.
_DISKS = {"drops all unsynced writes": 0.0, "drops half of the unsynced sectors": 0.5}


def run_faults(options: argparse.Namespace) -> int:
    """Let things fail, print what came of it, and return 0 if every promise was kept, 1 otherwise.

    ``options`` has ``quick``, ``json`` and, if it is not the default, ``seconds`` of each setting with kills.
    """
    began = time.perf_counter()
    seconds = getattr(options, "seconds", None) or _SECONDS[options.quick]
    killed, skipped = kills(seconds)
    print(kill_table(killed, f"Programs killed about every 2 s for {seconds:.0f} s, and started again at once"))
    cuts, more_skipped = power_cuts(_CUTS[options.quick])
    print("\n" + cut_table(cuts))
    for line in (*skipped, *more_skipped):
        print(f"left out: {line}")
    n_schedules = _SCHEDULES[options.quick]
    say(f"{n_schedules:,} schedules ...")
    schedules = run_schedules(n_schedules, _Progress("schedules", n_schedules))
    print("\n" + schedule_text(schedules))
    is_right = all(outcome.is_right for outcome in killed) and all(each.is_right for each in cuts.values())
    is_right = is_right and not schedules.failures
    print("\nevery promise was kept" if is_right else "\nA PROMISE WAS BROKEN", flush=True)
    say(f"{time.perf_counter() - began:.0f} s")
    if options.json is not None:
        write_json(records(killed, cuts, schedules), options.json)
        print(f"records: {options.json}")
    return 0 if is_right else 1


def kills(seconds: float) -> tuple[list[Outcome], list[str]]:
    """Kill programs with each broker and each store; return what happened, and what had to be left out."""
    outcomes: list[Outcome] = []
    skipped: list[str] = []
    for number, (broker, store) in enumerate(_SETTINGS):
        name = f"{broker}, {store}"
        say(f"{name}: {seconds:.0f} s ...")
        with tempfile.TemporaryDirectory(prefix="orthostream-") as place:
            folder = Path(place)
            try:
                with _setting(name, _BROKERS[broker], store, folder) as setting:
                    outcomes.append(run_kills(setting, folder, seconds, SEED + number))
            except RuntimeError as error:
                skipped.append(f"{name}: {error}")
    return outcomes, skipped


@contextmanager
def _setting(name: str, broker: Callable[[Path, int], list[str]], store: str, folder: Path) -> Iterator[Setting]:
    """Give a setting with an empty store."""
    if store == "PostgreSQL":
        with running_postgres() as url:
            yield Setting(name, broker, url, {})
    elif store == "SQLite":
        yield Setting(name, broker, str(folder / "store.db"), {})
    else:
        library = build_library(folder)
        disks = {program: LossyDisk(folder / program, library, seed=SEED) for program in ("edge", "cloud")}
        environments = {program: disk.environment for program, disk in disks.items()}

        def crash(program: str) -> None:
            if program in disks:
                disks[program].crash()

        yield Setting(name, broker, str(folder / "cloud" / "store.db"), environments, crash)


def power_cuts(count: int) -> tuple[dict[str, PowerCuts], list[str]]:
    """Cut the power at random writes and syncs, on each kind of disk."""
    found: dict[str, PowerCuts] = {}
    for number, (name, kept) in enumerate(_DISKS.items()):
        say(f"a disk that {name}: {count} power cuts ...")
        with tempfile.TemporaryDirectory(prefix="orthostream-") as folder:
            try:
                library = build_library(Path(folder))
            except RuntimeError as error:
                return {}, [f"power cuts: {error}"]
            progress = _Progress("power cuts", count)
            found[name] = run_power_cuts(count, Path(folder), library, kept, SEED + number, progress)
    return found, []


class _Progress:
    """Reports what is done, five times in all."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._told = 0

    def __call__(self, done: int, failed: int = 0) -> None:
        if done == self._total or done - self._told >= self._total // 5:
            self._told = done
            say(f"  {done:,} of {self._total:,} {self._what}" + (f", {failed} failed" if failed else ""))


def cut_table(cuts: Mapping[str, PowerCuts]) -> str:
    """Return what happened on each kind of disk."""
    heads = ["power cuts", "unsynced writes found", "kB of them", "streams", "messages", "samples", "readings"]
    heads += ["lost", "doubled", "invented", "beyond"]
    rows = []
    for name, each in cuts.items():
        found = each.comparison
        numbers = [each.cuts, each.torn, each.dropped_bytes // 1000, found.streams, found.messages]
        numbers += [found.samples, found.readings, found.lost, found.doubled, found.invented, found.beyond]
        rows.append((name, [f"{number:,}" for number in numbers]))
    title = "Power cut in the middle of a write, a truncation, a removal or a sync; edge and cloud on a disk that"
    text = table(title, "", heads, rows) if rows else f"{title} ...: nothing could be run"
    return "\n".join([text, *(f"{name}: {each.failure}" for name, each in cuts.items() if each.failure)])


def kill_table(outcomes: Sequence[Outcome], title: str) -> str:
    """Return what happened in each setting."""
    heads = ["killed: edge", "cloud", "broker", "ended", "connections", "streams", "messages", "samples", "readings"]
    heads += ["lost", "doubled", "invented", "beyond", "caught up"]
    rows = []
    for outcome in outcomes:
        found = outcome.comparison
        numbers = [*(outcome.kills[name] for name in ("edge", "cloud", "broker")), outcome.exits, outcome.connections]
        numbers += [found.streams, found.messages, found.samples, found.readings]
        numbers += [found.lost, found.doubled, found.invented, found.beyond]
        caught_up = f"{outcome.seconds_to_catch_up:.1f} s" if outcome.arrived else "never"
        rows.append((outcome.setting, [*(f"{number:,}" for number in numbers), caught_up]))
    return table(title, "", heads, rows) if rows else f"{title}: nothing could be run"


def schedule_text(schedules: Schedules) -> str:
    """Return what happened in the simulated network, and the first seeds that failed."""
    events = ", ".join(f"{count:,} {what}" for what, count in sorted(schedules.events.items()))
    lines = [f"{schedules.count:,} random schedules of a simulated network, {len(schedules.failures)} failed", events]
    lines += [f"seed {seed}: {what}" for seed, what in list(schedules.failures.items())[:5]]
    return "\n".join(lines)


def records(killed: Sequence[Outcome], cuts: Mapping[str, PowerCuts], schedules: Schedules) -> list[Record]:
    """Return all numbers."""
    found = []
    for outcome in killed:
        values = {f"kills of the {name}": float(count) for name, count in outcome.kills.items()}
        values |= {"ended": outcome.exits, "connections": outcome.connections, "arrived": outcome.arrived}
        values |= {"seconds to catch up": outcome.seconds_to_catch_up, **outcome.comparison._asdict()}
        found += [Record("link faults", "kills", outcome.setting, what, float(value)) for what, value in values.items()]
    for disk, each in cuts.items():
        values = {"cuts": each.cuts, "unsynced writes found": each.torn, "failed": bool(each.failure)}
        values |= each.comparison._asdict()
        found += [Record("link faults", "power cuts", disk, what, float(value)) for what, value in values.items()]
    name = "simulated network"
    found += [Record("link faults", name, "", what, float(count)) for what, count in schedules.events.items()]
    found.append(Record("link faults", name, "", "schedules", float(schedules.count)))
    found.append(Record("link faults", name, "", "failed", float(len(schedules.failures))))
    return found
