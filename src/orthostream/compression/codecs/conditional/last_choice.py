"""The lattices that were chosen last: the size of a frame and the frame itself ask for the same ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices


class LastChoice:
    """Chooses lattices for samples, but only once for the same samples.

    Parameters
    ----------
    choose : callable
        Returns lattices for samples.
    """

    def __init__(self, choose: Callable[[FloatArray], Lattices]) -> None:
        self._choose = choose
        self._last: tuple[FloatArray, Lattices] | None = None

    def lattices_for(self, rows: FloatArray) -> Lattices:
        """Return lattices for some samples."""
        if self._last is None or not np.array_equal(self._last[0], rows, equal_nan=True):
            self._last = rows.copy(), self._choose(rows)
        return self._last[1]

    def forget(self) -> None:
        """Free the memory."""
        self._last = None
