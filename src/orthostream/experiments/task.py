"""Tasks: independent pieces of work that run on all cores, with cached results.

A task is a function of its arguments alone. Its result is cached in a file whose name holds a digest of the arguments
and of the code. An interrupted run goes on from the cached results, and a run with another seed does not use them.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from orthostream.experiments.imported_source import imported_files
from orthostream.experiments.output import write_output

TaskResult = dict[str, np.ndarray[Any, Any]]

#: Called with the share of a task that is done, from 0 to 1; raises `InterruptedRunError` if the run is being stopped.
TaskReport = Callable[[float], None]


#: Called with the share of all work that is done, and the name of the last task.
RunProgress = Callable[[float, str], None]


def silent(share: float, what: str) -> None:
    """Show no progress."""


class InterruptedRunError(Exception):
    """The run is being stopped; finished results stay in the cache."""


@dataclass(frozen=True)
class Task:
    """A function that a worker can import, its arguments, and an estimate of how many seconds it takes."""

    name: str
    run: Callable[..., TaskResult]
    arguments: Mapping[str, Any]
    seconds: float = 1.0
    #: Whether it leaks memory and needs a process of its own.
    leaks: bool = False

    @property
    def file_name(self) -> str:
        """The name of the file with the cached result: readable, and unique to the code and the arguments."""
        digest = hashlib.sha256(
            f"{_surroundings(self.run.__module__)} {self.run.__module__}.{self.run.__qualname__}".encode()
        )
        for key in sorted(self.arguments):
            digest.update(f"|{key}=".encode())
            _digest_value(digest, self.arguments[key])
        readable = "".join(c if c.isalnum() or c in "=.-" else "_" for c in self.name)
        return f"{readable}-{digest.hexdigest()[:12]}.npz"


def _digest_value(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple):
        for part in value:
            _digest_value(digest, part)
            digest.update(b",")
    else:
        digest.update(repr(value).encode())


@cache
def _surroundings(module: str) -> str:
    """Return a digest of the code that a module's functions rest on: files of this package, versions of others."""
    digest = hashlib.sha256()
    source = getattr(sys.modules[module], "__file__", None)
    for path in imported_files(Path(source), module, Path(__file__).parents[1]) if source else ():
        digest.update(path.read_bytes())
    for name in ("numpy", "scipy", "scikit-learn", "spams-bin", "torch"):
        with suppress(PackageNotFoundError):
            digest.update(f"{name} {version(name)}".encode())
    return digest.hexdigest()


def run_tasks(
    tasks: Iterable[Task],
    folder: Path,
    *,
    workers: int,
    progress: RunProgress = silent,
) -> dict[str, TaskResult]:
    """Load cached results, run and cache the remaining tasks, and return all results by name.

    Parameters
    ----------
    tasks : tasks of the same name are the same, and run once
    folder : the cache, created if needed
    workers : the number of processes; 1 runs everything in this process
    progress : called with the share of the work that is done, and the name of the last task

    Examples
    --------
    >>> import tempfile
    >>> def double(number, report):
    ...     report(0.5)
    ...     return {"twice": np.array(2 * number)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_tasks([Task("of three", double, {"number": 3})], Path(folder), workers=1)
    {'of three': {'twice': array(6)}}
    """
    wanted = {task.name: task for task in tasks}
    results = {name: found for name, task in wanted.items() if (found := _load(folder / task.file_name)) is not None}
    missing = sorted((task for name, task in wanted.items() if name not in results), key=lambda task: -task.seconds)
    total = sum(task.seconds for task in missing) or 1.0
    shares = dict.fromkeys((task.name for task in missing), 0.0)

    def report(name: str, share: float) -> None:
        shares[name] = share
        progress(sum(task.seconds * shares[task.name] for task in missing) / total, name)

    def keep(task: Task, result: TaskResult) -> None:
        _save(folder / task.file_name, result)
        results[task.name] = result
        report(task.name, 1.0)

    if workers > 1 and len(missing) > 1:
        _run_in_processes([task for task in missing if task.leaks], workers, keep, report, tasks_of_a_process=1)
        _run_in_processes([task for task in missing if not task.leaks], workers, keep, report)
    else:
        with threadpool_limits(1):
            for task in missing:
                keep(task, task.run(**task.arguments, report=partial(report, task.name)))
    return results


def _run_in_processes(
    tasks: list[Task],
    workers: int,
    keep: Callable[[Task, TaskResult], None],
    report: Callable[[str, float], None],
    tasks_of_a_process: int | None = None,
) -> None:
    context = multiprocessing.get_context("spawn")
    reports, stop = context.Queue(), context.Event()
    with ProcessPoolExecutor(
        workers, context, _prepare_worker, (reports, stop), max_tasks_per_child=tasks_of_a_process
    ) as pool:
        running: dict[Future[TaskResult], Task] = {pool.submit(_in_worker, task): task for task in tasks}
        try:
            while running:
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                failures = []
                for future in done:
                    task, failure = running.pop(future), future.exception()
                    if failure is None:
                        keep(task, future.result())
                    else:
                        failures.append(failure)
                if failures:
                    raise failures[0]
                unfinished = {task.name for task in running.values()}
                while True:
                    try:
                        name, share = reports.get_nowait()
                    except queue.Empty:
                        break
                    if name in unfinished:
                        report(name, share)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


_worker: dict[str, Any] = {}


def _prepare_worker(reports: Any, stop: Any) -> None:
    """Ignore Ctrl-C, which the main process handles: it sets the event that every report checks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # If the parent is killed, its workers must end too.
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    _worker.update(reports=reports, stop=stop)


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _in_worker(task: Task) -> TaskResult:
    def report(share: float) -> None:
        if _worker["stop"].is_set():
            raise InterruptedRunError
        _worker["reports"].put((task.name, share))

    with threadpool_limits(1):
        return task.run(**task.arguments, report=report)


def _load(path: Path) -> TaskResult | None:
    """Return a cached result; None if the file is missing or damaged, and the task must run again."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:  # damaged bytes can raise almost any exception in zip, zlib or the header parser
        return None


def _save(path: Path, result: TaskResult) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **result)  # type: ignore[arg-type]
    write_output(path, buffer.getvalue())
