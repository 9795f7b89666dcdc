"""The hand-over: decisions on numbers, operations on arrays in NumPy and as loops, and the estimate made of them."""

from orthostream.optimize.estimates.hand_over.estimate import HandOver

__all__ = ["HandOver"]
