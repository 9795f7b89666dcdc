"""What the same readings take as JSON, as floats, and with general compressors."""

from __future__ import annotations

import lzma
import zlib

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.dashboard.view import Compared

#: Bytes that LZMA looks back; its memory is about twelve times as much.
_DICTIONARY = 1 << 20
_TIME_BYTES, _FLOAT_BYTES = 8, 4


class Comparison:
    """Counts the bytes of samples in other forms.

    *JSON* is a line of text for each sample, with its time and with six digits of each reading at most. *gzip* and
    *lzma* compress these lines as one stream, at their best levels, without ever being flushed: nobody could read them
    live, so the figures flatter them. *float32* is 8 bytes of time and 4 of each reading.

    Examples
    --------
    >>> import numpy as np
    >>> comparison = Comparison("this stream")
    >>> comparison.add(np.arange(100), np.ones((100, 2)), 40)
    >>> [(each.name, each.n_bytes) for each in comparison.sizes()][:3]
    [('this stream', 40), ('JSON', 1890), ('float32', 1600)]
    """

    def __init__(self, name: str = "orthostream") -> None:
        self._name = name
        self._own = self._readings = self._json = self._floats = self._lzma = 0
        self._gzip = 0
        self._zlib = zlib.compressobj(9, zlib.DEFLATED, 31)
        filters = [{"id": lzma.FILTER_LZMA1, "preset": 9, "dict_size": _DICTIONARY}]
        self._lzma_stream = lzma.LZMACompressor(lzma.FORMAT_ALONE, filters=filters)

    def add(self, times: IntArray, rows: FloatArray, n_bytes: int) -> None:
        """Count samples, and the bytes that they took in this stream."""
        text = json_lines(times, rows)
        self._own += n_bytes
        self._readings += int(np.isfinite(rows).sum())
        self._json += len(text)
        self._floats += len(rows) * (_TIME_BYTES + _FLOAT_BYTES * rows.shape[1])
        self._gzip += len(self._zlib.compress(text))
        self._lzma += len(self._lzma_stream.compress(text))

    def sizes(self) -> list[Compared]:
        """Return this stream and the other forms, with their bytes so far; none before the first reading."""
        if not self._readings:
            return []
        gzip = self._gzip + len(self._zlib.copy().flush())
        found = (
            (self._name, self._own),
            ("JSON", self._json),
            ("float32", self._floats),
            ("JSON, gzip", gzip),
            ("JSON, lzma", self._lzma),
        )
        return [Compared(name, size, 8.0 * size / self._readings) for name, size in found]


def json_lines(times: IntArray, rows: FloatArray) -> bytes:
    r"""Return samples as lines of JSON.

    Examples
    --------
    >>> import numpy as np
    >>> json_lines(np.array([7]), np.array([[1.0, np.nan, 0.25]]))
    b'{"t":7,"v":[1,null,0.25]}\n'
    """
    pattern = '{"t":%d,"v":[' + ",".join(["%.6g"] * rows.shape[1]) + "]}\n"
    lines = [pattern % (time, *row) for time, row in zip(times.tolist(), rows.tolist(), strict=True)]
    return "".join(lines).replace("nan", "null").encode()
