"""An MQTT broker within the process, for demonstrations and tests: amqtt in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

from orthostream.link.errors import LinkError
from orthostream.link.transport.broker_address import BrokerAddress, is_loopback

#: Seconds to wait for the broker to begin, and to end.
_BEGIN, _END = 20.0, 5.0
#: Seconds that a client has to take what was sent to it when its connection ends.
_LAST_WORDS = 1.0

_Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_log = logging.getLogger(__name__)


class EmbeddedBroker:
    """A broker on this machine only, without users and passwords; it keeps nothing on disk.

    Parameters
    ----------
    port : int
        0 for any free port.
    host : str
        An address of this machine.

    Attributes
    ----------
    address : str
        Where clients find the broker once it was started.

    Examples
    --------
    >>> with EmbeddedBroker() as broker:
    ...     print(broker.address.rpartition(":")[0])
    127.0.0.1
    """

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        if not is_loopback(host):
            raise ValueError(
                f"the embedded broker has no passwords and must stay on this machine, got the host {host!r}: use"
                " 127.0.0.1 here, and Mosquitto for other machines."
            )
        if not 0 <= port < 1 << 16:
            raise ValueError(f"a port must be 0 to 65535, got {port!r}.")
        self._host, self._port = host, port
        self.address = str(BrokerAddress(host, port, tls=False))
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin to listen; clients can connect when this returns.

        Raises
        ------
        LinkError
            If the port is taken.
        """
        if self._thread is not None:
            return
        begun = threading.Event()
        errors: list[Exception] = []
        thread = threading.Thread(target=self._run, args=(begun, errors), name="embedded broker", daemon=True)
        thread.start()
        if not begun.wait(_BEGIN):
            raise LinkError(f"the embedded broker did not begin within {_BEGIN:.0f} s")
        if errors:
            thread.join(_END)
            if isinstance(errors[0], OSError):
                address = BrokerAddress(self._host, self._port, tls=False)
                raise LinkError(f"the embedded broker cannot listen at {address}: {errors[0].strerror}") from errors[0]
            raise errors[0]
        self._thread = thread

    def close(self) -> None:
        """End all connections and the broker."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        assert self._loop is not None and self._stop is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        thread.join(2.0 * _END)

    def _run(self, begun: threading.Event, errors: list[Exception]) -> None:
        try:
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._serve(begun))
        except Exception as error:
            errors.append(error)
            if begun.is_set():
                _log.exception("the embedded broker has ended")
        finally:
            begun.set()

    async def _serve(self, begun: threading.Event) -> None:
        broker, handle = _make_broker()
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        with socket.create_server((self._host, self._port), family=family) as listener:
            self.address = str(BrokerAddress(self._host, listener.getsockname()[1], tls=False))
            await broker.start()
            connections = _Connections(listener, handle)
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            begun.set()
            await self._stop.wait()
            connections.refuse_more()
        connections.abort()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(broker.shutdown(), _END)
        await connections.end()


class _Connections:
    """Accepts connections. asyncio's own server may leave one open that comes at the moment of its end.

    Parameters
    ----------
    listener : socket
    handle : coroutine function
        Serves a connection until it ends.
    """

    def __init__(self, listener: socket.socket, handle: _Handle) -> None:
        self._listener, self._handle = listener, handle
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.get_running_loop()
        listener.setblocking(False)
        self._loop.add_reader(listener, self._accept)

    def refuse_more(self) -> None:
        """Accept no more connections."""
        self._loop.remove_reader(self._listener)

    def abort(self) -> None:
        """Close all connections at once."""
        for writer in self._writers:
            writer.transport.abort()

    async def end(self) -> None:
        """Wait until nothing is left of them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # Sockets are closed in the next round of the loop.
        await asyncio.sleep(0.0)

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except OSError:
            return
        task = self._loop.create_task(self._serve(link))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, link: socket.socket) -> None:
        try:
            reader, writer = await asyncio.open_connection(sock=link)
        except BaseException:
            link.close()
            raise
        self._writers.add(writer)
        try:
            await self._handle(reader, writer)
        except Exception:
            # Of one client only, which may send anything.
            _log.debug("a client of the embedded broker has failed", exc_info=True)
        finally:
            writer.close()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(writer.wait_closed(), _LAST_WORDS)
            writer.transport.abort()
            self._writers.discard(writer)


def _make_broker() -> tuple[Any, _Handle]:
    """Return a broker of amqtt that listens nowhere, and the function that serves a connection."""
    try:
        from amqtt.adapters import StreamReaderAdapter, StreamWriterAdapter  # type: ignore[import-untyped]
        from amqtt.broker import Broker  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("the embedded broker needs amqtt: pip install 'orthostream[link]'") from None
    # It reports each client that goes away as a failure, and has nothing to say to users of this package.
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    broker = Broker(
        {
            "listeners": {"default": {"type": "external"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await broker.external_connected(StreamReaderAdapter(reader), StreamWriterAdapter(writer), "default")

    return broker, handle
