"""What is measured on dictionaries and on what they are used for."""

from orthostream.metrics.recovery_error import recovery_error

__all__ = ["recovery_error"]
