"""What a version of the format says of the frames after the header: their checks, their times, their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orthostream.compression.stream.adaptive_times import AdaptiveTimes
from orthostream.compression.stream.checks import Checks, Unchecked, VersionOne, VersionTwo
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.times import SampleTimes

Times = SampleTimes | AdaptiveTimes


class Version(NamedTuple):
    """What differs between versions, behind the header."""

    checks: Callable[[StreamHeader], Checks]
    times: Callable[[], Times]
    #: Whether a frame that restarts the state holds the number of its first sample.
    is_numbered: bool
    #: Whether a stream goes on after its last frame without a restart when a file is appended to.
    goes_on: bool


def _checks_2(header: StreamHeader) -> Checks:
    return VersionTwo(header.bind) if header.checksums else Unchecked(header.bind)


_VERSIONS = {
    1: Version(lambda _: VersionOne(), SampleTimes, is_numbered=False, goes_on=False),
    2: Version(_checks_2, AdaptiveTimes, is_numbered=True, goes_on=True),
}


def version_of(header: StreamHeader) -> Version:
    """Return the version of the stream that a header begins."""
    return _VERSIONS[header.version]
