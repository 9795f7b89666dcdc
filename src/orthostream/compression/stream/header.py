"""The first bytes of a stream: what is in it, and how it is coded."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from orthostream.compression.errors import FrameError
from orthostream.compression.schema import Schema
from orthostream.compression.stream.frame import HEADER, LONGEST, open_frame, pack_marked
from orthostream.compression.varint import Reader, put_varint

#: Four bytes that no frame begins with; the last one is the version of the format.
MAGIC = b"OST\x01"
#: Maximum number of bytes of an unpacked header, for each packed byte.
_EXPANSION = 200
_LONGEST_TEXT = 1 << 26


@dataclass(frozen=True)
class StreamHeader:
    """What both sides must agree on before the first sample.

    Parameters
    ----------
    schema : Schema
    codec : str
        "conditional", "transform" or "paper".
    options : dict
        Parameters of the codec, on both sides.
    target : dict
        What the user asked for, for reports and for appending.
    """

    schema: Schema
    codec: str = "conditional"
    options: dict[str, Any] = field(default_factory=dict)
    target: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the magic number, the length of the header's frame, and that frame."""
        plain = {"schema": self.schema.to_plain(), "codec": self.codec, "options": self.options, "target": self.target}
        text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()
        frame = pack_marked(HEADER, 0, zlib.compress(text, 9))
        out = bytearray(MAGIC)
        put_varint(out, len(frame))
        return bytes(out) + frame

    @classmethod
    def read(cls, data: bytes) -> tuple[StreamHeader, int]:
        """Return the header that bytes begin with, and how many bytes it takes."""
        if data[:3] != MAGIC[:3]:
            raise FrameError("this is no .ost stream: it does not begin with OST")
        if data[:4] != MAGIC:
            raise FrameError(f"this stream is of format version {data[3:4].hex() or '?'}, and only version 1 is known")
        reader = Reader(data, len(MAGIC))
        frame = open_frame(reader.take(reader.varint(LONGEST)), None)
        if frame.kind != HEADER:
            raise FrameError("the header of the stream is damaged")
        return cls._unpacked(frame.body), reader.at

    @classmethod
    def _unpacked(cls, body: bytes) -> StreamHeader:
        unpacker = zlib.decompressobj()
        try:
            text = unpacker.decompress(body, min(_EXPANSION * len(body), _LONGEST_TEXT))
            if not unpacker.eof or unpacker.unused_data:
                raise FrameError("the header of the stream is longer than it may be, or cut short")
            plain = json.loads(text)
            codec, options, target = plain["codec"], plain["options"], plain["target"]
        except (zlib.error, ValueError, RecursionError, KeyError, TypeError) as error:
            raise FrameError(f"the header of the stream is damaged: {error}") from None
        if not (isinstance(codec, str) and isinstance(options, dict) and isinstance(target, dict)):
            raise FrameError("the header of the stream is damaged")
        return cls(Schema.from_plain(plain.get("schema")), codec, options, target)
