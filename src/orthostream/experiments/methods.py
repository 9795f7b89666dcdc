"""The names of methods, as they appear in records and figures.

Everything else about a method is its row in `orthostream.experiments.registry`.
"""

from __future__ import annotations

#: Algorithm 2, its averaged dictionary, and Algorithm 2 with a constant step.
PROPOSED, AVERAGED, CONSTANT = "proposed", "proposed, averaged", "proposed, constant step"

#: What this package recommends: its default, and its preset for keeping few coefficients.
DEFAULT, COMPRESSION = "default", "compression"

#: The five baselines of the paper.
SFW, L4, AODL, DEEP, NCBDL = "SFW", "l4 NoncvxSFW", "Online AODL", "DeepSTGDL", "NCBDL"

#: SFW with the polar factor of its iterate, and SFW started by twenty steps of its own instead of orthogonal ones. Its
#: first dictionary then lies well inside the spectral ball.
SFW_POLAR, SFW_OWN = "SFW, polar factor", "SFW, own start"

#: Online AODL with a better penalty than the paper's, and Online AODL started by passes of `partial_fit`.
AODL_TUNED, AODL_PASSES = "Online AODL, tuned", "Online AODL, passes"

#: Methods that the paper does not compare with.
FORGETTING, PCA, ICA, COSINES, RUNNING_PCA = "forgetting PCA", "offline PCA", "FastICA, l3 score", "DCT", "running PCA"

#: On sparse principal components: the default of this package, and the running eigenvector of a support that is known.
SPARSE_EIGENVECTORS, KNOWN_SUPPORT = "sparse eigenvectors", "running PCA, known support"
