"""The detectors that are compared by default."""

from __future__ import annotations

from functools import partial

from orthostream.experiments.novelty.novelty_method import DetectorOnCounts, NoveltyMethod
from orthostream.novelty.rivals import (
    IncrementalPCAResidual,
    LatentSemanticResidual,
    NearestNeighbours,
    OnlineL1Dictionary,
    OutlierDetector,
    UnseenTerms,
)

#: The names of our own.
TOP, FIRST_STORY, L3, PAPER = "top-8 energy", "top-8 energy, first story", "l3", "paper preset"

OURS = (
    NoveltyMethod(TOP, DetectorOnCounts, is_random=True, reads_weights=False),
    NoveltyMethod(FIRST_STORY, partial(DetectorOnCounts, first_story=True), is_random=True, reads_weights=False),
    NoveltyMethod(L3, partial(DetectorOnCounts, contrast="l3"), is_random=True, reads_weights=False),
    NoveltyMethod(PAPER, partial(DetectorOnCounts, "paper"), is_random=True, reads_weights=False),
)

RIVALS = (
    NoveltyMethod("1-NN, all the past", partial(NearestNeighbours, 1)),
    NoveltyMethod("5-NN, all the past", partial(NearestNeighbours, 5)),
    NoveltyMethod("1-NN, last 3,000", partial(NearestNeighbours, 1, 3000)),
    NoveltyMethod("5-NN, last 3,000", partial(NearestNeighbours, 5, 3000)),
    NoveltyMethod("LSA-100 residual, refitted", partial(LatentSemanticResidual, 100), is_random=True),
    NoveltyMethod("incremental PCA-100 residual", partial(IncrementalPCAResidual, 100)),
    NoveltyMethod("share of unseen terms", UnseenTerms, reads_weights=False),
    NoveltyMethod("online l1 dictionary", OnlineL1Dictionary),
    NoveltyMethod("LocalOutlierFactor", partial(OutlierDetector, "lof")),
    NoveltyMethod("IsolationForest", partial(OutlierDetector, "forest"), is_random=True),
)

METHODS = (*OURS, *RIVALS)
