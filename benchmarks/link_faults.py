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

from .faults.damage import OUTCOMES, Damaged, run_damage
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
#: Bytes from one damaged place to the next: in files at rest, and in logs that SQLite checks by itself.
_STEPS = {False: (7, 89), True: (997, 2999)}
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

    ``options`` has ``quick``, ``json`` and, if they are not the default, ``seconds`` of each setting with kills and the
    ``only`` part to run.
    """
    began = time.perf_counter()
    only = getattr(options, "only", None)
    _SKIPPED.clear()
    found: list[Record] = []
    is_right = True
    for name, part in _PARTS.items():
        if only in (None, name):
            kept, records = part(options)
            is_right &= kept
            found += records
            print(flush=True)
    verdict = "every promise was kept" if is_right else "A PROMISE WAS BROKEN"
    print(verdict + (f"; {len(_SKIPPED)} settings could not be run" if _SKIPPED else ""), flush=True)
    say(f"{time.perf_counter() - began:.0f} s")
    if options.json is not None:
        write_json(found, options.json)
        print(f"records: {options.json}")
    return 0 if is_right else 1


def _kills(options: argparse.Namespace) -> tuple[bool, list[Record]]:
    seconds = getattr(options, "seconds", None) or _SECONDS[options.quick]
    outcomes, skipped = kills(seconds)
    print(kill_table(outcomes, f"Programs killed about every 2 s for {seconds:.0f} s, and started again at once"))
    _tell_skipped(skipped)
    found = []
    for outcome in outcomes:
        values = {f"kills of the {name}": float(count) for name, count in outcome.kills.items()}
        values |= {"ended": outcome.exits, "connections": outcome.connections, "arrived": outcome.arrived}
        values |= {"seconds to catch up": outcome.seconds_to_catch_up, **outcome.comparison._asdict()}
        found += [Record("link faults", "kills", outcome.setting, what, float(value)) for what, value in values.items()]
    return bool(outcomes) and all(outcome.is_right for outcome in outcomes), found


def _cuts(options: argparse.Namespace) -> tuple[bool, list[Record]]:
    cuts, skipped = power_cuts(_CUTS[options.quick])
    print(cut_table(cuts))
    _tell_skipped(skipped)
    found = []
    for disk, each in cuts.items():
        values = {"cuts": each.cuts, "unsynced writes found": each.torn, "failed": bool(each.failure)}
        values |= each.comparison._asdict()
        found += [Record("link faults", "power cuts", disk, what, float(value)) for what, value in values.items()]
    return bool(cuts) and all(each.is_right for each in cuts.values()), found


def _schedules(options: argparse.Namespace) -> tuple[bool, list[Record]]:
    count = _SCHEDULES[options.quick]
    say(f"{count:,} schedules ...")
    schedules = run_schedules(count, _Progress("schedules", count))
    print(schedule_text(schedules))
    values = {**schedules.events, "schedules": schedules.count, "failed": len(schedules.failures)}
    found = [Record("link faults", "simulated network", "", what, float(value)) for what, value in values.items()]
    return not schedules.failures, found


def _damage(options: argparse.Namespace) -> tuple[bool, list[Record]]:
    step, step_of_logs = _STEPS[options.quick]
    say("files damaged ...")
    damaged = run_damage(step, step_of_logs, _Progress("bytes"))
    print(damage_table(damaged))
    found = []
    for each in damaged:
        for what, counts in each.outcomes.items():
            found += [Record("link faults", what, each.subject, name, float(counts[name])) for name in OUTCOMES]
    return all(each.is_right for each in damaged), found


def _tell_skipped(skipped: Sequence[str]) -> None:
    _SKIPPED.extend(skipped)
    for line in skipped:
        print(f"left out: {line}")


#: What could not be run, and why.
_SKIPPED: list[str] = []
_PARTS = {"kills": _kills, "cuts": _cuts, "schedules": _schedules, "damage": _damage}


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

    def __init__(self, what: str, total: int = 0) -> None:
        self._what, self._total = what, total
        self._told = 0

    def __call__(self, done: int, failed: int = 0, total: int = 0) -> None:
        total = total or self._total
        if done == total or done - self._told >= total // 5:
            self._told = done
            say(f"  {done:,} of {total:,} {self._what}" + (f", {failed} failed" if failed else ""))


def damage_table(damaged: Sequence[Damaged]) -> str:
    """Return what became of each file."""
    heads = ["bytes", "places", *(f"{what}: {name}" for what in ("cut", "garbled") for name in OUTCOMES)]
    rows = []
    for each in damaged:
        numbers = [each.n_bytes, each.places]
        numbers += [each.outcomes[what][name] for what in ("cut", "garbled") for name in OUTCOMES]
        rows.append((each.subject, [f"{number:,}" for number in numbers]))
    return table("Files cut at a byte, and garbled there; the link goes on with what is left", "", heads, rows)


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
