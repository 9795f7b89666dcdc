"""Which path is taken, and that none of them hangs on strange input."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition import by_singular_values, exact_polar, polar, polar_between

Make = Callable[..., FloatArray]

#: Run in a process of its own, which can be ended: LAPACK may loop for ever over infinite numbers. It does everything
#: once with a harmless number, which compiles what has to be compiled, and then again against the clock.
STRANGE = """
import faulthandler
import sys
from contextlib import nullcontext
import numpy as np
from orthostream.optimize import ConstantSchedule, LpContrast, PolarStep, StochasticFrankWolfe
from orthostream.optimize import NuclearBall, SpectralBall
from orthostream._compile import without_numba
from orthostream.optimize.polar_decomposition import by_singular_values, polar, polar_between


def attempt(what, function):
    print(what, end=" ", flush=True)
    try:
        answer = function()
    except (ValueError, np.linalg.LinAlgError):
        print("refused", flush=True)
    else:
        print("finite" if np.isfinite(answer).all() else "undefined", flush=True)


def attempt_all(value):
    rng = np.random.default_rng(0)
    for limit in (nullcontext, without_numba, by_singular_values):
        with limit(), np.errstate(all="ignore"):
            for dtype in (np.float64, np.float32):
                for shape in ((5, 5), (7, 1), (9, 3), (17, 17), (30, 30), (50, 20), (2, 5, 5), (2, 9, 4)):
                    a = rng.standard_normal(shape).astype(dtype)
                    a[..., 0, 0] = value
                    what = f"path:{limit.__name__}-{np.dtype(dtype)}-{shape}".replace(" ", "")
                    for low in (0.0, 1e-6, 0.2):
                        attempt(f"polar-{low}-{what}", lambda: polar(a, low=low)[0])
                        attempt(f"near-{low}-{what}", lambda: polar(a, near=np.zeros_like(a), low=low)[0])
                    for low in (0.0, 0.2, 0.9):
                        attempt(f"between-{low}-{what}", lambda: polar_between(a, low))
                    for feasible in (SpectralBall(), NuclearBall()):
                        attempt(f"lmo-{type(feasible).__name__}-{what}", lambda: feasible.lmo(a))
            points = np.eye(5), np.stack([np.eye(5)] * 2)
            solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.2, 0.1), PolarStep())
            for x in points:
                state, batch = solver.init(x), rng.standard_normal((*x.shape[:-2], 20, 5))
                for _ in range(5):
                    state = solver.step(state, batch)
                batch[..., 3, 2] = value
                attempt(f"step-path:{limit.__name__}", lambda: solver.step(state, batch).x)


attempt_all(1.0)
print("ready", flush=True)
faulthandler.dump_traceback_later(8, exit=True)
attempt_all(float(sys.argv[1]))
print("done", flush=True)
"""


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_no_number_is_an_error_and_no_hang(value: str) -> None:
    process = subprocess.run([sys.executable, "-c", STRANGE, value], capture_output=True, text=True, timeout=300)
    harmless, _, strange = process.stdout.partition("ready")
    assert harmless.count(" finite") == harmless.count("-path:") > 300
    lines = [line for line in strange.splitlines() if "-" in line or line == "done"]  # LAPACK prints lines of its own
    assert lines[-1] == "done", f"stuck or broken at {lines[-1]!r}: {process.stderr}"
    assert not [line for line in lines if line.endswith(" finite")]


def in_a_fresh_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK = """
import numpy as np
from orthostream._compile import can_compile
from orthostream.optimize.polar_decomposition import polar
print(can_compile(), polar(np.diag([3.0, -2.0]), low=0.5)[0].round(6).tolist())
"""


def test_environment_turns_the_compiled_path_off() -> None:
    assert in_a_fresh_process(ASK, ORTHOSTREAM_FAST="0") == "False [[1.0, 0.0], [0.0, -1.0]]"


def test_package_works_without_numba() -> None:
    absent = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else find(name, *rest)
"""
    assert in_a_fresh_process(absent + ASK, ORTHOSTREAM_FAST="1") == "False [[1.0, 0.0], [0.0, -1.0]]"


def test_numba_is_not_imported_where_it_is_turned_off() -> None:
    code = ASK + "import sys; print('numba' in sys.modules)"
    assert in_a_fresh_process(code, ORTHOSTREAM_FAST="0").endswith("False")


# Blocks that turn a path off.


def taken(a: FloatArray) -> str:
    """Return which path computes the polar factor of a matrix: the exact one calls `exact_polar` and nothing else."""
    if can_compile():
        return "compiled"
    factor = polar(a, low=0.5)[0]
    return "exact" if np.array_equal(factor, exact_polar(a)[0]) else "numpy"


@pytest.fixture
def telling(with_spectrum: Make) -> FloatArray:
    """Return a matrix for which products round differently from singular values."""
    return with_spectrum(40, np.linspace(1.0, 0.6, 40))


def test_blocks_nest_and_restore(telling: FloatArray) -> None:
    before = taken(telling)
    with without_numba():
        assert taken(telling) == "numpy"
        with by_singular_values():
            assert taken(telling) == "exact"
            with without_numba():
                assert taken(telling) == "exact"
            with by_singular_values():
                assert taken(telling) == "exact"
            assert taken(telling) == "exact"
        assert taken(telling) == "numpy"
        with without_numba():
            assert taken(telling) == "numpy"
        assert taken(telling) == "numpy"
    assert taken(telling) == before
    with by_singular_values():
        assert taken(telling) == "exact"
    assert taken(telling) == before


@pytest.mark.parametrize("block", [without_numba, by_singular_values])
def test_block_that_ends_with_an_error_restores_too(block: Callable[[], object], telling: FloatArray) -> None:
    before = taken(telling)
    with pytest.raises(KeyError), block():  # type: ignore[attr-defined]
        raise KeyError
    assert taken(telling) == before


def test_singular_values_are_used_for_every_shape(with_spectrum: Make) -> None:
    for rows, columns, stack in [(1, 1, ()), (5, 5, ()), (40, 40, ()), (9, 4, ()), (6, 6, (3,)), (8, 5, (2, 2))]:
        a = with_spectrum(rows, np.linspace(1.0, 0.9, columns), stack)
        expected = exact_polar(a)[0]
        with by_singular_values():
            np.testing.assert_array_equal(polar(a, low=0.5)[0], expected)
            np.testing.assert_array_equal(polar_between(a, 0.9), expected)
