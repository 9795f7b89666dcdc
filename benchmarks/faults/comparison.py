"""What a store holds, beside the source that it came from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthostream.link import Store

from .growing_table import SENSORS, read_table


class Comparison(NamedTuple):
    """Readings of a source, and what became of them."""

    samples: int
    readings: int
    lost: int
    doubled: int
    invented: int
    beyond: int
    streams: int
    messages: int

    @property
    def is_right(self) -> bool:
        """Whether each reading is there once, within the bound, and no other."""
        return self.readings > 0 and not (self.lost or self.doubled or self.invented or self.beyond)


def compare(store: Store, edge: str, source: Path, bound: float) -> Comparison:
    """Compare the readings of an edge with the table that it has read; each time occurs once in it."""
    all_times, rows = read_table(source)
    readings = lost = doubled = invented = beyond = 0
    for place, sensor in enumerate(SENSORS):
        there = ~np.isnan(rows[:, place])
        expected, values = all_times[there], rows[there, place]
        chunks = list(store.readings(edge, sensor))
        found = np.concatenate([np.empty(0, dtype=np.int64), *(chunk.times for chunk in chunks)])
        decoded = np.concatenate([np.empty(0), *(chunk.values for chunk in chunks)])
        known = np.isin(found, expected)
        readings += len(expected)
        lost += int((~np.isin(expected, found)).sum())
        invented += int((~known).sum())
        doubled += int(known.sum() - len(np.unique(found[known])))
        original = values[np.searchsorted(expected, found[known])]
        beyond += int((~(np.abs(decoded[known] - original) <= bound)).sum())
    streams = store.streams(edge)
    messages = sum(stream.next for stream in streams)
    return Comparison(len(rows), readings, lost, doubled, invented, beyond, len(streams), messages)
