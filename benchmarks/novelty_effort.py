"""How much of `orthostream bench novelty` is run."""

from __future__ import annotations

from typing import NamedTuple

from orthostream.experiments.novelty.method_table import L3, TOP

#: Our detector with its defaults, and the slowest rival by far.
DEFAULT, SLOWEST = TOP, "online l1 dictionary"


class Effort(NamedTuple):
    """Numbers of runs, methods and documents."""

    seeds: int = 10
    """Of introduced topics."""
    order_seeds: int = 5
    """In the order of time, where seeds only decide what methods draw."""
    slow_seeds: int = 3
    """Seeds of the slowest rival."""
    methods: tuple[str, ...] | None = None
    """None is all of them."""
    measure_memory: bool = True
    n_topics: int = 10
    """Topics that are held back."""
    n_components: int = 128
    """Of all dictionaries whose atoms are compared."""
    atom_seeds: int = 3
    nmf_iterations: int = 200
    stream: int = 200_000
    """Documents of the long stream."""
    marks: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
    """Earlier documents at which speed is measured against the history."""


FULL = Effort()
QUICK = Effort(
    seeds=2,
    order_seeds=2,
    methods=(TOP, L3, "1-NN, all the past", "5-NN, all the past", "5-NN, last 3,000", "share of unseen terms"),
    measure_memory=False,
    atom_seeds=1,
    nmf_iterations=10,
    stream=20_000,
    marks=(1_000, 2_000, 5_000, 10_000),
)
