"""Convex sets with a linear minimisation oracle, one per module."""

from orthostream.optimize.sets.base import ConvexSet
from orthostream.optimize.sets.box import Box
from orthostream.optimize.sets.l1_ball import L1Ball
from orthostream.optimize.sets.l2_ball import L2Ball
from orthostream.optimize.sets.linf_ball import LInfBall
from orthostream.optimize.sets.nuclear_ball import NuclearBall
from orthostream.optimize.sets.simplex import Simplex
from orthostream.optimize.sets.spectral_ball import SpectralBall

__all__ = ["Box", "ConvexSet", "L1Ball", "L2Ball", "LInfBall", "NuclearBall", "Simplex", "SpectralBall"]
