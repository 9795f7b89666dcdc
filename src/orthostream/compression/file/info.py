"""What is in a file that was read, for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orthostream.compression.file.reader import OstReader


def described(reader: OstReader) -> dict[str, Any]:
    """Read a file to its end, and return what the reader has found."""
    first_time = last_time = None
    for readings in reader:
        if readings.times is not None:
            first_time = int(readings.times[0]) if first_time is None else first_time
            last_time = int(readings.times[-1])
    total = sum(reader.bytes_by_component.values())
    cells = reader.n_readings + reader.n_missing
    n_sensors = len(reader.schema.columns)
    end = reader.end if reader.n_readings else None
    known = end is not None and not math.isnan(end.max_error)
    # The sum of squares in the end is that of all readings.
    is_whole = known and not reader.lost
    return {
        "version": reader.header.version,
        "codec": reader.header.codec,
        "basis": reader.decoder.codec.basis,
        "target": reader.header.target,
        "n_sensors": n_sensors,
        "n_samples": cells // n_sensors,
        "n_readings": reader.n_readings,
        "n_missing": reader.n_missing,
        "bytes": total,
        "bits_per_reading": 8.0 * total / cells if cells else None,
        "bits_per_observed": 8.0 * total / reader.n_readings if reader.n_readings else None,
        "bytes_by_component": reader.bytes_by_component,
        "bits_by_component": {name: round(bits, 1) for name, bits in sorted(reader.bits.items())},
        "frames": reader.n_frames,
        "key_frames": len(reader.keys),
        "complete": reader.complete,
        "lost": [stretch._asdict() for stretch in reader.lost],
        "ignored": None if reader.ignored is None else reader.ignored._asdict(),
        "first_time": first_time,
        "last_time": last_time,
        "max_error_achieved": end.max_error if end is not None and known else None,
        "rmse_achieved": math.sqrt(end.sum_of_squares / reader.n_readings) if is_whole and end else None,
    }
