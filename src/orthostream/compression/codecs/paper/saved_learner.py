"""A learner as bytes, for the state of a codec that has one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from orthostream._typing import ByteArray
from orthostream.dictionary import OrthogonalDictionaryLearning


def learner_to_bytes(learner: OrthogonalDictionaryLearning) -> ByteArray | None:
    """Return a learner as bytes, None if it has learnt nothing."""
    if not hasattr(learner, "state_"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        learner.save(path)
        return np.frombuffer(path.read_bytes(), dtype=np.uint8).copy()


def learner_from_bytes(data: Any) -> OrthogonalDictionaryLearning:
    """Return the learner that bytes are; raise ValueError if they are none."""
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError("a learner must be bytes.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        path.write_bytes(data.tobytes())
        return OrthogonalDictionaryLearning.load(path)
