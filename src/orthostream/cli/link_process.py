"""A service as a process: logs, signals, the status server, and a line that shows what goes on."""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from orthostream.cli.errors import UserError

if TYPE_CHECKING:
    from orthostream.link.service import Service

#: Seconds between two lines about the state where there is no terminal.
_SECONDS_BETWEEN_LINES = 60.0
_log = logging.getLogger("orthostream")


class _JsonLines(logging.Formatter):
    """One JSON object for each record."""

    def format(self, record: logging.LogRecord) -> str:
        plain = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "data", {}),
        }
        if record.exc_info:
            plain["exception"] = self.formatException(record.exc_info)
        return json.dumps(plain, default=str)


class _TextLines(logging.Formatter):
    """A time and a text, which may overwrite a line about the state."""

    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        start = "\r\x1b[K" if sys.stderr.isatty() else ""
        text = f"{start}{time.strftime('%H:%M:%S', time.localtime(record.created))} {level}{record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


@contextmanager
def logging_to_stderr(kind: str) -> Iterator[None]:
    """Log what the package says to standard error, as texts or as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if kind == "json" else _TextLines())
    level = _log.level
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.setLevel(level)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Return an event that Ctrl-C and SIGTERM set; the second time they end the process at once."""
    stop = threading.Event()

    def handle(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        # In a thread: the interrupted code may hold the lock of the event.
        threading.Thread(target=stop.set, daemon=True).start()

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_service(
    service: Service, stop: threading.Event, *, prefix: str, status_port: int | None, line: Callable[[Any], str]
) -> None:
    """Run a service until it is stopped or finished; ``line`` says how it is."""
    from orthostream.link.status_server import StatusServer

    with ExitStack() as stack:
        if status_port is not None:
            try:
                server = stack.enter_context(StatusServer(service, prefix, status_port))
            except OSError as error:
                raise UserError(f"--status-port: cannot listen at 127.0.0.1:{status_port}: {error.strerror}") from error
            _log.info("status at http://127.0.0.1:%d/status", server.port)
        service.run(stop, StateLine(line))
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


class StateLine:
    """Shows the state of a service: one line that changes on a terminal, a log entry a minute elsewhere.

    Parameters
    ----------
    line : callable
        Returns the line for a service.
    """

    def __init__(self, line: Callable[[Any], str]) -> None:
        self._line = line
        self._told = time.monotonic()

    def __call__(self, service: Service) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r" + self._line(service)[:119] + "\x1b[K")
            sys.stderr.flush()
        elif time.monotonic() - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            _log.info("%s", self._line(service), extra={"data": {"status": service.status}})
