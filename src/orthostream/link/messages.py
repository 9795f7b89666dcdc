"""What goes over the wire: openings and frames from an edge to the cloud, answers back.

A message begins with a byte: the version of this layout in the high half, the kind in the low half.

- *opening* (1), sequence number 0 of a boot: 8 bytes boot, varint generation, varint number of boots that it replaces,
  for each of them 4 bytes tag and the varint of the first sequence number whose samples are sent again in the new one;
  then parts: the stream's header, frames.
- *frame* (2): 4 bytes tag of the boot, varint sequence number, one frame.
- *frames* (3): 4 bytes tag of the boot, varint sequence number, parts: frames.
- *answer* (4): 4 bytes tag of the boot, varint next sequence number, one byte of flags (1: begin a new boot).

Frames that need no answer at once have 8 added to their kind.

Parts are a varint of the length and the bytes, one after another. A boot is 64 random bits that an edge draws whenever
it begins a stream; its tag is the first 4 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, put_varint
from orthostream.link.errors import MessageError

#: Maximum number of bytes of a message.
MOST_BYTES = 1 << 20
#: Maximum number of frames in a message.
_MOST_PARTS = 64
BOOT_BYTES, TAG_BYTES = 8, 4
#: Maximum number of boots that one replaces.
MOST_REPLACED = 64
_VERSION = 1
_OPENING, _FRAME, _FRAMES, _ANSWER = 1, 2, 3, 4
_LARGEST = (1 << 62) - 1
_RESTART = 1
_QUIET = 8


@dataclass(frozen=True)
class Replaced:
    """A boot that the cloud could not go on with: its samples from ``start`` on come again in another boot."""

    tag: bytes
    start: int


@dataclass(frozen=True)
class Opening:
    """The first message of a boot: the header of its stream, and its first frames."""

    boot: bytes
    generation: int
    header: bytes
    frames: tuple[bytes, ...]
    replaced: tuple[Replaced, ...] = ()
    sequence: int = 0

    @property
    def tag(self) -> bytes:
        """What later messages name the boot by."""
        return self.boot[:TAG_BYTES]

    def to_bytes(self) -> bytes:
        """Return the message as it is sent."""
        out = bytearray([_VERSION << 4 | _OPENING]) + self.boot
        put_varint(out, self.generation)
        return bytes(out + replaced_to_bytes(self.replaced) + _joined((self.header, *self.frames)))


@dataclass(frozen=True)
class Frames:
    r"""The frames of one sequence number.

    Examples
    --------
    >>> Frames(b"boot", 300, (b"frame",)).to_bytes()
    b'\x12boot\xac\x02frame'
    """

    tag: bytes
    sequence: int
    frames: tuple[bytes, ...]

    def to_bytes(self) -> bytes:
        """Return the message as it is sent."""
        out = bytearray([_VERSION << 4 | (_FRAME if len(self.frames) == 1 else _FRAMES)]) + self.tag
        put_varint(out, self.sequence)
        return bytes(out + (self.frames[0] if len(self.frames) == 1 else _joined(self.frames)))


@dataclass(frozen=True)
class Answer:
    """All messages of a boot before ``next`` are on disk; the next one is to be sent, or a new boot to be begun."""

    tag: bytes
    next: int
    restart: bool = False

    def to_bytes(self) -> bytes:
        """Return the message as it is sent."""
        out = bytearray([_VERSION << 4 | _ANSWER]) + self.tag
        put_varint(out, self.next)
        return bytes(out + bytes([_RESTART if self.restart else 0]))


def quiet(message: bytes) -> bytes:
    """Return a message of frames that needs no answer at once."""
    return bytes([message[0] | _QUIET]) + message[1:]


def split_quiet(data: bytes) -> tuple[bytes, bool]:
    """Return a message as it was made, and whether it needs no answer at once."""
    if data and data[0] & 15 in (_FRAME | _QUIET, _FRAMES | _QUIET):
        return bytes([data[0] & ~_QUIET]) + data[1:], True
    return data, False


def replaced_to_bytes(replaced: tuple[Replaced, ...]) -> bytes:
    """Return how many boots are replaced, and which."""
    out = bytearray()
    put_varint(out, len(replaced))
    for each in replaced:
        out += each.tag
        put_varint(out, each.start)
    return bytes(out)


def read_replaced(reader: Reader) -> tuple[Replaced, ...]:
    """Return the boots that are replaced."""
    count = reader.varint(MOST_REPLACED)
    return tuple(Replaced(reader.take(TAG_BYTES), reader.varint(_LARGEST)) for _ in range(count))


def read_message(data: bytes) -> Opening | Frames:
    """Return the message from an edge that bytes are; raise MessageError if they are none."""
    kind, reader = _begin(data, _OPENING, _FRAMES)
    try:
        if kind == _OPENING:
            boot = reader.take(BOOT_BYTES)
            generation = reader.varint(_LARGEST)
            replaced = read_replaced(reader)
            header, *frames = _parts(reader)
            if not frames:
                raise MessageError("an opening has no frames")
            if any(each.tag == boot[:TAG_BYTES] for each in replaced):
                raise MessageError("an opening replaces itself")
            return Opening(boot, generation, header, tuple(frames), replaced)
        tag = reader.take(TAG_BYTES)
        sequence = reader.varint(_LARGEST)
        frames = [reader.rest()] if kind == _FRAME else _parts(reader)
        if sequence == 0:
            raise MessageError("message 0 of a stream must be an opening")
        return Frames(tag, sequence, tuple(frames))
    except FrameError as error:
        raise MessageError(f"a message is damaged: {error}") from None


def read_answer(data: bytes) -> Answer:
    """Return the answer that bytes are; raise MessageError if they are none."""
    _, reader = _begin(data, _ANSWER, _ANSWER)
    try:
        answer = Answer(reader.take(TAG_BYTES), reader.varint(_LARGEST), reader.take(1) == bytes([_RESTART]))
    except FrameError as error:
        raise MessageError(f"an answer is damaged: {error}") from None
    if answer.to_bytes() != data:
        raise MessageError("an answer is damaged")
    return answer


def _begin(data: bytes, first: int, last: int) -> tuple[int, Reader]:
    if not 1 <= len(data) <= MOST_BYTES:
        raise MessageError(f"a message has 1 to {MOST_BYTES} bytes, got {len(data)}")
    version, kind = data[0] >> 4, data[0] & 15
    if version != _VERSION:
        raise MessageError(f"a message is of version {version}, and only version {_VERSION} is known")
    if not first <= kind <= last:
        raise MessageError(f"a message is of kind {kind}, which does not belong here")
    reader = Reader(data)
    reader.take(1)
    return kind, reader


def _joined(parts: tuple[bytes, ...]) -> bytes:
    out = bytearray()
    for part in parts:
        put_varint(out, len(part))
        out += part
    return bytes(out)


def _parts(reader: Reader) -> list[bytes]:
    found: list[bytes] = []
    while reader.at < len(reader.data):
        if len(found) == _MOST_PARTS:
            raise MessageError(f"a message has more than {_MOST_PARTS} parts")
        found.append(reader.take(reader.varint(len(reader.data))))
    if not found:
        raise MessageError("a message is empty")
    return found
