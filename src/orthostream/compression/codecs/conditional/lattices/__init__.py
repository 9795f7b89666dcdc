"""The numbers that a sensor's readings may be replaced by, each named by an integer that the codec predicts."""

from orthostream.compression.codecs.conditional.lattices.floats import Floats
from orthostream.compression.codecs.conditional.lattices.geometric import Geometric
from orthostream.compression.codecs.conditional.lattices.levels import Levels
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import Placed, SensorLattice

__all__ = ["Floats", "Geometric", "Levels", "Linear", "Placed", "SensorLattice"]
