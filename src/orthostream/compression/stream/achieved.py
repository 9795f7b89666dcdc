"""What an encoder has sent so far: counts, bytes and errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from orthostream._typing import FloatArray


@dataclass
class Achieved:
    """Counts and errors of all that was sent; errors are those of finite readings, seen by decoding.

    A relative error is a fraction of the reading; that of a zero which is not decoded as zero is infinite.
    """

    n_samples: int = 0
    n_readings: int = 0
    n_missing: int = 0
    max_error: float = 0.0
    sum_of_squares: float = 0.0
    max_relative_error: float = 0.0
    bytes_by_component: dict[str, int] = field(default_factory=dict)

    def count(self, component: str, n_bytes: int) -> None:
        """Count bytes."""
        self.bytes_by_component[component] = self.bytes_by_component.get(component, 0) + n_bytes

    def add(self, rows: FloatArray, decoded: FloatArray | None) -> None:
        """Count samples and their errors; without decoded samples, errors are NaN from then on."""
        finite = np.isfinite(rows)
        missing = int(np.isnan(rows).sum())
        self.n_samples += len(rows)
        self.n_missing += missing
        self.n_readings += rows.size - missing
        if decoded is None:
            self.max_error = self.sum_of_squares = self.max_relative_error = math.nan
        elif finite.any():
            with np.errstate(over="ignore", divide="ignore"):
                errors = np.abs(decoded[finite] - rows[finite])
                wrong = errors > 0.0
                relative = errors[wrong] / np.abs(rows[finite][wrong])
                # NaN, for unknown, stays NaN.
                self.max_error = float(np.maximum(self.max_error, errors.max()))
                self.sum_of_squares += float((errors * errors).sum())
                self.max_relative_error = float(np.maximum(self.max_relative_error, relative.max(initial=0.0)))

    @property
    def n_bytes(self) -> int:
        """All bytes, the header's included."""
        return sum(self.bytes_by_component.values())

    @property
    def bits_per_reading(self) -> float:
        """Bits for each reading that was not missing."""
        return 8.0 * self.n_bytes / self.n_readings if self.n_readings else math.nan

    @property
    def rmse(self) -> float:
        """Root mean square error."""
        return math.sqrt(self.sum_of_squares / self.n_readings) if self.n_readings else math.nan
