"""Options that edges and clouds share: the broker, secrets, logs."""

from __future__ import annotations

import argparse
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orthostream.cli.arguments import count_argument
from orthostream.cli.errors import UserError
from orthostream.cli.quantities import port_argument
from orthostream.cli.trouble import bad_values, disk_trouble_with

if TYPE_CHECKING:
    from orthostream.link.transport.mqtt import MqttTransport

#: Environment variables that hold secrets.
PASSWORD, KEY = "ORTHOSTREAM_PASSWORD", "ORTHOSTREAM_KEY"
_log = logging.getLogger(__name__)


def add_link_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that both programs have."""
    parser.add_argument(
        "--broker",
        default="127.0.0.1:1883",
        metavar="ADDRESS",
        help="the MQTT broker: HOST:PORT, mqtt://… or, with TLS, mqtts://… (127.0.0.1:1883)",
    )
    parser.add_argument("--user", metavar="NAME", help=f"user at the broker; its password is in {PASSWORD}")
    parser.add_argument("--password-file", metavar="FILE", help=f"a file with the password, instead of {PASSWORD}")
    parser.add_argument(
        "--tls-ca", metavar="FILE", help="certificates that the broker's is checked with (the system's)"
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="the certificate that this program shows to the broker")
    parser.add_argument("--tls-key", metavar="FILE", help="the private key of that certificate")
    parser.add_argument(
        "--insecure", action="store_true", help="allow a broker on another machine without TLS or without credentials"
    )
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help=f"a file with the key of authentication tags, 16 to 64 characters, instead of {KEY}",
    )
    parser.add_argument(
        "--keepalive",
        type=count_argument,
        default=30,
        metavar="SECONDS",
        help="test the connection to the broker after this much silence (30)",
    )
    parser.add_argument("--log-format", choices=("text", "json"), default="text", help="format of logs (text)")
    parser.add_argument(
        "--status-port",
        type=port_argument,
        metavar="PORT",
        help="answer /health, /metrics and /status at this port of 127.0.0.1 (not at all)",
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file with values of these options")
    parser.add_argument("--check", action="store_true", help="check and explain all values, and stop")


@contextmanager
def link_trouble() -> Iterator[None]:
    """Turn errors of links, and missing libraries, into one line."""
    from orthostream.link.errors import LinkError

    try:
        yield
    except (LinkError, ImportError) as error:
        raise UserError(" ".join(str(error).split())) from error


def read_secret(path: str | None, variable: str, option: str) -> str | None:
    """Return the secret of a file or else of the environment, None if there is none."""
    if path is None:
        return os.environ.get(variable) or None
    with disk_trouble_with(path):
        text = Path(path).read_text(encoding="utf-8", errors="replace").strip()
        if Path(path).stat().st_mode & stat.S_IROTH:
            _log.warning("%s (%s) can be read by every user of this machine", path, option)
    if not text:
        raise UserError(f"{path} ({option}) is empty")
    return text


def read_key(options: argparse.Namespace) -> bytes | None:
    """Return the key of authentication tags, None if there is none."""
    from orthostream.link.authentication import check_key

    text = read_secret(options.key_file, KEY, "--key-file")
    with bad_values():
        return check_key(None if text is None else text.encode())


def secret_lines(options: argparse.Namespace) -> list[str]:
    """Return a line for each secret that says where it came from, and not what it is."""
    lines = []
    for what, path, variable in (("password", options.password_file, PASSWORD), ("key", options.key_file, KEY)):
        is_set = read_secret(path, variable, f"--{what}-file") is not None
        origin = path or (variable if is_set else "default")
        lines.append(f"{what:<20} {'set, not shown' if is_set else '-':<24} {origin}")
    return lines


def make_transport(options: argparse.Namespace, client_id: str, address: str | None = None) -> MqttTransport:
    """Return a connection to the broker, not started yet."""
    from orthostream.link.transport.mqtt import MqttTransport, Tls

    files = {"ca": options.tls_ca, "certificate": options.tls_cert, "key": options.tls_key}
    password = read_secret(options.password_file, PASSWORD, "--password-file")
    if options.password_file is not None and options.user is None:
        raise UserError("--password-file needs --user")
    with link_trouble(), bad_values():
        try:
            return MqttTransport(
                address or options.broker,
                client_id=client_id,
                user=options.user,
                password=password if options.user is not None else None,
                tls=Tls(**files) if any(files.values()) else None,
                keepalive=options.keepalive,
                insecure=options.insecure,
            )
        except ValueError as error:
            raise ValueError(str(error).replace("insecure=True", "--insecure")) from error


def check_folder(path: str) -> None:
    """Raise UserError if a file could not be made at a path."""
    target = Path(path)
    if target.is_dir():
        raise UserError(f"{path} is a folder, not a file")
    if not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent} to keep {target.name} in")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise UserError(f"no permission to write {path}")
