"""Tasks: run once, on several cores, with a cache that survives interruptions and damage."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from orthostream.experiments import EXPERIMENTS, Plan
from orthostream.experiments.output import OutputError, write_output
from orthostream.experiments.task import Task, TaskResult, run_tasks


def square(number: float, log: str, report) -> TaskResult:
    """Return a square, and add a line to a log."""
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    report(0.5)
    return {"square": np.array([number**2])}


def fail(report) -> TaskResult:
    raise ValueError("this task fails")


def squares(log: Path, numbers: list[float]) -> list[Task]:
    return [Task(f"square of {number}", square, {"number": number, "log": str(log)}) for number in numbers]


def test_results_come_by_name_and_are_not_computed_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = run_tasks(squares(log, [2.0, 3.0]), tmp_path / "tasks", workers=1)
    again = run_tasks(squares(log, [2.0, 3.0, 4.0]), tmp_path / "tasks", workers=1)
    assert first["square of 3.0"]["square"] == 9.0
    assert {name: float(result["square"][0]) for name, result in again.items()} == {
        "square of 2.0": 4.0,
        "square of 3.0": 9.0,
        "square of 4.0": 16.0,
    }
    assert log.read_text().split() == ["2.0", "3.0", "4.0"]


def test_a_task_that_two_experiments_want_is_run_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_tasks(squares(log, [2.0]) + squares(log, [2.0]), tmp_path / "tasks", workers=1)
    assert log.read_text().split() == ["2.0"]


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not the rest", b"\x93NUMPY"])
def test_a_damaged_result_is_computed_again(tmp_path: Path, damage: bytes) -> None:
    log = tmp_path / "log"
    tasks = squares(log, [2.0])
    run_tasks(tasks, tmp_path / "tasks", workers=1)
    (tmp_path / "tasks" / tasks[0].file_name).write_bytes(damage)
    assert run_tasks(tasks, tmp_path / "tasks", workers=1)["square of 2.0"]["square"] == 4.0
    assert log.read_text().split() == ["2.0", "2.0"]


def test_half_a_result_is_computed_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = squares(log, [2.0])
    run_tasks(tasks, tmp_path / "tasks", workers=1)
    path = tmp_path / "tasks" / tasks[0].file_name
    path.write_bytes(path.read_bytes()[:-30])
    assert run_tasks(tasks, tmp_path / "tasks", workers=1)["square of 2.0"]["square"] == 4.0


def test_other_arguments_are_other_files() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    names = {
        Task("t", square, arguments).file_name
        for arguments in (
            {"number": 1.0},
            {"number": 2.0},
            {"number": rows},
            {"number": rows + 1.0},
            {"number": rows.reshape(3, 2)},
            {"other": 1.0},
            {"number": (rows, 1)},
            {"number": (rows + 1.0, 1)},
        )
    }
    assert len(names) == 8


def test_any_flipped_bit_costs_no_more_than_doing_it_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = squares(log, [2.0])
    run_tasks(tasks, tmp_path / "tasks", workers=1)
    path = tmp_path / "tasks" / tasks[0].file_name
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(bytes(damaged))
        result = run_tasks(tasks, tmp_path / "tasks", workers=1)["square of 2.0"]
        assert result.get("square") == 4.0 or "square" not in result


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    tasks = EXPERIMENTS["sparse-pca"].tasks(Plan(trials=2, steps=5))[:3]
    alone, together = (run_tasks(tasks, tmp_path / str(workers), workers=workers) for workers in (1, 2))
    assert alone.keys() == together.keys()
    for name, result in alone.items():
        for key, values in result.items():
            assert np.array_equal(values, together[name][key])


_FAILING = """
import sys, time
from pathlib import Path
import numpy as np
from orthostream.experiments.task import Task, run_tasks

def quick(number, report):
    return {"number": np.array(number)}

def late(folder, report):
    while len(list(Path(folder).glob("quick*.npz"))) < 2:
        time.sleep(0.05)
    raise ValueError("this task fails")

if __name__ == "__main__":
    folder = sys.argv[1]
    tasks = [Task(f"quick {n}", quick, {"number": n}) for n in (1, 2)] + [Task("late", late, {"folder": folder})]
    run_tasks(tasks, Path(folder), workers=2)
"""


@pytest.mark.slow
def test_what_others_finish_is_kept_when_one_fails_in_a_process(tmp_path: Path) -> None:
    script, folder = tmp_path / "script.py", tmp_path / "tasks"
    script.write_text(_FAILING)
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, timeout=120.0)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: this task fails")
    assert sorted(path.name[:7] for path in folder.iterdir()) == ["quick_1", "quick_2"]


def test_progress_reaches_one(tmp_path: Path) -> None:
    seen: list[tuple[float, str]] = []
    run_tasks(
        squares(tmp_path / "log", [1.0, 2.0]),
        tmp_path,
        workers=1,
        progress=lambda share, what: seen.append((share, what)),
    )
    assert [share for share, _ in seen] == [0.25, 0.5, 0.75, 1.0]
    assert seen[0][1] == "square of 1.0"


_SCRIPT = """
import sys, time
from pathlib import Path
import numpy as np
from orthostream.experiments.task import Task, run_tasks

def slow(number, report):
    for i in range(number):
        time.sleep(0.05)
        report(i / number)
    return {"number": np.array(number)}

if __name__ == "__main__":
    tasks = [Task(f"slow {n}", slow, {"number": n}) for n in (2, 3, 4000, 5000)]
    run_tasks(tasks, Path(sys.argv[1]), workers=2)
"""


def _processes_of(group: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    "by", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)], ids=["interrupted", "killed"]
)
def test_an_ended_run_leaves_no_process_and_keeps_what_is_done(tmp_path: Path, by: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    folder = tmp_path / "tasks"
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen([sys.executable, script, folder], start_new_session=True, stderr=errors)
        patience = time.monotonic() + 60.0
        while len(list(folder.glob("slow*.npz"))) < 2 and time.monotonic() < patience:
            time.sleep(0.05)
        os.kill(process.pid, by)
        process.wait(timeout=20.0)
    while _processes_of(process.pid) and time.monotonic() < patience:
        time.sleep(0.05)
    assert _processes_of(process.pid) == []
    assert sorted(path.name[:6] for path in folder.glob("slow*.npz")) == ["slow_2", "slow_3"]


def test_a_failing_task_says_why_and_the_others_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = [*squares(log, [2.0]), Task("failing", fail, {}, seconds=0.1)]
    with pytest.raises(ValueError, match="this task fails"):
        run_tasks(tasks, tmp_path / "tasks", workers=1)
    assert (tmp_path / "tasks" / tasks[0].file_name).is_file()


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    write_output(path, b"old")

    def full_disk(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OutputError, match="No space left"):
        write_output(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
