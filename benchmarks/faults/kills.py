"""An edge, a broker and a cloud as processes, of which one after another is killed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from orthostream.link import open_store

from ..measure import say
from .comparison import Comparison, compare
from .growing_table import GrowingTable
from .program import ORTHOSTREAM, Program, free_port, status_of

EDGE = "edge"
BOUND = 0.05
#: Seconds between two kills, on average.
_EVERY = 2.0
#: How many are killed at once: mostly one.
_AT_ONCE = (1, 1, 1, 1, 2)
#: The part of those that are killed while they are still starting; the others are spared, else a slow machine would
#: never come to its work.
_YOUNG = 0.15
#: What edge and cloud log when they are connected.
_CONNECTED = "connected to "
#: Samples that are written at once, and the seconds in between.
_SAMPLES, _PAUSE = 10, 0.1
#: Seconds that everything may take to arrive when nothing is killed any more.
_PATIENCE = 120.0


@dataclass(frozen=True)
class Setting:
    """What is killed, and how.

    ``broker`` makes the command of a broker from a folder and a port; ``environments`` are variables of a program, and
    ``after_kill`` is called with the name of the program that was killed, before it is started again.
    """

    name: str
    broker: Callable[[Path, int], list[str]]
    store: str
    environments: dict[str, dict[str, str]]
    after_kill: Callable[[str], None] | None = None
    #: Seconds of samples that a message holds.
    max_delay: float = 0.2


@dataclass(frozen=True)
class Outcome:
    """What happened in one setting."""

    setting: str
    kills: dict[str, int]
    exits: int
    connections: int
    seconds_to_catch_up: float
    arrived: bool
    comparison: Comparison

    @property
    def is_right(self) -> bool:
        """Whether all readings have arrived, and no process has ended by itself."""
        return self.arrived and self.exits == 0 and self.comparison.is_right


def run_kills(setting: Setting, folder: Path, seconds: float, seed: int) -> Outcome:
    """Kill a program at random about every 2 seconds, for some seconds; then wait, and compare store and source."""
    rng = random.Random(seed)
    table = GrowingTable(folder / "source.csv", seed)
    table.append(_SAMPLES)
    port = free_port()
    programs = _programs(setting, folder, port)
    try:
        for program in programs.values():
            program.start()
        _kill_for(seconds, table, programs, rng)
        began = time.monotonic()
        arrived = _wait(table, programs, port)
        seconds_to_catch_up = time.monotonic() - began
    finally:
        for program in reversed(programs.values()):
            program.end()
    for program in programs.values():
        if program.exits:
            say(f"{setting.name}: {program.name} ended by itself: {program.log_text()[-1000:]}")
    with open_store(setting.store, create=False) as store:
        comparison = compare(store, EDGE, table.path, BOUND)
    return Outcome(
        setting.name,
        {name: program.kills for name, program in programs.items()},
        sum(program.exits for program in programs.values()),
        sum(programs[name].log_text().count(_CONNECTED) for name in ("edge", "cloud")),
        seconds_to_catch_up,
        arrived,
        comparison,
    )


def _programs(setting: Setting, folder: Path, status_port: int) -> dict[str, Program]:
    broker_port = free_port()
    address = ["--broker", f"127.0.0.1:{broker_port}"]
    source = [str(folder / "source.csv"), "--follow", "--name", EDGE, "--outbox", str(folder / "edge" / "outbox.db")]
    how = ["--max-error", str(BOUND), "--max-delay", f"{setting.max_delay:g}s", "--status-port", str(status_port)]
    commands = {
        "broker": setting.broker(folder, broker_port),
        "cloud": [*ORTHOSTREAM, "cloud", "--store", setting.store, *address],
        "edge": [*ORTHOSTREAM, "edge", *source, *how, *address],
    }
    (folder / "edge").mkdir(exist_ok=True)
    programs = {}
    for name, command in commands.items():
        after_kill = None if setting.after_kill is None else partial(setting.after_kill, name)
        programs[name] = Program(name, command, folder, setting.environments.get(name), _CONNECTED, after_kill)
    return programs


def _kill_for(seconds: float, table: GrowingTable, programs: dict[str, Program], rng: random.Random) -> None:
    began = told = time.monotonic()
    at = began + _EVERY
    while (now := time.monotonic()) < began + seconds:
        table.append(_SAMPLES)
        for program in programs.values():
            program.keep()
        if now >= at:
            # Programs wake up when something is written: kill them at any moment after that.
            time.sleep(rng.uniform(0.0, 2.0 * _PAUSE))
            for name in rng.sample(sorted(programs), rng.choice(_AT_ONCE)):
                if _works(name, programs) or rng.random() < _YOUNG:
                    _kill(name, programs)
            at = now + _EVERY * rng.uniform(0.5, 1.5)
        if now - told >= 20.0:
            told = now
            kills = ", ".join(f"{name} {program.kills}" for name, program in programs.items())
            say(f"  {now - began:.0f} of {seconds:.0f} s, {table.n_samples:,} samples, killed: {kills}")
        time.sleep(_PAUSE)


def _works(name: str, programs: dict[str, Program]) -> bool:
    """Return whether a program has come to its work; a broker has when somebody is connected to it."""
    return any(programs[each].works for each in (("edge", "cloud") if name == "broker" else (name,)))


def _kill(name: str, programs: dict[str, Program]) -> None:
    programs[name].kill()
    if name == "broker":
        for each in ("edge", "cloud"):
            programs[each].look_again()


def _wait(table: GrowingTable, programs: dict[str, Program], port: int) -> bool:
    """Wait until the edge has all samples and the cloud has acknowledged them; return False if that takes too long."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for program in programs.values():
            program.keep()
        status = status_of(port)
        waits = status.get("samples waiting", 1) + status.get("messages to send", 1)
        if not waits and status.get("samples", 0) >= table.n_samples:
            return True
        time.sleep(0.2)
    return False
