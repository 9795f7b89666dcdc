"""The graph of the sensors: neighbours are sensors whose readings correlate."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


def sensor_graph(readings: FloatArray, n_neighbours: int) -> FloatArray:
    """Return a symmetric matrix of weights from 0 to 1: zero on the diagonal, and for sensors that are not neighbours.

    Every sensor is joined to those with which it correlates best, and to those that choose it. The weight is
    ``exp(-d^2 / s^2)`` with ``d^2 = 1 - correlation`` and s the median over all chosen pairs. A sensor that never
    changes has a correlation of zero with all others.

    Parameters
    ----------
    readings : array of shape (n_times, n_sensors)
    n_neighbours : int
        How many neighbours each sensor chooses; all other sensors if there are fewer.

    Examples
    --------
    >>> readings = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 1.0], [3.0, 3.0, 0.0]])
    >>> sensor_graph(readings, 1).round(2)
    array([[0.  , 1.  , 0.24],
           [1.  , 0.  , 0.  ],
           [0.24, 0.  , 0.  ]])
    """
    sensors = readings.shape[1]
    count = min(n_neighbours, sensors - 1)
    graph = np.zeros((sensors, sensors))
    if count == 0:
        return graph
    squared = 1.0 - _correlations(readings)
    np.fill_diagonal(squared, np.inf)
    chosen = np.argsort(squared, axis=1, kind="stable")[:, :count]
    nearest = np.maximum(np.take_along_axis(squared, chosen, axis=1), 0.0)
    # The squared median distance; 1 if all sensors read the same and all distances are zero.
    unit = float(np.median(np.sqrt(nearest))) ** 2 or 1.0
    np.put_along_axis(graph, chosen, np.exp(-nearest / unit), axis=1)
    return np.maximum(graph, graph.T)


def neighbour_means(graph: FloatArray) -> FloatArray:
    """Return the matrix that maps values of sensors to weighted means over their neighbours.

    >>> neighbour_means(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    array([[0.  , 0.25, 0.75],
           [1.  , 0.  , 0.  ],
           [1.  , 0.  , 0.  ]])
    """
    totals = graph.sum(axis=1, keepdims=True)
    return graph / np.where(totals > 0.0, totals, 1.0)


def _correlations(readings: FloatArray) -> FloatArray:
    centred = readings - readings.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    # A constant sensor has only rounding errors left, which must not be correlated.
    moves = largest > 1e-12 * np.abs(readings).max(axis=0)
    scaled = np.where(moves, centred / np.where(moves, largest, 1.0), 0.0)
    norms = np.linalg.norm(scaled, axis=0)
    units = scaled / np.where(norms > 0.0, norms, 1.0)
    correlations: FloatArray = units.T @ units
    return correlations
