"""A process that is killed and started again."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ORTHOSTREAM = [sys.executable, "-m", "orthostream"]
#: Seconds before a process that has ended by itself is started again.
_PAUSE = 0.5


class Program:
    """A process with a log file.

    Parameters
    ----------
    name : str
    command : list of str
    folder : path
        Of its log.
    environment : dict, optional
        Variables in addition to ours.
    ready : str
        What the process logs when it works.
    after_kill : callable, optional
        Called between the end of a killed process and the start of the next.

    Attributes
    ----------
    kills : int
    exits : int
        How often the process ended by itself, which it should never do.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        environment: dict[str, str] | None = None,
        ready: str = "",
        after_kill: Callable[[], None] | None = None,
    ) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        self._command = list(command)
        self._environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
        self._ready = ready
        self._after_kill = after_kill
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = 0.0
        self._log_before = 0
        self.kills = self.exits = 0

    def start(self) -> None:
        """Start the process."""
        with self.log.open("ab") as log:
            self._log_before = log.tell()
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )

    def kill(self) -> None:
        """End the process by SIGKILL, and start it again at once."""
        self.end(signal.SIGKILL)
        self.kills += 1
        if self._after_kill is not None:
            self._after_kill()
        self.start()

    def keep(self) -> None:
        """Start the process again, after a moment, if it has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            self.exits += 1
            self._ended = time.monotonic()
        if self._process is None and time.monotonic() - self._ended >= _PAUSE:
            self.start()

    def end(self, number: signal.Signals = signal.SIGTERM, patience: float = 30.0) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def works(self) -> bool:
        """Whether the process has logged that it works, since its start or since `look_again`."""
        with self.log.open("rb") as log:
            log.seek(self._log_before)
            return self._ready.encode() in log.read()

    def look_again(self) -> None:
        """Forget that the process works."""
        self._log_before = self.log.stat().st_size

    def log_text(self) -> str:
        """Return all that the process has logged."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


def status_of(port: int) -> dict[str, Any]:
    """Return the state that a process shows at a port; empty if it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2.0)
    with suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/status")
        found = json.loads(connection.getresponse().read())
        if isinstance(found, dict):
            return found
    connection.close()
    return {}


def mosquitto(folder: Path, port: int) -> list[str]:
    """Return the command of Mosquitto, without persistence as by default; raise RuntimeError if it is not installed."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise RuntimeError("Mosquitto is not installed")
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "log_dest stderr"]
    # Otherwise it would become a user that cannot read this folder.
    lines += [] if os.geteuid() else ["user root"]
    (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [program, "-c", str(folder / "mosquitto.conf")]


def embedded_broker(_folder: Path, port: int) -> list[str]:
    """Return the command of a process that runs the embedded broker."""
    return [sys.executable, str(Path(__file__).with_name("broker_process.py")), str(port)]


def free_port() -> int:
    """Return a port that is free at present."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])
