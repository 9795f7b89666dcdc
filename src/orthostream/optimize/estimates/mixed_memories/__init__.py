"""The estimate for compression: second moments of several memory lengths, mixed as the stream asks for."""

from orthostream.optimize.estimates.mixed_memories.estimate import MixedMemories

__all__ = ["MixedMemories"]
