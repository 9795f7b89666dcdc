"""A block of documents between scoring and learning."""

from __future__ import annotations

from typing import NamedTuple

from orthostream._typing import BoolArray, FloatArray
from orthostream.novelty.arriving import Arriving
from orthostream.novelty.atoms import Coded
from orthostream.novelty.weighted_rows import WeightedRows


class ScoredBlock(NamedTuple):
    """Documents with their scores, and what the scores were made of."""

    given: Arriving
    rows: WeightedRows
    coded: Coded | None
    """None before there is a dictionary."""
    raw_scores: FloatArray
    """Before the correction for the growth of the history."""
    scores: FloatArray
    threshold: float
    """Infinity while nothing can be flagged."""
    novel: BoolArray
    first_number: int
    """The place of the first document in the stream, from 1."""
