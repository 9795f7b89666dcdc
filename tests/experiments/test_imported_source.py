"""Cached results are valid exactly as long as the code that made them is unchanged."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import orthostream
from orthostream.datasets import make_city
from orthostream.experiments import EXPERIMENTS, Plan, SensorReadings, task
from orthostream.experiments.imported_source import imported_files
from orthostream.experiments.methods import DEEP
from orthostream.experiments.task import Task

_PACKAGE = Path(orthostream.__file__).parent

_FILES = {
    "__init__.py": '"""A package."""\nfrom pack.shop import Used\n__version__ = "1"\n__all__ = ["Used"]\n',
    "start.py": """
        from typing import TYPE_CHECKING
        import numpy
        import pack.whole as whole
        from pack import sibling
        from pack.shop import Used as Renamed
        from . import relative
        from .inner.deep import thing
        if TYPE_CHECKING:
            from pack import typed
        else:
            from pack import otherwise
        def run():
            from pack.local import nothing
            try:
                import pack.tried
            except ImportError:
                pass
        """,
    "whole.py": "",
    "sibling.py": "from pack.further import *",
    "further.py": "import pack.start",
    "relative.py": "",
    "typed.py": "",
    "otherwise.py": "",
    "local.py": "nothing = None",
    "tried.py": "",
    "stranger.py": "import pack.start",
    "shop/__init__.py": "from pack.shop.shelf import Used\nfrom pack.shop.other import Unused\n",
    "shop/shelf.py": "class Used: pass",
    "shop/other.py": "class Unused: pass",
    "inner/__init__.py": "from .. import helper\nhelper.set_up()\n",
    "inner/deep.py": "from ..shop import other\nthing = None",
    "helper.py": "def set_up(): pass",
}
_EXPECTED = {
    *("start.py", "whole.py", "sibling.py", "further.py", "relative.py", "otherwise.py", "local.py", "tried.py"),
    *("shop/shelf.py", "inner/__init__.py", "inner/deep.py", "shop/other.py", "helper.py"),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in _FILES.items():
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").splitlines() or [""]
        indent = len(lines[0]) - len(lines[0].lstrip())
        path.write_text("\n".join(line[indent:] for line in lines) + "\n")
    return tmp_path / "pack"


def names(found: list[Path], package: Path) -> set[str]:
    return {path.relative_to(package).as_posix() for path in found}


def test_imports_of_every_kind_are_followed(package: Path) -> None:
    assert names(imported_files(package / "start.py", "pack.start", package), package) == _EXPECTED


def test_a_module_outside_of_the_package(package: Path) -> None:
    script = package.parent / "script.py"
    script.write_text("from pack import Used\nimport pack.helper\n")
    assert imported_files(script, "__main__", package) == sorted(
        [script, package / "shop" / "shelf.py", package / "helper.py"]
    )


def test_a_package_with_code_of_its_own_counts_with_all_that_it_imports(package: Path) -> None:
    (package / "shop" / "__init__.py").write_text(_FILES["shop/__init__.py"] + "Used.price = Unused\n")
    (package / "inner" / "deep.py").write_text("thing = None\n")
    found = names(imported_files(package / "start.py", "pack.start", package), package)
    assert found == _EXPECTED | {"shop/__init__.py"}


@pytest.fixture
def keyed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that returns the file name of a task whose function is in ``pack.start``."""
    module = type(sys)("pack.start")
    module.__file__ = str(package / "start.py")
    monkeypatch.setitem(sys.modules, "pack.start", module)
    monkeypatch.setattr(task, "__file__", str(package / "experiments" / "task.py"))

    def run() -> None: ...

    run.__module__ = "pack.start"

    def key() -> str:
        task._surroundings.cache_clear()
        return Task("t", run, {"seed": 1}).file_name

    yield key
    task._surroundings.cache_clear()


@pytest.mark.parametrize("name", sorted(_FILES))
def test_a_change_in_an_imported_module_changes_the_key_and_no_other(package: Path, keyed: Any, name: str) -> None:
    before = keyed()
    assert keyed() == before
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert (keyed() != before) == (name in _EXPECTED)


@cache
def modules_of(run: Any) -> set[str]:
    path = Path(sys.modules[run.__module__].__file__)
    return names(imported_files(path, run.__module__, _PACKAGE), _PACKAGE)


def test_results_do_not_depend_on_what_their_tasks_do_not_use() -> None:
    plan = Plan(readings=SensorReadings.of("A city", make_city(4200, 5, random_state=0), real=False))
    for experiment in EXPERIMENTS.values():
        for run in {each.run for each in experiment.tasks(plan)}:
            found = modules_of(run)
            assert not {name for name in found if name.startswith(("cli/", "compression/"))}
            assert "experiments/report.py" not in found
    assert "baselines/deep_stgdl.py" not in modules_of(EXPERIMENTS["sparsity"].tasks(plan)[0].run)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_code_that_a_task_runs_is_in_its_key(name: str) -> None:
    """Run small tasks under a profiler that notes the files of all functions called."""
    readings = SensorReadings.of("A city", make_city(4112, 36, random_state=0), real=False)
    plan = Plan(quick=True, trials=1, steps=3, sweeps=1, readings=readings, without=frozenset({DEEP}))
    seen: set[str] = set()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        # Bodies of modules run at import, which says nothing about the task.
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    for each in EXPERIMENTS[name].tasks(plan):
        seen.clear()
        sys.setprofile(watch)
        try:
            each.run(**each.arguments, report=lambda share: None)
        finally:
            sys.setprofile(None)
        executed = {Path(file) for file in seen if Path(file).is_relative_to(_PACKAGE)}
        assert names(sorted(executed), _PACKAGE) <= modules_of(each.run)
        assert executed
