"""A largest error for every reading, as a fraction of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthostream.compression.schema import Column
from orthostream.compression.targets.error_bound import ErrorBound
from orthostream.compression.targets.per_sensor import frozen, one_or_many, per_sensor, thawed
from orthostream.compression.targets.target import Target


@dataclass(frozen=True)
class RelativeError(Target):
    """Every reading is within this fraction of itself; zero stays zero.

    Parameters
    ----------
    fraction : float or sequence
        Above 0 and below 1: one for all sensors or one for each.

    Examples
    --------
    >>> RelativeError(0.01).in_header
    {'relative_error': 0.01}
    >>> RelativeError(1.5)
    Traceback (most recent call last):
    ValueError: relative_error must be above 0 and below 1, got 1.5.
    """

    key: ClassVar[str] = "relative_error"
    phrase: ClassVar[str] = "a relative error of {}"
    codec: ClassVar[str] = "conditional"

    fraction: Any

    def __post_init__(self) -> None:
        numbers = one_or_many(self.key, self.fraction)
        if not np.all((numbers > 0.0) & (numbers < 1.0)):
            raise ValueError(f"{self.key} must be above 0 and below 1, got {self.fraction!r}.")
        object.__setattr__(self, "fraction", frozen(self.fraction))

    @property
    def value(self) -> Any:
        return thawed(self.fraction)

    def options(self, period: int) -> dict[str, Any]:
        return {"period": period} if period else {}

    def bound(self, columns: Sequence[Column]) -> ErrorBound:
        return ErrorBound.of(columns, relative=per_sensor(self.key, self.fraction, len(columns)))
