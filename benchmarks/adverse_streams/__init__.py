"""Streams with a known dictionary that are hard to learn, each in its own way; `registry.CASES` lists them all."""
