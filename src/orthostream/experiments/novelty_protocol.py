"""Compare detectors of novel documents on any labelled collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from orthostream import _checks
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.date_order import DateOrder
from orthostream.experiments.novelty.estimate import resampled_areas
from orthostream.experiments.novelty.introduced_topics import IntroducedTopics
from orthostream.experiments.novelty.method_table import METHODS
from orthostream.experiments.novelty.novelty_method import NoveltyMethod
from orthostream.experiments.novelty.novelty_record import Measures, NoveltyRecord
from orthostream.experiments.novelty.novelty_result import NoveltyResult
from orthostream.experiments.novelty.peak_memory import peak_memory
from orthostream.experiments.novelty.run_trial import ScoredTrial, run_trial
from orthostream.experiments.novelty.trial import NoveltyTrials, Trial
from orthostream.optimize.threads import one_blas_thread

_NAMED: dict[str, Callable[[], NoveltyTrials]] = {"order": DateOrder, "introduced": IntroducedTopics}


def novelty_protocol(
    documents: Any,
    topics: Sequence[Any],
    dates: Sequence[Any] | None = None,
    *,
    protocol: str | NoveltyTrials = "order",
    methods: Sequence[NoveltyMethod] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    batch_size: int = 100,
    measure_memory: bool = False,
    progress: Callable[[str], None] | None = None,
) -> NoveltyResult:
    """Let detectors score each document of a collection against those before it, and say how well they tell novel ones.

    All methods get the same documents in the same blocks, and score a block before they learn it. Rivals get rows
    weighted by `orthostream.novelty.DampedInverseFrequency` with the document frequencies of the past, and their time
    includes the weighting; ours get counts and weight them in the same way.

    Parameters
    ----------
    documents : list of str, or matrix of counts (n_documents, n_terms)
    topics : sequence of labels, one for each document
    dates : sequence, optional
        Anything that can be sorted. Without dates, documents are in the order of time already.
    protocol : "order", "introduced", `DateOrder` or `IntroducedTopics`, default "order"
        Which documents are novel: those whose topic has not appeared before, or the first ones of topics that are
        introduced at random times.
    methods : sequence of NoveltyMethod, optional
        By default four of our own detectors and all rivals.
    seeds : sequence of int, default (0, 1, 2)
        For introduced topics a seed decides which are held back, when they appear, and what the methods draw. In the
        order of time it only decides what methods draw; those that draw nothing are run once.
    batch_size : int, default 100
        Documents that are learnt at once. A detector may wait for more: ours have mini-batches of 100.
    measure_memory : bool, default False
        Whether each method is run once more, in a process of its own, to measure its peak memory.
    progress : callable, optional
        Called with a line of text before each run.

    Returns
    -------
    NoveltyResult

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> topics = generator.integers(1 + np.arange(600) // 100)
    >>> texts = [" ".join(f"{'abcdef'[topic]}{word}" for word in generator.integers(40, size=20)) for topic in topics]
    >>> result = novelty_protocol(texts, topics, protocol=DateOrder(warm_up=50), methods=METHODS[:1])
    >>> result.record("top-8 energy", "order of time").auc.mean > 0.7
    True
    """
    collection = Collection.of(documents, topics, dates)
    trials = _trials(protocol)
    chosen = _methods(methods)
    numbers = _seeds(seeds)
    size = _checks.integer("batch_size", batch_size)
    tell = progress or (lambda _: None)
    made = {seed: trials.trial(collection, seed) for seed in (numbers if trials.is_random else numbers[:1])}
    records: list[NoveltyRecord] = []
    with one_blas_thread():
        for method in chosen:
            scored: dict[int, ScoredTrial] = {}
            for seed in numbers if trials.is_random or method.is_random else numbers[:1]:
                tell(f"{method.name}, {_name(trials, made)}, seed {seed} ...")
                trial = made.get(seed, made[numbers[0]])
                scored[seed] = run_trial(method, collection.counts[trial.order], size, trial.group, seed)
            memory = None
            if measure_memory:
                tell(f"{method.name}, {_name(trials, made)}, memory ...")
                trial = made[numbers[0]]
                memory = peak_memory(method, collection.counts[trial.order], size, trial.group)
            records += _records(method, collection, trials, made, scored, memory)
    return NoveltyResult(records)


def _records(
    method: NoveltyMethod,
    collection: Collection,
    trials: NoveltyTrials,
    made: dict[int, Trial],
    scored: dict[int, ScoredTrial],
    memory: float | None,
) -> list[NoveltyRecord]:
    """Return the records of a method, one for each setting."""
    speed = len(collection) / float(np.median([max(one.seconds, 1e-9) for one in scored.values()]))
    first = next(iter(made))
    records = []
    for place, judgement in enumerate(made[first].judgements):
        found, areas = [], []
        for seed, one in scored.items():
            trial = made.get(seed, made[first])
            judged = trial.judgements[place]
            found.append(Measures.of(judged, one.scores, trial.group))
            if not trials.is_random:
                topics = collection.topics[trial.order][judged.judged]
                areas.append(resampled_areas(judged.novel[judged.judged], one.scores[judged.judged], topics))
        records.append(
            NoveltyRecord.over_seeds(
                method.name,
                judgement.setting,
                tuple(scored),
                found,
                speed,
                is_exact=not (trials.is_random or method.is_random),
                resampled=np.mean(areas, axis=0) if areas else None,
                peak_megabytes=memory,
            )
        )
    return records


def _name(trials: NoveltyTrials, made: dict[int, Trial]) -> str:
    return "introduced topics" if trials.is_random else next(iter(made.values())).judgements[0].setting


def _trials(protocol: str | NoveltyTrials) -> NoveltyTrials:
    if isinstance(protocol, NoveltyTrials):
        return protocol
    return _NAMED[_checks.one_of("protocol", protocol, _NAMED, also="a DateOrder or IntroducedTopics")]()


def _methods(methods: Sequence[NoveltyMethod] | None) -> list[NoveltyMethod]:
    chosen = list(METHODS if methods is None else methods)
    names = [method.name for method in chosen]
    if not chosen or len(set(names)) < len(names):
        raise ValueError(f"methods must hold at least one method, with names that differ, got {names}.")
    return chosen


def _seeds(seeds: Sequence[int]) -> list[int]:
    found = [_checks.integer("seeds", seed, 0) for seed in seeds]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"seeds must hold at least one number, each once, got {found}.")
    return found
