"""What bytes are spent on, named for what they are."""

from __future__ import annotations

import io

import numpy as np

from orthostream.compression import Encoder, MaxError, OstReader, OstWriter, Paper, RelativeError, Schema


def components(readings: np.ndarray, target: object) -> dict[str, int]:
    """The components of a file, which its writer and its reader agree on."""
    file = io.BytesIO()
    with OstWriter(file, Schema.of(readings.shape[1]), target, samples_per_frame=16) as writer:
        writer.write(readings)
    info = OstReader(io.BytesIO(file.getvalue())).info()
    found = {name: count for name, count in info["bytes_by_component"].items() if name not in ("trailer", "framing")}
    written = writer.encoder.achieved.bytes_by_component
    assert found == {name: count for name, count in written.items() if name != "framing"}
    return found


def test_lattices_that_change_are_no_dictionary() -> None:
    random = np.random.default_rng(0)
    whole = np.round(random.normal(size=(256, 2)).cumsum(axis=0))
    finer = np.round(whole[-1] + random.normal(size=(1_024, 2)).cumsum(axis=0), 2)
    found = components(np.concatenate([whole, finer]), MaxError(0.0))
    assert found["lattice changes"] > 0 and "dictionary" not in found


def test_dictionaries_of_the_paper_are_dictionaries() -> None:
    random = np.random.default_rng(0)
    codes = random.normal(size=(1_024, 6)) * (random.random((1_024, 6)) < 0.3)
    readings = codes @ np.linalg.qr(random.normal(size=(6, 6)))[0]
    found = components(readings, Paper(3, rotation_error=0.03, threshold=0.01))
    assert found["dictionary"] > 0 and "lattice changes" not in found


def test_relative_errors_are_measured() -> None:
    random = np.random.default_rng(0)
    readings = np.exp(random.normal(0.0, 4.0, size=(200, 2)))
    readings[::7, 0] = 0.0
    encoder = Encoder(2, RelativeError(0.05))
    encoder.push(readings)
    encoder.flush()
    assert 0.025 < encoder.achieved.max_relative_error <= 0.05 * (1.0 + 1e-12)
    unseen = Encoder(2, RelativeError(0.05), verify=False)
    unseen.push(readings)
    assert np.isnan(unseen.achieved.max_relative_error)
