"""Help, and the import of the package, load no library that takes long."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"matplotlib", "numba", "pandas", "pyarrow", "scipy", "sklearn", "torch"}


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a new Python process has loaded at the end of some code."""
    listing = "\nimport json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code + listing], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_no_heavy_library() -> None:
    assert not modules_after("import orthostream; orthostream.__version__; dir(orthostream)") & HEAVY


@pytest.mark.parametrize(
    "code",
    [
        "import orthostream; orthostream.OrthogonalDictionaryLearning()",
        "from orthostream import *; StreamingSparsePCA()",
        "import orthostream; orthostream.dictionary.OrthogonalDictionaryLearning()",
        "import orthostream; orthostream.NovelDocumentDetector()",
    ],
)
def test_an_estimator_is_loaded_when_it_is_used(code: str) -> None:
    assert "sklearn" in modules_after(code)


def test_the_package_lists_its_estimators_and_refuses_other_names() -> None:
    import orthostream

    assert set(orthostream.__all__) | {"optimize", "compression"} <= set(dir(orthostream))
    with pytest.raises(AttributeError, match="'orthostream' has no attribute 'Dictionary'"):
        orthostream.Dictionary  # noqa: B018
    with pytest.raises(ImportError, match="Dictionary"):
        from orthostream import Dictionary  # noqa: F401


def test_a_pickled_estimator_is_read_by_a_process_that_has_imported_nothing() -> None:
    import pickle

    from orthostream import OrthogonalDictionaryLearning

    data = pickle.dumps(OrthogonalDictionaryLearning(n_nonzero=3))
    assert "sklearn" in modules_after(f"import pickle; assert pickle.loads({data!r}).n_nonzero == 3")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["compress", "--help"],
        ["decompress", "--help"],
        ["inspect", "--help"],
        ["demo", "--help"],
        ["demo", "recovery", "--help"],
        ["dashboard", "--help"],
        ["reproduce", "--help"],
        ["novelty", "--help"],
        ["bench", "--help"],
        ["bench", "novelty", "--help"],
        ["bench", "learner", "--help"],
    ],
    ids=" ".join,
)
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    code = f"""
from orthostream.cli.main import main
try:
    main({arguments!r})
except SystemExit as end:
    assert end.code == 0
"""
    assert not modules_after(code) & (HEAVY | {"numpy"})


def test_the_package_runs_as_a_module_under_its_own_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "orthostream", "inspect", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("usage: orthostream inspect")


@pytest.mark.parametrize("module", ["orthostream.cli.compress", "orthostream.compression"])
def test_an_interrupt_of_an_import_is_no_traceback(module: str) -> None:
    code = f"""
import sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from orthostream.cli.main import main
sys.exit(main(["compress", "-", "out.ost"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, input="a\n1\n")
    assert done.returncode == 130
    assert done.stderr == "orthostream: interrupted\n"
