"""A long stream of short documents, made of Reuters stories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from orthostream.novelty import WordTokenizer
from orthostream.novelty.block import SparseMatrix
from orthostream.novelty.term_counts import count_terms

BLOCK = 100
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Stories(NamedTuple):
    """The titles of stories, the sentences of their bodies, and the stories of the same topic as each."""

    titles: list[str]
    sentences: list[list[str]]
    alike: list[list[int]]

    @classmethod
    def of(cls, reuters: Any) -> Stories:
        """Cut the bodies into sentences; stories without a body are left out."""
        bodies = [text.partition("\n")[2] for text in reuters.texts]
        there = [place for place, body in enumerate(bodies) if body.strip()]
        by_topic: dict[str, list[int]] = {}
        for story, place in enumerate(there):
            by_topic.setdefault(str(reuters.topics[place]), []).append(story)
        return cls(
            [reuters.titles[place] for place in there],
            [[" ".join(part.split()) for part in _SENTENCE.split(bodies[place].strip())] for place in there],
            [by_topic[str(reuters.topics[place])] for place in there],
        )

    def blocks(self, count: int, seed: int = 0) -> Iterator[list[str]]:
        """Return ``count`` documents in blocks, made of story after story, again and again.

        A document is the title and a random sentence of its story, and one of another story of the same topic.
        """
        generator = np.random.default_rng(seed)
        for start in range(0, count, BLOCK):
            numbers = range(start, min(start + BLOCK, count))
            yield [self._document(number % len(self.titles), generator) for number in numbers]

    def _document(self, story: int, generator: np.random.Generator) -> str:
        alike = self.alike[story]
        other = alike[generator.integers(len(alike))]
        chosen = [self.sentences[place][generator.integers(len(self.sentences[place]))] for place in (story, other)]
        return "\n".join([self.titles[story], *chosen])


class Columns:
    """Counts words over columns that are numbered as words appear, up to ``most``."""

    def __init__(self, most: int = 100_000) -> None:
        self.most = most
        self._places: dict[str, int] = {}
        self._tokenizer = WordTokenizer()

    def counts(self, texts: list[str]) -> SparseMatrix:
        """Return the counts of a block."""
        found = count_terms(texts, self._tokenizer)
        places = np.array([self._places.setdefault(term, len(self._places)) for term in found.terms], dtype=np.int32)
        entries = found.entries
        shape = (len(texts), self.most)
        return sparse.csr_array((entries.data, places[entries.indices], entries.indptr), shape=shape)
