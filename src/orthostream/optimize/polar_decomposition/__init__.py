"""Polar factors: the whole cost of the spectral ball's oracle, and of Algorithm 2."""

from orthostream.optimize.polar_decomposition.exact import exact_polar
from orthostream.optimize.polar_decomposition.kernel import Path, accelerated, limited_to, polar, polar_between

__all__ = ["Path", "accelerated", "exact_polar", "limited_to", "polar", "polar_between"]
