"""Samples in, frames out: what is promised, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression import Decoder, Encoder, FrameError, Readings, Schema, TimeAxis
from orthostream.compression.schema import MOST_COLUMNS
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.verification import Verification
from orthostream.datasets import load_airly

Make = Callable[..., np.ndarray]
Send = Callable[..., Readings]

TIMED_SCHEMA = Schema(Schema.of(2).columns, TimeAxis("time", "s"))


def options_of(encoder: Encoder) -> dict[str, object]:
    return StreamHeader.read(encoder.header)[0].options


class TestBound:
    elements = st.floats(width=64) | st.integers(-300, 300).map(lambda count: count / 10)

    @settings(max_examples=120, deadline=None)
    @given(
        arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=elements),
        st.sampled_from([0.0, 0.05, 0.1, 3.0]),
        st.sampled_from(["auto", None, 0.1, [1.0, 0.25]]),
        st.sampled_from([None, 1, 6, 24]),
        st.integers(1, 20),
    )
    def test_holds_for_any_frame_and_any_push(
        self, rows: np.ndarray, error: float, resolution: object, per_frame: int | None, push: int
    ) -> None:
        encoder, decoder = Encoder(2, max_error=error, resolution=resolution, samples_per_frame=per_frame), Decoder()
        frames = [encoder.header]
        for start in range(0, len(rows), push):
            frames += encoder.push(rows[start : start + push])
        frames += encoder.flush()
        decoded = np.concatenate([decoder.push(frame).values for frame in frames])
        finite = np.isfinite(rows)
        np.testing.assert_array_equal(decoded[~finite], rows[~finite])
        assert np.all(np.abs(decoded[finite] - rows[finite]) <= error)
        assert encoder.achieved.max_error <= error

    @pytest.mark.parametrize("error", [0.05, 0.1, 0.3])
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
    def test_of_types(self, send: Send, assert_within: Callable[..., None], error: float, dtype: str) -> None:
        rows = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 200, (50, 2)).astype(dtype)
        if dtype.startswith("float"):
            rows = rows / rows.dtype.type(10)
        decoded = send(rows, max_error=error, schema=Schema.of(2, dtype)).values
        assert_within(decoded, rows, error)
        if not dtype.startswith("float"):
            np.testing.assert_array_equal(decoded, rows)

    @pytest.mark.parametrize("resolution", ["auto", None, 0.1, 1, [1, 0.1, 0.01]])
    def test_of_each_sensor(self, send: Send, make_readings: Make, assert_within: object, resolution: object) -> None:
        rows, errors = make_readings(100), [0.0, 0.15, 2.0]
        assert_within(send(rows, max_error=errors, resolution=resolution).values, rows, errors)  # type: ignore[operator]

    def test_relative(self, send: Send, assert_within: Callable[..., None]) -> None:
        generator = np.random.default_rng(0)
        rows = generator.normal(size=(80, 3)) * 10.0 ** generator.integers(-12, 12, (80, 3))
        rows[::7] = 0.0
        rows[5, 1], rows[6, 2], rows[9, 0] = np.nan, np.inf, -5e-324
        shares = [0.5, 0.01, 1e-6]
        assert_within(send(rows, relative_error=shares).values, rows, np.abs(rows) * shares)

    def test_of_real_readings(self, airly_folder: Path, send: Send, assert_within: Callable[..., None]) -> None:
        for quantity, error in (("pm25", 2.0), ("humidity", 1.0)):
            rows = load_airly(airly_folder, quantity).data[:200]
            assert_within(send(rows, max_error=error, push=7, samples_per_frame=6).values, rows, error)


def test_the_size_of_a_push_changes_nothing(make_readings: Make) -> None:
    rows = make_readings(61)
    streams = []
    for push in (1, 5, 24, 61):
        encoder = Encoder(3, max_error=0.1, samples_per_frame=10, stream=5)
        frames = [frame for start in range(0, 61, push) for frame in encoder.push(rows[start : start + push])]
        assert len(frames) == 6
        streams.append(frames + encoder.flush())
        assert encoder.flush() == []
    assert all(frames == streams[0] for frames in streams)


def test_a_frame_of_every_push(make_readings: Make) -> None:
    encoder = Encoder(3, max_error=0.1, samples_per_frame=None)
    assert [len(encoder.push(make_readings(count))) for count in (1, 7, 0, 100)] == [1, 1, 0, 1]
    assert encoder.flush() == []


def test_a_sample_may_come_alone() -> None:
    encoder = Encoder(3, max_error=0.1, samples_per_frame=None)
    assert len(encoder.push([1.0, 2.0, 3.0])) == 1


def test_large_pushes_become_several_frames() -> None:
    encoder, decoder = Encoder(1, max_error=0.5, samples_per_frame=None, verify=False), Decoder()
    frames = encoder.push(np.zeros((8000, 1)))
    decoder.push(encoder.header)
    assert len(frames) > 1
    assert sum(len(decoder.push(frame).values) for frame in frames) == 8000


def test_rows_are_neither_changed_nor_kept(make_readings: Make) -> None:
    rows = make_readings(10)
    before = rows.tobytes()
    encoder, decoder = Encoder(3, max_error=0.0), Decoder()
    encoder.push(rows)
    assert rows.tobytes() == before
    kept = rows.copy()
    rows[:] = 99.0
    decoder.push(encoder.header)
    np.testing.assert_array_equal(decoder.push(encoder.flush()[0]).values, kept)


def test_keys(make_readings: Make) -> None:
    encoder = Encoder(3, max_error=0.1, samples_per_frame=5, key_every=45)
    frames = encoder.push(make_readings(60))
    assert [frame.key for frame in frames] == [(5 * i, 0) if i % 3 == 0 else None for i in range(12)]
    encoder.push(make_readings(5))
    encoder.restart()
    assert encoder.push(make_readings(5))[0].key == (65, 0)


def test_what_was_achieved(make_readings: Make) -> None:
    rows = make_readings(100)
    rows[3, 1] = np.inf
    encoder, decoder = Encoder(3, max_error=0.15), Decoder()
    frames = [*encoder.push(rows), *encoder.flush()]
    decoder.push(encoder.header)
    decoded = np.concatenate([decoder.push(frame).values for frame in frames])
    achieved, finite = encoder.achieved, np.isfinite(rows)
    assert (achieved.n_samples, achieved.n_missing) == (100, np.isnan(rows).sum())
    assert achieved.n_readings + achieved.n_missing == rows.size
    assert achieved.max_error == np.abs(decoded[finite] - rows[finite]).max() <= 0.15
    assert achieved.n_bytes == len(encoder.header) + sum(map(len, frames))
    assert achieved.bits_per_reading == 8 * achieved.n_bytes / achieved.n_readings
    assert 0.0 < achieved.rmse <= achieved.max_error
    assert np.isnan(Encoder(1, max_error=1).achieved.rmse)


class TestTimes:
    @pytest.mark.parametrize("push", [1, 7, None])
    @pytest.mark.parametrize(
        "times",
        [
            np.arange(50) * 3600 + 1_500_000_000,
            np.cumsum(np.random.default_rng(0).integers(1, 100, 50)),
            np.where(np.arange(50) < 30, 0, 86_400) + np.arange(50) * 60,
            -np.arange(50) * 60,
            np.random.default_rng(1).integers(-(10**6), 10**6, 50),
            1_700_000_000_000_000_000 + np.arange(50) * 10**9 + np.random.default_rng(2).integers(0, 1000, 50),
            np.full(50, 7),
            (2**62 - np.arange(50)).astype(np.uint64),
        ],
        ids=["regular", "irregular", "gap", "backwards", "any order", "nanoseconds", "equal", "very large"],
    )
    def test_come_back(self, send: Send, make_readings: Make, times: np.ndarray, push: int | None) -> None:
        sent = send(make_readings(50), times, push=push, max_error=0.1, samples_per_frame=6, period=0)
        np.testing.assert_array_equal(sent.times, times)

    def test_regular_times_cost_nothing_after_the_first(self, make_readings: Make) -> None:
        encoder = Encoder(TIMED_SCHEMA, max_error=0.1, samples_per_frame=10)
        spent = []
        for start in range(0, 60, 10):
            encoder.push(make_readings(10, 2), np.arange(start, start + 10) * 60)
            spent.append(encoder.achieved.bytes_by_component["times"])
        assert spent == [spent[0]] * 6

    @pytest.mark.parametrize(
        ("unit", "step", "period"),
        [
            ("s", 3600, 24),
            ("ns", 600 * 10**9, 144),
            ("ms", 1000, 0),
            ("s", 43200, 0),
            ("s", 0, 0),
            ("", 3600, 0),
            ("s", -5, 0),
        ],
    )
    def test_tell_the_period(self, unit: str, step: int, period: int) -> None:
        encoder = Encoder(Schema(Schema.of(2).columns, TimeAxis("time", unit)), max_error=0.1, samples_per_frame=24)
        with pytest.raises(ValueError, match="after the first frame"):
            _ = encoder.header
        encoder.push(np.zeros((24, 2)), np.arange(24) * step)
        assert options_of(encoder) == ({"period": period} if period else {})

    def test_jitter_and_gaps_do_not_hide_the_period(self) -> None:
        times = np.arange(48) * 3600 + np.random.default_rng(0).integers(-20, 20, 48)
        times[20:] += 7200
        encoder = Encoder(TIMED_SCHEMA, max_error=0.1, samples_per_frame=48)
        encoder.push(np.zeros((48, 2)), times)
        assert options_of(encoder) == {"period": 24}

    def test_a_period_that_is_given(self) -> None:
        assert options_of(Encoder(TIMED_SCHEMA, max_error=0.1, period=7)) == {"period": 7}
        assert options_of(Encoder(2, max_error=0.1)) == {}

    def test_settle(self) -> None:
        encoder = Encoder(TIMED_SCHEMA, max_error=0.1)
        encoder.settle()
        Decoder().push(encoder.header)

    @pytest.mark.parametrize("time", [None, [1], [1, 2, 3], [[1, 2]], [1.5, 2.5], ["a", "b"], [None, None]])
    def test_must_be_as_many_integers(self, time: object) -> None:
        with pytest.raises(ValueError, match="time"):
            Encoder(TIMED_SCHEMA, max_error=0.1).push(np.zeros((2, 2)), time)  # type: ignore[arg-type]

    def test_where_there_are_none(self) -> None:
        with pytest.raises(ValueError, match="has no times"):
            Encoder(2, max_error=0.1).push(np.zeros((2, 2)), [1, 2])

    @pytest.mark.parametrize("period", ["auto", 0])
    def test_beyond_64_bits(self, period: str | int) -> None:
        times = np.array([2**63 + 5, 2**63 + 6, 2**63 + 9], dtype=np.uint64)
        encoder = Encoder(TIMED_SCHEMA, max_error=0.1, samples_per_frame=None, period=period)
        with pytest.raises(ValueError, match="time") as caught:
            encoder.push(np.zeros((3, 2)), times)
        assert not isinstance(caught.value, FrameError)

    def test_no_samples_with_no_times(self) -> None:
        assert Encoder(TIMED_SCHEMA, max_error=0.1).push(np.zeros((0, 2)), []) == []


class TestBadArguments:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("max_error", -1),
            ("max_error", float("nan")),
            ("max_error", float("inf")),
            ("max_error", "near"),
            ("max_error", [-1, 2]),
            ("relative_error", 0),
            ("relative_error", 1.5),
            ("rmse", -1),
            ("rmse", float("nan")),
            ("bits_per_reading", 0),
            ("n_nonzero", 0),
            ("n_nonzero", 9),
            ("n_nonzero", 1.5),
        ],
    )
    def test_targets(self, name: str, value: object) -> None:
        with pytest.raises(ValueError, match=name) as caught:
            Encoder(2, **{name: value})  # type: ignore[arg-type]
        assert repr(value) in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("resolution", "fine"),
            ("resolution", 0),
            ("resolution", -0.1),
            ("resolution", 1 / 3),
            ("resolution", float("inf")),
            ("resolution", [1, None]),
            ("period", "day"),
            ("period", -1),
            ("period", 5000),
            ("period", 1.5),
            ("period", None),
            ("period", True),
            ("samples_per_frame", 0),
            ("samples_per_frame", 2.5),
            ("samples_per_frame", "many"),
            ("samples_per_frame", True),
            ("key_every", 0),
            ("key_every", "often"),
        ],
    )
    def test_settings(self, name: str, value: object) -> None:
        with pytest.raises(ValueError, match=name) as caught:
            Encoder(2, max_error=1, **{name: value})  # type: ignore[arg-type]
        assert repr(value) in str(caught.value)

    @pytest.mark.parametrize("name", ["max_error", "relative_error", "resolution"])
    def test_as_many_as_there_are_sensors(self, name: str) -> None:
        words = {"max_error": 1.0} if name == "resolution" else {}
        with pytest.raises(ValueError, match=rf"{name} must be one number or 2, .* got shape \(3,\)"):
            Encoder(2, **words, **{name: [0.5, 0.5, 0.5]})  # type: ignore[arg-type]

    def test_exactly_one_target(self) -> None:
        with pytest.raises(ValueError, match=r"exactly one of max_error, .* got none"):
            Encoder(2)
        with pytest.raises(ValueError, match="got max_error, rmse"):
            Encoder(2, max_error=1, rmse=1)

    @pytest.mark.parametrize("n_sensors", [0, -3])
    def test_sensors(self, n_sensors: int) -> None:
        with pytest.raises(ValueError, match="at least one sensor"):
            Encoder(n_sensors, max_error=1)

    @pytest.mark.parametrize("rows", [np.zeros(3), np.zeros((2, 3)), np.zeros((2, 2, 2)), np.zeros(()), None, "text"])
    def test_shapes(self, rows: object) -> None:
        with pytest.raises(ValueError, match="samples of 2 sensors"):
            Encoder(2, max_error=1).push(rows)  # type: ignore[arg-type]

    @pytest.mark.parametrize("rows", [[["a", "b"]], [[1j, 2]], [[None, 1.0]], np.zeros((1, 2), dtype="datetime64[s]")])
    def test_what_is_no_number(self, rows: object) -> None:
        with pytest.raises(ValueError, match="must be numbers, got"):
            Encoder(2, max_error=1).push(rows)  # type: ignore[arg-type]

    @pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63])
    def test_integers_that_doubles_do_not_hold(self, value: int) -> None:
        with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
            Encoder(1, max_error=0).push(np.array([[value]]))

    def test_too_many_sensors(self) -> None:
        with pytest.raises(ValueError, match="sensor") as caught:
            Encoder(MOST_COLUMNS + 1, max_error=1)
        assert not isinstance(caught.value, FrameError)

    def test_schemas(self) -> None:
        assert len(Encoder(np.int64(3), max_error=1).schema.columns) == 3  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="schema"):
            Encoder("3", max_error=1)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "words",
        [
            {"rmse": "small"},
            {"rmse": [1, 2]},
            {"bits_per_reading": "few"},
            {"rmse": 1.0, "options": {"colour": 1}},
            {"n_nonzero": 1, "options": {"colour": 1}},
            {"max_error": 1.0, "options": 3},
        ],
    )
    def test_arguments_of_other_types(self, words: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=r"rmse|bits_per_reading|options|colour"):
            Encoder(2, **words)  # type: ignore[arg-type]

    def test_key_every_is_never_none(self) -> None:
        with pytest.raises(ValueError, match="key_every"):
            Encoder(2, max_error=1, key_every=None)  # type: ignore[arg-type]

    def test_unknown_options(self) -> None:
        with pytest.raises(ValueError, match="colour"):
            Encoder(2, max_error=1, options={"colour": 1})


@pytest.mark.parametrize(
    "words",
    [
        {"max_error": 0.5},
        {"relative_error": 0.1},
        {"n_nonzero": 1},
        {"rmse": 0.5},
        {"bits_per_reading": 3.0},
    ],
)
@pytest.mark.parametrize("per_frame", [1, 12])
def test_frames_of_few_bytes(make_readings: Make, words: dict[str, float], per_frame: int) -> None:
    """A tiny payload gets zeros at its end, which must mean nothing."""
    for seed in range(3):
        encoder, decoder = Encoder(3, samples_per_frame=per_frame, **words), Decoder()  # type: ignore[arg-type]
        decoder.push(encoder.header)
        frames = encoder.push(make_readings(120, seed=seed))
        assert sum(len(decoder.push(frame).values) for frame in frames) == 120


def test_going_on_after_a_frame_that_was_refused(make_readings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, decoder = Encoder(3, max_error=0.1, samples_per_frame=None), Decoder()
    decoder.push(encoder.header)
    decoder.push(encoder.push(make_readings(5))[0])
    with monkeypatch.context() as context:
        context.setattr(Verification, "decoded", refuse)
        with pytest.raises(FrameError, match="nothing was sent"):
            encoder.push(make_readings(5))
    # The next frame is never taken for a plain one by a decoder that has not seen the refused one.
    assert encoder._framing.sent == decoder.chain != encoder.chain
    assert len(decoder.push(encoder.push(make_readings(5))[0]).values) == 5


def refuse(*_: object) -> None:
    raise FrameError("nothing was sent")
