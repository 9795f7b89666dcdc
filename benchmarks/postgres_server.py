"""A PostgreSQL server in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_USER, _DATABASE = "orthostream", "orthostream"


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, None if they are not installed or cannot be run by this user."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    folder = Path(found).resolve().parent if found else folders[-1] if folders else None
    if folder is None or not (folder / "initdb").is_file():
        return None
    # It refuses to run as root.
    return folder if os.geteuid() or shutil.which("runuser") else None


@contextmanager
def running_postgres(*settings: str) -> Iterator[str]:
    """Run a server within the block, on this machine only and without passwords; return the URL of its database.

    ``settings`` are added to its configuration, such as "shared_buffers=256MB".

    Raises
    ------
    RuntimeError
        If it is not installed or does not start.
    """
    folder_of_programs = programs()
    if folder_of_programs is None:
        raise RuntimeError("PostgreSQL is not installed: there is no initdb")
    before = []
    folder = Path(tempfile.mkdtemp(prefix="orthostream-postgres-"))
    if not os.geteuid():
        before = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    port = _free_port()
    data, log = str(folder / "data"), str(folder / "log")
    words = " ".join(f"-c {setting}" for setting in ("listen_addresses=127.0.0.1", *settings))

    def run(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*before, str(folder_of_programs / program), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            # A pipe would be inherited by the server, and never end.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=120,
        )
        if done.returncode:
            told = Path(log).read_text(errors="replace")[-2000:] if Path(log).exists() else ""
            raise RuntimeError(f"{program} failed with exit code {done.returncode}. {told}")

    try:
        run("initdb", "-D", data, "-U", _USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-D", data, "-w", "-l", log, "-o", f"-p {port} -c unix_socket_directories='' {words}", "start")
        run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", _USER, _DATABASE)
        yield f"postgresql://{_USER}@127.0.0.1:{port}/{_DATABASE}"
    finally:
        with suppress(RuntimeError):
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])
