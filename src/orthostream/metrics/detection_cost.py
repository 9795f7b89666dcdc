"""The detection cost of Topic Detection and Tracking, at the best threshold."""

from __future__ import annotations

from numpy.typing import ArrayLike

from orthostream._checks import at_least
from orthostream.metrics.detection_curve import detection_curve


def detection_cost(novel: ArrayLike, scores: ArrayLike, false_alarm_weight: float = 4.9) -> float:
    """Return the least of P_miss + 4.9 P_false_alarm over all thresholds.

    This is the normalised cost C_min by which the evaluations of Topic Detection and Tracking (TDT) compare detectors
    of first stories: a miss costs ten times as much as a false alarm, and two documents in a hundred are novel.

    Parameters
    ----------
    novel, scores : arrays of shape (n_documents,)
        As for `detection_curve`.
    false_alarm_weight : float, default 4.9

    Returns
    -------
    float
        0 if a threshold separates the novel documents from all others. Never above 1, the cost of flagging nothing.

    Examples
    --------
    >>> detection_cost([True, False, False, True], [0.9, 0.2, 0.1, 0.3])
    0.0
    >>> detection_cost([True, False, False, True], [0.1, 0.3, 0.2, 0.2])
    1.0
    """
    weight = at_least("false_alarm_weight", false_alarm_weight)
    false_alarm, miss = detection_curve(novel, scores)
    return float((miss + weight * false_alarm).min())
