"""The mean that a learner subtracts from samples: given, or a running mean of the stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthostream import _checks
from orthostream.dictionary.centre import Centre, FixedCentre
from orthostream.dictionary.running_centre import RunningCentre

#: Samples per atom after which a running mean forgets: a new sample never weighs less than one in so many.
MEMORY_PER_ATOM = 1000.0


def make_centre(
    center: str | ArrayLike | None, n_features: int, n_atoms: int, before: Centre | None = None
) -> Centre | None:
    """Return the centre that the parameter ``center`` describes; a running mean continues from the one before.

    >>> make_centre([1.0, 2.0], 2, 2).mean
    array([1., 2.])
    >>> make_centre("median", 2, 2)
    Traceback (most recent call last):
    ValueError: center must be 'running' or an array of shape (n_features,), got 'median'.
    """
    if center is None:
        return None
    if isinstance(center, str):
        _checks.one_of("center", center, ("running",), also="an array of shape (n_features,)")
        if isinstance(before, RunningCentre):
            return before
        start = np.zeros(n_features) if before is None else before.mean
        return RunningCentre(start, np.zeros(n_features), MEMORY_PER_ATOM * n_atoms)
    try:
        given = np.array(center, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"center must be None, 'running' or an array of numbers, got {center!r}.") from error
    if given.shape != (n_features,):
        raise ValueError(f"center must have shape {(n_features,)}, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("center must be finite.")
    return FixedCentre(given)


def restored_centre(
    center: str | ArrayLike | None, n_features: int, n_atoms: int, arrays: dict[str, Any]
) -> Centre | None:
    """Return the centre that the parameter ``center`` describes, with the arrays of a saved file."""
    made = make_centre(center, n_features, n_atoms)
    if not isinstance(made, RunningCentre):
        return made
    centre = RunningCentre.from_arrays(arrays, made.limit)
    if len(centre.mean) != n_features:
        raise ValueError(f"a mean of shape {centre.mean.shape} does not belong to {n_features} features.")
    return centre
