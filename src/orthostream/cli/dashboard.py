"""`orthostream dashboard`: show an .ost file or a store on a page, in the browser of this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.link_options import link_trouble
from orthostream.cli.trouble import trouble_with

if TYPE_CHECKING:
    from orthostream.dashboard import View

_PORT = 8642
_URLS = ("postgresql://", "postgres://")


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("dashboard", help="show an .ost file or a store on a page", description=__doc__)
    parser.add_argument(
        "input", metavar="FILE|STORE", help="an .ost file, the store of a cloud, or a PostgreSQL URL (postgresql://…)"
    )
    parser.add_argument("--port", type=int, default=_PORT, metavar="P", help=f"port of the page ({_PORT}), 0 for any")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show the page until Ctrl-C."""
    from orthostream.cli.demo import wait_for_interrupt

    view = _view(options.input)
    try:
        with open_page(view, options.port) as address:
            print(f"page      {address}", flush=True)
            print("Ctrl-C ends it", flush=True)
            wait_for_interrupt()
    finally:
        view.close()
    return 0


def _view(place: str) -> View:
    from orthostream.compression import FrameError
    from orthostream.dashboard import OstView, StoredView
    from orthostream.link.errors import StoreError

    if not place.startswith(_URLS):
        with trouble_with(place), Path(place).open("rb") as file:
            is_ost = file.read(3) == b"OST"
        if is_ost:
            with trouble_with(place), LateProgress("reading") as progress:
                return OstView(place, progress)
    try:
        return StoredView(place)
    except (StoreError, FrameError, ImportError) as error:
        raise UserError(str(error)) from error


@contextmanager
def open_page(view: View, port: int) -> Iterator[str]:
    """Serve the page of a view within the block; give its address. If the port is taken, another one is used."""
    if not 0 <= port < 1 << 16:
        raise UserError(f"--port must be 0 to 65535, got {port}")
    try:
        from orthostream.dashboard.server import DashboardServer
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("nicegui", "fastapi", "uvicorn"):
            raise
        raise UserError("the page needs NiceGUI: pip install 'orthostream[dashboard]'") from error
    with link_trouble(), DashboardServer(view, port) as server:
        if port and not server.address.endswith(f":{port}"):
            print(f"orthostream: port {port} is taken, the page is at another one", file=sys.stderr)
        yield server.address
