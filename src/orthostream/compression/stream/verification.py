"""Every frame is decoded before it is sent, and compared with what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.errors import FrameError
from orthostream.compression.stream.decoder import Decoder
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.targets import ErrorBound


class Verification:
    """A decoder beside the encoder, which sees each frame before anybody else does.

    Parameters
    ----------
    header : StreamHeader
    bound : ErrorBound, optional
        The error that is promised of every reading.
    accelerate : bool, optional
        As for `Decoder`.
    """

    def __init__(self, header: StreamHeader, *, bound: ErrorBound | None, accelerate: bool | None) -> None:
        self._bound = bound
        self._keeps_bits = header.version > 1
        self._decoder = Decoder(max_sensors=len(header.schema.columns), accelerate=accelerate)
        self._decoder.push(header.to_bytes())

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over the state of the side that encodes, or of a decoder."""
        self._decoder.set_state({"lost": state["restarting"]} | state)

    def decoded(self, frames: Sequence[bytes], rows: FloatArray, times: list[int]) -> FloatArray:
        """Return what frames decode to; raise FrameError if that is not what was measured, within the bound."""
        values: FloatArray = np.empty((0, rows.shape[1]))
        stamps = None
        for frame in frames:
            values, stamps = self._decoder.take(self._decoder.open_frame(frame), frame)
        same = values.shape == rows.shape and np.array_equal(np.isnan(values), np.isnan(rows))
        if not same or not np.array_equal(values[np.isinf(rows)], rows[np.isinf(rows)]):
            raise FrameError("what was encoded does not decode to what was measured; nothing was sent")
        if self._bound is not None:
            known = np.isfinite(rows)
            limits = self._bound.limits(rows)
            if not np.all(np.abs(values[known] - rows[known]) <= limits[known]):
                raise FrameError("what was encoded decodes beyond its error bound; nothing was sent")
            exact = known & (limits == 0.0) & (self._bound.relative is None)
            if self._keeps_bits and not np.array_equal(values[exact].view(np.int64), rows[exact].view(np.int64)):
                raise FrameError("what was encoded does not decode to the same bits; nothing was sent")
        if stamps is not None and stamps.tolist() != times:
            raise FrameError("what was encoded decodes to other times; nothing was sent")
        return values
