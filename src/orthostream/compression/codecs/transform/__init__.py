"""Coding for an error on average or a budget of bits: transform, quantise coefficients, code them."""

from orthostream.compression.codecs.transform.codec import TransformCodec

__all__ = ["TransformCodec"]
