"""What the tests of the optimiser share: random matrices with a known spectrum, and the switch between both paths."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray

WithSpectrum = Callable[..., FloatArray]


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Let no BLAS start threads for these small matrices: with workers of pytest-xdist they only wait."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def orthonormal(rng: np.random.Generator) -> Callable[..., FloatArray]:
    """Return a maker of random matrices with orthonormal columns, or stacks of them: orthonormal(N, K, stack=())."""

    def make(rows: int, columns: int, stack: tuple[int, ...] = ()) -> FloatArray:
        q, r = np.linalg.qr(rng.standard_normal((*stack, rows, columns)))
        signs: FloatArray = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
        return q * signs[..., None, :]

    return make


@pytest.fixture
def with_spectrum(orthonormal: Callable[..., FloatArray]) -> WithSpectrum:
    """Return a maker of random matrices with given singular values: with_spectrum(N, values, stack=())."""

    def make(rows: int, values: Sequence[float] | FloatArray, stack: tuple[int, ...] = ()) -> FloatArray:
        columns = len(values)
        u, v = orthonormal(rows, columns, stack), orthonormal(columns, columns, stack)
        product: FloatArray = (u * np.asarray(values)) @ v.mT
        return product

    return make


@pytest.fixture(params=["numpy", "compiled"])
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test once in plain NumPy, and once compiled."""
    if request.param == "compiled" and not can_compile():
        pytest.skip("Numba is not installed, or turned off")
    with without_numba() if request.param == "numpy" else nullcontext():
        yield str(request.param)


@pytest.fixture
def no_hang() -> Iterator[None]:
    """Turn a hang into a crash with a traceback: compiled loops cannot be interrupted in any gentler way."""
    faulthandler.dump_traceback_later(60.0, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
