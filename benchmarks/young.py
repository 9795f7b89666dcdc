"""How many samples the default learner takes until its dictionary is exact, fed by `partial_fit`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.metrics import recovery_error

from .measure import SEED, Record, say, table

NAME = "recovery"
#: A dictionary is exact from the first mini-batch on after which its error never exceeds this.
EXACT = 1e-12
#: Samples an atom that a stream has.
LONGEST = 100


class Setting(NamedTuple):
    """Features, samples of a mini-batch, and trials."""

    features: int
    batch: int
    trials: int

    @property
    def text(self) -> str:
        """The setting as tables name it."""
        return f"N={self.features} B={self.batch} theta=0.3"


SETTINGS = (Setting(10, 10, 100), Setting(10, 1, 100), Setting(50, 10, 20), Setting(50, 1, 20), Setting(100, 10, 5))


def measure(largest: int, most_trials: int) -> list[Record]:
    """Return the samples an atom until each trial was exact for good; print a table of them."""
    rows, records = [], []
    for setting in SETTINGS:
        if setting.features > largest:
            continue
        say(f"samples until exact, {setting.text} ...")
        trials = min(setting.trials, most_trials)
        found = np.array([_samples(setting, trial) for trial in range(trials)])
        exact = int(np.isfinite(found).sum())
        median, worst = float(np.median(found)), float(found.max())
        rows.append((setting.text, [f"{exact} of {trials}", f"{median:.0f}", f"{worst:.0f}"]))
        for metric, value in (
            ("exact_trials", exact),
            ("median_samples_an_atom", median),
            ("most_samples_an_atom", worst),
        ):
            records.append(Record(NAME, "default by partial_fit", setting.text, metric, float(value)))
    print(
        table(
            "\nsamples an atom until the default learner is exact for good, by partial_fit",
            "",
            ["<= 1e-12", "median", "most"],
            rows,
        ),
        flush=True,
    )
    return records


def _samples(setting: Setting, trial: int) -> float:
    """Return the samples an atom after which one trial was exact for good, or infinity."""
    features, batch, _ = setting
    seed = SEED + 1000 * trial + features
    data = make_bernoulli_gaussian(LONGEST * features, features, sparsity=0.3, random_state=seed)
    learner = OrthogonalDictionaryLearning(random_state=trial)
    since = float("inf")
    for start in range(0, LONGEST * features, batch):
        learner.partial_fit(data.samples[start : start + batch])
        seen = start + batch
        if batch == 1 and seen % 5:
            continue
        if recovery_error(learner.components_, data.components) > EXACT:
            since = float("inf")
        elif since == float("inf"):
            since = seen / features
    return since
