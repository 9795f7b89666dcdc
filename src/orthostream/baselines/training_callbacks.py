"""Callbacks of baselines that are trained in epochs or sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from orthostream._typing import FloatArray

#: Called after each epoch or sweep with its number, from 1, and its values in the training curve.
TrainingCallback: TypeAlias = Callable[[int, dict[str, float]], object]


def check_callbacks(callbacks: Sequence[TrainingCallback] | None) -> None:
    """Raise TypeError for a single function, a common mistake."""
    if callable(callbacks):
        raise TypeError("callbacks must be a sequence of functions: write [function].")


def asked_to_stop(callbacks: Sequence[TrainingCallback] | None, number: int, values: dict[str, float]) -> bool:
    """Call all callbacks, and return whether one of them returned True.

    >>> asked_to_stop([lambda epoch, losses: epoch == 3], 3, {"loss": 0.1})
    True
    """
    answers = [callback(number, dict(values)) for callback in callbacks or ()]
    return any(isinstance(answer, bool | np.bool) and bool(answer) for answer in answers)


def training_curves(history: Sequence[dict[str, float]]) -> dict[str, FloatArray]:
    """Return the values of all epochs or sweeps as one array for each name.

    >>> training_curves([{"loss": 0.5}, {"loss": 0.25}])
    {'loss': array([0.5 , 0.25])}
    """
    return {name: np.array([values[name] for values in history]) for name in history[0]}
