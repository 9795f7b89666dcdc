"""Targets on average: a root mean square error, and a budget of bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from orthostream._checks import positive
from orthostream.compression.targets.per_sensor import frozen
from orthostream.compression.targets.target import Target

#: Samples of a frame at most: the transform codec adapts from frame to frame.
_ADAPTING = 96


class AverageTarget(Target):
    """A target of the transform codec, which promises nothing of a single reading."""

    codec: ClassVar[str] = "transform"

    learn: bool

    def options(self, period: int) -> dict[str, Any]:
        learn = {"learn": True} if self.learn else {}
        return learn | ({"period": period} if period else {}) | self.in_header

    def samples_per_frame(self, n_sensors: int) -> int:
        return min(super().samples_per_frame(n_sensors), _ADAPTING)

    def samples_per_frame_in_file(self, n_sensors: int) -> int:
        return min(super().samples_per_frame_in_file(n_sensors), _ADAPTING)


@dataclass(frozen=True)
class Rmse(AverageTarget):
    """After every frame, the root mean square error of all that was sent is within this.

    Parameters
    ----------
    error : float
        In the unit of the readings; errors of all columns are added up, so give it columns of one unit.
    learn : bool, default False
        Also learn a dictionary from what is measured, and send its leading atoms whenever that pays.

    Examples
    --------
    >>> Rmse(0.2).in_header
    {'rmse': 0.2}
    """

    key: ClassVar[str] = "rmse"
    phrase: ClassVar[str] = "a root mean square error of {}"

    error: float
    learn: bool = False

    def __post_init__(self) -> None:
        positive(self.key, self.error)
        object.__setattr__(self, "error", frozen(self.error))

    @property
    def value(self) -> float:
        return self.error


@dataclass(frozen=True)
class BitsPerReading(AverageTarget):
    """All that is sent keeps this budget, once the start-up (2 kB) is paid for, with as small an error as it allows.

    Parameters
    ----------
    bits : float
        Bits for each reading that is not missing.
    learn : bool, default False
        Also learn a dictionary from what is measured, and send its leading atoms whenever that pays.

    Examples
    --------
    >>> BitsPerReading(2).in_header
    {'bits_per_reading': 2}
    """

    key: ClassVar[str] = "bits_per_reading"
    phrase: ClassVar[str] = "{} bits per reading"

    bits: float
    learn: bool = False

    def __post_init__(self) -> None:
        positive(self.key, self.bits)
        object.__setattr__(self, "bits", frozen(self.bits))

    @property
    def value(self) -> float:
        return self.bits
