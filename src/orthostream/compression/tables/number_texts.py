"""The shortest texts that read as the same numbers."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.tables.numbers import LARGEST_INTEGER, is_whole_type

_LARGEST_SINGLE = float(np.finfo(np.float32).max)
# Texts are kept for values that come again, but not for ever more of them.
_MOST_TEXTS = 65_536
# Where few values come again, looking them up costs more than writing them; so many columns later it is tried again.
_PAUSE = 64


class NumberTexts:
    """Writes numbers as a column of some type does.

    Parameters
    ----------
    dtype : of the column
    missing : the text of NaN

    Examples
    --------
    >>> NumberTexts()(np.array([1.0, np.nan, 0.1]))
    ['1.0', '', '0.1']
    >>> NumberTexts("Int64")(np.array([1.0, np.nan, 2.5])), NumberTexts("bool")(np.array([1.0, 0.0]))
    (['1', '', '2.5'], ['True', 'False'])
    """

    def __init__(self, dtype: str = "float64", missing: str = "") -> None:
        self._known = _Known(dtype, missing)
        self._missing = missing
        self._is_double = dtype.lower() == "float64"
        self._pause = 0

    def __call__(self, values: FloatArray) -> list[str]:
        listed = values.tolist()
        # Minus zero is equal to zero, so that a dictionary takes one for the other.
        if self._pause or ((values == 0.0) & np.signbit(values)).any():
            self._pause = max(self._pause - 1, 0)
            return self._plain(listed) if self._is_double else list(map(self._known.text, listed))
        self._known.misses = 0
        texts = list(map(self._known.__getitem__, listed))
        if 2 * self._known.misses > len(listed) + 1_000:
            self._pause = _PAUSE
        return texts

    def _plain(self, listed: list[float]) -> list[str]:
        texts = list(map(repr, listed))
        return [self._missing if text == "nan" else text for text in texts] if "nan" in texts else texts


class _Known(dict[float, str]):
    """The texts of numbers seen before."""

    def __init__(self, dtype: str, missing: str) -> None:
        super().__init__()
        self.misses = 0
        self._missing = missing
        self._is_whole = is_whole_type(dtype)
        self._is_truth = dtype in ("bool", "boolean")
        self._is_single = dtype.lower() == "float32"

    def __missing__(self, value: float) -> str:
        text = self.text(value)
        # NaN is not equal to itself: it would never be found again.
        if value == value:
            if len(self) >= _MOST_TEXTS:
                self.clear()
            self[value] = text
            self.misses += 1
        return text

    def text(self, value: float) -> str:
        if value != value:
            return self._missing
        if self._is_whole and value.is_integer() and abs(value) <= LARGEST_INTEGER:
            return str(int(value))
        if self._is_truth and value in (0.0, 1.0):
            return "True" if value else "False"
        if self._is_single and abs(value) <= _LARGEST_SINGLE and float(np.float32(value)) == value:
            return str(np.float32(value))
        return repr(value)
