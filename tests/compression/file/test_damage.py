"""Files that were damaged, forged or put together from others: no wrong samples, and as many right ones as can be."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
import pytest

from orthostream.compression import FrameError, OstReader, OstWriter, Schema
from orthostream.compression.file.ending import End, Key
from orthostream.compression.file.endings import ending_of
from orthostream.compression.stream.header import StreamHeader

Make = Callable[..., np.ndarray]
TimedSchema = Callable[..., Schema]

STEP = 60


def written(rows: np.ndarray, schema: Schema, **settings: object) -> bytes:
    file = io.BytesIO()
    words = {"max_error": 0.1, "samples_per_frame": 25, "key_every": 150} | settings
    with OstWriter(file, schema, **words) as writer:  # type: ignore[arg-type]
        writer.write(rows, None if schema.time is None else STEP * np.arange(len(rows)))
    return file.getvalue()


@pytest.fixture
def data(make_readings: Make, timed_schema: TimedSchema) -> bytes:
    """A file of 300 samples of two sensors, with a key frame every 75 samples."""
    return written(make_readings(300, 2), timed_schema(2))


def all_of(data: bytes, **words: bool) -> tuple[np.ndarray, np.ndarray, OstReader]:
    reader = OstReader(io.BytesIO(data), **words)  # type: ignore[arg-type]
    parts = list(reader)
    times = [np.empty(0, dtype=np.int64), *(part.times for part in parts if part.times is not None)]
    return np.concatenate([np.empty((0, 2)), *(part.values for part in parts)]), np.concatenate(times), reader


def keys_of(data: bytes) -> list[Key]:
    reader = all_of(data)[2]
    assert reader.complete
    return reader.keys


def with_end(data: bytes, change: Callable[[End], End], like: bytes | None = None) -> bytes:
    """Return a file whose end says something else, with a right checksum."""
    reader = all_of(data)[2]
    assert reader.end is not None
    end = reader.end._replace(keys=reader.end.keys or reader.keys)
    ending = ending_of(OstReader(io.BytesIO(like or data)).header)
    return data[: reader.end_of_frames] + ending.pack(change(end), reader.end_of_frames, None)


def check_recovered(data: bytes, damaged: bytes, place: int, keys: list[Key]) -> None:
    """Check that everything comes back but what lies between the damage and the next key frame."""
    whole, _, before = all_of(data)
    values, times, reader = all_of(damaged, recover=True)
    numbers = times // STEP
    np.testing.assert_array_equal(values, whole[numbers])
    assert np.all(np.diff(numbers) > 0)
    if place >= before.end_of_frames:
        assert len(values) == len(whole)
        return
    later = [key.sample for key in keys if key.offset > place]
    first_after = later[0] if later else len(whole)
    assert set(range(first_after, len(whole))) <= set(numbers.tolist())
    frame_of = 25 * max(0, (int(numbers[numbers < first_after].max(initial=-1)) + 1) // 25)
    assert not reader.complete and len(reader.lost) == 1
    stretch = reader.lost[0]
    assert (stretch.first, stretch.last) == (frame_of, first_after - 1)
    assert set(range(stretch.first)) <= set(numbers.tolist())
    assert stretch.start <= place < stretch.stop
    assert stretch.before == (None if stretch.first == 0 else STEP * (stretch.first - 1))
    assert stretch.after == (STEP * first_after if later else None)


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("has_end", [True, False])
def test_a_damaged_byte_costs_no_more_than_up_to_the_next_key(data: bytes, count: int, has_end: bool) -> None:
    chooser = random.Random(count)
    keys = keys_of(data)
    header = StreamHeader.read(data)[1]
    end = all_of(data)[2].end_of_frames
    for _ in range(count):
        place = chooser.randrange(header, len(data) if has_end else end)
        damaged = bytearray(data if has_end else data[:end])
        damaged[place] ^= chooser.randrange(1, 256)
        if has_end:
            check_recovered(data, bytes(damaged), place, keys)
            continue
        values, times, reader = all_of(bytes(damaged), recover=True)
        np.testing.assert_array_equal(values, all_of(data)[0][times // STEP])
        later = [key.sample for key in keys if key.offset > place]
        assert set(range(later[0] if later else 300, 300)) <= set((times // STEP).tolist())
        assert len(reader.lost) == 1 and not reader.complete


def test_damage_raises_unless_told_otherwise(data: bytes) -> None:
    keys = keys_of(data)
    damaged = bytearray(data)
    damaged[keys[1].offset + 9] ^= 4
    reader = OstReader(io.BytesIO(bytes(damaged)))
    values = []
    with pytest.raises(FrameError):
        for part in reader:
            values.append(part.values)
    assert sum(map(len, values)) == keys[1].sample and reader.lost == []


def test_several_stretches(data: bytes) -> None:
    keys = keys_of(data)
    damaged = bytearray(data)
    for key in (keys[1], keys[3]):
        damaged[key.offset + 5] ^= 255
    _, times, reader = all_of(bytes(damaged), recover=True)
    assert [(lost.first, lost.last) for lost in reader.lost] == [(75, 149), (225, 299)]
    assert (times // STEP).tolist() == [*range(75), *range(150, 225)]
    assert "75 samples from number 75 on" in str(reader.lost[0])
    assert reader.info()["lost"][0]["first"] == 75


def test_bytes_that_are_missing_or_too_many(data: bytes) -> None:
    keys = keys_of(data)
    place = keys[1].offset + 7
    for damaged in (data[:place] + data[place + 5 :], data[:place] + b"\x55" * 5 + data[place:]):
        _, times, reader = all_of(damaged, recover=True)
        assert (times // STEP).tolist() == [*range(75), *range(150, 300)]
        assert [(lost.first, lost.last) for lost in reader.lost] == [(75, 149)]


def test_files_of_version_1_are_recovered(make_readings: Make, timed_schema: TimedSchema) -> None:
    data = written(make_readings(300, 2), timed_schema(2), version=1)
    keys = keys_of(data)
    whole = all_of(data)[0]
    damaged = bytearray(data)
    damaged[keys[1].offset + 9] ^= 4
    values, times, reader = all_of(bytes(damaged), recover=True)
    assert (times // STEP).tolist() == [*range(75), *range(150, 300)]
    np.testing.assert_array_equal(values, whole[times // STEP])
    assert [(lost.first, lost.last) for lost in reader.lost] == [(75, 149)]
    _, times, reader = all_of(bytes(damaged[:-9]), recover=True)
    assert (times // STEP).tolist() == [*range(75), *range(150, 300)]
    assert reader.lost[0][:2] == (75, None) and "unknown number" in str(reader.lost[0])


def cut_out(data: bytes, first: int, stop: int | None) -> bytes:
    """Return a file without the parts from one key frame up to another, or up to its end."""
    keys, end = keys_of(data), all_of(data)[2].end_of_frames
    return data[: keys[first].offset] + data[end if stop is None else keys[stop].offset :]


@pytest.mark.parametrize(("first", "stop"), [(1, None), (3, None), (1, 2)])
@pytest.mark.parametrize("cut", [0, 2, 9])
def test_without_numbers_an_end_does_not_prove_that_all_is_there(
    first: int, stop: int | None, cut: int, make_readings: Make, timed_schema: TimedSchema
) -> None:
    data = cut_out(written(make_readings(300, 2), timed_schema(2), version=1), first, stop)
    data = data[: len(data) - cut]
    _, _, reader = all_of(data, recover=True)
    assert [(lost.first, lost.last) for lost in reader.lost] == [(75, None)]
    assert reader.ignored is None and not reader.complete and "unknown number" in str(reader.lost[0])
    reader = OstReader(io.BytesIO(data))
    if cut < 9:
        with pytest.raises(FrameError, match="does not fit"):
            list(reader)
    else:
        list(reader)
    assert reader.ignored is None and not reader.complete


@pytest.mark.parametrize("cut", [0, 2])
def test_an_end_tells_how_many_samples_are_missing_before_it(data: bytes, cut: int) -> None:
    for first in (1, 3):
        damaged = cut_out(data, first, None)
        reader = all_of(damaged[: len(damaged) - cut], recover=True)[2]
        assert [(lost.first, lost.last) for lost in reader.lost] == [(75 * first, 299)] and not reader.complete
        with pytest.raises(FrameError, match=f"counts 300 samples, and {75 * first} are there"):
            all_of(damaged)
    twice = cut_out(data, 3, None)
    one, two = (key.offset for key in keys_of(data)[1:3])
    reader = all_of(twice[:one] + twice[two:], recover=True)[2]
    assert [(lost.first, lost.last) for lost in reader.lost] == [(75, 149), (225, 299)]


def test_an_end_that_counts_all_samples_proves_that_all_are_there(data: bytes) -> None:
    reader = all_of(with_end(data, lambda end: end._replace(keys=[])), recover=True)[2]
    assert reader.ignored is not None and reader.lost == [] and not reader.complete


def test_a_damaged_header_is_no_file(data: bytes) -> None:
    damaged = bytearray(data)
    damaged[12] ^= 1
    with pytest.raises(FrameError):
        OstReader(io.BytesIO(bytes(damaged)), recover=True)


def test_a_whole_file_loses_nothing(data: bytes) -> None:
    reader = all_of(data, recover=True)[2]
    assert reader.complete and reader.lost == []


def test_a_file_that_was_cut_short(data: bytes) -> None:
    keys = keys_of(data)
    _, times, reader = all_of(data[: keys[2].offset + 10], recover=True)
    assert (times // STEP).tolist() == list(range(150)) and not reader.complete
    assert [(lost.first, lost.last) for lost in reader.lost] == [(150, None)]


class TestPutTogether:
    """Parts of files that are right on their own."""

    def test_another_header(self, make_readings: Make, timed_schema: TimedSchema, data: bytes) -> None:
        other = written(make_readings(300, 2, seed=1), timed_schema(2))
        sizes = [StreamHeader.read(each)[1] for each in (data, other)]
        mixed = other[: sizes[1]] + data[sizes[0] :]
        with pytest.raises(FrameError):
            all_of(mixed)
        assert len(all_of(mixed, recover=True)[0]) == 0

    def test_key_segments_of_another_file(self, make_readings: Make, timed_schema: TimedSchema, data: bytes) -> None:
        other = written(make_readings(300, 2, seed=1), timed_schema(2))
        ours, theirs = keys_of(data), keys_of(other)
        segment = other[theirs[1].offset : theirs[2].offset]
        mixed = data[: ours[1].offset] + segment + data[ours[2].offset :]
        with pytest.raises(FrameError):
            all_of(mixed)
        values, times, reader = all_of(mixed, recover=True)
        np.testing.assert_array_equal(values, all_of(data)[0][times // STEP])
        assert [(lost.first, lost.last) for lost in reader.lost] == [(75, 149)]

    def test_swapped_key_segments(self, data: bytes) -> None:
        _, one, two, three = (key.offset for key in keys_of(data))
        mixed = data[:one] + data[two:three] + data[one:two] + data[three:]
        with pytest.raises(FrameError, match="begins with sample 150 where sample 75 is due"):
            all_of(mixed)
        values, times, _ = all_of(mixed, recover=True)
        np.testing.assert_array_equal(values, all_of(data)[0][times // STEP])
        assert (times // STEP).tolist() == [*range(75), *range(150, 300)]

    def test_a_key_segment_that_is_missing_or_comes_twice(self, data: bytes) -> None:
        _, one, two, _ = (key.offset for key in keys_of(data))
        for mixed in (data[:one] + data[two:], data[:two] + data[one:]):
            with pytest.raises(FrameError, match="is due"):
                all_of(mixed)
            values, times, _ = all_of(mixed, recover=True)
            np.testing.assert_array_equal(values, all_of(data)[0][times // STEP])

    def test_the_end_of_another_file(self, make_readings: Make, timed_schema: TimedSchema, data: bytes) -> None:
        other = written(make_readings(300, 2, seed=1), timed_schema(2))
        ends = [all_of(each)[2].end_of_frames for each in (data, other)]
        mixed = data[: ends[0]] + other[ends[1] :]
        with pytest.raises(FrameError):
            all_of(mixed)
        assert between(mixed, 6000, 9000) == list(range(100, 150))


def between(data: bytes, start: int, stop: int) -> list[int]:
    parts = list(OstReader(io.BytesIO(data)).between(start, stop))
    return [int(time) // STEP for part in parts if part.times is not None for time in part.times]


def moved(key: Key, **by: int) -> Key:
    return key._replace(**{name: getattr(key, name) + more for name, more in by.items()})


FORGERIES: dict[str, Callable[[list[Key]], list[Key]]] = {
    "another offset": lambda keys: [keys[0], moved(keys[1], offset=1), *keys[2:]],
    "later than it is": lambda keys: [keys[0], moved(keys[1], time=600), *keys[2:]],
    "earlier than it is": lambda keys: [keys[0], keys[1], moved(keys[2], time=-5000), *keys[3:]],
    "another sample": lambda keys: [keys[0], moved(keys[1], sample=5), *keys[2:]],
    "one is missing": lambda keys: [keys[0], *keys[2:]],
    "none": lambda _: [],
    "beyond the file": lambda keys: [*keys[:3], moved(keys[3], offset=10**9)],
    "all at the last": lambda keys: [keys[0], *(key._replace(time=key.sample) for key in keys[1:])],
    "a frame that is no key": lambda keys: [keys[0], keys[1]._replace(offset=keys[0].offset + 30), *keys[2:]],
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_index_is_noticed(name: str, version: int, make_readings: Make, timed_schema: TimedSchema) -> None:
    data = written(make_readings(300, 2), timed_schema(2), version=version)
    forged = with_end(data, lambda end: end._replace(keys=FORGERIES[name](end.keys or [])))
    assert with_end(data, lambda end: end) == data
    with pytest.raises(FrameError, match="does not fit"):
        all_of(forged)
    for start in (0, 4000, 4700, 9100, 14_000, 17_000):
        assert between(forged[:], start, start + 600) == between(data, start, start + 600)


@pytest.mark.parametrize("change", [{"n_samples": 299}, {"n_samples": 301}, {"n_missing": 0}])
def test_forged_counts_are_noticed(data: bytes, change: dict[str, int]) -> None:
    with pytest.raises(FrameError, match="does not fit"):
        all_of(with_end(data, lambda end: end._replace(**change)))


@pytest.mark.parametrize("seed", range(4))
def test_hostile_bytes_after_a_header(data: bytes, seed: int) -> None:
    chooser = random.Random(seed)
    header = data[: StreamHeader.read(data)[1]]
    for _ in range(60):
        tail = chooser.choice([b"", bytes([chooser.randrange(256), 0, 0]) + b"E", data[-30:]])
        hostile = header + chooser.randbytes(chooser.randrange(300)) + tail
        for recover in (False, True):
            try:
                values, _, reader = all_of(hostile, recover=recover)
            except FrameError:
                continue
            assert len(values) == 0 and not reader.complete
