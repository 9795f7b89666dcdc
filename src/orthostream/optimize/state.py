"""The state of a run: exactly what the next step needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.tall import PolarFactor
from orthostream.optimize.tall.polar_factor import as_polar_factor

#: Before the names of a polar factor's arrays.
_FACTOR = "x/"


class State(NamedTuple):
    """An explicit, immutable state; leading axes of its arrays are a stack of independent problems."""

    t: int
    """Steps taken."""
    x: FloatArray
    """The current point, in double precision; a `PolarFactor` if the gradient is a `TallMatrix`."""
    memory: ArrayBlock
    """The memory of the estimate."""
    oracle: FloatArray | float
    """The memory of the set's oracle, one number for each problem."""
    average: FloatArray | None = None
    """The running mean of the points, if the solver averages."""

    @property
    def gradient(self) -> FloatArray:
        """The estimate of the gradient after the last step."""
        factor = as_polar_factor(self.x)
        return self.memory["gradient"] if factor is None else factor.matrix.dense()

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the state as named arrays, to be saved with `numpy.savez`; `StochasticFrankWolfe.restore` reads it."""
        arrays = {"t": np.asarray(self.t), "oracle": np.asarray(self.oracle)}
        factor = as_polar_factor(self.x)
        if factor is None:
            arrays["x"] = self.x
        else:
            arrays |= {f"{_FACTOR}{name}": array for name, array in factor.to_arrays().items()}
        if self.average is not None:
            arrays["average"] = self.average
        return arrays | {f"memory/{name}": np.asarray(array) for name, array in self.memory.items()}


def polar_factor(arrays: Mapping[str, FloatArray]) -> PolarFactor | None:
    """Return the point among the arrays that `State.to_arrays` wrote, if it is a polar factor."""
    parts = {name.removeprefix(_FACTOR): array for name, array in arrays.items() if name.startswith(_FACTOR)}
    return PolarFactor.from_arrays(parts) if parts else None


def named_arrays(arrays: Mapping[str, FloatArray]) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Return all arrays that `State.to_arrays` wrote, and the memory's arrays by their own names, in double precision.

    Arrays with the names of version 0.1 are read too.
    """
    named = {name: np.asarray(array, dtype=float) for name, array in arrays.items()}
    if "gradient" in named:
        named = _renamed(named)
    missing = {"t", "oracle"} - set(named)
    if not any(name == "x" or name.startswith(_FACTOR) for name in named):
        missing.add("x")
    if missing:
        raise ValueError(f"these arrays are no solver state: {', '.join(sorted(missing))} missing.")
    memory = {name.removeprefix("memory/"): array for name, array in named.items() if name.startswith("memory/")}
    return named, memory


def _renamed(arrays: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the arrays of a state of version 0.1 under their present names."""
    names = {"gradient": "memory/gradient", "memory": "oracle", "course/matrices": "memory/pairs"}
    renamed = {names.get(name, name.replace("course/", "memory/")): array for name, array in arrays.items()}
    if not any(name.startswith("course/") for name in arrays):
        stack = arrays["memory"].shape if "memory" in arrays else ()
        renamed["memory/steps"] = np.full(stack, float(arrays["t"]))
    if "memory/rows" in renamed:
        renamed["memory/guess"] = np.zeros_like(renamed["memory/ranking"])
    return renamed
