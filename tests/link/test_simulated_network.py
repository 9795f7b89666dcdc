"""Nothing is lost, doubled or beyond the bound, whatever the network, the disks and the processes do."""

from __future__ import annotations

import pytest
from benchmarks.simulated_network import SimulatedNetwork, run_schedule
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule


class Schedule(RuleBasedStateMachine):
    """One schedule of what happens to an edge, a cloud and the network between them."""

    @initialize(seed=st.integers(0, 2))
    def begin(self, seed: int) -> None:
        self.network = SimulatedNetwork(seed)

    @rule(count=st.integers(1, 5))
    def push(self, count: int) -> None:
        self.network.push(count)

    @rule(seconds=st.sampled_from([0.5, 2.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.network.wait(seconds)

    @rule()
    def step_edge(self) -> None:
        self.network.step_edge()

    @rule()
    def step_cloud(self) -> None:
        self.network.step_cloud()

    @precondition(lambda self: self.network.up.sent or self.network.down.sent)
    @rule(
        upwards=st.booleans(),
        what=st.sampled_from(["deliver", "deliver", "drop", "double", "damage"]),
        place=st.integers(0, 5),
    )
    def happens(self, upwards: bool, what: str, place: int) -> None:
        self.network.network(upwards, what, place)

    @rule(side=st.sampled_from(["edge", "cloud"]), connected=st.booleans())
    def partition(self, side: str, connected: bool) -> None:
        self.network.partition(side, connected)

    @rule(full=st.booleans())
    def fill_disk(self, full: bool) -> None:
        self.network.fill_disk(full)

    @rule(edge=st.booleans())
    def crash(self, edge: bool) -> None:
        if edge:
            self.network.start_edge()
        else:
            self.network.start_cloud()

    def teardown(self) -> None:
        if hasattr(self, "network"):
            self.network.settle()
            self.network.check()


TestSchedule = Schedule.TestCase
TestSchedule.settings = settings(
    max_examples=500, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def test_many_things_happen_in_a_schedule() -> None:
    events = sum((run_schedule(seed) for seed in range(20)), start=run_schedule(1037))
    for what in ("samples", "deliver", "drop", "double", "damage", "partition", "disk full", "refused by the cloud"):
        assert events[what] > 0, what


def test_a_message_that_comes_after_its_stream_was_replaced_changes_nothing() -> None:
    # Both openings are handled in one batch, the newer first.
    run_schedule(5768)


@pytest.mark.slow
def test_two_thousand_schedules() -> None:
    for seed in range(2000):
        run_schedule(seed)
