"""A finished .ost file on a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orthostream.compression import OstReader
from orthostream.compression.targets.keywords import target_in_header
from orthostream.dashboard.comparison import Comparison
from orthostream.dashboard.record import EdgeRecord
from orthostream.dashboard.recorded_view import RecordedView, with_rest

#: Readings of a file that are compared with other forms.
_MOST_COMPARED = 1 << 22


class OstView(RecordedView):
    """Shows an .ost file as one edge that is complete.

    All of the file is read once; of large files the last part stays in memory.

    Parameters
    ----------
    path : path
    progress : callable, optional
        Called with the fraction of the file that was read.
    """

    is_live = False

    def __init__(self, path: str | os.PathLike[str], progress: Callable[[float], None] | None = None) -> None:
        super().__init__()
        self.name = Path(path).name
        self.title = self.name
        size = max(Path(path).stat().st_size, 1)
        with OstReader(path) as reader:
            record = EdgeRecord(reader.schema, target_in_header(reader.header.target))
            record.comparison = Comparison()
            self._records[self.name] = record
            before = 0
            for values, times in reader:
                moments = np.arange(record.samples, record.samples + len(values)) if times is None else times
                if record.readings > _MOST_COMPARED:
                    record.comparison = None
                record.add(moments, values, None, reader.end_of_frames - before)
                if len(moments):
                    record.learning.hold(int(moments[0]), reader.decoder.codec.dictionary)
                before = reader.end_of_frames
                if progress is not None:
                    progress(before / size)
            self._info: dict[str, Any] = reader.info()
        # The end of the file counts as well.
        record.n_bytes = int(self._info["bytes"])
        self.notice = "" if self._info["complete"] else "The end of this file is missing: it was cut short."

    def _state(self, name: str, record: EdgeRecord) -> tuple[str, str]:
        return "complete", "none"

    def _spent(self, name: str) -> Mapping[str, float]:
        return with_rest(self._info["bits_by_component"], int(self._info["bytes"]))

    def _errors(self, record: EdgeRecord) -> tuple[float | None, float | None]:
        return self._info["max_error_achieved"], self._info["rmse_achieved"]

    def _link(self, name: str) -> Mapping[str, int | str]:
        return {
            "file: bytes": int(self._info["bytes"]),
            "file: frames": int(self._info["frames"]),
            "file: key frames": int(self._info["key_frames"]),
            "file: complete": "yes" if self._info["complete"] else "no",
        }
