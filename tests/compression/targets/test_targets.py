"""Every target: what it asks for, where it is stored, and that keywords are short for it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from orthostream.compression import (
    BitsPerReading,
    Encoder,
    FrameError,
    Lossless,
    MaxError,
    OstReader,
    OstWriter,
    Paper,
    RelativeError,
    Rmse,
    Schema,
    compress,
)
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import choose_target, target_in_header

Make = Callable[..., np.ndarray]

TARGETS: list[tuple[Target, dict[str, Any]]] = [
    (MaxError(0.5), {"max_error": 0.5}),
    (MaxError([0.5, 1, 2]), {"max_error": [0.5, 1, 2]}),
    (MaxError(np.array([0.5, 1, 2])), {"max_error": (0.5, 1, 2)}),
    (Lossless(), {"max_error": 0}),
    (RelativeError(0.01), {"relative_error": 0.01}),
    (Rmse(0.3), {"rmse": 0.3}),
    (Rmse(1, learn=True), {"rmse": 1, "options": {"learn": True}}),
    (BitsPerReading(4), {"bits_per_reading": 4}),
    (Paper(2), {"n_nonzero": 2}),
    (
        Paper(2, value_bits=6, threshold=0.1, rotation_error=0.03),
        {"n_nonzero": 2, "options": {"value_bits": 6, "threshold": 0.1, "rotation_error": 0.03}},
    ),
]
every_target = pytest.mark.parametrize(("target", "keywords"), TARGETS, ids=lambda value: str(value)[:40])


@every_target
class TestEveryTarget:
    def test_gives_the_bytes_of_its_keyword(
        self, make_readings: Make, target: Target, keywords: dict[str, Any]
    ) -> None:
        rows = make_readings(100)
        assert compress(rows, target) == compress(rows, **keywords)
        one, other = Encoder(3, target, stream=7), Encoder(3, **keywords, stream=7)
        assert one.header == other.header
        assert one.push(rows) == other.push(rows)

    def test_is_found_again_in_the_header(self, target: Target, keywords: dict[str, Any]) -> None:
        header, _ = StreamHeader.read(Encoder(3, target).header)
        assert header.codec == target.codec
        assert header.target == target.in_header == json.loads(json.dumps(target.in_header))
        assert target_in_header(header.target).in_header == target.in_header

    def test_is_a_value(self, target: Target, keywords: dict[str, Any]) -> None:
        assert len({target, target}) == 1
        with pytest.raises(FrozenInstanceError):
            target.key = "other"  # type: ignore[misc]

    def test_goes_on_in_a_file(self, make_readings: Make, target: Target, keywords: dict[str, Any]) -> None:
        file = io.BytesIO()
        for append in (False, True):
            with OstWriter(file, Schema.of(3), target, append=append) as writer:
                writer.write(make_readings(30))
            file.seek(0)
        with OstWriter(file, Schema.of(3), append=True) as writer:
            writer.write(make_readings(30))
        assert sum(len(part.values) for part in OstReader(io.BytesIO(file.getvalue()))) == 90

    def test_knows_whether_it_takes_integers(self, target: Target, keywords: dict[str, Any]) -> None:
        columns = Schema.of(3, "int16").columns
        if target.accepts_integers:
            target.check(columns)
        else:
            with pytest.raises(ValueError, match=rf"{target.key} is for columns of decimals"):
                target.check(columns)

    def test_promises_a_bound_or_nothing(self, target: Target, keywords: dict[str, Any]) -> None:
        assert (target.bound(Schema.of(3).columns) is None) == (target.codec != "conditional")


def test_frames_in_files_are_larger_where_nobody_waits() -> None:
    assert [each.samples_per_frame_in_file(4) for each in (MaxError(1), Rmse(1), Paper(1))] == [4096, 96, 24]
    assert [each.samples_per_frame_in_file(10_000) for each in (MaxError(1), Rmse(1), Paper(1))] == [24, 24, 24]
    assert {each.samples_per_frame(56) for each, _ in TARGETS} == {24}
    assert [each.samples_per_frame(1) for each in (MaxError(1), Rmse(1), Paper(1))] == [256, 96, 24]


def test_exactly_one_target() -> None:
    with pytest.raises(ValueError, match=r"exactly one of max_error, .* got target, rmse"):
        Encoder(2, MaxError(1), rmse=1)
    with pytest.raises(ValueError, match=r"exactly one of max_error, .* got none"):
        choose_target(None, {"max_error": None})
    with pytest.raises(ValueError, match=r"target must be an object such as MaxError\(0.5\) .*, got 0.5"):
        compress(np.zeros((3, 1)), 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (Rmse, "rmse", 0),
        (Rmse, "rmse", [1, 2]),
        (BitsPerReading, "bits_per_reading", -2),
        (Paper, "n_nonzero", 0),
        (Paper, "n_nonzero", 1.5),
        (lambda bits: Paper(1, value_bits=bits), "value_bits", 25),
        (lambda bits: Paper(1, angle_bits=bits), "angle_bits", 1),
        (lambda share: Paper(1, threshold=share), "threshold", -1),
        (lambda count: Paper(1, memory=count), "memory", 0.5),
    ],
)
def test_bad_values_are_named(make: Callable[[Any], Target], name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name) as caught:
        make(value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("plain", [{}, {"colour": 1}, {"max_error": 1, "rmse": 1}, {"max_error": -1}, {"rmse": "x"}])
def test_a_header_without_a_known_target(plain: dict[str, Any]) -> None:
    with pytest.raises(FrameError, match="target"):
        target_in_header(plain)
