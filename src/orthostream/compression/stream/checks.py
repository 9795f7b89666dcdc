"""How frames are checked, by version of the format: each is an object that packs and opens frames."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checksums import check_12, check_16, check_32
from orthostream.compression.stream.frame import (
    END,
    INDEX,
    LONGEST,
    OTHER,
    READINGS,
    RESTART,
    TIMED,
    Frame,
    is_mark,
    stands_alone,
)

#: Plain frames of at most this many bytes have a checksum of 12 bits.
_TINY = 8
_PLAIN_START, _MARKED_START = 0x4F535430, 0x4F535431


class Checks(ABC):
    """Packs and opens the frames of a stream."""

    #: The last kind of frame that there is.
    last_kind: int
    #: The chain before the first frame after a restart.
    start: Chain
    #: Bytes that a frame has at least.
    least: int = 2
    #: Plain frames of at most this many bytes have a checksum of 16 bits; longer ones have 32.
    short: int

    @abstractmethod
    def after(self, chain: Chain, frame: Frame, data: bytes, digest: int | None) -> Chain:
        """Return the chain after a frame and its bytes; ``digest`` is that of the codec after one of readings."""

    @abstractmethod
    def _short_seed(self, chain: Chain) -> int:
        """Return what short checksums are seeded with."""

    def pack_plain(self, body: bytes, chain: Chain) -> bytes:
        """Return a plain frame: it takes one or two bytes more than its payload if that is tiny, two if it is short."""
        if len(body) + 2 <= _TINY or (len(body) + 1 <= _TINY and body and body[-1] & 15 == 0):
            # The checksum begins in the middle of a byte; zeros at the end of a payload mean nothing.
            if not body or body[-1] & 15:
                body += b"\0"
            check = check_12(body, self._short_seed(chain) ^ _PLAIN_START, chain.number)
            return body[:-1] + bytes([body[-1] | check >> 8, check & 0xFF])
        if len(body) + 2 <= self.short:
            body = body.ljust(_TINY - 1, b"\0")
            return body + check_16(body, self._short_seed(chain) ^ _PLAIN_START, chain.number)
        body = body.ljust(self.short - 3, b"\0")
        return body + check_32(body, chain.seed ^ _PLAIN_START)

    def _plain_body(self, data: bytes, chain: Chain) -> bytes | None:
        """Return the payload of a plain frame, None if its checksum does not fit."""
        if len(data) > self.short:
            body = data[:-4]
            return body if check_32(body, chain.seed ^ _PLAIN_START) == data[-4:] else None
        if len(data) < 2:
            return None
        seed = self._short_seed(chain) ^ _PLAIN_START
        if len(data) <= _TINY:
            body = data[:-2] + bytes([data[-2] & 0xF0])
            return body if check_12(body, seed, chain.number) == (data[-2] & 15) << 8 | data[-1] else None
        body = data[:-2]
        return body if check_16(body, seed, chain.number) == data[-2:] else None

    def pack_marked(self, kind: int, flags: int, body: bytes, chain: Chain | None = None) -> bytes:
        """Return a frame that says what it is.

        A decoder that remembers ``chain`` never takes it for a plain one, even with one bit flipped.
        """
        seed = chain.seed if chain is not None and not stands_alone(kind, flags) else self.start.seed
        for extra in (0, OTHER):
            raw = bytes([kind | flags | extra]) + body
            data = raw + check_32(raw, seed ^ _MARKED_START)
            if chain is None or not any(self._plain_body(near, chain) is not None for near in self._neighbours(data)):
                break
        return data

    def _neighbours(self, data: bytes) -> Iterator[bytes]:
        """Yield bytes, and all that one flipped bit makes of them."""
        yield data
        if len(data) <= self.short:
            whole = int.from_bytes(data, "little")
            for bit in range(8 * len(data)):
                yield (whole ^ 1 << bit).to_bytes(len(data), "little")

    def open(self, data: bytes, chain: Chain | None) -> Frame:
        """Return the frame that bytes are, for a decoder that remembers ``chain`` (None: nothing)."""
        if not self.least <= len(data) <= LONGEST:
            raise FrameError(f"{len(data)} bytes are no frame")
        if chain is not None:
            body = self._plain_body(data, chain)
            if body is not None:
                return Frame(READINGS, 0, body)
        frame = self.open_alone(data)
        if frame is None and chain is not None:
            frame = self._marked(data, chain.seed)
            if frame is not None and stands_alone(frame.kind, frame.flags):
                frame = None
        if frame is not None:
            return frame
        if chain is None:
            raise FrameError(
                "a frame is damaged, or frames before it are missing; one that restarts the state is needed"
            )
        raise FrameError("a frame is damaged, or does not follow the ones before it")

    def open_alone(self, data: bytes) -> Frame | None:
        """Return the frame that bytes are if it can be read without knowing the ones before it, None otherwise."""
        if data and stands_alone(data[0] & 7, data[0] & (RESTART | TIMED)):
            return self._marked(data, self.start.seed)
        return None

    def _marked(self, data: bytes, seed: int) -> Frame | None:
        """Return a marked frame, None if its first byte cannot be or its checksum does not fit."""
        if len(data) < 5 or not is_mark(data[0], self.last_kind):
            return None
        if data[-4:] != check_32(data[:-4], seed ^ _MARKED_START):
            return None
        return Frame(data[0] & 7, data[0] & (RESTART | TIMED), data[1:-4])


class VersionOne(Checks):
    """Short checksums hold the seed after the first frame, or after the last whose number is a multiple of 64."""

    last_kind = END
    start = Chain()
    short = 64

    def after(self, chain: Chain, frame: Frame, data: bytes, digest: int | None) -> Chain:
        seed = zlib.crc32(data, chain.seed) ^ (digest or 0)
        number = chain.number + 1
        return Chain(seed, number, seed if number == 1 or number % 64 == 0 else chain.anchor)

    def _short_seed(self, chain: Chain) -> int:
        return chain.anchor


class VersionTwo(Checks):
    """Every checksum holds the header of the stream and, but for frames that stand alone, the frames before.

    Parameters
    ----------
    bind : int
        32 bits that stand for the header; 0 for the frame of the header itself.
    """

    last_kind = INDEX
    short = 256

    def __init__(self, bind: int) -> None:
        self.start = Chain(bind)

    def after(self, chain: Chain, frame: Frame, data: bytes, digest: int | None) -> Chain:
        # Not over the frame's own checksum: bytes that end with their CRC of 32 bits all leave the same one.
        content = bytes([frame.kind | frame.flags]) + frame.body
        return Chain(zlib.crc32(content, chain.seed) ^ (digest or 0), chain.number + 1)

    def _short_seed(self, chain: Chain) -> int:
        return chain.seed


class Unchecked(VersionTwo):
    """Frames for a transport that neither damages nor mixes up messages, and that numbers them.

    A plain frame is its payload, which may be empty. All others begin with 127, which no plain one does; only those
    that restart the state have a checksum, so that those of other streams are refused.
    """

    least = 0
    _ESCAPE = b"\x7f"

    def pack_plain(self, body: bytes, chain: Chain) -> bytes:
        return self.pack_marked(READINGS, 0, body, chain) if body.startswith(self._ESCAPE) else body

    def pack_marked(self, kind: int, flags: int, body: bytes, chain: Chain | None = None) -> bytes:
        raw = bytes([kind | flags]) + body
        check = check_32(raw, self.start.seed ^ _MARKED_START) if stands_alone(kind, flags) else b""
        return self._ESCAPE + raw + check

    def open(self, data: bytes, chain: Chain | None) -> Frame:
        if not self.least <= len(data) <= LONGEST:
            raise FrameError(f"{len(data)} bytes are no frame")
        if not data.startswith(self._ESCAPE):
            if chain is not None:
                return Frame(READINGS, 0, data)
            raise FrameError("frames before this one are missing; one that restarts the state is needed")
        frame = self.open_alone(data)
        if frame is not None:
            return frame
        if len(data) < 2 or not is_mark(data[1], self.last_kind) or stands_alone(data[1] & 7, data[1] & RESTART):
            raise FrameError("a frame is damaged, or belongs to another stream")
        if chain is None:
            raise FrameError("frames before this one are missing; one that restarts the state is needed")
        return Frame(data[1] & 7, data[1] & (RESTART | TIMED), data[2:])

    def open_alone(self, data: bytes) -> Frame | None:
        return super().open_alone(data[1:]) if data.startswith(self._ESCAPE) else None
