"""A hand-over that is watched by an anchor: `Guarded`."""

from orthostream.optimize.estimates.guarded.estimate import Guarded

__all__ = ["Guarded"]
