"""Readings as PostgreSQL takes them in bulk: rows of COPY in its binary format, made by NumPy."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray, IntArray

#: What a copy begins and ends with.
COPY_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_END = b"\xff\xff"
_ROW = np.dtype(
    [
        ("fields", ">i2"),
        ("sensor_bytes", ">i4"),
        ("sensor", ">i8"),
        ("time_bytes", ">i4"),
        ("time", ">i8"),
        ("sample_bytes", ">i4"),
        ("sample", ">i8"),
        ("value_bytes", ">i4"),
        ("value", ">f8"),
    ]
)


def copy_rows(sensors: IntArray, samples: IntArray, times: IntArray, values: FloatArray) -> tuple[int, bytes]:
    """Return how many readings there are, and their rows (sensor, time, sample, value), sensor by sensor.

    Parameters
    ----------
    sensors : (n_sensors,) array
        Numbers of the sensors.
    samples, times : (n_samples,) arrays
    values : (n_samples, n_sensors) array
        NaN where there is no reading.

    Examples
    --------
    >>> count, data = copy_rows(np.array([7, 8]), np.array([0]), np.array([60]), np.array([[1.5, np.nan]]))
    >>> count, len(data)
    (1, 50)
    """
    places, taken = np.nonzero(~np.isnan(values.T))
    rows = np.empty(len(places), dtype=_ROW)
    rows["fields"] = 4
    rows["sensor_bytes"] = rows["time_bytes"] = rows["sample_bytes"] = rows["value_bytes"] = 8
    rows["sensor"] = sensors[places]
    rows["time"] = times[taken]
    rows["sample"] = samples[taken]
    rows["value"] = values[taken, places]
    return len(places), rows.tobytes()
