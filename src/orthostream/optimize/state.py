"""The state of a run: everything the next step needs, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray


class State(NamedTuple):
    """An explicit, immutable state; leading axes of its arrays are a stack of independent problems."""

    t: int
    """Steps taken."""
    x: FloatArray
    """The current point."""
    gradient: FloatArray
    """The running mean of mini-batch gradients."""
    memory: FloatArray | float
    """What the set's oracle remembers, a number for each problem."""
    average: FloatArray | None = None
    """The running mean of the points, where the solver averages."""
    course: dict[str, FloatArray] | None = None
    """What the course remembers, where the solver follows one."""

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the state as named arrays, to be saved with `numpy.savez`."""
        arrays = {"t": np.asarray(self.t), "x": self.x, "gradient": self.gradient, "memory": np.asarray(self.memory)}
        if self.average is not None:
            arrays["average"] = self.average
        arrays |= {f"course/{name}": array for name, array in (self.course or {}).items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, FloatArray]) -> State:
        """Return the state that `to_arrays` wrote; going on from it is bit-identical to never having stopped."""
        missing = {"t", "x", "gradient", "memory"} - set(arrays)
        if missing:
            raise ValueError(f"these arrays are no solver state: {', '.join(sorted(missing))} missing.")
        memory = arrays["memory"] if arrays["memory"].ndim else float(arrays["memory"])
        course = {name.removeprefix("course/"): a for name, a in arrays.items() if name.startswith("course/")}
        return cls(int(arrays["t"]), arrays["x"], arrays["gradient"], memory, arrays.get("average"), course or None)
