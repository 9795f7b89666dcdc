"""The .ost file: whole, cut short, damaged, appended to, read from the middle."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from orthostream.compression import FrameError, OstReader, OstWriter, Schema
from orthostream.compression.stream.header import StreamHeader

Make = Callable[..., np.ndarray]
Source = str | Path | BinaryIO


class Pipe(io.RawIOBase):
    """Bytes that come a few at a time and only once."""

    def __init__(self, data: bytes, most: int = 7) -> None:
        self._file = io.BytesIO(data)
        self._most = most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, self._most) if size >= 0 else self._most)


def written(rows: np.ndarray, times: np.ndarray | None, schema: Schema, **settings: object) -> bytes:
    file = io.BytesIO()
    with OstWriter(file, schema, **({"max_error": 0.1} | settings)) as writer:
        writer.write(rows, times)
    return file.getvalue()


def everything(source: Source | bytes) -> tuple[np.ndarray, np.ndarray | None, bool]:
    """Return the values, the times, and whether the file was complete."""
    with OstReader(io.BytesIO(source) if isinstance(source, bytes) else source) as reader:
        parts = list(reader)
    values = np.concatenate([np.empty((0, len(reader.schema.columns))), *(part.values for part in parts)])
    assert reader.n_samples == len(values)
    times = None
    if reader.schema.time is not None:
        times = np.concatenate([np.empty(0, dtype=np.int64), *(part.times for part in parts if part.times is not None)])
    return values, times, reader.complete


@pytest.fixture(params=[(False, 2), (True, 2), (True, 1)], ids=["without times", "with times", "with times, version 1"])
def small(
    request: pytest.FixtureRequest, make_readings: Make, timed_schema: Callable[..., Schema]
) -> tuple[object, ...]:
    """A schema, readings, times and a file of a few hundred bytes with several keys."""
    rows = make_readings(40, 2)
    timed, version = request.param
    times = np.cumsum(np.random.default_rng(0).integers(1, 9, 40)) * 60 if timed else None
    schema = timed_schema(2) if timed else Schema.of(2)
    return schema, rows, times, written(rows, times, schema, samples_per_frame=5, key_every=30, version=version)


def test_a_file_comes_back(small: tuple) -> None:
    _, rows, times, data = small
    for source in (io.BytesIO(data), Pipe(data), Pipe(data, 4096)):
        values, stamps, complete = everything(source)
        assert complete
        np.testing.assert_array_equal(np.isnan(values), np.isnan(rows))
        assert np.nanmax(np.abs(values - rows)) <= 0.1
        assert (stamps is None) if times is None else (stamps.tolist() == times.tolist())


@pytest.mark.parametrize("most", [1, 2])
def test_a_slow_pipe(small: tuple, most: int) -> None:
    assert everything(Pipe(small[3], most))[2]


def test_every_truncation_is_a_prefix(small: tuple) -> None:
    _, _, times, data = small
    whole, stamps, _ = everything(data)
    header = StreamHeader.read(data)[1]
    lengths = set()
    for size in range(len(data)):
        if size < header:
            with pytest.raises(FrameError):
                OstReader(io.BytesIO(data[:size]))
            continue
        values, some, complete = everything(data[:size])
        assert not complete
        np.testing.assert_array_equal(values, whole[: len(values)])
        if times is not None:
            np.testing.assert_array_equal(some, stamps[: len(values)])
        lengths.add(len(values))
    assert lengths == set(range(0, 41, 5))


def test_append_after_any_truncation(small: tuple, make_readings: Make) -> None:
    schema, _, times, data = small
    more = make_readings(7, 2, seed=5)
    later = None if times is None else times[-1] + 60 * np.arange(1, 8)
    header = StreamHeader.read(data)[1]
    for size in [*range(header, len(data), 13), *range(len(data) - 50, len(data) + 1)]:
        before, stamps, _ = everything(data[:size])
        file = io.BytesIO(data[:size])
        with OstWriter(file, schema, append=True, max_error=0.1) as writer:
            writer.write(more, later)
        values, together, complete = everything(file.getvalue())
        assert complete
        np.testing.assert_array_equal(values[: len(before)], before)
        assert len(values) == len(before) + 7
        assert np.nanmax(np.abs(values[len(before) :] - more)) <= 0.1
        if times is not None:
            assert together is not None and together.tolist() == [*stamps.tolist(), *later.tolist()]


def test_append_within_a_header_fails(small: tuple, tmp_path: Path) -> None:
    path = tmp_path / "cut.ost"
    path.write_bytes(small[3][:20])
    with pytest.raises(FrameError):
        OstWriter(path, small[0], append=True, max_error=0.1)
    assert path.read_bytes() == small[3][:20]


@pytest.mark.parametrize("stride", [pytest.param(1, marks=pytest.mark.slow), 13])
def test_every_flip_is_noticed(small: tuple, stride: int) -> None:
    """A flipped length may reach beyond the end of the file: that is a file cut short, of which a prefix is read."""
    data = small[3]
    whole = everything(data)[0]
    for bit in range(0, 8 * len(data), stride):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        values = [np.empty((0, 2))]
        try:
            reader = OstReader(io.BytesIO(bytes(damaged)))
            for readings in reader:
                values.append(readings.values)
            assert not reader.complete
        except FrameError:
            pass
        found = np.concatenate(values)
        np.testing.assert_array_equal(found, whole[: len(found)])


def test_bytes_after_the_end(small: tuple) -> None:
    for extra in (b"\0", b"END", small[3]):
        with pytest.raises(FrameError, match="bytes after the end"):
            everything(small[3] + extra)


class TestBetween:
    @pytest.mark.parametrize("seekable", [True, False])
    @pytest.mark.parametrize("complete", [True, False])
    def test_equals_slicing(
        self, make_readings: Make, timed_schema: Callable[..., Schema], seekable: bool, complete: bool
    ) -> None:
        rows, times = make_readings(100, 2), 1000 + 60 * np.arange(100)
        data = written(rows, times, timed_schema(2), samples_per_frame=5, key_every=60)
        if not complete:
            data = data[:-3]
        whole = everything(data)[0]
        for start in (None, 0, 1000, 1001, 2980, 4000, 6940, 6941, 10_000):
            for stop in (None, 999, 1001, 3000, 7000, 10_000):
                reader = OstReader(io.BytesIO(data) if seekable else Pipe(data, 4096))
                parts = list(reader.between(start, stop))
                stamps = np.concatenate([np.empty(0, dtype=np.int64), *(part.times for part in parts)])
                values = np.concatenate([np.empty((0, 2)), *(part.values for part in parts)])
                keep = (times >= (start or 0)) & (times < (10**9 if stop is None else stop))
                np.testing.assert_array_equal(stamps, times[keep])
                np.testing.assert_array_equal(values, whole[keep])

    def test_reads_only_what_it_needs(self, make_readings: Make, timed_schema: Callable[..., Schema]) -> None:
        times = 60 * np.arange(100)
        data = written(make_readings(100, 2), times, timed_schema(2), samples_per_frame=5, key_every=60)
        reader = OstReader(io.BytesIO(data))
        list(reader.between(5000, 5100))
        assert reader.n_frames < 8

    def test_after_appending(self, small: tuple, make_readings: Make, timed_schema: Callable[..., Schema]) -> None:
        data = io.BytesIO(
            written(make_readings(50, 2), np.arange(50), timed_schema(2), samples_per_frame=5, key_every=30)
        )
        data.seek(0)
        with OstWriter(data, timed_schema(2), append=True) as writer:
            writer.write(make_readings(50, 2), np.arange(50, 100))
        for start in range(0, 100, 7):
            data.seek(0)
            stamps = np.concatenate([part.times for part in OstReader(data).between(start, start + 20)])
            np.testing.assert_array_equal(stamps, np.arange(start, min(start + 20, 100)))

    def test_needs_times(self, make_readings: Make) -> None:
        reader = OstReader(io.BytesIO(written(make_readings(), None, Schema.of(3))))
        with pytest.raises(ValueError, match="no times"):
            list(reader.between(1, 2))


class TestPaths:
    def test_a_new_file_appears_when_it_is_whole(self, tmp_path: Path, make_readings: Make) -> None:
        path = tmp_path / "new.ost"
        with OstWriter(path, Schema.of(3), max_error=0.1) as writer:
            writer.write(make_readings(100))
            writer.flush()
            assert not path.exists()
        assert [each.name for each in tmp_path.iterdir()] == ["new.ost"]
        with OstReader(path) as reader:
            assert sum(len(part.values) for part in reader) == 100

    def test_an_exception_leaves_nothing(self, tmp_path: Path, make_readings: Make) -> None:
        path = tmp_path / "new.ost"
        with pytest.raises(KeyError), OstWriter(path, Schema.of(3), max_error=0.1) as writer:
            writer.write(make_readings(100))
            raise KeyError
        assert list(tmp_path.iterdir()) == []

    def test_an_exception_leaves_an_older_file_alone(self, tmp_path: Path, make_readings: Make) -> None:
        path = tmp_path / "old.ost"
        path.write_bytes(b"older")
        with pytest.raises(KeyError), OstWriter(path, Schema.of(3), max_error=0.1) as writer:
            writer.write(make_readings(100))
            raise KeyError
        assert path.read_bytes() == b"older"

    def test_appending_on_disk(self, tmp_path: Path, make_readings: Make) -> None:
        path = tmp_path / "file.ost"
        for append in (False, True, True):
            with OstWriter(path, Schema.of(3), append=append, max_error=0.1) as writer:
                writer.write(make_readings(10))
        values, _, complete = everything(path)
        assert complete and len(values) == 30

    def test_what_was_flushed_survives_a_crash(self, tmp_path: Path, make_readings: Make) -> None:
        path = tmp_path / "file.ost"
        with OstWriter(path, Schema.of(3), max_error=0.1):
            pass
        writer = OstWriter(path, Schema.of(3), append=True)
        writer.write(make_readings(10))
        writer.flush()
        values, _, complete = everything(path)
        assert len(values) == 10 and not complete
        writer.abandon()

    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            OstReader(tmp_path / "none.ost")

    def test_close_twice(self, tmp_path: Path) -> None:
        writer = OstWriter(tmp_path / "file.ost", Schema.of(1), max_error=1)
        writer.close()
        size = (tmp_path / "file.ost").stat().st_size
        writer.close()
        assert (tmp_path / "file.ost").stat().st_size == size

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_appending_with_a_bad_setting_changes_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "file.ost"
        with OstWriter(path, Schema.of(1), max_error=1) as writer:
            writer.write(np.zeros((5, 1)))
        before = path.read_bytes()
        with pytest.raises(ValueError, match="samples_per_frame"):
            OstWriter(path, Schema.of(1), append=True, samples_per_frame=0)
        assert path.read_bytes() == before


def test_appending_something_else(make_readings: Make) -> None:
    data = written(make_readings(), None, Schema.of(3))
    with pytest.raises(ValueError, match="other columns"):
        OstWriter(io.BytesIO(data), Schema.of(2), append=True, max_error=0.1)
    with pytest.raises(ValueError, match=r"readings with a maximum error of 0.2 cannot be appended"):
        OstWriter(io.BytesIO(data), Schema.of(3), append=True, max_error=0.2)
    with pytest.raises(ValueError, match=r"written with a maximum error of 0.1, so that .* mean square error of 0.2"):
        OstWriter(io.BytesIO(data), Schema.of(3), append=True, rmse=0.2)


def test_appending_with_another_target_is_refused_before_anything_is_read(make_readings: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.ost"
    with OstWriter(path, Schema.of(2), max_error=0.5) as writer:
        writer.write(make_readings(20, 2))
    data = path.read_bytes()
    with OstReader(path) as reader:
        first = reader.end_of_frames
    damaged = data[: first + 6] + bytes([data[first + 6] ^ 1]) + data[first + 7 :]
    path.write_bytes(damaged)
    for place, name in ((path, "a.ost"), (io.BytesIO(damaged), "the file")):
        with pytest.raises(ValueError, match=f"{name} was written with a maximum error of 0.5, so that readings with"):
            OstWriter(place, Schema.of(2), append=True, rmse=1.0)
    assert path.read_bytes() == damaged


def test_an_empty_file(timed_schema: Callable[..., Schema]) -> None:
    for schema in (Schema.of(3), timed_schema(3)):
        data = written(np.empty((0, 3)), None if schema.time is None else np.empty(0, dtype=np.int64), schema)
        values, _, complete = everything(data)
        assert complete and values.shape == (0, 3)


def test_what_is_in_a_file(small: tuple) -> None:
    _, rows, times, data = small
    info = OstReader(io.BytesIO(data)).info()
    assert (info["n_sensors"], info["n_samples"], info["n_missing"]) == (2, 40, int(np.isnan(rows).sum()))
    assert info["bytes"] == len(data) == sum(info["bytes_by_component"].values())
    assert info["n_readings"] + info["n_missing"] == rows.size
    assert info["complete"] and info["key_frames"] == 3 and info["target"] == {"max_error": 0.1}
    assert 0.0 <= info["rmse_achieved"] <= 1.000001 * info["max_error_achieved"] <= 0.100001
    assert (info["first_time"], info["last_time"]) == ((None, None) if times is None else (times[0], times[-1]))


def test_the_same_readings_make_the_same_file(small: tuple) -> None:
    schema, rows, times, data = small
    version = OstReader(io.BytesIO(data)).header.version
    assert written(rows, times, schema, samples_per_frame=5, key_every=30, version=version) == data
    other = written(rows + 1.0, times, schema, samples_per_frame=5, key_every=30, version=version)
    assert OstReader(io.BytesIO(other)).header.stream != OstReader(io.BytesIO(data)).header.stream or version == 1


@pytest.mark.parametrize("error", [0, 0.1, 0.25])
def test_a_small_file_has_a_small_frame_around_it(error: float, make_readings: Make) -> None:
    reader = OstReader(io.BytesIO(written(make_readings(50, 1), None, Schema.of(1), max_error=error)))
    info = reader.info()
    assert info["frames"] == 1
    assert info["bytes"] - info["bytes_by_component"]["readings"] <= 60
    assert info["version"] == 2 and info["bytes_by_component"]["trailer"] <= 22


def test_errors_at_the_end_are_rounded_up(make_readings: Make) -> None:
    file = io.BytesIO()
    with OstWriter(file, Schema.of(3), max_error=0.17) as writer:
        writer.write(make_readings(50))
    achieved = writer.encoder.achieved
    reader = OstReader(io.BytesIO(file.getvalue()))
    list(reader)
    for kept, exact in zip(reader.achieved, (achieved.max_error, achieved.sum_of_squares), strict=True):
        assert exact <= kept <= exact * (1 + 2**-23)


def test_errors_that_nobody_looked_at(make_readings: Make) -> None:
    data = written(make_readings(), None, Schema.of(3), verify=False)
    info = OstReader(io.BytesIO(data)).info()
    assert info["complete"] and info["max_error_achieved"] is None


def test_a_file_needs_checksums() -> None:
    with pytest.raises(ValueError, match="always have checksums"):
        OstWriter(io.BytesIO(), Schema.of(1), max_error=1, checksums=False)


@pytest.mark.parametrize(
    "words", [{"relative_error": 0.01}, {"rmse": 0.05}, {"bits_per_reading": 3.0}, {"n_nonzero": 1}]
)
def test_appending_with_every_target(make_readings: Make, words: dict[str, float]) -> None:
    data = io.BytesIO()
    with OstWriter(data, Schema.of(3), samples_per_frame=12, **words) as writer:
        writer.write(make_readings(40))
    before = everything(data.getvalue())[0]
    data.seek(0)
    with OstWriter(data, Schema.of(3), append=True, samples_per_frame=12) as writer:
        writer.write(make_readings(20))
    values, _, complete = everything(data.getvalue())
    assert complete and len(values) == 60
    np.testing.assert_array_equal(values[:40], before)
    assert OstReader(io.BytesIO(data.getvalue())).info()["key_frames"] == 1


def test_appending_goes_on_with_all_that_was_learnt(make_readings: Make) -> None:
    rows, file = make_readings(300, 3), io.BytesIO()
    in_one_go = written(rows, None, Schema.of(3), samples_per_frame=10)
    for start in range(0, 300, 50):
        file.seek(0)
        with OstWriter(file, Schema.of(3), append=start > 0, max_error=0.1, samples_per_frame=10) as writer:
            writer.write(rows[start : start + 50])
    # Sums of errors at the end are rounded up each time.
    size = OstReader(io.BytesIO(in_one_go)).info()["bytes_by_component"]["trailer"]
    assert file.getvalue()[:-size] == in_one_go[:-size]
