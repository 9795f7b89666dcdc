"""The peak memory of a detector, measured in a process of its own."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import sparse

from orthostream.experiments.novelty.novelty_method import NoveltyMethod
from orthostream.experiments.novelty.run_trial import run_trial
from orthostream.novelty.block import SparseMatrix
from orthostream.optimize.threads import one_blas_thread

#: Documents of a first run, which loads what is loaded on first use.
_REHEARSED = 300
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_memory(method: NoveltyMethod, counts: SparseMatrix, batch_size: int, group: int | None = None) -> float:
    """Return by how many megabytes a run raises the peak memory of a process that has loaded the collection.

    Parameters
    ----------
    method : NoveltyMethod
        Its ``make`` must be something that another process can import.
    counts, batch_size, group
        As for `run_trial`.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            task = pickle.dumps((method, batch_size, group))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(
                f"memory is measured in another process, which cannot import {method.name!r}: make must be a class, a "
                f"function of a module, or a functools.partial of one ({error})."
            ) from error
        Path(folder, "task").write_bytes(task)
        sparse.save_npz(Path(folder, "counts.npz"), counts, compressed=False)
        command = [sys.executable, "-c", f"from {__name__} import main; main()", folder]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(f"{method.name} failed in a process of its own: {found.stderr.strip()[-2000:]}")
    return float(found.stdout)


def main() -> None:
    """Measure the task in the folder that the command line names, and write the megabytes."""
    sys.stdout.write(f"{_measure(Path(sys.argv[1]))}\n")


def _measure(folder: Path) -> float:
    method, batch_size, group = pickle.loads((folder / "task").read_bytes())
    counts: SparseMatrix = sparse.csr_array(sparse.load_npz(folder / "counts.npz"))
    with one_blas_thread():
        run_trial(method, counts[:_REHEARSED], min(batch_size, _REHEARSED // 3))
        _forget_peak()
        before = _peak()
        run_trial(method, counts, batch_size, group)
    return max(0.0, _peak() - before)


def _forget_peak() -> None:
    """Let the peak be what is used now, where the system can do that."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return


def _peak() -> float:
    """Return the peak resident memory of this process in megabytes."""
    if _STATUS.is_file():
        # Unlike getrusage, this does not count the memory of the process that started this one.
        line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024.0
    import resource

    # Kilobytes, on a Mac bytes.
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
