"""A document of a stream with its score."""

from __future__ import annotations

from typing import Any, NamedTuple

from orthostream.novelty.explanation import Explanation


class ScoredDocument(NamedTuple):
    """What the detector says about one document.

    Attributes
    ----------
    number : int
        Its place in the stream, from 1.
    id, title, time : str
        As the input has them, or empty.
    score : float
        Higher means more novel.
    threshold : float or None
        Documents with a higher score are flagged. None while the detector is warming up.
    novel : bool
        Whether the document is flagged.
    explanation : Explanation or None

    Examples
    --------
    >>> ScoredDocument(7, "a7", "Storm in Chile", "", 0.93125, 0.9, True, None).to_json()
    {'number': 7, 'id': 'a7', 'title': 'Storm in Chile', 'score': 0.93125, 'threshold': 0.9, 'novel': True}
    """

    number: int
    id: str
    title: str
    time: str
    score: float
    threshold: float | None
    novel: bool
    explanation: Explanation | None

    def to_json(self) -> dict[str, Any]:
        """Return an object for a line of JSON, without the fields that are empty."""
        found = self._asdict()
        if self.explanation is not None:
            found["explanation"] = self.explanation.to_json()
        found = {name: value for name, value in found.items() if value is not None and value != ""}
        return found | {"warming_up": True} if self.threshold is None else found
