"""The atoms of a tall dictionary: their words, and what they leave of a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.vocabulary import Vocabulary
from orthostream.novelty.weighted_rows import WeightedRows
from orthostream.optimize.objectives.top_energy import is_largest
from orthostream.optimize.tall import PolarFactor

#: Topics in an explanation, and the share of the energy that any but the closest one must have.
_TOPICS, _LEAST_SHARE = 3, 0.01


class Coded(NamedTuple):
    """The coefficients of a block of documents, and which of them are kept."""

    coefficients: FloatArray
    kept: BoolArray

    @property
    def energies(self) -> FloatArray:
        """The squares of the kept coefficients, zero for others."""
        return np.where(self.kept, np.square(self.coefficients), 0.0)


def coded(rows: WeightedRows, dictionary: PolarFactor, n_nonzero: int) -> Coded:
    """Return coefficients, of which the ``n_nonzero`` largest of each document are kept: its best sparse code."""
    coefficients = np.asarray(rows.rows @ dictionary, dtype=float)
    return Coded(coefficients, np.asarray(is_largest(np.abs(coefficients), n_nonzero), dtype=bool))


def term_shares(rows: WeightedRows, place: int, code: FloatArray, dictionary: PolarFactor) -> FloatArray:
    """Return the part of each term of a document in the energy that its sparse code leaves.

    With unit weights y, code x and dictionary D, that energy is <y, y - D x>: a sum over the document's own terms.
    """
    own, weights = rows.document(place)
    fitted = dictionary.dense(rows.slots[own]) @ code
    return np.asarray(weights * (weights - fitted))


def topic_words(dictionary: PolarFactor, vocabulary: Vocabulary, n_words: int) -> list[tuple[Any, ...]]:
    """Return the words of each atom, those with the most weight first; an atom points to where most weight is.

    They are those with the largest entries in the gradient: in the mean of the documents that an atom represents. The
    atom itself also has entries that only make it orthogonal to others.
    """
    slots = vocabulary.slots()
    atoms = np.ascontiguousarray(dictionary.matrix.stored(slots).T)
    atoms *= np.where((atoms**3).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0).astype(atoms.dtype)
    count = min(n_words, len(slots))
    best = np.argpartition(-atoms, count - 1, axis=1)[:, :count] if count else np.zeros((len(atoms), 0), dtype=int)
    sizes = np.take_along_axis(atoms, best, 1)
    order = np.argsort(-sizes, axis=1, kind="stable")
    best, sizes = np.take_along_axis(best, order, 1), np.take_along_axis(sizes, order, 1)
    return [
        tuple(vocabulary.term(int(slots[place])) for place, size in zip(places, own, strict=True) if size > 0.0)
        for places, own in zip(best, sizes, strict=True)
    ]


def explained(
    rows: WeightedRows,
    place: int,
    found: Coded,
    dictionary: PolarFactor,
    words: Sequence[tuple[str, ...]],
    nearest: Sequence[EarlierDocument],
    names: Any,
    most: int,
) -> Explanation:
    """Return why a document has its score; ``names`` turns a term into a word."""
    energies = found.energies[place]
    shares = term_shares(rows, place, np.where(found.kept[place], found.coefficients[place], 0.0), dictionary)
    own, _ = rows.document(place)
    words_of = {best: names(rows.terms[own[best]]) for best in _largest(shares, most)}
    terms = [TermShare(word, float(shares[best])) for best, word in words_of.items() if shares[best] > 0.0]
    close = [
        best for place, best in enumerate(_largest(energies, _TOPICS)) if energies[best] > _LEAST_SHARE or not place
    ]
    topics = [TopicShare(int(best), tuple(words[best]), float(energies[best])) for best in close]
    unseen = [names(rows.terms[column]) for column in own[rows.is_new[own]][:most]]
    return Explanation(tuple(terms), tuple(topics), tuple(nearest), tuple(unseen))


def _largest(values: FloatArray, most: int) -> IntArray:
    return np.argsort(-values, kind="stable")[:most]
