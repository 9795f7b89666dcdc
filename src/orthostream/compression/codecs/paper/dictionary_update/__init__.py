"""Dictionaries on the wire: whole ones as Givens angles, and the way from one to the next as small rotations."""

from orthostream.compression.codecs.paper.dictionary_update.quantised_dictionary import QuantisedDictionary

__all__ = ["QuantisedDictionary"]
