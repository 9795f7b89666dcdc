"""What differs between the versions of the format: limits of work, the choice of lattices, both ends of a payload."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.choose_lattice import choose_lattice
from orthostream.compression.codecs.conditional.functions import KernelFunctions
from orthostream.compression.codecs.conditional.lattices.choose import choose_lattices
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices, from_plain
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.codecs.conditional.work import WorkLimit, WorkPerByte, WorkPerFrame
from orthostream.compression.kernel.range_coder import TOP_BIT, TOTAL
from orthostream.compression.targets import ErrorBound

#: Of 65,536, what the first symbol of a payload leaves free at the top: no payload begins with the byte 127.
_KEPT_FREE = 256


class Rules(ABC):
    """The rules of one version."""

    limit: WorkLimit
    #: Whether lattices may change while the state goes on.
    has_changes: bool
    #: Whether -0.0 comes back as such where nothing may be lost.
    keeps_negative_zero: bool
    #: Whether the first frame is limited by the groups that its readings would get.
    looks_at_first_samples: bool

    @abstractmethod
    def choose(
        self, rows: FloatArray, bound: ErrorBound, labels: Sequence[str], resolutions: list[Resolution] | None
    ) -> Lattices:
        """Return the lattices for a stream that begins with some samples."""

    @abstractmethod
    def begin(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> None:
        """Code what comes before everything else."""

    @abstractmethod
    def finish(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> bytes:
        """Return the bytes of a payload."""

    @abstractmethod
    def coded(self, body: bytes) -> ByteArray:
        """Return what the range coder wrote, from the bytes of a payload."""


class VersionOneRules(Rules):
    """Format version 1."""

    limit = WorkPerByte()
    has_changes = False
    keeps_negative_zero = False
    looks_at_first_samples = False

    def choose(
        self, rows: FloatArray, bound: ErrorBound, labels: Sequence[str], resolutions: list[Resolution] | None
    ) -> Lattices:
        return from_plain(choose_lattice(rows, bound, resolutions))

    def begin(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> None:
        """Version 1 reserves no first byte."""

    def finish(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> bytes:
        return buffer[: call["finish_encoding"](coder, buffer)].tobytes()

    def coded(self, body: bytes) -> ByteArray:
        return np.frombuffer(body, dtype=np.uint8).copy()


class VersionTwoRules(Rules):
    """Format version 2: no bytes stand for the likeliest readings; the first byte 127 is reserved for marked frames."""

    limit = WorkPerFrame()
    has_changes = True
    keeps_negative_zero = True
    looks_at_first_samples = True

    def choose(
        self, rows: FloatArray, bound: ErrorBound, labels: Sequence[str], resolutions: list[Resolution] | None
    ) -> Lattices:
        return choose_lattices(rows, bound, labels, resolutions)

    def begin(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> None:
        call["code_interval"](coder, buffer, 0, TOTAL - _KEPT_FREE)

    def finish(self, call: KernelFunctions, coder: IntArray, buffer: ByteArray) -> bytes:
        return buffer[: call["finish_centred"](coder, buffer)].tobytes()

    def coded(self, body: bytes) -> ByteArray:
        data: ByteArray = np.frombuffer(body or b"\0", dtype=np.uint8).copy()
        data[0] ^= TOP_BIT
        return data


#: The rules of each version.
RULES: dict[int, Rules] = {1: VersionOneRules(), 2: VersionTwoRules()}
