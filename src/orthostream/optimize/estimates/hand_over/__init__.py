"""The hand-over estimate: decisions on numbers, array operations in NumPy and as loops, and the class made of them."""

from orthostream.optimize.estimates.hand_over.estimate import HandOver

__all__ = ["HandOver"]
