"""Which way of coding a target asks for, and the codec that a header describes."""

from __future__ import annotations

from typing import Any

from orthostream.compression.codecs.codec import Codec
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.groups import labels_of
from orthostream.compression.codecs.conditional.lattice import Resolution
from orthostream.compression.codecs.paper.codec import PaperCodec
from orthostream.compression.codecs.transform import TransformCodec
from orthostream.compression.errors import FrameError
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.targets import error_bound

#: Sensors of a stream that a decoder accepts unless told otherwise, since memory grows with them.
MOST_SENSORS = 8192
MOST_PERIOD = 4096
#: Readings of the last period that are kept for all sensors together.
MOST_REMEMBERED = 1 << 22


def codec_of(
    header: StreamHeader,
    *,
    encoding: bool,
    resolutions: list[Resolution] | None = None,
    accelerate: bool | None = None,
) -> Codec:
    """Return a new codec for a stream."""
    columns = header.schema.columns
    options: dict[str, Any] = header.options
    if header.codec == "conditional":
        unknown = [name for name in options if name != "period"]
        if unknown:
            raise ValueError(f"options of a bounded error are not known: {', '.join(unknown)}.")
        bound = None
        if encoding:
            bound = error_bound(
                len(columns),
                max_error=header.target.get("max_error"),
                relative_error=header.target.get("relative_error"),
                dtypes=[column.dtype for column in columns],
            )
        period = options.get("period", 0)
        labels = labels_of(columns) if encoding else None
        return ConditionalCodec(
            len(columns), bound=bound, period=period, resolutions=resolutions, labels=labels, accelerate=accelerate
        )
    if header.codec == "transform":
        return TransformCodec(len(columns), fast=accelerate, **options)
    if header.codec == "paper":
        return PaperCodec(len(columns), **options)
    raise FrameError(f"there is no way of coding called {header.codec!r}")


def decoder_of(header: StreamHeader, most_sensors: int = MOST_SENSORS, accelerate: bool | None = None) -> Codec:
    """Return a codec that decodes a stream, or raise FrameError where its header asks for what cannot be."""
    if len(header.schema.columns) > most_sensors:
        raise FrameError(
            f"the stream has {len(header.schema.columns)} sensors; "
            f"to allow more than {most_sensors}, say so (max_sensors)"
        )
    period = header.options.get("period", 0)
    if isinstance(period, bool) or not isinstance(period, int) or not 0 <= period <= MOST_PERIOD:
        raise FrameError(f"a period of {period!r} samples cannot be")
    if len(header.schema.columns) * (period + 2) > MOST_REMEMBERED:
        raise FrameError(
            f"a period of {period} samples of {len(header.schema.columns)} sensors is too much to remember"
        )
    try:
        return codec_of(header, encoding=False, accelerate=accelerate)
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(f"the header of the stream asks for what cannot be: {error}") from None
