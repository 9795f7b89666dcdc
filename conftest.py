"""Doctests that need an extra are left out where it is absent."""

from importlib.util import find_spec

_NEEDS = {"torch": "src/orthostream/baselines/deep_stgdl.py", "river": "src/orthostream/novelty/river.py"}

collect_ignore = [path for module, path in _NEEDS.items() if not find_spec(module)]
