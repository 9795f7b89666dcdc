"""What the tests of the baselines share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthostream.datasets import load_airly


@pytest.fixture
def airly_temperatures(airly_folder: Path) -> np.ndarray:
    """Temperatures, hours by sensors, gaps filled as the paper fills them."""
    readings: np.ndarray = load_airly(airly_folder, fill="row mean").data
    return readings
