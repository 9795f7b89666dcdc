"""The simulator: the same city every time, as fast as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.link.sources import SimulatorSource


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_all_samples_come_once() -> None:
    source = SimulatorSource(n_samples=700, n_sensors=56, seed=3)
    parts = []
    while not source.is_finished:
        samples = source.poll()
        assert samples is not None
        parts.append(samples)
    np.testing.assert_array_equal(np.concatenate([part.readings for part in parts]), source.readings)
    assert np.concatenate([part.times for part in parts]).tolist() == source.times.tolist()
    assert len(parts) == 3 and source.share == 1.0 and source.poll(1.0) is None
    assert source.locations.shape == (56, 2)


def test_a_restart_goes_on_behind_the_mark() -> None:
    first = SimulatorSource(n_samples=700, n_sensors=56)
    samples = first.poll()
    assert samples is not None
    second = SimulatorSource(n_samples=700, n_sensors=56, mark=samples.mark).poll()
    assert second is not None and second.times[0] == first.times[len(samples.times)]
    for other in (SimulatorSource(n_samples=700, n_sensors=56, seed=1, mark=samples.mark), first):
        again = SimulatorSource(n_samples=600, n_sensors=56, mark=samples.mark).poll()
        assert again is not None and again.times[0] == other.times[0]


def test_the_speed_is_kept() -> None:
    clock = Clock()
    source = SimulatorSource(n_samples=100, n_sensors=4, speed=10.0, clock=clock, sleep=clock.sleep)
    assert source.poll() is None
    samples = source.poll(1.0)
    assert samples is not None and len(samples.times) == 1
    assert clock.slept == [pytest.approx(0.1, abs=0.01)]
    clock.now += 2.0
    samples = source.poll(1.0)
    assert samples is not None and len(samples.times) == 20
    assert source.poll(0.01) is None
    with pytest.raises(ValueError, match="speed"):
        SimulatorSource(speed=0.0)
