"""Saving and loading an encoder, with the samples that wait for their frame."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, BinaryIO, Self

import numpy as np

from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.schema import Schema
from orthostream.compression.stream.achieved import Achieved
from orthostream.compression.stream.arguments import check_readings
from orthostream.compression.stream.framing import Framing, SentFrame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.saved_state import Place, load_state, restoring, save_state
from orthostream.compression.stream.verification import Verification
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import target_in_header

#: Parameters that are saved as they are.
_SAVED = ("period", "samples_per_frame", "key_every", "verify", "stream", "checksums", "version")


class SavedEncoder:
    """The part of `Encoder` that saves it to a file and loads it."""

    schema: Schema
    target: Target
    achieved: Achieved
    header: Any
    _options: dict[str, Any]
    _resolutions: list[Resolution] | None
    _waiting: list[Any]
    _waiting_times: list[int]
    _done: list[SentFrame]
    _header: StreamHeader | None
    _framing: Framing
    _verification: Verification

    def __init__(self, schema: Schema, target: Target, **settings: Any) -> None:
        raise NotImplementedError

    def _begin(self, header: StreamHeader) -> None:
        raise NotImplementedError

    def save(self, place: Place | BinaryIO) -> None:
        """Save the encoder, samples that wait included, to a path or a binary file.

        A loaded one goes on as if nothing had happened, and to the same bytes.
        """
        shared = self.target.options(0)
        options = self._options | {name: shared[name] for name in shared if name not in self.target.in_header}
        content = {
            "schema": self.schema.to_plain(),
            "target": self.target.in_header,
            "settings": {name: getattr(self, f"_{name}") for name in _SAVED} | {"options": options},
            "resolutions": None if self._resolutions is None else [list(each) for each in self._resolutions],
            "waiting": np.concatenate([np.empty((0, len(self.schema.columns))), *self._waiting]),
            "waiting_times": self._waiting_times,
            "done": [[np.frombuffer(frame, dtype=np.uint8), frame.key, frame.number] for frame in self._done],
            "achieved": asdict(self.achieved),
        }
        if self._header is not None:
            content["header"] = np.frombuffer(self.header, dtype=np.uint8)
            content["framing"] = self._framing.state()
        save_state(place, "encoder", content)

    @classmethod
    def load(cls, place: Place | BinaryIO, *, accelerate: bool | None = None) -> Self:
        """Return the encoder that was saved; raise FrameError if the bytes are damaged."""
        content = load_state(place, "encoder")
        with restoring():
            target = target_in_header(content["target"])
            schema = Schema.from_plain(content["schema"])
            encoder = cls(schema, target, accelerate=accelerate, **content["settings"])
            if content["resolutions"] is not None:
                encoder._resolutions = [Resolution(*map(int, pair)) for pair in content["resolutions"]]
            if "header" in content:
                encoder._begin(StreamHeader.read(content["header"].tobytes())[0])
                encoder._framing.set_state(content["framing"])
                encoder._verification.set_state(content["framing"])
            waiting = check_readings(content["waiting"], len(schema.columns))
            encoder._waiting = [waiting] if len(waiting) else []
            encoder._waiting_times = [int(time) for time in content["waiting_times"]]
            for data, key, number in content["done"]:
                pair = None if key is None else (int(key[0]), int(key[1]))
                encoder._done.append(SentFrame(data.tobytes(), pair, int(number)))
            encoder.achieved = Achieved(**content["achieved"])
        return encoder
