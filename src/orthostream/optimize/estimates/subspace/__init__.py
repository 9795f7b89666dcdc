"""A learner inside of the subspace that fewer atoms than features span: `InSubspace`."""

from orthostream.optimize.estimates.subspace.estimate import InSubspace

__all__ = ["InSubspace"]
