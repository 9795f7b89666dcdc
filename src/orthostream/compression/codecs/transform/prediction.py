"""What a block of samples is expected to be, given those before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray


class Habit(NamedTuple):
    """One way to go on: so much of the same time a period ago, and of what was off a step ago so much is kept."""

    keep: float
    season: float


#: The ways that a sender may choose from; the first holds the last value.
HABITS = (
    Habit(1.0, 0.0),
    Habit(0.95, 0.3),
    Habit(0.9, 0.5),
    Habit(0.8, 0.8),
    Habit(0.9, 1.0),
    Habit(0.97, 1.0),
    Habit(0.8, 0.0),
)


def predicted(history: FloatArray, mean: FloatArray, n_rows: int, period: int, habit: Habit) -> FloatArray:
    """Return the next samples as a habit has them.

    Each is ``season * y[-period] + keep * (y[-1] - season * y[-period-1])`` and, for what is left of one, the mean.
    With the same weights for all sensors this commutes with any transform.

    Parameters
    ----------
    history : array of shape (more than period, n_sensors)
        The samples so far, the latest last.
    mean : array of shape (n_sensors,)
    n_rows : int
    period : int
    habit : Habit

    Examples
    --------
    >>> history = np.array([[1.0], [2.0], [3.0], [2.0]])
    >>> predicted(history, np.zeros(1), 2, 3, Habit(1.0, 0.0)).ravel()
    array([2., 2.])
    >>> predicted(history, np.zeros(1), 2, 3, Habit(0.5, 1.0)).ravel()
    array([2.5 , 3.25])
    """
    known = len(history)
    samples = np.empty((known + n_rows, history.shape[1]))
    samples[:known] = history
    usual = season_free = ((1.0 - habit.keep) * (1.0 - habit.season)) * mean
    for i in range(known, known + n_rows):
        if habit.season > 0.0:
            usual = season_free + habit.season * samples[i - period]
            off = samples[i - 1] - habit.season * samples[i - period - 1]
        else:
            off = samples[i - 1]
        samples[i] = usual + habit.keep * off
    return samples[known:]
