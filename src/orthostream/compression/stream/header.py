"""The first bytes of a stream: what is in it, and how it is coded."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from orthostream.compression.errors import FrameError
from orthostream.compression.schema import MOST_COLUMNS, Schema
from orthostream.compression.stream.checks import VersionTwo
from orthostream.compression.stream.frame import HEADER, LONGEST, with_length
from orthostream.compression.stream.header_text import LONGEST_TEXT, deflated, inflated, parsed, unzipped
from orthostream.compression.varint import Reader

#: Three bytes that no frame begins with; the version of the format follows.
MAGIC = b"OST"
#: The version that encoders write.
VERSION = 2
#: Flags in the first byte of a header's body: the text is deflated; frames have no checksums.
_DEFLATED, _UNCHECKED = 1, 2
#: Nothing binds the header's own frame; versions 1 and 2 check it alike.
_CHECKS = VersionTwo(0)


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
    version : int
        The version of the format, 1 or 2.
    stream : int
        64 bits that tell this stream from others; 0 in version 1.
    checksums : bool
        Whether frames have checksums; True in version 1.
    """

    schema: Schema
    codec: str = "conditional"
    options: dict[str, Any] = field(default_factory=dict)
    target: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION
    stream: int = 0
    checksums: bool = True
    #: The bytes that it was read from: another library may deflate the same text to others.
    body: bytes | None = field(default=None, compare=False, repr=False)

    def to_bytes(self) -> bytes:
        """Return the magic number, the version, the length of the header's frame, and that frame."""
        return MAGIC + bytes([self.version]) + with_length(_CHECKS.pack_marked(HEADER, 0, self._body()))

    @property
    def bind(self) -> int:
        """32 bits that stand for the header in the checksums of all other frames of version 2."""
        return zlib.crc32(self._body(), zlib.crc32(bytes([HEADER])))

    @property
    def text(self) -> bytes:
        """The header as JSON."""
        plain = {1: self._plain_1, 2: self._plain_2}[self.version]()
        return json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()

    def _plain_1(self) -> dict[str, Any]:
        options = ({"period": 0} if self.codec == "conditional" else {}) | self.options
        return {"schema": self.schema.to_plain(), "codec": self.codec, "options": options, "target": self.target}

    def _plain_2(self) -> dict[str, Any]:
        plain = self.schema.to_plain()
        if plain["n"] == 1:
            del plain["n"]
        if self.codec != "conditional":
            plain["codec"] = self.codec
        # The other codecs have their target among their options.
        implied = {} if self.codec == "conditional" else self.target
        options = {name: value for name, value in self.options.items() if name not in implied}
        return plain | {name: part for name, part in (("options", options), ("target", self.target)) if part}

    def _body(self) -> bytes:
        if self.body is not None:
            return self.body
        text = self.text
        if self.version == 1:
            return zlib.compress(text, 9)
        if len(text) > LONGEST_TEXT:
            raise ValueError(f"the names and units of a stream take at most {LONGEST_TEXT} bytes, not {len(text)}.")
        packed = deflated(text)
        flags = (_DEFLATED if len(packed) < len(text) else 0) | (0 if self.checksums else _UNCHECKED)
        return bytes([flags]) + self.stream.to_bytes(8, "little") + min(packed, text, key=len)

    @classmethod
    def read(cls, data: bytes, most_columns: int = MOST_COLUMNS) -> tuple[StreamHeader, int]:
        """Return the header that bytes begin with, and how many bytes it takes."""
        if data[:3] != MAGIC:
            raise FrameError("this is no .ost stream: it does not begin with OST")
        parse = {b"\1": cls._of_version_1, b"\2": cls._of_version_2}.get(data[3:4])
        if parse is None:
            found = data[3:4].hex() or "?"
            raise FrameError(f"this stream is of format version {found}, and only versions 1 and 2 are known")
        reader = Reader(data, 4)
        frame = _CHECKS.open_alone(reader.take(reader.varint(LONGEST)))
        if frame is None or frame.kind != HEADER:
            raise FrameError("the header of the stream is damaged")
        return parse(frame.body, most_columns), reader.at

    @classmethod
    def _of_version_1(cls, body: bytes, most_columns: int) -> StreamHeader:
        plain = parsed(unzipped(body), most_columns)
        missing = [key for key in ("schema", "codec", "options", "target") if key not in plain]
        if missing or not isinstance(plain["schema"], dict):
            raise FrameError(f"the header of the stream is damaged: it has no {', '.join(missing) or 'schema'}")
        return cls._checked(plain["schema"], plain, most_columns, version=1, body=body)

    @classmethod
    def _of_version_2(cls, body: bytes, most_columns: int) -> StreamHeader:
        if len(body) < 9 or body[0] > 3:
            raise FrameError("the header of the stream is damaged")
        text = inflated(body[9:]) if body[0] & _DEFLATED else body[9:]
        plain = {"n": 1, "codec": "conditional", "options": {}, "target": {}} | parsed(text, most_columns)
        header = cls._checked(
            plain,
            plain,
            most_columns,
            version=2,
            body=body,
            stream=int.from_bytes(body[1:9], "little"),
            checksums=not body[0] & _UNCHECKED,
        )
        if header.codec != "conditional":
            header.options.update(header.target)
        return header

    @classmethod
    def _checked(cls, schema: dict[str, Any], plain: dict[str, Any], most_columns: int, **others: Any) -> StreamHeader:
        codec, options, target = plain["codec"], plain["options"], plain["target"]
        if not (isinstance(codec, str) and isinstance(options, dict) and isinstance(target, dict)):
            raise FrameError("the header of the stream is damaged")
        return cls(Schema.from_plain(schema, most_columns), codec, options, target, **others)
