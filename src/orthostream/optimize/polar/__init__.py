"""Polar factors: the whole cost of the spectral ball's oracle, and of Algorithm 2."""

from orthostream.optimize.polar.exact import exact_polar
from orthostream.optimize.polar.kernel import accelerated, polar, polar_between

__all__ = ["accelerated", "exact_polar", "polar", "polar_between"]
