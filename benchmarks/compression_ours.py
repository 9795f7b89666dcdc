"""Our own codec, as a stream and as a file: part of `orthostream bench compression`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import orthostream.compression as codec
from orthostream._compile import can_compile
from orthostream._typing import FloatArray

from .compression_case import Case, CaseResult, Source, quality

#: Samples in a frame; 0 stands for a whole file.
FRAMES = (1, 6, 24, 0)
#: Samples that the paper's mode is tried on.
PAPER_SAMPLES = 2000


class Sent(NamedTuple):
    """What came through, and at what expense."""

    n_bytes: int
    rows: FloatArray
    encode_seconds: float
    decode_seconds: float


def stream(rows: FloatArray, samples_per_frame: int, **target: Any) -> Sent:
    """Send rows as frames, as they would come in, and receive them."""
    encoder = codec.Encoder(rows.shape[1], samples_per_frame=samples_per_frame, **target)
    frames = [encoder.header]
    start = time.perf_counter()
    for begin in range(0, len(rows), samples_per_frame):
        frames += encoder.push(rows[begin : begin + samples_per_frame])
    frames += encoder.flush()
    middle = time.perf_counter()
    decoder = codec.Decoder(**{name: target[name] for name in target if name == "accelerate"})
    parts = [decoder.push(frame)[0] for frame in frames]
    received = np.concatenate([part for part in parts if len(part)])
    return Sent(sum(map(len, frames)), received, middle - start, time.perf_counter() - middle)


def file(rows: FloatArray, **target: Any) -> Sent:
    """Compress rows to a file, and read it."""
    start = time.perf_counter()
    body = codec.compress(rows, **target)
    middle = time.perf_counter()
    received = np.asarray(codec.decompress(body))
    return Sent(len(body), received, middle - start, time.perf_counter() - middle)


def bounded(source: Source, bound: float) -> dict[str, Any]:
    """Return the words that ask for a maximum error; like the peers, ours is told the grid."""
    return {"max_error": bound, "resolution": source.grid, "period": source.period}


def name(samples_per_frame: int) -> str:
    """Return what tables call a way of ours."""
    return f"ours, frames of {samples_per_frame}" if samples_per_frame else "ours, whole file"


def our_result(case: Case, samples_per_frame: int, *, repeat: int = 1) -> CaseResult:
    """Measure our codec under a maximum error; its bytes say which readings are missing."""
    words = bounded(case.source, case.bound)

    def send() -> Sent:
        return stream(case.rows, samples_per_frame, **words) if samples_per_frame else file(case.rows, **words)

    sent = _best(send, repeat)
    found = quality(case, sent.rows)
    if not np.array_equal(np.isnan(sent.rows), np.isnan(case.rows)):
        raise AssertionError(f"{case.setting}: other readings are missing after decoding than before")
    return CaseResult(
        name(samples_per_frame), "", sent.n_bytes, sent.n_bytes, found, sent.encode_seconds, sent.decode_seconds
    )


def _best(send: Callable[[], Sent], repeat: int) -> Sent:
    tried = [send() for _ in range(repeat)]
    return tried[0]._replace(
        encode_seconds=min(sent.encode_seconds for sent in tried),
        decode_seconds=min(sent.decode_seconds for sent in tried),
    )


def warm_up(case: Case) -> None:
    """Compile whatever compiles, so that nobody's time includes it."""
    for samples_per_frame in FRAMES:
        our_result(case._replace(rows=case.rows[:48]), samples_per_frame)
    stream(case.rows[:48], 24, accelerate=can_compile(), **bounded(case.source, case.bound))


def speeds(case: Case, *, repeat: int) -> list[tuple[str, float, float]]:
    """Return our samples per second, encoded and decoded in frames of 24: compiled and plain, checked and not."""
    rows = []
    for what, compiled, n_samples in (("compiled", True, len(case.rows)), ("plain NumPy", False, 720)):
        if compiled and not can_compile():
            continue
        part = case.rows[:n_samples]
        for check, verify in (("", False), (", every frame decoded again", True)):
            words = bounded(case.source, case.bound) | {"verify": verify, "accelerate": compiled}
            sent = _best(lambda part=part, words=words: stream(part, 24, **words), repeat)  # type: ignore[misc]
            rows.append((what + check, len(part) / sent.encode_seconds, len(part) / sent.decode_seconds))
    return rows


class PaperMode:
    """The paper's mode on the first readings of a source, at every number of coefficients that was asked for.

    Each run is kept: bounds and targets of one source ask for the same ones.
    """

    method = "paper's mode"

    def __init__(self, case: Case, samples_per_frame: int = 6) -> None:
        # Its learner takes a minute for a year of readings, and each target tries half a dozen numbers.
        self.case = case.first(PAPER_SAMPLES)
        self.samples_per_frame = samples_per_frame
        self.results: dict[int, CaseResult] = {}

    def result(self, n_nonzero: int) -> CaseResult:
        """Return what comes of some number of coefficients in each sample."""
        if n_nonzero not in self.results:
            sent = stream(self.case.rows, self.samples_per_frame, n_nonzero=n_nonzero, verify=False)
            found = quality(self.case, sent.rows)
            words = f"eta0 {n_nonzero}"
            self.results[n_nonzero] = CaseResult(
                self.method, words, sent.n_bytes, sent.n_bytes, found, sent.encode_seconds, sent.decode_seconds
            )
        return self.results[n_nonzero]

    def within(self, rmse: float) -> CaseResult:
        """Return the fewest coefficients whose error is at most that; if none has, all of them."""
        # What was tried for other targets has narrowed it down already.
        errors = {n_nonzero: result.quality.rmse for n_nonzero, result in self.results.items()}
        low = max((n_nonzero + 1 for n_nonzero, error in errors.items() if error > rmse), default=1)
        high = min((n_nonzero for n_nonzero, error in errors.items() if error <= rmse), default=self.case.rows.shape[1])
        low = min(low, high)
        while low < high:
            middle = (low + high) // 2
            if self.result(middle).quality.rmse <= rmse:
                high = middle
            else:
                low = middle + 1
        return self.result(low)
