"""Serves the pages of a view, to browsers of this machine only."""

from __future__ import annotations

import socket
import threading
import time
from typing import ClassVar, Self

import uvicorn
from fastapi import FastAPI
from nicegui import run, ui
from starlette.middleware.trustedhost import TrustedHostMiddleware

from orthostream.dashboard.edge_page import EdgePage
from orthostream.dashboard.overview_page import OverviewPage
from orthostream.dashboard.view import View
from orthostream.link.errors import LinkError

#: Seconds to wait for the server to begin, and to end.
_BEGIN, _END = 15.0, 5.0
_HOST = "127.0.0.1"


class DashboardServer:
    """A server in a thread of its own; a process can have one.

    Parameters
    ----------
    view : View
    port : int
        0 for any free port; if it is taken, another one is used.

    Attributes
    ----------
    address : str
        Where the page is.
    """

    _was_made: ClassVar[bool] = False

    def __init__(self, view: View, port: int = 0) -> None:
        if DashboardServer._was_made:
            raise RuntimeError("a process can serve one dashboard only.")
        DashboardServer._was_made = True
        self._view = view
        self._socket = _listening(port)
        self.address = f"http://{_HOST}:{self._socket.getsockname()[1]}"
        application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        # A page of another site must not read this one under a name that leads here.
        application.add_middleware(TrustedHostMiddleware, allowed_hosts=[_HOST, "localhost"])
        _add_pages(view)
        ui.run_with(application, title=view.title, tailwind=False, show_welcome_message=False)
        # Browsers keep a websocket open, which the server does not wait for at its end.
        config = uvicorn.Config(
            application, log_level="error", access_log=False, timeout_graceful_shutdown=1, lifespan="on"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        end = time.monotonic() + _BEGIN
        while not self._server.started:
            if time.monotonic() > end or not self._thread.is_alive():
                raise LinkError(f"the page could not be served at {self.address}")
            time.sleep(0.02)
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.should_exit = True
        self._thread.join(_END)
        self._socket.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])


def _listening(port: int) -> socket.socket:
    for wanted in (port, 0):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((_HOST, wanted))
            found.listen(128)
        except OSError:
            found.close()
            if wanted == 0:
                raise
            continue
        return found
    raise AssertionError("unreachable")


def _add_pages(view: View) -> None:
    async def first() -> None:
        edges = await run.io_bound(view.edges) or []
        if len(edges) == 1:
            await EdgePage(view, edges[0].name).begin()
        else:
            await OverviewPage(view, leaves_for_only_edge=not edges).begin()

    async def overview() -> None:
        await OverviewPage(view).begin()

    async def edge(name: str) -> None:
        await EdgePage(view, name).begin()

    ui.page("/")(first)
    ui.page("/edges")(overview)
    ui.page("/edge/{name}")(edge)
