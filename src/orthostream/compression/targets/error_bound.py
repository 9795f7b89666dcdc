"""How far a decoded reading may be from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.compression.schema import Column


@dataclass(frozen=True)
class ErrorBound:
    """A bound that holds for every reading, one per sensor: absolute, or relative to the reading.

    Parameters
    ----------
    absolute : array (n_sensors,)
        Largest error; 0 for none at all.
    relative : array (n_sensors,), optional
        Largest error as a fraction of the reading; if given, ``absolute`` is ignored.
    single, whole : arrays of bool (n_sensors,)
        Sensors whose readings have 32 bits, and those whose readings are of an integer type.
    """

    absolute: FloatArray
    relative: FloatArray | None
    single: BoolArray
    whole: BoolArray

    @classmethod
    def of(
        cls, columns: Sequence[Column], *, absolute: FloatArray | None = None, relative: FloatArray | None = None
    ) -> ErrorBound:
        """Return the bound of some columns, whose types say which sensors are single and whole."""
        return cls(
            np.zeros(len(columns)) if absolute is None else absolute,
            relative,
            single=np.array([column.is_single for column in columns], dtype=bool),
            whole=np.array([column.is_whole for column in columns], dtype=bool),
        )

    def limits(self, rows: FloatArray) -> FloatArray:
        """Return the largest error of each reading."""
        if self.relative is None:
            return np.repeat(self.absolute[None, :], len(rows), axis=0)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.abs(rows) * self.relative, nan=0.0, posinf=0.0)
