"""Measures of dictionaries, of codes and of decoded readings."""

from orthostream.metrics.bits_per_reading import bits_per_reading
from orthostream.metrics.diebold_mariano import DieboldMariano, diebold_mariano
from orthostream.metrics.recovery_error import recovery_error
from orthostream.metrics.relative_rmse import relative_rmse
from orthostream.metrics.slot_rmse import slot_rmse

__all__ = [
    "DieboldMariano",
    "bits_per_reading",
    "diebold_mariano",
    "recovery_error",
    "relative_rmse",
    "slot_rmse",
]
