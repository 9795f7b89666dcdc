"""Topics that are held back and introduced at known times: novel are the first documents of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.trial import Judgement, NoveltyTrials, Trial, ranks

#: The last share of the stream in which no topic is introduced, so that each has time for several documents.
_LAST_START = 0.85
_SPLIT_SEED = 12345
_SPLITS = {"tune": slice(0, None, 2), "report": slice(1, None, 2), "all": slice(None)}


class IntroducedTopics(NoveltyTrials):
    """Some topics do not appear before a random time; from then on, their documents come at random times.

    The other documents keep their order. Those of a held-back topic keep theirs too, and are spread evenly over the
    rest of the stream. Novel are the first n documents of each held-back topic; others are its later ones and the
    rest of the stream, without the first n documents of each topic that was not held back, which may be new as well.
    All seeds draw from the same topics: an interval over seeds says nothing about other topics.

    Parameters
    ----------
    n_topics : int, default 10
        How many topics are held back, drawn by the seed.
    first : sequence of int, default (1, 3, 10, 20)
        The values of n; each is a setting.
    least, most : int, default 20 and 500
        How many documents a topic must have to be held back.
    warm_up : float, default 0.3
        The first part of the stream, in which no topic is introduced, and which is not judged.
    split : "report", "tune" or "all", default "report"
        Topics that can be held back are divided in two halves, always the same for the same names. Choose constants on
        "tune", and report results on "report".

    Examples
    --------
    >>> topics = ["oil"] * 60 + ["tin", "tea", "zinc"] * 20
    >>> protocol = IntroducedTopics(n_topics=1, first=(1, 2), split="all")
    >>> trial = protocol.trial(Collection.of(["text"] * 120, topics), seed=0)
    >>> [int(found.novel.sum()) for found in trial.judgements]
    [1, 2]
    """

    is_random = True

    def __init__(
        self,
        n_topics: int = 10,
        first: Sequence[int] = (1, 3, 10, 20),
        least: int = 20,
        most: int = 500,
        warm_up: float = 0.3,
        split: str = "report",
    ) -> None:
        self.n_topics = _checks.integer("n_topics", n_topics)
        self.first = tuple(_checks.integer("first", n) for n in first)
        if not self.first:
            raise ValueError("first must hold at least one number of documents, got none.")
        self.least = _checks.integer("least", least)
        self.most = _checks.integer("most", most, self.least)
        self.warm_up = _checks.between("warm_up", warm_up, 0.0, _LAST_START)
        self.split = _checks.one_of("split", split, _SPLITS)

    def __repr__(self) -> str:
        """Return the call that makes an equal object."""
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"IntroducedTopics({parameters})"

    def can_be_held_back(self, collection: Collection) -> list[str]:
        """Return the topics of the split, in the order in which they were divided."""
        names, sizes = np.unique(collection.topics, return_counts=True)
        fit = [str(name) for name, size in zip(names, sizes, strict=True) if self.least <= size <= self.most]
        if self.split == "all":
            return fit
        mixed = np.random.default_rng(_SPLIT_SEED).permutation(len(fit))
        return [fit[place] for place in mixed[_SPLITS[self.split]]]

    def trial(self, collection: Collection, seed: int) -> Trial:
        candidates = self.can_be_held_back(collection)
        if len(candidates) < self.n_topics:
            raise ValueError(
                f"n_topics = {self.n_topics} topics cannot be held back: only {len(candidates)} topics of "
                f"split={self.split!r} have {self.least} to {self.most} documents. Use fewer topics or other limits."
            )
        generator = np.random.default_rng(seed)
        held_back = generator.choice(candidates, self.n_topics, replace=False)
        times = self._times(collection, held_back.tolist(), generator)
        order = np.argsort(times, kind="stable")
        topics = collection.topics[order]
        rank, is_held_back = ranks(topics), np.isin(topics, held_back)
        late = times[order] >= self.warm_up * len(order)
        judgements = tuple(
            Judgement(f"introduced, n = {n}", is_held_back & (rank < n), late & (is_held_back | (rank >= n))).check(
                "give more documents, or a smaller n"
            )
            for n in self.first
        )
        return Trial(order, None, judgements)

    def _times(self, collection: Collection, held_back: list[str], generator: np.random.Generator) -> FloatArray:
        """Return when each document arrives, on a scale on which the others keep their places."""
        count = len(collection)
        times = np.arange(count, dtype=float)
        for topic in held_back:
            own = np.flatnonzero(collection.topics == topic)
            start = generator.uniform(self.warm_up, _LAST_START) * count
            times[own] = np.sort(generator.uniform(start, count, len(own)))
            times[own[0]] = start
        return times
