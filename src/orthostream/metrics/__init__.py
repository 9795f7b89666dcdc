"""Measures of dictionaries, of codes, of decoded readings, and of the detection of novel documents."""

from orthostream.metrics.bits_per_reading import bits_per_reading
from orthostream.metrics.detection_cost import detection_cost
from orthostream.metrics.detection_curve import detection_curve
from orthostream.metrics.diebold_mariano import DieboldMariano, diebold_mariano
from orthostream.metrics.recovery_error import recovery_error
from orthostream.metrics.relative_rmse import relative_rmse
from orthostream.metrics.slot_rmse import slot_rmse
from orthostream.metrics.topic_coherence import topic_coherence

__all__ = [
    "DieboldMariano",
    "bits_per_reading",
    "detection_cost",
    "detection_curve",
    "diebold_mariano",
    "recovery_error",
    "relative_rmse",
    "slot_rmse",
    "topic_coherence",
]
