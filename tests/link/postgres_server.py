"""A real PostgreSQL server in a folder of its own, for tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

USER, PASSWORD, DATABASE = "orthostream", "correct-horse", "orthostream"


def binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs, None if they are not installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return folders[-1] if folders and (folders[-1] / "initdb").is_file() else None


class PostgresServer:
    """A server that can be stopped and started again; it does not sync, since tests do not pull the plug.

    Attributes
    ----------
    url : str
        Of its database, with a password.
    """

    def __init__(self, folder: Path) -> None:
        programs = binaries()
        if programs is None:
            pytest.skip("PostgreSQL is not installed: there is no initdb")
        self._programs = programs
        self._folder = folder / "postgres"
        self.port = 0
        # The server refuses to run as root.
        self._before: list[str] = []
        if os.geteuid() == 0:
            if shutil.which("runuser") is None:
                pytest.skip("PostgreSQL does not run as root, and there is no runuser")
            self._before = ["runuser", "-u", "postgres", "--"]
            # Folders of pytest are private, so another user's server needs one elsewhere.
            self._folder = Path(tempfile.mkdtemp(prefix="orthostream-postgres-"))
            shutil.chown(self._folder, "postgres")
        else:
            self._folder.mkdir(parents=True)
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run(
            "initdb",
            *("-D", str(self._data), "-U", USER, "--pwfile", str(secret), "--auth=scram-sha-256"),
            *("--encoding=UTF8", "--locale=C", "--no-sync"),
        )
        self._start_anywhere()
        self.url = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{DATABASE}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, DATABASE)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _start_anywhere(self, attempts: int = 3) -> None:
        """Start at a free port, which another program may take before the server does."""
        self.port = _free_port()
        try:
            self.start()
        except AssertionError:
            if attempts == 1:
                raise
            self._start_anywhere(attempts - 1)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        settings = (
            f"-c listen_addresses=127.0.0.1 -p {self.port} -c unix_socket_directories='' -c fsync=off"
            " -c max_connections=40 -c shared_buffers=32MB"
        )
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self._folder / "log"), "-o", settings, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; "immediate" is as good as killing it."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def remove(self) -> None:
        """Remove its files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = [*self._before, str(self._programs / program), *arguments]
        done = subprocess.run(
            command,
            cwd=self._folder,
            env={**os.environ, "PGPASSWORD": PASSWORD},
            stdin=subprocess.DEVNULL,
            # A pipe would be inherited by the server, and never end.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=60,
        )
        log = self._folder / "log"
        assert done.returncode == 0, (program, log.read_text()[-2000:] if log.exists() else "")


@contextmanager
def running_server(folder: Path) -> Iterator[PostgresServer]:
    """Run a server within the block; skip the test where PostgreSQL is not installed."""
    server = PostgresServer(folder)
    try:
        yield server
    finally:
        # A test may have stopped it.
        with suppress(AssertionError):
            server.stop()
        server.remove()


@contextmanager
def running_postgres(folder: Path) -> Iterator[str]:
    """Run a server within the block, and return the URL of its database."""
    with running_server(folder) as server:
        yield server.url


def with_schema(url: str, name: str) -> str:
    """Make a schema, and return a URL whose tables are in it: many stores in one database."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"'.encode())
    return f"{url}?options=-csearch_path%3D{name}"


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])
