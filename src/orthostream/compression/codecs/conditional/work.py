"""How much work a payload may ask for: checked before it is done, so that a few hostile bytes are never a flood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP


class WorkLimit(ABC):
    """A price list, and what a payload of some bytes can afford."""

    @abstractmethod
    def afforded(self, n_bytes: int) -> int:
        """Return how much work a payload of so many bytes may ask for."""

    @abstractmethod
    def of_sample(self, sizes: Sequence[int]) -> int:
        """Return the work of a sample in groups of such sizes."""

    @abstractmethod
    def of_start(self, n_sensors: int, n_groups: int) -> int:
        """Return the work of beginning with new groups."""

    def most_samples(self, sizes: Sequence[int]) -> int:
        """Return how many samples cost no more than every payload may ask for."""
        return max(self.afforded(0) // self.of_sample(sizes), 1)

    def least_bytes(self, work: int) -> int:
        """Return how many bytes a payload must have for so much work."""
        short = max(work - self.afforded(0), 0)
        per_byte = self.afforded(1) - self.afforded(0)
        return -(-short // per_byte)


class WorkPerByte(WorkLimit):
    """Format version 1: work is bought by bytes alone, and payloads are filled up with zeros."""

    def afforded(self, n_bytes: int) -> int:
        return 64 * (n_bytes + 1)

    def most_samples(self, sizes: Sequence[int]) -> int:
        return 1 << 17

    def of_sample(self, sizes: Sequence[int]) -> int:
        return sum(sizes) + 12 * len(sizes)

    def of_start(self, n_sensors: int, n_groups: int) -> int:
        return 8 * n_sensors


class WorkPerFrame(WorkLimit):
    """Format version 2: each frame has an allowance.

    A unit is 1 to 2 microseconds of compiled code, and 20 to 80 of plain code.
    """

    #: What a frame may ask for without a byte.
    free = 1 << 17

    def afforded(self, n_bytes: int) -> int:
        return self.free + 64 * n_bytes

    def of_sample(self, sizes: Sequence[int]) -> int:
        return sum(12 + (16 * size if size <= LARGEST_SMALL_GROUP else 3 * size + size * size // 64) for size in sizes)

    def of_start(self, n_sensors: int, n_groups: int) -> int:
        return 8 * n_sensors + 512 * n_groups
