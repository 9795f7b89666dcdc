"""The codecs by the names that headers have for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orthostream.compression.codecs.codec import Codec
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.groups import labels_of
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.codecs.paper.codec import PaperCodec
from orthostream.compression.codecs.transform import TransformCodec
from orthostream.compression.errors import FrameError
from orthostream.compression.schema import Column
from orthostream.compression.targets import ErrorBound

#: Sensors of a stream that a decoder accepts unless told otherwise, since memory grows with them.
MOST_SENSORS = 8192
MOST_PERIOD = 4096
#: Readings of the last period that are kept for all sensors together.
MOST_REMEMBERED = 1 << 22


def new_codec(
    name: str,
    columns: Sequence[Column],
    options: dict[str, Any],
    *,
    bound: ErrorBound | None = None,
    resolutions: list[Resolution] | None = None,
    accelerate: bool | None = None,
    version: int = 2,
) -> Codec:
    """Return a new codec.

    Parameters
    ----------
    name : str
        "conditional", "transform" or "paper".
    columns : sequence of Column
    options : dict
        The parameters of the codec that both sides share.
    bound, resolutions : optional
        What only the side that encodes knows, for the conditional codec.
    accelerate : bool, optional
        Whether to use compiled code.
    version : int, default 2
        Of the format.
    """
    if name == "conditional":
        unknown = [name for name in options if name != "period"]
        if unknown:
            raise ValueError(f"options of a bounded error are not known: {', '.join(unknown)}.")
        return ConditionalCodec(
            len(columns),
            bound=bound,
            period=options.get("period", 0),
            resolutions=resolutions,
            labels=None if bound is None else labels_of(columns),
            accelerate=accelerate,
            version=version,
        )
    if name == "transform":
        return TransformCodec(len(columns), fast=accelerate, **options)
    if name == "paper":
        return PaperCodec(len(columns), **options)
    raise FrameError(f"there is no codec called {name!r}")


def decoding_codec(
    name: str,
    columns: Sequence[Column],
    options: dict[str, Any],
    *,
    most_sensors: int = MOST_SENSORS,
    accelerate: bool | None = None,
    version: int = 2,
) -> Codec:
    """Return a codec that decodes a stream; raise FrameError if its header asks for something impossible."""
    if len(columns) > most_sensors:
        raise FrameError(
            f"the stream has {len(columns)} sensors; to allow more than {most_sensors}, say so (max_sensors)"
        )
    period = options.get("period", 0)
    if isinstance(period, bool) or not isinstance(period, int) or not 0 <= period <= MOST_PERIOD:
        raise FrameError(f"a period must be an integer from 0 to {MOST_PERIOD}, the stream has {period!r}")
    if len(columns) * (period + 2) > MOST_REMEMBERED:
        raise FrameError(f"a period of {period} samples of {len(columns)} sensors is too much to remember")
    try:
        return new_codec(name, columns, options, accelerate=accelerate, version=version)
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(f"the header of the stream asks for something impossible: {error}") from None
