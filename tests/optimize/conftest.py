"""What the tests of the optimiser share: random matrices with a known spectrum, and the switch between both paths."""

from __future__ import annotations

import faulthandler
import importlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthostream._typing import FloatArray
from orthostream.optimize import fused
from orthostream.optimize.polar_decomposition import kernel

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


@pytest.fixture
def use_path(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a switch between the ``numpy`` and the ``compiled`` path, whatever the environment says."""

    def switch(name: str) -> None:
        module = None
        if name == "compiled":
            pytest.importorskip("numba", reason="the compiled path needs Numba")
            module = importlib.import_module("orthostream.optimize.polar_decomposition.compiled")
        for place in (kernel, fused):
            monkeypatch.setattr(place, "accelerated", lambda: module)

    return switch


@pytest.fixture(params=["numpy", "compiled"])
def path(request: pytest.FixtureRequest, use_path: Callable[[str], None]) -> str:
    """Run the test once on each path."""
    use_path(request.param)
    return str(request.param)


@pytest.fixture
def no_hang() -> Iterator[None]:
    """Turn a hang into a crash with a traceback: compiled loops cannot be interrupted in any gentler way."""
    faulthandler.dump_traceback_later(60.0, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
