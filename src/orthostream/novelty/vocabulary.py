"""A vocabulary of bounded size with the frequencies of its terms, both from the past of a stream only."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from itertools import repeat
from typing import Any, Self

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray, IntArray

#: For each bucket that terms share for which there is no room, so many terms have a slot of their own.
_TERMS_A_BUCKET = 16
#: At most this part of the terms makes room for new ones in a step.
_RENEWED = 4
#: When terms are dropped, at least this part of them is, so that it happens rarely.
_DROPPED = 16
#: Columns of a matrix up to this one are looked up in an array.
_MOST_COLUMNS = 1 << 22


class Vocabulary:
    """Numbers terms, and counts how many documents have each.

    Frequencies are forgotten with a half-life. When there is no slot left for a new term, the terms with the lowest
    frequencies lose theirs, but never more than a quarter of them at once: however many new terms arrive, frequent
    ones stay. New terms beyond that share buckets, chosen by a checksum, and count as never seen.

    Parameters
    ----------
    most : int
        The number of terms with a slot of their own.
    half_life : float
        In documents.

    Examples
    --------
    >>> vocabulary = Vocabulary(1000, half_life=1e9)
    >>> slots, dropped = vocabulary.admit(["cocoa", "price"])
    >>> vocabulary.learn(slots, np.array([1.0, 3.0]), n_documents=3)
    >>> vocabulary.frequencies(vocabulary.find(["price", "tin"])).round(6)
    array([3., 0.])
    """

    def __init__(self, most: int, half_life: float) -> None:
        self.most = _checks.integer("max_terms", most, _TERMS_A_BUCKET)
        self.half_life = _checks.positive("term_half_life", half_life)
        self.n_buckets = max(1, self.most // _TERMS_A_BUCKET)
        self.n_documents = 0.0
        self._slots: dict[Any, int] = {}
        self._terms: list[Any] = []
        self._free: list[int] = []
        self._frequencies = np.zeros(self.most + self.n_buckets)
        #: The slots of columns of a matrix, -1 for those without.
        self._by_column = np.full(0, -1, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def n_slots(self) -> int:
        """The number of slots, buckets included: what a dictionary needs as rows."""
        return self.most + self.n_buckets

    def term(self, slot: int) -> Any:
        """Return the term in a slot, None for a bucket and for an empty slot."""
        return self._terms[slot] if slot < len(self._terms) else None

    def slots(self) -> IntArray:
        """Return all slots with a term, ascending."""
        return np.sort(np.fromiter(self._slots.values(), dtype=np.int64, count=len(self._slots)))

    def has_room(self, count: int) -> bool:
        """Whether so many new terms can be admitted without dropping others."""
        return len(self._slots) + count <= self.most

    def find(self, terms: Any) -> IntArray:
        """Return the slot of each term, or its bucket, without admitting new ones.

        Terms are a list, or an array of columns.
        """
        found = self._known(terms)
        unknown = np.flatnonzero(found < 0).tolist()
        if unknown:
            listed = _listed(terms)
            for place in unknown:
                found[place] = self._bucket(listed[place])
        return found

    def admit(self, terms: Any) -> tuple[IntArray, IntArray]:
        """Return the slot or bucket of each of some distinct terms, and the slots of terms that lost theirs."""
        found = self._known(terms)
        new = np.flatnonzero(found < 0)
        if not len(new):
            return found, np.zeros(0, dtype=np.int64)
        dropped = self._make_room(len(new), found[found >= 0])
        listed = _listed(terms)
        for place in new.tolist():
            term = listed[place]
            if self._free:
                slot = self._free.pop()
                self._terms[slot] = term
            elif len(self._terms) < self.most:
                slot = len(self._terms)
                self._terms.append(term)
            else:
                found[place] = self._bucket(term)
                continue
            self._slots[term] = found[place] = slot
            self._note(term, slot)
        return found, dropped

    def frequencies(self, slots: IntArray) -> FloatArray:
        """Return how many earlier documents have each of these terms; 0 for those in buckets."""
        return self._frequencies[slots]

    def learn(self, slots: IntArray, documents: FloatArray, n_documents: int) -> None:
        """Count documents; ``documents`` says how many of them have each term."""
        keep = 0.5 ** (n_documents / self.half_life)
        self._frequencies *= keep
        self.n_documents = self.n_documents * keep + n_documents
        own = slots < self.most
        self._frequencies[slots[own]] += documents[own]

    def to_arrays(self) -> dict[str, Any]:
        """Return terms, frequencies and the order in which free slots are used."""
        return {
            "terms": np.frombuffer(json.dumps(self._terms).encode(), dtype=np.uint8),
            "free": np.array(self._free, dtype=np.int64),
            "frequencies": self._frequencies[: len(self._terms)],
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], most: int, half_life: float, n_documents: float) -> Self:
        """Return the vocabulary that `to_arrays` turned into arrays."""
        made = cls(most, half_life)
        terms, free = json.loads(arrays["terms"].tobytes()), arrays["free"].tolist()
        empty = [slot for slot, term in enumerate(terms) if term is None]
        fits = len(terms) <= most and sorted(free) == empty and len(arrays["frequencies"]) == len(terms)
        if not fits or (arrays["frequencies"] < 0.0).any():
            raise ValueError("terms, frequencies and free slots do not fit.")
        made._terms, made._free, made.n_documents = terms, free, n_documents
        made._slots = {term: slot for slot, term in enumerate(terms) if term is not None}
        columns = [term for term in made._slots if isinstance(term, int) and term < _MOST_COLUMNS]
        made._widen(max(columns, default=-1))
        if len(made._slots) + len(free) != len(terms):
            raise ValueError("a term is there twice.")
        made._frequencies[: len(terms)] = arrays["frequencies"]
        return made

    def _known(self, terms: Any) -> IntArray:
        """Return the slot of each term, -1 for unknown ones."""
        if isinstance(terms, np.ndarray) and len(terms) and terms.max() < _MOST_COLUMNS:
            self._widen(int(terms.max()))
            return self._by_column[terms].astype(np.int64)
        return np.fromiter(map(self._slots.get, _listed(terms), repeat(-1)), dtype=np.int64, count=len(terms))

    def _widen(self, column: int) -> None:
        """Make room for the slots of columns up to this one."""
        before = len(self._by_column)
        if column < before:
            return
        self._by_column = np.concatenate(
            [self._by_column, np.full(max(column + 1 - before, before), -1, dtype=np.int32)]
        )
        for term, slot in self._slots.items():
            if isinstance(term, int) and term >= before:
                self._note(term, slot)

    def _note(self, term: Any, slot: int) -> None:
        """Keep the slot of a column, -1 for none, where whole blocks of columns are looked up at once."""
        if isinstance(term, int) and term < len(self._by_column):
            self._by_column[term] = slot

    def _make_room(self, wanted: int, needed: IntArray) -> IntArray:
        """Drop the terms with the lowest frequencies, but none of those in the ``needed`` slots."""
        room = self.most - len(self._slots)
        if wanted <= room:
            return np.zeros(0, dtype=np.int64)
        used = np.zeros(self.most, dtype=bool)
        used[self.slots()] = True
        # Terms that wait for their mini-batch to be counted are new too.
        waiting = int(np.count_nonzero(used & (self._frequencies[: self.most] == 0.0)))
        used[needed] = False
        candidates = np.flatnonzero(used)
        count = min(max(wanted - room, self.most // _DROPPED), self.most // _RENEWED - waiting, len(candidates))
        if count <= 0:
            return np.zeros(0, dtype=np.int64)
        lowest = np.argsort(self._frequencies[candidates], kind="stable")[:count]
        dropped = np.sort(candidates[lowest])
        for slot in dropped.tolist():
            del self._slots[self._terms[slot]]
            self._note(self._terms[slot], -1)
            self._terms[slot] = None
        self._free.extend(dropped[::-1].tolist())
        self._frequencies[dropped] = 0.0
        return dropped

    def _bucket(self, term: Any) -> int:
        code = zlib.crc32(str(term).encode("utf-8", "surrogatepass"))
        return self.most + code % self.n_buckets


def _listed(terms: Any) -> Any:
    """Return terms as Python objects."""
    return terms.tolist() if isinstance(terms, np.ndarray) else terms
