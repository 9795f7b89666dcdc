"""What every target knows: its codec, its place in the header, its frames and its promise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from orthostream._typing import FloatArray
from orthostream.compression.schema import Column
from orthostream.compression.targets.error_bound import ErrorBound

#: Samples of a frame that somebody waits for, and readings if that makes more of them.
SAMPLES_PER_FRAME, _READINGS_PER_FRAME = 24, 256
#: Readings of a frame in a file, where nobody waits for it.
_READINGS_IN_FILE = 1 << 14
_MOST_SHOWN = 8


class Target(ABC):
    """What a stream must achieve. A target is a value: it never changes, and equal targets make equal streams.

    Attributes
    ----------
    key : str
        Its name as a keyword and in the header of a stream.
    codec : str
        The codec that can achieve it, by the name that the header has for it.
    accepts_integers : bool
        Whether columns may be of an integer type.
    has_period : bool
        Whether its codec makes use of a period, such as the hours of a day.
    """

    key: ClassVar[str]
    #: How it is said in a sentence, with {} for its value.
    phrase: ClassVar[str]
    codec: ClassVar[str]
    accepts_integers: ClassVar[bool] = False
    has_period: ClassVar[bool] = True

    @property
    @abstractmethod
    def value(self) -> Any:
        """Its value in the header: a number, or a list of one for each sensor."""

    @property
    def in_header(self) -> dict[str, Any]:
        """The target as the header of a stream has it."""
        return {self.key: self.value}

    @property
    def in_words(self) -> str:
        """The target as a part of a sentence, such as "a maximum error of 0.5"."""
        values = self.value if isinstance(self.value, list) else [self.value]
        shown = ", ".join(f"{value:.6g}" for value in values[:_MOST_SHOWN])
        return self.phrase.format(shown + (", ..." if len(values) > _MOST_SHOWN else ""))

    @abstractmethod
    def options(self, period: int) -> dict[str, Any]:
        """Return the parameters that its codec needs on both sides; ``period`` is 0 if there is none."""

    def check(self, columns: Sequence[Column]) -> None:
        """Raise ValueError if readings of these columns cannot have this target."""
        if not self.accepts_integers and any(column.is_whole for column in columns):
            raise ValueError(
                f"{self.key} is for columns of decimals; convert integers to float64, or choose max_error."
            )

    def check_readings(self, rows: FloatArray) -> None:
        """Raise ValueError if some samples cannot be sent."""
        return

    def bound(self, columns: Sequence[Column]) -> ErrorBound | None:
        """Return the error that it promises of every single reading, None if it promises none."""
        return None

    def samples_per_frame(self, n_sensors: int) -> int:
        """Return the samples of a frame in a stream, where somebody waits for them."""
        return max(SAMPLES_PER_FRAME, _READINGS_PER_FRAME // max(n_sensors, 1))

    def samples_per_frame_in_file(self, n_sensors: int) -> int:
        """Return the samples of a frame in a file, where larger frames cost fewer bits."""
        return max(SAMPLES_PER_FRAME, _READINGS_IN_FILE // max(n_sensors, 1))
