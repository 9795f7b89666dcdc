"""Missing readings of a simulated sensor network: short lives, outages, and single lost readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.datasets.stratified import stratified

# Shares of the three causes among the missing readings of a real network, 56 sensors over a year.
_LIVES, _OUTAGES, _SINGLES = 0.69, 0.29, 0.02
_SHORTEST_OUTAGE, _LONGEST_OUTAGE, _OUTAGE_DECAY = 2.0, 12.0 * 7.0 * 24.0, 0.8


def drop_outs(n_hours: int, n_sensors: int, missing: float, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Draw a mask of missing readings: True where one is missing.

    Most are missing because a sensor was installed late or removed early. Outages last from two hours to twelve weeks
    (at most a quarter of the record), and short ones are the most frequent. The rest are single readings.

    Parameters
    ----------
    missing : float
        The approximate share of missing readings. In small networks and short records the share varies more.

    Examples
    --------
    >>> import numpy as np
    >>> lost = drop_outs(1000, 20, 0.2, np.random.RandomState(0))
    >>> lost.shape, round(float(lost.mean()), 1)
    ((1000, 20), 0.2)
    """
    lost = _outside_of_life(n_hours, n_sensors, _LIVES * missing, rng)
    # A reading can be missing for two causes at once, so the other two rates refer to readings that are left.
    left = 1.0 - _LIVES * missing
    lost |= _in_outage(n_hours, n_sensors, _OUTAGES * missing / left, rng)
    lost |= rng.uniform(size=lost.shape) < _SINGLES * missing / left
    return lost


def _outside_of_life(n_hours: int, n_sensors: int, share: float, rng: np.random.RandomState) -> NDArray[np.bool_]:
    absent = np.zeros(n_sensors)
    short_lived = round(2.0 * share * n_sensors)
    absent[:short_lived] = stratified(short_lived, rng)
    late = np.arange(n_sensors) % 3 == 0
    order = rng.permutation(n_sensors)
    moment = (np.arange(n_hours)[:, None] + 0.5) / n_hours
    return np.where(late, moment < absent, moment > 1.0 - absent)[:, order]


def _in_outage(n_hours: int, n_sensors: int, share: float, rng: np.random.RandomState) -> NDArray[np.bool_]:
    mean = _outage_lengths((np.arange(1000) + 0.5) / 1000.0, n_hours).mean()
    # Outages may overlap: with x of them at a time on average, a share exp(-x) of the readings is not affected.
    count = rng.poisson(-np.log1p(-share) * n_hours * n_sensors / mean)
    length = _outage_lengths(stratified(count, rng), n_hours)
    # Some sensors fail much more often than others.
    sensor = rng.permutation(n_sensors)[(n_sensors * rng.uniform(size=count) ** 2).astype(int)]
    start = rng.randint(n_hours, size=count)
    edges = np.zeros((n_hours + 1, n_sensors), dtype=int)
    np.add.at(edges, (start, sensor), 1)
    np.add.at(edges, (np.minimum(start + length, n_hours), sensor), -1)
    return np.cumsum(edges[:-1], axis=0) > 0


def _outage_lengths(quantiles: FloatArray, n_hours: int) -> NDArray[np.int_]:
    """Return lengths in hours, from a power law between the shortest and the longest."""
    longest = max(min(n_hours / 4.0, _LONGEST_OUTAGE), _SHORTEST_OUTAGE)
    rest = 1.0 - (_SHORTEST_OUTAGE / longest) ** _OUTAGE_DECAY
    lengths: FloatArray = _SHORTEST_OUTAGE * (1.0 - rest * quantiles) ** (-1.0 / _OUTAGE_DECAY)
    return np.round(lengths).astype(int)
