"""Polar factors, which are most of the cost of the spectral ball's oracle and of Algorithm 2."""

from orthostream.optimize.polar_decomposition.chosen_path import by_singular_values, polar, polar_between
from orthostream.optimize.polar_decomposition.exact import exact_polar

__all__ = ["by_singular_values", "exact_polar", "polar", "polar_between"]
