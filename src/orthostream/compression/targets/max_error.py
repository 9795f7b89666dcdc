"""A largest error for every reading, and none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from orthostream.compression.schema import Column
from orthostream.compression.targets.error_bound import ErrorBound
from orthostream.compression.targets.per_sensor import frozen, one_or_many, per_sensor, thawed
from orthostream.compression.targets.target import Target


@dataclass(frozen=True)
class MaxError(Target):
    """Every reading is within this error, without exception.

    Parameters
    ----------
    error : float or sequence
        The largest error, in the unit of the readings: one for all sensors or one for each; 0 for none.

    Examples
    --------
    >>> MaxError([0.5, 1.0]).bound([Column("t1"), Column("t2")]).absolute
    array([0.5, 1. ])
    >>> MaxError(-1)
    Traceback (most recent call last):
    ValueError: max_error must be a number of at least 0, or one for each sensor, got -1.
    """

    key: ClassVar[str] = "max_error"
    phrase: ClassVar[str] = "a maximum error of {}"
    codec: ClassVar[str] = "conditional"
    accepts_integers: ClassVar[bool] = True

    error: Any

    def __post_init__(self) -> None:
        numbers = one_or_many(self.key, self.error)
        if not np.all((numbers >= 0.0) & (numbers < np.inf)):
            raise ValueError(f"{self.key} must be a number of at least 0, or one for each sensor, got {self.error!r}.")
        object.__setattr__(self, "error", frozen(self.error))

    @property
    def value(self) -> Any:
        return thawed(self.error)

    def options(self, period: int) -> dict[str, Any]:
        return {"period": period} if period else {}

    def bound(self, columns: Sequence[Column]) -> ErrorBound:
        return ErrorBound.of(columns, absolute=per_sensor(self.key, self.error, len(columns)))


@dataclass(frozen=True)
class Lossless(MaxError):  # noqa: N818 - MaxError is no exception
    """Every reading comes back as it was; the header of a stream has it as a maximum error of 0.

    Integers and decimals become small. Every bit is kept, of floats too.

    Examples
    --------
    >>> Lossless().in_header
    {'max_error': 0}
    """

    error: Any = field(default=0, init=False, repr=False)
