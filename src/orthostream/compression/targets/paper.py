"""The scheme of the paper's Example 1."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from orthostream._checks import between, integer, optional_integer
from orthostream._typing import FloatArray
from orthostream.compression.targets.target import SAMPLES_PER_FRAME, Target


@dataclass(frozen=True)
class Paper(Target):
    """The largest few coefficients of every sample, in a dictionary that is learnt and sent when it pays.

    Nothing is promised of any single reading, and infinite readings are refused. All parameters but the first may be
    left out; the defaults are those of `orthostream.compression.codecs.paper.codec.PaperCodec`, which explains them.

    Parameters
    ----------
    n_nonzero : int
        eta_0, coefficients that are kept of each sample; at most as many as there are atoms.
    n_components : int, optional
        Atoms; as many as sensors by default.
    value_bits : int, optional
        Bits of a value, 2 to 24.
    angle_bits : int, optional
        Bits of a Givens angle, 2 to 16.
    threshold : float, optional
        By which fraction the error of the dictionary that is held must exceed that of the learnt one.
    memory : float, optional
        Samples over which errors are compared, at least 1.
    preset : str, optional
        How the encoder learns: see `orthostream.OrthogonalDictionaryLearning`.
    rotation_error : float, optional
        Send dictionaries as small rotations with this relative error instead of as angles.
    random_state : int, optional

    Examples
    --------
    >>> Paper(8, value_bits=6).options(period=0)
    {'value_bits': 6, 'n_nonzero': 8}
    """

    key: ClassVar[str] = "n_nonzero"
    phrase: ClassVar[str] = "{} coefficients per sample"
    codec: ClassVar[str] = "paper"
    has_period: ClassVar[bool] = False

    n_nonzero: int
    n_components: int | None = None
    value_bits: int | None = None
    angle_bits: int | None = None
    threshold: float | None = None
    memory: float | None = None
    preset: str | None = None
    rotation_error: float | None = None
    random_state: int | None = None

    def check_readings(self, rows: FloatArray) -> None:
        if np.isinf(rows).any():
            raise ValueError("a sparse code cannot carry infinite readings: mark them as missing (NaN).")

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_nonzero", integer("n_nonzero", self.n_nonzero))
        optional_integer("n_components", self.n_components)
        optional_integer("value_bits", self.value_bits, 2, 24)
        optional_integer("angle_bits", self.angle_bits, 2, 16)
        for name, low in (("threshold", 0.0), ("memory", 1.0)):
            if getattr(self, name) is not None:
                between(name, getattr(self, name), low, float("inf"))

    @property
    def value(self) -> int:
        return self.n_nonzero

    def options(self, period: int) -> dict[str, Any]:
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name != self.key}
        return {name: value for name, value in given.items() if value is not None} | self.in_header

    def samples_per_frame(self, n_sensors: int) -> int:
        return SAMPLES_PER_FRAME

    def samples_per_frame_in_file(self, n_sensors: int) -> int:
        return SAMPLES_PER_FRAME
