"""Scored documents in words: labels, flags, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthostream._typing import IntArray
from orthostream.novelty.atoms import explained
from orthostream.novelty.explanation import Explanation
from orthostream.novelty.scored_block import ScoredBlock
from orthostream.novelty.scored_document import ScoredDocument
from orthostream.novelty.stream_model import StreamModel

#: Terms, topics and earlier documents in an explanation.
_SHOWN = 5


def described(
    block: ScoredBlock, model: StreamModel, explain: str | float, name: Callable[[Any], Any]
) -> list[ScoredDocument]:
    """Return the documents of a block that is not learnt yet.

    Parameters
    ----------
    block : ScoredBlock
    model : StreamModel
        The one that scored it.
    explain : "flagged", "all", "none", or a score above which documents are explained
    name : callable
        Returns the word for a term.
    """
    if isinstance(explain, str):
        chosen = block.novel if explain == "flagged" else np.full(len(block.scores), explain == "all")
    else:
        chosen = block.scores > explain
    reasons = _reasons(block, model, np.flatnonzero(chosen), lambda term: str(name(term)))
    threshold = None if np.isinf(block.threshold) else block.threshold
    found = []
    for place, score in enumerate(block.scores.tolist()):
        number = block.first_number + place
        label = block.given.documents[place] if block.given.documents else None
        found.append(
            ScoredDocument(
                number,
                label.id if label else str(number),
                label.title if label else "",
                label.time if label else "",
                score,
                threshold,
                bool(block.novel[place]),
                reasons.get(place),
            )
        )
    return found


def _reasons(
    block: ScoredBlock, model: StreamModel, places: IntArray, name: Callable[[Any], str]
) -> dict[int, Explanation]:
    """Return explanations of some documents of a block, by their place."""
    dictionary = model.dictionary
    if not len(places) or block.coded is None or dictionary is None:
        return {}
    words = [tuple(map(name, terms)) for terms in model.recent_words()]
    nearest = model.nearest(block.rows, places, _SHOWN)
    return {
        place: explained(block.rows, place, block.coded, dictionary, words, earlier, name, _SHOWN)
        for place, earlier in zip(places.tolist(), nearest, strict=True)
    }
