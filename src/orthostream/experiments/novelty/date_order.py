"""Documents in the order of time: novel are those whose topic has not appeared before."""

from __future__ import annotations

import numpy as np

from orthostream import _checks
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.trial import Judgement, NoveltyTrials, Trial

_WARM_UP = 200


class DateOrder(NoveltyTrials):
    """All documents by date, each judged against those before it.

    Parameters
    ----------
    group : int, default 1
        1: only the first document of each topic is novel. Otherwise documents come in groups of this size, as in
        Kasiviswanathan et al. (2012): a whole group is scored before any of it is learnt, and novel are all documents
        whose topic is in no earlier group.
    warm_up : int, optional
        Documents at the start that are not judged. By default 200, and never less than the first of several groups.

    Examples
    --------
    >>> collection = Collection.of(["a", "b", "c", "d", "e"], ["tin", "tin", "oil", "oil", "tin"])
    >>> [found] = DateOrder(warm_up=1).trial(collection, seed=0).judgements
    >>> found.novel.tolist(), found.judged.tolist()
    ([True, False, True, False, False], [False, True, True, True, True])
    >>> [found] = DateOrder(group=2, warm_up=2).trial(collection, seed=0).judgements
    >>> found.novel.tolist()
    [True, True, True, True, False]
    """

    is_random = False

    def __init__(self, group: int = 1, warm_up: int | None = None) -> None:
        self.group = _checks.integer("group", group)
        self.warm_up = _WARM_UP if warm_up is None else _checks.integer("warm_up", warm_up, 0)

    def __repr__(self) -> str:
        """Return the call that makes an equal object."""
        return f"DateOrder(group={self.group}, warm_up={self.warm_up})"

    @property
    def setting(self) -> str:
        """The name in tables."""
        return "order of time" if self.group == 1 else f"groups of {self.group:,}"

    def trial(self, collection: Collection, seed: int) -> Trial:
        """Return the one trial, whatever the seed."""
        places = np.arange(len(collection))
        _, firsts, topic = np.unique(collection.topics, return_index=True, return_inverse=True)
        first = firsts[topic]
        # With groups, a topic is new in the whole group of its first document.
        novel = first // self.group == places // self.group
        judged = places >= max(self.warm_up, self.group if self.group > 1 else 0)
        remedy = "give more documents, or a shorter warm_up"
        judgement = Judgement(self.setting, novel, judged).check(remedy)
        return Trial(places, None if self.group == 1 else self.group, (judgement,))
