"""The detector as one of river's anomaly detectors; needs river (``pip install 'orthostream[river]'``)."""

from __future__ import annotations

from typing import Any

from river.base import AnomalyDetector
from sklearn.exceptions import NotFittedError

from orthostream.novelty.detector import NovelDocumentDetector


class RiverNovelty(AnomalyDetector):
    """Scores and learns one document at a time, as river's anomaly detectors do.

    A document is a text, a mapping with a text, or the words and counts that river's `BagOfWords` makes. As everywhere,
    the dictionary changes after each ``batch_size`` documents.

    Parameters
    ----------
    detector : NovelDocumentDetector, optional

    Examples
    --------
    >>> model = RiverNovelty(NovelDocumentDetector(n_components=2, batch_size=10, random_state=0))
    >>> for document in ["cocoa prices rose", "the bank cut interest rates"] * 50:
    ...     model.learn_one(document)
    >>> model.score_one({"cocoa": 1, "prices": 1}) < model.score_one("earthquake shakes the coast")
    True
    """

    def __init__(self, detector: NovelDocumentDetector | None = None) -> None:
        self.detector = NovelDocumentDetector() if detector is None else detector

    def score_one(self, x: Any) -> float:
        """Return the score of a document, higher for a more novel one; 1 for the very first."""
        try:
            return float(self.detector.score([x])[0])
        except NotFittedError:
            return 1.0

    def learn_one(self, x: Any) -> None:
        """Learn a document."""
        self.detector.partial_fit([x])
