"""Compiles what most tests need, once and on all cores, into Numba's cache on disk.

`make test` runs it first. Otherwise workers of pytest-xdist that need the same function at the same time compile it
twice. Where the cache is filled already, this takes a few seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

ROWS = np.random.default_rng(0).standard_normal((60, 5)).round(1)


def codecs() -> None:
    from orthostream.compression import BitsPerReading, Decoder, Encoder, MaxError

    for target in (MaxError(0.1), MaxError(0.0), BitsPerReading(4)):
        encoder, decoder = Encoder(5, target, accelerate=True), Decoder(accelerate=True)
        frames = [*encoder.push(ROWS), *encoder.flush()]
        for part in (encoder.header, *frames):
            decoder.push(part)


def learner(preset: str) -> None:
    from orthostream import OrthogonalDictionaryLearning

    for rows in (ROWS, np.where(ROWS > 1.5, np.nan, ROWS)):
        learner = OrthogonalDictionaryLearning.preset(preset, random_state=0)
        for start in range(0, len(rows), 10):
            learner.partial_fit(rows[start : start + 10])
        learner.transform(rows)


def exact() -> None:
    learner("exact")


def compression() -> None:
    learner("compression")


def paper() -> None:
    learner("paper")


#: The longest first, so that two cores end at about the same time.
JOBS: tuple[Callable[[], None], ...] = (codecs, exact, compression, paper)


def main() -> int:
    from orthostream._compile import can_compile

    if not can_compile():
        return 0
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for job in [pool.submit(job) for job in JOBS]:
            job.result()
    return 0


if __name__ == "__main__":
    sys.exit(main())
