"""What a course is to the solver: a schedule of objectives."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, TypeAlias

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective

#: What a course remembers: named arrays, whose leading axes are those of the stack of problems.
Memory: TypeAlias = dict[str, FloatArray]


class Decision(NamedTuple):
    """What a course wants of a step."""

    gradient: FloatArray
    """The gradient of the mini-batch, of the objective that counts now."""
    rho: FloatArray | float
    """The weight of that gradient in the running mean, a number for each problem."""
    gamma: float
    """The weight of the oracle's vertex in the next point."""
    memory: Memory
    """What to remember."""


class Report(NamedTuple):
    """What a course can tell of itself, a number for each problem."""

    contrast: FloatArray
    """0 for the first objective of the course, 1 for the second."""
    half_life: FloatArray
    """In how many samples the running mean of gradients forgets half of what it holds."""
    changes: FloatArray
    """How often the stream has changed so much that learning began anew."""


class Course(Objective):
    """A schedule of objectives: which one counts, and with which weights, decided as the stream goes.

    The solver takes a course in the place of an objective and keeps the course's memory in its state. What the course
    is *as* an objective, value and gradient, is a yardstick that stays the same from the first step to the last.
    """

    rounds: int = 1
    """How many steps each mini-batch is good for."""

    power: float = 2.0
    """The power of the data that its gradients grow with."""

    degree: float = 2.0
    """The largest power of the data that a step computes."""

    @property
    @abstractmethod
    def yardstick(self) -> Objective:
        """The objective that the course is measured by."""

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        return self.yardstick.value(x, batch, weights)

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        return self.yardstick.gradient(x, batch, weights)

    @abstractmethod
    def begin(self, x: FloatArray) -> Memory:
        """Return the memory before the first step."""

    @abstractmethod
    def decide(self, memory: Memory, x: FloatArray, batch: Batch, weights: FloatArray | None, again: bool) -> Decision:
        """Return what to do about a mini-batch at a point; ``again`` tells that it was seen in the last round."""

    @abstractmethod
    def rescaled(self, memory: Memory, factor: float) -> Memory:
        """Return the memory of a stream whose samples are all ``factor`` times as large."""

    @abstractmethod
    def energy(self, memory: Memory) -> FloatArray:
        """Return the mean square of a coefficient, of each problem."""

    @abstractmethod
    def report(self, memory: Memory, samples: int) -> Report:
        """Return what can be told of the course, for mini-batches of this many samples."""
