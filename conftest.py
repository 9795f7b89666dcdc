"""Doctests that need an extra are left out where it is absent."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/orthostream/baselines/deep_stgdl.py"]
