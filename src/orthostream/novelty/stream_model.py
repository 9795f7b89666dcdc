"""What a detector knows of a stream: vocabulary, dictionary, level of scores, threshold and recent documents."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.novelty.arriving import Arriving
from orthostream.novelty.atoms import Coded, coded, topic_words
from orthostream.novelty.explanation import EarlierDocument
from orthostream.novelty.recent_documents import Label, RecentDocuments
from orthostream.novelty.score_level import ScoreLevel
from orthostream.novelty.scored_block import ScoredBlock
from orthostream.novelty.term_counts import TermCounts
from orthostream.novelty.term_weights import TermWeights
from orthostream.novelty.thresholds import Threshold
from orthostream.novelty.vocabulary import Vocabulary
from orthostream.novelty.weighted_rows import WeightedRows
from orthostream.optimize import State, StochasticFrankWolfe
from orthostream.optimize.tall import PolarFactor
from orthostream.optimize.threads import one_blas_thread

#: Mini-batches between two looks at the words of all topics, which takes as long as some mini-batches. Early in a
#: stream topics change fast, and looks take less: after a fifth of the mini-batches so far.
_WORDS_EVERY, _WORDS_EARLY = 20, 5
#: Words of a topic in an explanation.
_WORDS_SHOWN = 6


class StreamSettings(NamedTuple):
    """What `StreamModel` needs to know; `NovelDocumentDetector` says what each means."""

    solver: StochasticFrankWolfe
    n_components: int
    n_nonzero: int
    batch_size: int
    weights: TermWeights
    max_terms: int
    term_half_life: float
    threshold: Threshold
    warm_up: int
    correct_growth: bool
    learn_flagged: bool
    first_story: bool
    n_recent: int


class StreamModel:
    """Scores blocks of documents against what came before them, and learns them.

    Dictionary and frequencies change after each complete mini-batch, wherever blocks end. The threshold, the recent
    documents and the slots of the vocabulary change after each block. All algebra runs in one BLAS thread: at these
    sizes several only wait for each other, and results would depend on their number.
    """

    def __init__(self, settings: StreamSettings, random: np.random.Generator) -> None:
        self.settings, self.random = settings, random
        self.vocabulary = Vocabulary(settings.max_terms, settings.term_half_life)
        self.recent = RecentDocuments(settings.n_recent)
        self.state: State | None = None
        self.level = ScoreLevel()
        self.threshold_memory = settings.threshold.begin()
        self.n_documents = 0
        self.oddities: Counter[str] = Counter()
        self.pending: list[TermCounts] = []
        self.words: list[tuple[Any, ...]] = []
        self.words_step = -_WORDS_EVERY

    @property
    def dictionary(self) -> PolarFactor | None:
        """The dictionary, None before the first mini-batch is complete."""
        factor: Any = None if self.state is None else self.state.x
        return factor  # type: ignore[no-any-return]

    @property
    def threshold(self) -> float:
        """The score above which documents are flagged now, infinity while nothing can be."""
        if self.n_documents < self.settings.warm_up or self.state is None:
            return math.inf
        return self.settings.threshold.value(self.threshold_memory)

    def score(self, counts: TermCounts) -> FloatArray:
        """Return the scores of documents, and change nothing."""
        with one_blas_thread():
            rows = self.weighted(counts, self.vocabulary.find(counts.terms))
            return self._corrected(self._raw_scores(rows, self.coded(rows), in_order=False))

    def scored(self, given: Arriving) -> ScoredBlock:
        """Return the scores of the next documents of the stream, which `learn` then learns."""
        counts = given.counts
        if self.vocabulary.has_room(len(counts.terms)):
            # New terms get their slots now, so that `learn` can use the same rows. The dictionary is zero there.
            slots, _ = self.vocabulary.admit(counts.terms)
        else:
            slots = self.vocabulary.find(counts.terms)
        with one_blas_thread():
            rows = self.weighted(counts, slots)
            found = self.coded(rows)
            raw_scores = self._raw_scores(rows, found, in_order=True)
        scores, threshold = self._corrected(raw_scores), self.threshold
        return ScoredBlock(given, rows, found, raw_scores, scores, threshold, scores > threshold, self.n_documents + 1)

    def learn(self, block: ScoredBlock) -> None:
        """Learn a block that was just scored."""
        given = block.given
        self._count(given)
        if self.n_documents + len(given) > self.settings.warm_up // 2 and block.coded is not None:
            # Scores at the very start are higher than any later ones.
            self.threshold_memory = self.settings.threshold.learn(self.threshold_memory, block.scores)
            self.level = self.level.learn(block.raw_scores)
        rows = self._admitted(block)
        learnt = np.flatnonzero(~block.novel) if not self.settings.learn_flagged else np.arange(len(given))
        self._remember(block, rows, learnt)
        self.n_documents += len(given)
        if len(learnt) == self.settings.batch_size == len(given) and not self.pending:
            self._step(given.counts, rows)
        elif len(learnt):
            self.pending.append(given.counts.kept(learnt))
            self._learn_complete_batches()

    def finish(self) -> None:
        """Learn the documents that wait for the rest of their mini-batch."""
        waiting = TermCounts.stacked(self.pending) if self.pending else None
        self.pending = []
        if waiting is not None and len(waiting):
            self._step(waiting)

    def weighted(self, counts: TermCounts, slots: IntArray) -> WeightedRows:
        """Return documents as unit vectors."""
        return WeightedRows(counts, slots, self.vocabulary, self.settings.weights)

    def coded(self, rows: WeightedRows) -> Coded | None:
        """Return the coefficients of documents, None before there is a dictionary."""
        dictionary = self.dictionary
        return None if dictionary is None else coded(rows, dictionary, self.settings.n_nonzero)

    def nearest(self, rows: WeightedRows, chosen: IntArray, most: int) -> list[list[EarlierDocument]]:
        """Return the recent documents that are most similar to each of the chosen rows."""
        if not len(self.recent) or not len(chosen):
            return [[] for _ in chosen]
        cosines = self.recent.cosines(rows.over_slots[chosen])
        found = []
        for column in cosines.T:
            best = np.argsort(-column, kind="stable")[:most]
            labels = [self.recent.labels[place] for place in best]
            found.append(
                [
                    EarlierDocument(label.id, label.title, min(1.0, float(cosine)))
                    for label, cosine in zip(labels, column[best], strict=True)
                    if cosine > 0.0
                ]
            )
        return found

    def recent_words(self) -> list[tuple[Any, ...]]:
        """Return the terms of each atom, as they were at most 20 mini-batches ago."""
        dictionary = self.dictionary
        assert dictionary is not None and self.state is not None
        t = self.state.t
        if t - self.words_step >= min(_WORDS_EVERY, max(1, t // _WORDS_EARLY)):
            self.words, self.words_step = topic_words(dictionary, self.vocabulary, _WORDS_SHOWN), t
        return self.words

    def _raw_scores(self, rows: WeightedRows, found: Coded | None, *, in_order: bool) -> FloatArray:
        """Return scores before their correction; ``in_order`` also compares with earlier documents of the block."""
        scores = np.ones(len(rows)) if found is None else np.clip(1.0 - found.energies.sum(axis=1), 0.0, 1.0)
        if self.settings.first_story:
            scores = scores + 1.0 - self._largest_cosines(rows, in_order)
        return np.where(rows.is_empty, 0.0, scores)

    def _largest_cosines(self, rows: WeightedRows, in_order: bool) -> FloatArray:
        largest = np.zeros(len(rows))
        if len(self.recent) and len(rows):
            largest = self.recent.cosines(rows.over_slots).max(axis=0).astype(float)
        if in_order:
            among = np.tril((rows.unit @ rows.unit.T).toarray(), -1)
            largest = np.maximum(largest, among.max(axis=1, initial=0.0))
        return np.clip(largest, 0.0, 1.0)

    def _corrected(self, scores: FloatArray) -> FloatArray:
        return self.level.corrected(scores) if self.settings.correct_growth else scores

    def _count(self, given: Arriving) -> None:
        self.oddities["empty"] += int(np.count_nonzero(np.diff(given.counts.entries.indptr) == 0))

    def _admitted(self, block: ScoredBlock) -> WeightedRows:
        """Return the rows of a block after its new terms have got slots, as far as there is room."""
        if (block.rows.slots < self.settings.max_terms).all():
            return block.rows
        slots, dropped = self.vocabulary.admit(block.given.counts.terms)
        self._forget(dropped)
        if np.array_equal(slots, block.rows.given_slots):
            return block.rows
        return self.weighted(block.given.counts, slots)

    def _remember(self, block: ScoredBlock, rows: WeightedRows, learnt: IntArray) -> None:
        documents, first = block.given.documents, block.first_number
        if documents is None:
            labels = [Label(str(first + place), "") for place in learnt]
        else:
            labels = [Label(documents[place].id or str(first + place), documents[place].title) for place in learnt]
        over = rows.over_slots
        self.recent.append(over if len(learnt) == len(rows) else over[learnt], labels)

    def _learn_complete_batches(self) -> None:
        """Learn all complete mini-batches among the pending documents."""
        size = self.settings.batch_size
        while sum(map(len, self.pending)) >= size:
            waiting = TermCounts.stacked(self.pending)
            # Before the step: whatever happens in it, no document is learnt twice.
            self.pending = [waiting.part(size, len(waiting))] if len(waiting) > size else []
            self._step(waiting.part(0, size))

    def _step(self, counts: TermCounts, rows: WeightedRows | None = None) -> None:
        """Take a step of the solver on a mini-batch, then count its terms."""
        if rows is None:
            slots, dropped = self.vocabulary.admit(counts.terms)
            self._forget(dropped)
            rows = self.weighted(counts, slots)
        if not rows.is_empty.all():
            with one_blas_thread():
                if self.state is None:
                    start = PolarFactor.random(rows.rows, self.settings.n_components, self.random)
                    self.state = self.settings.solver.init(start)
                self.state = self.settings.solver.step(self.state, rows.rows)
        documents = np.bincount(counts.entries.indices, minlength=len(counts.terms)).astype(float)
        self.vocabulary.learn(rows.given_slots, documents, len(counts))

    def _forget(self, slots: IntArray) -> None:
        """Remove terms that have lost their slots from the dictionary and from the recent documents."""
        if not len(slots):
            return
        self.recent.forget_terms(slots)
        dictionary = self.dictionary
        if dictionary is not None and self.state is not None:
            with one_blas_thread():
                without: Any = dictionary.without(slots)
            self.state = self.state._replace(x=without)
