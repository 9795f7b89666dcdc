"""`orthostream demo`: a simulated city streams through edge, broker, cloud and store, and a page shows it live."""

from __future__ import annotations

import argparse
import math
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli import demo_recovery
from orthostream.cli.arguments import count_argument, number_argument
from orthostream.cli.errors import UserError

if TYPE_CHECKING:
    from orthostream.cli.demo_check import Checked
    from orthostream.cli.demo_run import CityPart, DemoRun

_PORT = 8642
_MOST_EDGES = 200
#: Largest error of a reading, in degrees.
_MAX_ERROR = 0.5


def add_parser(commands: Any) -> None:
    """Add the sub-command, and the older demo as a sub-command of its own."""
    parser = commands.add_parser(
        "demo", help="stream a simulated city to a cloud, and watch it on a page", description=__doc__
    )
    parser.add_argument("--hours", type=count_argument, default=8766, metavar="H", help="hours to stream (8766)")
    parser.add_argument("--sensors", type=count_argument, default=56, metavar="N", help="sensors of the city (56)")
    parser.add_argument("--edges", type=count_argument, default=1, metavar="E", help="edges they belong to (1)")
    parser.add_argument("--seconds", type=_seconds, default=60.0, metavar="S", help="seconds that it takes (60)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed of the city (0)")
    parser.add_argument(
        "--paper", type=count_argument, metavar="K", help="send K coefficients of each sample, as the paper does"
    )
    parser.add_argument("--port", type=int, default=_PORT, metavar="P", help=f"port of the page ({_PORT}), 0 for any")
    parser.add_argument("--no-page", action="store_true", help="show nothing in the browser")
    parser.add_argument("--keep-open", action="store_true", help="leave the page open at the end, until Ctrl-C")
    parser.add_argument("--folder", type=Path, metavar="F", help="keep outboxes and the store here (temporary)")
    parser.set_defaults(run=run)
    others = parser.add_subparsers(title="other demos", required=False, metavar="")
    demo_recovery.add_parser(others)


def run(options: argparse.Namespace) -> int:
    """Stream the city; the exit code is 1 if a reading was lost, doubled or further off than it may be."""
    if options.edges > min(options.sensors, _MOST_EDGES):
        raise UserError(f"--edges must be at most {min(options.sensors, _MOST_EDGES)}, got {options.edges}")
    if options.paper is not None and options.paper > options.sensors // options.edges:
        raise UserError(f"--paper must be at most {options.sensors // options.edges}, the sensors of an edge")
    if not 0 <= options.seed < 1 << 32:
        raise UserError(f"--seed must be an integer from 0 to {(1 << 32) - 1}, got {options.seed}")
    if options.keep_open and options.no_page:
        raise UserError("--keep-open and --no-page contradict each other")
    with ExitStack() as stack:
        folder = _folder(options, stack)
        from orthostream.dashboard import LiveView

        view = LiveView("orthostream demo: a simulated city")
        if not options.no_page:
            from orthostream.cli.dashboard import open_page

            address = stack.enter_context(open_page(view, options.port))
            print(f"page      {address}", flush=True)
        view.notice = "The city is being simulated."
        code = _stream(options, folder, view)
        if options.keep_open:
            print("the page stays open; Ctrl-C ends it", flush=True)
            wait_for_interrupt()
    return code


def wait_for_interrupt() -> None:
    """Wait for Ctrl-C, which is the usual end of a page."""
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print("\northostream: the page is closed", flush=True)


def _seconds(text: str) -> float:
    from orthostream._checks import at_least

    return number_argument(at_least)(text)


def _folder(options: argparse.Namespace, stack: ExitStack) -> Path:
    if options.folder is None:
        # After an interrupt, threads may still write for a moment.
        made = tempfile.TemporaryDirectory(prefix="orthostream-demo-", ignore_cleanup_errors=True)
        return Path(stack.enter_context(made))
    folder = Path(options.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_used = any(folder.iterdir())
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error
    if is_used:
        raise UserError(f"{folder} is not empty; a demo needs a new folder")
    return folder


def _stream(options: argparse.Namespace, folder: Path, view: Any) -> int:
    from orthostream.cli.demo_check import check_store
    from orthostream.cli.demo_run import DemoRun, city_parts
    from orthostream.cli.progress import ProgressBar
    from orthostream.compression import MaxError, Paper
    from orthostream.link.errors import LinkError

    parts = city_parts(options.hours, options.sensors, options.edges, options.seed)
    # The page would look as if there were a mistake otherwise.
    why = "" if options.paper else " The city reports whole degrees, and two of them share a code: most are 0.5 off."
    begin = time.monotonic()
    bar, last = ProgressBar(), [-1]

    def on_progress(share: float, samples: int) -> None:
        hours = samples // options.edges
        view.notice = f"Streaming: hour {hours:,} of {options.hours:,}.{why}"
        if samples != last[0]:
            bar(share, f"{hours:,} of {options.hours:,} hours stored")
        last[0] = samples

    target = MaxError(_MAX_ERROR) if options.paper is None else Paper(options.paper)
    demo = DemoRun(parts, folder, view, target, options.seconds, accelerate=_acceleration())
    try:
        demo.run(on_progress)
    except (ImportError, LinkError) as error:
        raise UserError(str(error)) from error
    finally:
        bar.close()
        view.is_live = False
    seconds = time.monotonic() - begin
    is_bounded = options.paper is None
    checked = check_store(demo.store, parts, _MAX_ERROR if is_bounded else math.inf)
    view.notice = (
        f"Done: {checked.readings:,} readings in the store; {checked.lost:,} lost, {checked.doubled:,} doubled"
        + (f", {checked.beyond:,} beyond the bound.{why}" if is_bounded else ".")
    )
    print(_summary(demo, parts, checked, seconds, is_bounded=is_bounded), flush=True)
    return 0 if checked.is_right else 1


def _acceleration() -> bool | None:
    """Return False where compiling would hold the stream up for a minute: plain code is fast enough for the demo."""
    from orthostream._compile import can_compile
    from orthostream.compression.codecs.conditional.functions import _compiled_before

    return None if can_compile() and _compiled_before() else False


def _summary(demo: DemoRun, parts: list[CityPart], checked: Checked, seconds: float, *, is_bounded: bool) -> str:
    """Return what was streamed, what it took, and what the comparison with the source has found."""
    outcome = demo.outcome
    assert outcome is not None
    readings = max(checked.readings, 1)
    cells = sum(part.readings.size for part in parts)
    up, down = outcome.up, outcome.down
    sensors = sum(len(part.schema.columns) for part in parts)
    lines = [
        "",
        f"streamed  {len(parts[0].times):,} hours of {sensors} sensors over {len(parts)}"
        f" edge{'s' * (len(parts) > 1)} in {seconds:.0f} s:"
        f" {checked.readings:,} readings, {100 * (1 - checked.readings / cells):.0f} % missing",
        f"bits      {8 * outcome.message_bytes / readings:.3f} per reading in {outcome.message_bytes:,} bytes of"
        f" messages; {8 * (up.total + down.total) / readings:.2f} with everything on the wire",
    ]
    for name, bits in sorted(outcome.spent.items(), key=lambda item: -item[1]):
        lines.append(f"            {name:<28s}{bits / 8:12,.0f}  bytes of the messages")
    others = outcome.message_bytes - sum(outcome.spent.values()) / 8
    if is_bounded:
        errors = f"at most {checked.max_error:g} °C (allowed: {_MAX_ERROR:g})"
        why = " (the city reports whole degrees, and two of them share a code)"
        beyond = f", {checked.beyond:,} beyond the bound"
    else:
        errors = f"at most {checked.max_error:.2f} °C (the paper's mode has no bound)"
        why = f"; {outcome.dictionaries:,} dictionaries sent"
        beyond = ""
    lines += [
        f"            {'times, headers, checksums':<28s}{others:12,.0f}  bytes of the messages",
        f"wire      {up.total + down.total:,} bytes both ways",
        f"            {'messages to the cloud':<28s}{up.payload:12,.0f}  in {up.messages:,} messages, counted",
        f"            {'answers to the edge':<28s}{down.payload:12,.0f}  in {down.messages:,} messages, counted",
        f"            {'MQTT':<28s}{up.mqtt + down.mqtt:12,.0f}  estimated: PUBLISH header and topic, PUBACK of 4",
        f"            {'TCP/IP':<28s}{up.tcp_ip + down.tcp_ip:12,.0f}  estimated: 40 for each PUBLISH and PUBACK",
        f"errors    {errors}, root mean square {checked.rmse:.3f} °C{why}",
        f"link      {outcome.reconnects} reconnects, {outcome.restarts} restarts, {outcome.sent_again} messages sent"
        f" again, {outcome.refused} refused",
        f"checked   the store, read back and compared with the source: {checked.lost:,} lost, {checked.doubled:,}"
        f" doubled, {checked.foreign:,} foreign{beyond}",
    ]
    return "\n".join(lines)
