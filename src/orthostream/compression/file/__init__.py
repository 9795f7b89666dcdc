"""Streams as files: frames one after another, with an index at the end."""
