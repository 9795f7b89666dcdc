"""Fixtures of the baselines' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from orthostream.datasets import load_airly


@pytest.fixture
def airly_temperatures(airly_folder: Path) -> np.ndarray:
    """Temperatures, hours by sensors, gaps filled as in the paper."""
    readings: np.ndarray = load_airly(airly_folder, fill="row mean").data
    return readings


@pytest.fixture(scope="module")
def one_torch_thread() -> Iterator[None]:
    """One thread: on a busy machine, several threads make small problems a hundred times slower."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def readings() -> np.ndarray:
    """300 hours of 8 sensors: a common day, two districts, a little noise."""
    rng = np.random.default_rng(0)
    day = np.sin(np.arange(300) * 2.0 * np.pi / 24.0)[:, None]
    slow = np.cumsum(rng.standard_normal((300, 2)), axis=0) * 0.2
    return 12.0 + 6.0 * day + np.repeat(slow, 4, axis=1) + 0.1 * rng.standard_normal((300, 8))
