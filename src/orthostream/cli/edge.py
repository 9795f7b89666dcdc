"""`orthostream edge`: compress readings and send them to the cloud, losing none."""

from __future__ import annotations

import argparse
import logging
import re
import socket
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from orthostream.cli.arguments import count_argument
from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.configuration import Configuration
from orthostream.cli.edge_sources import SIMULATOR, check_source, open_source, source_name
from orthostream.cli.link_options import (
    add_link_options,
    check_folder,
    link_trouble,
    make_transport,
    read_key,
    secret_lines,
)
from orthostream.cli.link_process import logging_to_stderr, run_service, stopping
from orthostream.cli.quantities import duration_argument, size_argument
from orthostream.cli.table_files import PIPE, add_table_options
from orthostream.cli.target_options import TARGETS, add_target_options, chosen_target, positive_argument
from orthostream.cli.trouble import bad_values, trouble_with

if TYPE_CHECKING:
    from orthostream.compression import Schema, Target
    from orthostream.link import Edge
    from orthostream.link.service import EdgeService

_log = logging.getLogger(__name__)


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("edge", help="compress readings and send them to the cloud", description=__doc__)
    parser.add_argument(
        "source",
        nargs="?",
        metavar="SOURCE",
        help="a CSV file, - for standard input (a JSON object in each line), simulator, or mqtt:TOPIC",
    )
    parser.add_argument("--follow", action="store_true", help="go on reading a CSV file as it grows")
    parser.add_argument("--name", metavar="EDGE", help="of this edge, unique at its broker (the name of this machine)")
    add_target_options(parser)
    parser.add_argument(
        "--max-delay",
        type=duration_argument,
        default=60.0,
        metavar="TIME",
        help="how long a sample may wait for others to share a message: 10ms, 5s, 10min, 1h (60s)",
    )
    parser.add_argument(
        "--answer-every",
        type=duration_argument,
        default=0.0,
        metavar="TIME",
        help="how long messages may go without an answer, which costs bytes on a metered link: 10min, 1h (0s)",
    )
    parser.add_argument(
        "--outbox", metavar="FILE", help="where readings are kept until they have arrived (EDGE.outbox)"
    )
    parser.add_argument(
        "--outbox-limit", type=size_argument, default=256 << 20, metavar="SIZE", help="size of the outbox (256MB)"
    )
    parser.add_argument(
        "--when-full",
        choices=("refuse", "drop-oldest"),
        default="refuse",
        help="what to do when the outbox is full: take no more samples, or forget the oldest (refuse)",
    )
    parser.add_argument("--sensors", nargs="+", metavar="NAME", help="names in JSON readings (those of the first ones)")
    parser.add_argument("--source-broker", metavar="ADDRESS", help="the broker of mqtt:TOPIC (that of --broker)")
    parser.add_argument("--speed", type=positive_argument, metavar="S", help="samples a second of the simulator (all)")
    parser.add_argument(
        "--simulated-samples", type=count_argument, default=8760, metavar="N", help="hours that are simulated (8760)"
    )
    parser.add_argument(
        "--simulated-sensors", type=count_argument, default=56, metavar="N", help="sensors that are simulated (56)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of the simulator (0)")
    add_table_options(parser)
    add_link_options(parser)
    parser.set_defaults(run=run, configuration=Configuration(parser, TARGETS))


def run(options: argparse.Namespace) -> int:
    """Send the samples of a source until it is finished or this process is stopped."""
    configuration: Configuration = options.configuration
    values, origins = configuration.gather(options)
    origins["name"] = origins["name"] if values.name else "host name"
    values.name = values.name or _host_name()
    values.outbox = values.outbox or f"{values.name}.outbox"
    with logging_to_stderr(values.log_format):
        _check(values)
        if values.check:
            _explain(configuration, values, origins)
            return 0
        with stopping() as stop, compile_notice():
            _send(values, stop)
    return 0


def _check(values: argparse.Namespace) -> None:
    from orthostream.link.names import check_edge

    with bad_values():
        check_edge(values.name)
    check_source(values)
    check_folder(values.outbox)
    read_key(values)


def _explain(configuration: Configuration, values: argparse.Namespace, origins: dict[str, str]) -> None:
    """Print all values and where they came from, and check what can be checked without a connection."""
    make_transport(values, values.name)
    for line in configuration.explained(values, origins):
        print(line.rstrip())
    for line in secret_lines(values):
        print(line)
    if values.source not in (PIPE, SIMULATOR) and not values.source.startswith("mqtt:"):
        ended = threading.Event()
        ended.set()
        with open_source(values, values.name, None, ended) as source:
            target = _target(values, source.schema)
            print(f"{values.source} has {len(source.schema.columns)} sensors (its first rows were looked at)")
            print(f"target: {target!r}")
    print("all values are good", file=sys.stderr)


def _send(values: argparse.Namespace, stop: threading.Event) -> None:
    from orthostream.link import Edge, Outbox
    from orthostream.link.service import EdgeService

    with ExitStack() as stack, link_trouble(), trouble_with(source_name(values.source)):
        transport = make_transport(values, values.name)
        outbox = stack.enter_context(Outbox(values.outbox, values.name))
        source = stack.enter_context(open_source(values, values.name, outbox.mark, stop))
        with bad_values():
            edge = Edge(
                values.name,
                source.schema,
                _target(values, source.schema),
                outbox,
                transport,
                max_delay=values.max_delay,
                answer_every=values.answer_every,
                key=read_key(values),
                limit=values.outbox_limit,
                when_full=values.when_full.replace("-", " "),
            )
        stack.enter_context(edge)
        stack.enter_context(transport)
        _log.info(
            "edge %s sends %d sensors of %s to %s",
            values.name,
            len(source.schema.columns),
            source_name(values.source),
            values.broker,
        )
        before, waiting = edge.outbox.counts, edge.status()["messages to send"]
        service = EdgeService(edge, source)
        run_service(service, stop, prefix="orthostream_edge", status_port=values.status_port, line=_line)
        _tell(values, edge, before, waiting)


def _line(service: EdgeService) -> str:
    status = service.status
    share = service.source.share
    parts = [
        f"{100 * share:3.0f} %" if share is not None else "",
        f"{status.get('samples', 0) + status.get('samples waiting', 0):,} samples",
        f"{status.get('messages to send', 0):,} messages to send",
        "connected" if status.get("connected") else "not connected",
        service.trouble,
    ]
    return f"{service.edge.name}: " + ", ".join(part for part in parts if part)


def _tell(values: argparse.Namespace, edge: Edge, before: dict[str, int], waiting: int) -> None:
    """Say what was sent, and what is left; ``waiting`` is the number of messages that an earlier run left."""
    counts = {name: count - before.get(name, 0) for name, count in edge.outbox.counts.items()}
    readings, n_bytes = counts.get("readings", 0), counts.get("message bytes", 0)
    told = f"{values.name}: {counts.get('samples', 0):,} samples, {readings:,} readings, {n_bytes:,} bytes"
    if readings:
        told += f" ({8 * n_bytes / readings:.3g} bits per reading)"
    left = edge.status()["messages to send"]
    if waiting > left:
        told += f"; {_messages(waiting - left)} of an earlier run arrived"
    elif not waiting and not counts.get("samples", 0):
        told += "; nothing new, all samples were read before"
    told += f"; {_messages(left)} left in {values.outbox} until the next start" if left else "; all of it has arrived"
    for what in ("samples dropped", "samples lost"):
        if counts.get(what):
            told += f"; {counts[what]:,} {what}"
    _log.info("%s", told, extra={"data": {"counts": counts, "messages left": left}})


def _messages(count: int) -> str:
    return f"{count:,} message" + "s" * (count != 1)


def _target(values: argparse.Namespace, schema: Schema) -> Target:
    from orthostream.compression.targets.keywords import choose_target

    with bad_values():
        return choose_target(None, chosen_target(values, schema) or {"max_error": 0.0})


def _host_name() -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", socket.gethostname())[:64] or "edge"
