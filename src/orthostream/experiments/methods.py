"""The names of all methods, as records and figures have them."""

from __future__ import annotations

#: Algorithm 2, and what this package makes of it.
PROPOSED, AVERAGED, CONSTANT = "proposed", "proposed, averaged", "proposed, constant step"

#: The five baselines of the paper.
SFW, L4, AODL, DEEP, NCBDL = "SFW", "l4 NoncvxSFW", "Online AODL", "DeepSTGDL", "NCBDL"
BASELINES = (SFW, L4, AODL, DEEP, NCBDL)

#: SFW with the polar factor of its iterate, and SFW whose first dictionary comes from twenty steps of its own, and so
#: lies well inside of the ball.
SFW_POLAR, SFW_OWN = "SFW, polar factor", "SFW, own start"

#: Online AODL with a better penalty than the paper's, and started by passes over the first rows as a stream.
AODL_TUNED, AODL_PASSES = "Online AODL, tuned", "Online AODL, passes"

#: What the paper does not compare with.
FORGETTING, PCA, ICA, COSINES, RUNNING_PCA = "forgetting PCA", "offline PCA", "FastICA, l3 score", "DCT", "running PCA"

#: The order of the rows of Table I: the paper's first.
TABLE = (PROPOSED, *BASELINES, SFW_POLAR, SFW_OWN, CONSTANT, FORGETTING, PCA, ICA, COSINES)

#: What can be left out of a run.
OPTIONAL = (*TABLE[1:], AVERAGED, AODL_TUNED)
