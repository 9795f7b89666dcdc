"""What is saved of an encoder: its parameters, its state, and the samples that wait for their frame."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.schema import Schema
from orthostream.compression.stream.achieved import Achieved
from orthostream.compression.stream.arguments import check_readings
from orthostream.compression.stream.framing import SentFrame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.saved_state import Place, load_state, restoring, save_state
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import target_in_header

_WHAT = "encoder"


@dataclass(frozen=True)
class SavedEncoder:
    """All that an encoder needs in order to go on as if nothing had happened.

    Attributes
    ----------
    settings : dict
        Parameters of the encoder besides its schema and its target.
    resolutions : list of Resolution, or None
        As they were declared; None if they are to be found in the readings.
    waiting, waiting_times
        Samples that wait for their frame to fill, and their times.
    done : list of SentFrame
        Frames that were made and not returned yet.
    header, framing
        The header and the state of the frames; None before the first one.
    """

    schema: Schema
    target: Target
    settings: dict[str, Any]
    resolutions: list[Resolution] | None
    waiting: FloatArray
    waiting_times: list[int]
    done: list[SentFrame]
    achieved: Achieved
    header: StreamHeader | None
    framing: dict[str, Any] | None

    def write(self, place: Place | BinaryIO) -> None:
        """Write it to a path or a binary file."""
        content = {
            "schema": self.schema.to_plain(),
            "target": self.target.in_header,
            "settings": self.settings,
            "resolutions": None if self.resolutions is None else [list(each) for each in self.resolutions],
            "waiting": self.waiting,
            "waiting_times": self.waiting_times,
            "done": [[np.frombuffer(frame, dtype=np.uint8), frame.key, frame.number] for frame in self.done],
            "achieved": asdict(self.achieved),
        }
        if self.header is not None:
            content["header"] = np.frombuffer(self.header.to_bytes(), dtype=np.uint8)
            content["framing"] = self.framing
        save_state(place, _WHAT, content)

    @classmethod
    def read(cls, place: Place | BinaryIO) -> SavedEncoder:
        """Return what was written; raise FrameError if the bytes are damaged."""
        content = load_state(place, _WHAT)
        with restoring():
            schema = Schema.from_plain(content["schema"])
            pairs = content["resolutions"]
            has_begun = "header" in content
            return cls(
                schema=schema,
                target=target_in_header(content["target"]),
                settings=content["settings"],
                resolutions=None if pairs is None else [Resolution(*map(int, pair)) for pair in pairs],
                waiting=check_readings(content["waiting"], len(schema.columns)),
                waiting_times=[int(time) for time in content["waiting_times"]],
                done=[_sent_frame(*each) for each in content["done"]],
                achieved=Achieved(**content["achieved"]),
                header=StreamHeader.read(content["header"].tobytes())[0] if has_begun else None,
                framing=content["framing"] if has_begun else None,
            )


def _sent_frame(data: Any, key: Any, number: Any) -> SentFrame:
    return SentFrame(data.tobytes(), None if key is None else (int(key[0]), int(key[1])), int(number))
