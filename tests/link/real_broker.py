"""Mosquitto as a test starts it, and waiting for things to happen."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PROGRAM = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


class Mosquitto:
    """A Mosquitto in a folder, which can be killed and started again on the same port.

    ``lines`` are added to its configuration after the listener, which may be among them as ``listener {port}``.
    """

    def __init__(self, folder: Path, *lines: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._lines = lines
        self._process: subprocess.Popen[bytes] | None = None
        for _ in range(10):
            self.port = free_port()
            try:
                self.start()
                return
            except ChildProcessError as error:
                # Another process may have taken the port.
                if "Address already in use" not in str(error):
                    raise
        raise ChildProcessError("Mosquitto found no free port")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        lines = [line.replace("{port}", f"{self.port} 127.0.0.1") for line in self._lines]
        settings = [*lines, "log_dest stderr"]
        if not any(line.startswith("listener") for line in lines):
            settings.insert(0, f"listener {self.port} 127.0.0.1")
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Otherwise it would become a user that cannot read this folder.
            settings.append("user root")
        (self.folder / "mosquitto.conf").write_text("\n".join(settings) + "\n")
        assert PROGRAM is not None
        with (self.folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "-c", str(self.folder / "mosquitto.conf")], stderr=log, stdout=log, cwd=self.folder
            )
        deadline = time.monotonic() + 10.0
        while not self._is_listening():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise ChildProcessError(f"Mosquitto did not start: {self.log}")
            time.sleep(0.01)

    def _is_listening(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
                return True
        except OSError:
            return False

    @property
    def log(self) -> str:
        return (self.folder / "mosquitto.log").read_text(errors="replace")

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(condition: Callable[[], object], seconds: float = 30.0, meanwhile: Callable[[], object] | None = None):
    """Return what a condition returns once it is true; fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        if meanwhile is not None:
            meanwhile()
        time.sleep(0.01)
    return found
