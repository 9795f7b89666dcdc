"""What was measured of one method in one setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from orthostream._typing import FloatArray
from orthostream.experiments.novelty.estimate import Estimate
from orthostream.experiments.novelty.trial import Judgement
from orthostream.metrics import detection_cost, detection_curve

#: The false-alarm rates at which curves are averaged.
FALSE_ALARM = np.append(0.0, np.geomspace(1e-4, 1.0, 161))


class Measures(NamedTuple):
    """How well the scores of one trial tell novel documents from others."""

    auc: float
    average_precision: float
    cost: float
    miss: FloatArray
    """At each of `FALSE_ALARM`."""
    group_auc: float | None
    """The mean over groups that have both kinds."""
    n_novel: int
    n_judged: int

    @classmethod
    def of(cls, judgement: Judgement, scores: FloatArray, group: int | None = None) -> Self:
        """Measure scores in the order of the trial.

        >>> novel = np.array([True, True, False, False])
        >>> found = Measures.of(Judgement("", novel, np.ones(4, dtype=bool)), np.array([0.9, 0.4, 0.5, 0.1]))
        >>> found.auc, round(found.average_precision, 3), found.cost
        (0.75, 0.833, 0.5)
        """
        novel, judged = judgement.novel[judgement.judged], scores[judgement.judged]
        return cls(
            float(roc_auc_score(novel, judged)),
            float(average_precision_score(novel, judged)),
            detection_cost(novel, judged),
            _misses(*detection_curve(novel, judged)),
            None if group is None else _mean_over_groups(judgement, scores, group),
            int(np.count_nonzero(novel)),
            len(novel),
        )


def _misses(false_alarm: FloatArray, miss: FloatArray) -> FloatArray:
    """Return the lowest rate of misses for each rate of false alarms that is allowed."""
    last = np.searchsorted(false_alarm, FALSE_ALARM, side="right") - 1
    return np.asarray(miss[last])


def _mean_over_groups(judgement: Judgement, scores: FloatArray, group: int) -> float | None:
    """Return the mean area over groups that have novel documents and others, None if there are none."""
    areas = []
    for start in range(0, len(scores), group):
        inside = np.flatnonzero(judgement.judged[start : start + group]) + start
        if len(np.unique(judgement.novel[inside])) == 2:
            areas.append(roc_auc_score(judgement.novel[inside], scores[inside]))
    return float(np.mean(areas)) if areas else None


class NoveltyRecord(NamedTuple):
    """A method in a setting: means over seeds, with intervals.

    Attributes
    ----------
    method, setting : str
    seeds : tuple of int
    auc, average_precision, cost : Estimate
        Area under the ROC curve, average precision, and `orthostream.metrics.detection_cost`. Intervals are over seeds.
    auc_over_topics : Estimate or None
        With an interval from topics drawn with replacement; only where seeds do not change the documents.
    group_auc : Estimate or None
        The mean area of the groups that have both kinds; only where documents come in groups.
    miss : array
        The DET curve: the mean rate of misses at each of `FALSE_ALARM`.
    documents_per_second : float
        Scored and learnt, in the median of the seeds, in seconds of processor time.
    peak_megabytes : float or None
        Memory above that of the collection, None if it was not measured.
    n_novel, n_judged : float
        Documents, in the mean over seeds.
    """

    method: str
    setting: str
    seeds: tuple[int, ...]
    auc: Estimate
    average_precision: Estimate
    cost: Estimate
    auc_over_topics: Estimate | None
    group_auc: Estimate | None
    miss: FloatArray
    documents_per_second: float
    peak_megabytes: float | None
    n_novel: float
    n_judged: float

    @classmethod
    def over_seeds(
        cls,
        method: str,
        setting: str,
        seeds: Sequence[int],
        found: Sequence[Measures],
        documents_per_second: float,
        *,
        is_exact: bool,
        resampled: FloatArray | None = None,
        peak_megabytes: float | None = None,
    ) -> Self:
        """Return the record of the measures of all seeds; ``is_exact`` says that no other seed could change them."""

        def estimate(values: Sequence[float]) -> Estimate:
            return Estimate.exact(values[0]) if is_exact else Estimate.over_seeds(values)

        auc = estimate([one.auc for one in found])
        groups = [one.group_auc for one in found if one.group_auc is not None]
        return cls(
            method,
            setting,
            tuple(seeds),
            auc,
            estimate([one.average_precision for one in found]),
            estimate([one.cost for one in found]),
            None if resampled is None else Estimate.resampled(auc.mean, resampled),
            estimate(groups) if groups else None,
            np.mean([one.miss for one in found], axis=0),
            documents_per_second,
            peak_megabytes,
            float(np.mean([one.n_novel for one in found])),
            float(np.mean([one.n_judged for one in found])),
        )
