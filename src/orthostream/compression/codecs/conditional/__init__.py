"""Readings within an error bound, each coded given those before it and those beside it."""
