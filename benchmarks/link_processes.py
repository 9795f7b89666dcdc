"""Real servers for benchmarks: a Mosquitto broker and a PostgreSQL server, each in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    """Return a port of this machine that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens to port {port}")


@contextmanager
def mosquitto(folder: Path) -> Iterator[str | None]:
    """Run Mosquitto on loopback and yield its address; None if it is not installed."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        yield None
        return
    port = free_port()
    settings = folder / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
    process = subprocess.Popen([program, "-c", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def postgres() -> Iterator[str | None]:
    """Run a PostgreSQL server on loopback, synced as usual, and yield its URL; None if it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    programs = Path(found).resolve().parent if (found := shutil.which("initdb")) else next(reversed(folders), None)
    if programs is None or (os.geteuid() == 0 and shutil.which("runuser") is None):
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="orthostream-bench-"))
    before: list[str] = []
    if os.geteuid() == 0:
        # The server refuses to run as root.
        before = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")

    def run(program: str, *arguments: str) -> None:
        subprocess.run([*before, str(programs / program), *arguments], check=True, capture_output=True, cwd="/")

    data, port = str(folder / "data"), free_port()
    try:
        run("initdb", "-D", data, "-U", "orthostream", "-A", "trust")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://orthostream@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
