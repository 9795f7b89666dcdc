"""When a score is high enough to flag a document: a fixed score, a recent quantile, or a rate of false alarms."""

from orthostream.novelty.thresholds.false_alarm_rate import FalseAlarmRate
from orthostream.novelty.thresholds.fixed import FixedThreshold
from orthostream.novelty.thresholds.recent_quantile import RecentQuantile
from orthostream.novelty.thresholds.threshold import Threshold

__all__ = ["FalseAlarmRate", "FixedThreshold", "RecentQuantile", "Threshold"]
