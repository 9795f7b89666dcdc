"""Kernels: what they are compiled from, and who has one."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from orthostream.dictionary import missing
from orthostream.optimize import HandOver, LpContrast, PolarStep, RunningMean, SpectralBall
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.polar_decomposition import chosen_path

KERNELS = [
    HandOver().kernel,
    RunningMean(LpContrast()).kernel,
    SpectralBall().kernel,
    PolarStep().kernel,
    missing._KERNEL,
    chosen_path._POLAR,
    chosen_path._NEAR_POLAR,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_module_that_is_compiled_into_a_kernel_is_in_its_digest(kernel: Kernel) -> None:
    """A constant of a module that is not in the list could change, and Numba's cache would not notice."""
    for name in kernel.modules:
        tree = ast.parse(Path(str(import_module(name).__file__)).read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        own = {module for module in imported if module and module.startswith("orthostream")}
        assert own <= {*kernel.modules, "orthostream._typing"}


@pytest.mark.parametrize("kind", [HandOver, RunningMean, SpectralBall, PolarStep])
def test_a_subclass_may_do_something_else_and_has_no_kernel(kind: type) -> None:
    class Other(kind):  # type: ignore[misc,valid-type]
        pass

    arguments = (LpContrast(),) if kind is RunningMean else ()
    assert kind(*arguments).kernel is not None
    assert Other(*arguments).kernel is None
