"""`orthostream cloud`: receive readings from many edges, and store them."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.configuration import Configuration
from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.link_options import (
    add_link_options,
    check_folder,
    link_trouble,
    make_transport,
    read_key,
    secret_lines,
)
from orthostream.cli.link_process import logging_to_stderr, run_service, stopping
from orthostream.cli.trouble import bad_values, disk_trouble_with, trouble_with

if TYPE_CHECKING:
    from orthostream.link.republish import Republisher
    from orthostream.link.service import CloudService
    from orthostream.link.transport import Transport

_POSTGRES = ("postgresql://", "postgres://")
_log = logging.getLogger(__name__)


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("cloud", help="receive readings from edges and store them", description=__doc__)
    parser.add_argument(
        "--store",
        default="orthostream.db",
        metavar="FILE|URL",
        help="a SQLite file, or a PostgreSQL URL (orthostream.db)",
    )
    parser.add_argument(
        "--shard", default="1/1", metavar="I/N", help="the part of all edges to serve, such as 2/8 (1/1)"
    )
    parser.add_argument("--keys-file", metavar="FILE", help="keys of edges, one per line: its name, a space, its key")
    parser.add_argument(
        "--republish",
        metavar="TOPIC",
        help="also send decoded readings as JSON to TOPIC/EDGE at the broker (not at all)",
    )
    parser.add_argument(
        "--home-assistant", action="store_true", help="with --republish: tell Home Assistant of all sensors"
    )
    parser.add_argument(
        "--embedded-broker",
        action="store_true",
        help="start a broker in this process, at the address of --broker, for tries on this machine",
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="make all readings of the store again from its messages, and stop"
    )
    add_link_options(parser)
    parser.set_defaults(run=run, configuration=Configuration(parser))


def run(options: argparse.Namespace) -> int:
    """Store what comes until this process is stopped."""
    configuration: Configuration = options.configuration
    values, origins = configuration.gather(options)
    with logging_to_stderr(values.log_format):
        keys = _check(values)
        if values.check:
            _explain(configuration, values, origins)
        elif values.rebuild:
            _rebuild(values.store)
        else:
            with stopping() as stop, compile_notice():
                _receive(values, keys, stop)
    return 0


def _check(values: argparse.Namespace) -> bytes | dict[str, bytes] | None:
    """Return the keys of the edges, after a look at all values."""
    from orthostream.link import Shard

    with bad_values():
        Shard.parse(values.shard)
    if values.home_assistant and values.republish is None:
        raise UserError("--home-assistant needs --republish: it says where the readings are")
    if not values.store.startswith(_POSTGRES):
        check_folder(values.store)
    key = read_key(values)
    if values.keys_file is None:
        return key
    if key is not None:
        raise UserError("give --key-file (or ORTHOSTREAM_KEY) or --keys-file, not both")
    return _read_keys(values.keys_file)


def _read_keys(path: str) -> dict[str, bytes]:
    from orthostream.link.authentication import check_key
    from orthostream.link.names import check_edge

    with disk_trouble_with(path):
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    keys: dict[str, bytes] = {}
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        # The text of the line is not repeated: it holds a key.
        where = f"{path}, line {number}"
        if len(parts) != 2:
            raise UserError(f"{where}: a line has the name of an edge, a space and its key")
        if parts[0] in keys:
            raise UserError(f"{where}: the edge {parts[0]!r} has a key already")
        try:
            check_edge(parts[0])
            check_key(parts[1].encode())
        except ValueError as error:
            raise UserError(f"{where}: {str(error).removesuffix('.')}") from error
        keys[parts[0]] = parts[1].encode()
    if not keys:
        raise UserError(f"{path} holds no keys: all edges would be refused")
    return keys


def _explain(configuration: Configuration, values: argparse.Namespace, origins: dict[str, str]) -> None:
    make_transport(values, _client_id(values))
    store = values.store
    values.store = _without_password(store)
    for line in configuration.explained(values, origins):
        print(line.rstrip())
    values.store = store
    for line in secret_lines(values):
        print(line)
    print("all values are good", file=sys.stderr)


def _rebuild(address: str) -> None:
    from orthostream.link import open_store, rebuild
    from orthostream.link.store import only_writer

    name = _without_password(address)
    with (
        link_trouble(),
        trouble_with(name),
        open_store(address, create=False) as store,
        only_writer(store),
        compile_notice(),
        LateProgress(f"rebuilding {name}") as progress,
    ):
        samples = rebuild(store, progress=lambda done, total: progress(done / total))
    _log.info("%s: the readings of %s samples were made again", name, f"{samples:,}")


def _receive(values: argparse.Namespace, keys: bytes | dict[str, bytes] | None, stop: threading.Event) -> None:
    from orthostream.link import Cloud, Shard, open_store
    from orthostream.link.service import CloudService
    from orthostream.link.store import only_writer
    from orthostream.link.transport.broker_address import BrokerAddress

    with ExitStack() as stack, link_trouble(), bad_values():
        address = values.broker
        store = open_store(values.store)
        stack.callback(store.close)
        stack.enter_context(only_writer(store))
        if values.embedded_broker:
            from orthostream.link.transport.embedded_broker import EmbeddedBroker

            wanted = BrokerAddress.parse(address)
            broker = stack.enter_context(EmbeddedBroker(wanted.port, wanted.host))
            address = broker.address
            _log.info("the embedded broker listens at %s", address)
        transport = make_transport(values, _client_id(values), address)
        shard = Shard.parse(values.shard)
        listener = _listener(values, transport)
        cloud = stack.enter_context(Cloud(store, transport, shard=shard, keys=keys, listener=listener))
        stack.enter_context(transport)
        if listener is not None:
            # Before the transport is closed.
            stack.callback(listener.close)
        _log.info("storing what comes from %s in %s", address, _without_password(values.store))
        service = CloudService(cloud)
        run_service(service, stop, prefix="orthostream_cloud", status_port=values.status_port, line=_line)
        _log.info("%s", _line(service), extra={"data": {"status": service.status}})


def _listener(values: argparse.Namespace, transport: Transport) -> Republisher | None:
    from orthostream.link.republish import Republisher

    if values.republish is None:
        return None
    return Republisher(transport, root=values.republish, discovery="homeassistant" if values.home_assistant else None)


def _line(service: CloudService) -> str:
    edges: dict[str, dict[str, Any]] = service.status.get("edges", {})

    def total(what: str) -> int:
        return sum(each.get(what, 0) for each in edges.values())

    refused = total("refused")
    parts = [
        f"{len(edges):,} edge{'s' * (len(edges) != 1)}",
        f"{total('messages'):,} messages",
        f"{total('readings'):,} readings",
        f"{total('bytes'):,} bytes",
        f"{refused:,} refused" if refused else "",
        "" if service.status.get("connected") else "not connected",
        service.trouble,
    ]
    return "cloud: " + ", ".join(part for part in parts if part)


def _client_id(values: argparse.Namespace) -> str:
    """Return a name that no other cloud process has: of two with one name, the broker keeps only one."""
    return f"cloud-{values.shard.replace('/', '-')}-{socket.gethostname()[:32]}-{os.getpid()}"


def _without_password(address: str) -> str:
    """Return an address that may be shown.

    >>> _without_password("postgresql://me:secret@host/readings"), _without_password("readings.db")
    ('postgresql://me@host/readings', 'readings.db')
    """
    if not address.startswith(_POSTGRES):
        return address
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=user.partition(":")[0] + at + host, query="").geturl()
