"""A simulated city: temperatures from a network of cheap sensors, with their usual faults.

The air temperature is the sum of weather that all places share (seasons, days, fronts) and differences between places
(smooth ones, the warmer centre at night, local ones). Sensors have offsets, age, heat up in the sun, round, and fail to
report. All parameters were set from the temperatures of the Airly network in Krakow in 2017. A simulated year of 56
sensors resembles them in spread, in correlations in space and time, in singular values and in gaps.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri, stdtrit
from sklearn.utils import Bunch, check_random_state

from orthostream._checks import at_least, between, integer
from orthostream._typing import FloatArray
from orthostream.datasets.drop_outs import drop_outs
from orthostream.datasets.fill import check_fill, filled
from orthostream.datasets.stratified import stratified

_START = np.datetime64("2017-01-01T00", "h")
_CENTRE = (50.06, 19.94)
_KILOMETRES_PER_DEGREE = (111.2, 71.4)
_YEAR = 365.25 * 24.0


def make_city(
    n_hours: int = 2000,
    n_sensors: int = 56,
    *,
    quantised: float = 1.0,
    missing: float = 0.23,
    fill: str | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate hourly temperatures of a city as its sensors report them, from the first hour of a year on.

    Parameters
    ----------
    n_hours, n_sensors : int
    quantised : float, default 1
        Readings are rounded to multiples of this, in degrees; 0 does not round.
    missing : float, default 0.23
        The approximate share of missing readings, up to one half: sensors installed late or removed early, outages of
        hours to weeks, single readings. In small networks and short records the share varies more.
    fill : {"row mean"}, optional
        As for `load_airly`: replace each missing reading by the mean of that hour's readings.
    random_state : int, RandomState or None

    Returns
    -------
    Bunch
        ``data`` (n_hours, n_sensors) in degrees Celsius with NaN where missing, ``time`` (datetime64[h], UTC),
        ``sensors`` (names), ``locations`` (n_sensors, 2) as latitude and longitude: the fields of `load_airly`.
        ``truth``, of the same shape as ``data``, is the temperature of the air at each sensor: complete, not rounded,
        and without offsets, ageing, noise and overheating of the sensors.

    Examples
    --------
    >>> import numpy as np
    >>> city = make_city(500, 20, random_state=0)
    >>> city.data.shape, city.time[-1], bool(np.isnan(city.truth).any())
    ((500, 20), np.datetime64('2017-01-21T19','h'), False)
    >>> bool(np.nanmedian(np.abs(city.data - city.truth)) < 0.5)
    True
    """
    integer("n_hours", n_hours)
    integer("n_sensors", n_sensors)
    at_least("quantised", quantised)
    between("missing", missing, 0.0, 0.5)
    check_fill(fill)
    rng = check_random_state(random_state)
    hours = np.arange(n_hours, dtype=float)
    places = _places(n_sensors, rng)
    clear = _clear_sky(n_hours, rng)
    truth = _weather(hours, clear, rng)[:, None] + _differences(hours, places, clear, rng)
    readings = truth + _instruments(hours, n_sensors, clear, rng)
    if quantised:
        # Adding zero turns -0.0 into 0.0.
        readings = np.round(readings / quantised) * quantised + 0.0
    readings[drop_outs(n_hours, n_sensors, missing, rng)] = np.nan
    return Bunch(
        data=filled(readings, fill),
        time=_START + np.arange(n_hours),
        sensors=np.arange(1, n_sensors + 1).astype(str),
        locations=np.array(_CENTRE) + places / _KILOMETRES_PER_DEGREE,
        truth=truth,
    )


def _wandering(n_hours: int, count: int, memory: float, rng: np.random.RandomState) -> FloatArray:
    """Draw series of mean 0, variance 1 and a correlation time of about ``memory`` hours, by AR(2) processes."""
    slow, fast = np.exp(-1.0 / memory), np.exp(-40.0 / memory)
    before = int(5.0 * memory)
    white = rng.standard_normal((before + n_hours, count))
    series: FloatArray = lfilter([1.0], [1.0, -slow - fast, slow * fast], white, axis=0)[before:]
    variance = (1.0 + slow * fast) / ((1.0 - slow * fast) * (1.0 - slow**2) * (1.0 - fast**2))
    series /= np.sqrt(variance)
    return series


def _wave(hours: FloatArray, period: float, peak: float | FloatArray) -> FloatArray:
    wave: FloatArray = np.cos(2.0 * np.pi * (hours - peak) / period)
    return wave


def _places(n_sensors: int, rng: np.random.RandomState) -> FloatArray:
    """Draw places in kilometres north and east of the centre, denser in the middle."""
    radius = 9.0 * stratified(n_sensors, rng) ** 0.6
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n_sensors)
    return np.column_stack([0.8 * radius * np.sin(angle), radius * np.cos(angle)])


def _clear_sky(n_hours: int, rng: np.random.RandomState) -> FloatArray:
    """Draw the clearness of the sky: near 0 under clouds, above 1 on clear days and nights."""
    sky: FloatArray = 2.4 * ndtr(0.9 * _wandering(n_hours, 1, 24.0, rng)[:, 0] - 0.4)
    return sky


def _weather(hours: FloatArray, clear: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Draw the temperature that all places share."""
    season = _wave(hours, _YEAR, 200.0 * 24.0)
    day = 3.2 * _wave(hours, 24.0, 13.2) + 0.45 * _wave(hours, 12.0, 11.4)
    fronts = 3.3 * _wandering(len(hours), 1, 60.0, rng)[:, 0]
    return 9.0 + 10.0 * season + (1.0 + 0.5 * season) * clear * day + fronts


def _differences(hours: FloatArray, places: FloatArray, clear: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Draw how the air at each place differs from the shared weather."""
    n_hours, n_places = len(hours), len(places)
    north, east = places.T / 6.0
    still = 5.0 * ndtr(1.2 * _wandering(n_hours, 1, 30.0, rng) - 1.5)
    shapes = np.stack([north, east, north * east, north**2 - east**2])
    smooth = (_wandering(n_hours, 4, 10.0, rng) * [0.3, 0.3, 0.15, 0.15]) @ shapes
    centre = np.exp(-(north**2) - east**2)
    island = 0.5 * (clear * (1.0 + _wave(hours, 24.0, 1.0)))[:, None] * (centre - centre.mean())
    local = 0.24 * np.exp(0.7 * ndtri(stratified(n_places, rng))) * _wandering(n_hours, n_places, 8.0, rng)
    differences: FloatArray = still * (smooth + local) + island
    return differences


def _instruments(hours: FloatArray, n_sensors: int, clear: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Draw the errors of the sensors."""
    n_hours = len(hours)
    offset = 0.14 * ndtri(stratified(n_sensors, rng))
    # Most sensors drift by a few tenths of a degree in a year, a few by many degrees.
    rate = 0.09 * stdtrit(2.0, stratified(n_sensors, rng)) / 1000.0
    ageing = rate * np.maximum(hours[:, None] - _YEAR * stratified(n_sensors, rng), 0.0)
    exposure = 1.8 * np.maximum(-np.log(stratified(n_sensors, rng)) - 0.7, 0.0)
    noon = rng.uniform(8.0, 15.0, size=n_sensors)
    sun = np.exp(6.0 * (_wave(hours[:, None], 24.0, noon) - 1.0))
    noise = 0.1 * rng.standard_normal((n_hours, n_sensors))
    added: FloatArray = offset + ageing + exposure * sun * clear[:, None] + noise
    return added
