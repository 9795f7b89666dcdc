"""Files and functions stay short enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "orthostream"

PACKAGES = (
    "baselines",
    "cli",
    "compression",
    "dashboard",
    "datasets",
    "dictionary",
    "experiments",
    "link",
    "metrics",
    "novelty",
    "optimize",
)
MOST_LINES_OF_A_FILE = 350
MOST_LINES_OF_A_FUNCTION = 80


@pytest.mark.parametrize("package", PACKAGES)
def test_files_are_short(package: str) -> None:
    lines = {
        str(path.relative_to(SOURCE)): len(path.read_text(encoding="utf-8").splitlines()) for path in files_of(package)
    }
    assert {name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FILE} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short(package: str) -> None:
    long = {}
    for path in files_of(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = (node.end_lineno or node.lineno) - node.lineno + 1
                name = f"{path.relative_to(SOURCE).as_posix()}:{node.name}"
                if count > MOST_LINES_OF_A_FUNCTION:
                    long[name] = count
    assert long == {}


def files_of(package: str) -> list[Path]:
    files = sorted((SOURCE / package).rglob("*.py"))
    assert files
    return files
