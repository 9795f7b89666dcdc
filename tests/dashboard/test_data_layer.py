"""What pages show, without a page: live views, stores, files, and the pieces they are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression import (
    BitsPerReading,
    Column,
    Lossless,
    MaxError,
    OstWriter,
    Paper,
    RelativeError,
    Rmse,
    Schema,
    Target,
    TimeAxis,
)
from orthostream.dashboard import LiveView, OstView, StoredView
from orthostream.dashboard.charts import map_chart, readings_chart, sparkline, spent_chart
from orthostream.dashboard.colours import colours
from orthostream.dashboard.comparison import Comparison, json_lines
from orthostream.dashboard.csv_text import csv_text
from orthostream.dashboard.history import History
from orthostream.dashboard.learning_charts import MOST_ATOMS, atoms_chart, learning_chart
from orthostream.dashboard.record import EdgeRecord
from orthostream.dashboard.thinning import thinned
from orthostream.dashboard.traffic import CountedTransport, Traffic
from orthostream.dashboard.zoom import Zoom
from orthostream.link import Cloud, Edge, MemoryBroker, SqliteStore, StoreError

SCHEMA = Schema((Column("roof", "°C"), Column("cellar", "°C")), TimeAxis("time", "s"))
BOUND = 0.5


def samples(count: int, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    hours = np.arange(start, start + count)
    rows = np.column_stack([10.0 + 5.0 * np.sin(hours / 4.0), 12.0 + 0.1 * (hours % 7)])
    rows[hours % 10 == 3, 1] = np.nan
    return np.round(rows, 1), hours * 3600


class Link:
    """An edge and a cloud over a broker in memory."""

    def __init__(self, folder: Path, view: LiveView | None = None, name: str = "house") -> None:
        broker = MemoryBroker()
        self.store = folder / "cloud.db"
        self.cloud = Cloud(
            SqliteStore(self.store),
            broker.transport(),
            listener=None if view is None else view.listen,
            accelerate=False,
        )
        self.edge = Edge(
            name, SCHEMA, MaxError(BOUND), folder / "outbox.db", broker.transport(), max_delay=0.0, accelerate=False
        )

    def send(self, rows: np.ndarray, times: np.ndarray) -> None:
        self.edge.push(rows, times)
        for _ in range(4):
            self.edge.step()
            self.cloud.step()

    def close(self) -> None:
        self.edge.close()
        self.cloud.close()


@pytest.fixture
def view() -> LiveView:
    return LiveView("test", clock=lambda: 100.0)


@pytest.fixture
def link(tmp_path: Path, view: LiveView) -> Iterator[Link]:
    link = Link(tmp_path, view)
    yield link
    link.close()


def test_a_live_view_shows_what_the_cloud_has_stored(link: Link, view: LiveView) -> None:
    assert view.edges() == [] and view.edge("house") is None and view.window("house", [0]) is None
    rows, times = samples(30)
    view.measured("house", times, rows)
    link.send(rows, times)
    (line,) = view.edges()
    assert (line.name, line.state, line.samples, line.lag) == ("house", "streaming", 30, "0 samples")
    assert line.readings == np.isfinite(rows).sum()
    assert line.n_bytes == sum(line.recent) == link.cloud.status()["edges"]["house"]["bytes"]
    window = view.window("house", [1])
    assert window is not None and window.original is not None and window.band is not None
    assert window.times.tolist() == times.tolist()
    np.testing.assert_array_equal(window.original[:, 0], rows[:, 1])
    known = np.isfinite(rows[:, 1])
    assert (np.abs(window.decoded - window.original)[known] <= window.band[known] + 1e-12).all()
    assert np.isnan(window.decoded[~known]).all()


def test_a_window_is_cut_to_its_times(link: Link, view: LiveView) -> None:
    link.send(*samples(30))
    window = view.window("house", [0], 10 * 3600, 12 * 3600)
    assert window is not None
    assert window.times.tolist() == [36000, 39600, 43200]
    assert (window.first, window.last) == (0, 29 * 3600)
    assert window.original is None


def test_details_tell_errors_comparison_and_link(link: Link, view: LiveView) -> None:
    rows, times = samples(48)
    view.declare("house", SCHEMA, MaxError(BOUND), np.array([[50.0, 20.0], [50.1, 20.1]]), compare=True)
    view.measured("house", times, rows)
    link.send(rows, times)
    view.edge_status(link.edge.status(), link.edge.encoder.bits_by_component)
    view.cloud_status(link.cloud.status())
    detail = view.edge("house")
    assert detail is not None
    assert detail.has_original and detail.locations is not None
    assert detail.max_error is not None and 0.0 < detail.max_error <= BOUND + 1e-12
    assert detail.rmse is not None and detail.rmse <= detail.max_error
    assert [each.name for each in detail.compared] == ["orthostream", "JSON", "float32", "JSON, gzip", "JSON, lzma"]
    assert detail.compared[0].n_bytes == detail.overview.n_bytes
    assert detail.compared[1].n_bytes == len(json_lines(times, rows))
    assert detail.compared[2].n_bytes == 48 * (8 + 2 * 4)
    assert detail.link["edge: connected"] == "yes"
    assert detail.link["cloud: messages"] == detail.link["edge: messages sent"] == 1
    assert detail.spent["readings"] > 0.0
    assert detail.latest.shape == (2,) and np.isfinite(detail.latest).all()
    assert detail.sensor_bits is not None
    total = np.isfinite(rows).sum(axis=0) @ detail.sensor_bits
    assert total == pytest.approx(8.0 * detail.overview.n_bytes)


def test_states_of_an_edge(link: Link) -> None:
    now = [0.0]
    view = LiveView(clock=lambda: now[0])
    view.declare("house", SCHEMA, MaxError(BOUND))
    assert view.edges()[0].state == "quiet"
    status = link.edge.status()
    for changed, state in (
        ({"connected": False}, "offline"),
        ({"messages to send": 1000}, "catching up"),
    ):
        view.edge_status({**status, **changed})
        assert view.edges()[0].state == state
    view.is_live = False
    assert view.edges()[0].state == "complete"


def test_the_last_error_of_an_edge_is_shown(link: Link, view: LiveView) -> None:
    link.send(*samples(3))
    view.cloud_status({**link.cloud.status(), "last error": "house: a message is damaged"})
    assert view.edges()[0].last_error == "a message is damaged"
    view.cloud_status({**link.cloud.status(), "last error": "garden: a message is damaged"})
    assert view.edges()[0].last_error == ""


def test_samples_that_come_again_in_a_new_stream_are_shown_once(tmp_path: Path, view: LiveView) -> None:
    rows, times = samples(20)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder, part in (("a", slice(0, 20)), ("b", slice(12, 20))):
        link = Link(tmp_path / folder, view)
        link.send(rows[part], times[part])
        link.close()
    window = view.window("house", [0])
    assert window is not None and window.times.tolist() == times.tolist()


def test_only_a_few_edges_are_compared_at_once() -> None:
    view = LiveView()
    for number in range(12):
        view.declare(f"edge-{number}", SCHEMA, MaxError(BOUND))
        view.edge(f"edge-{number}")
    assert sum(record.comparison is not None for record in view._records.values()) == 8


def test_a_store_is_shown_and_followed(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.send(*samples(40))
    now = [0.0]
    view = StoredView(str(link.store), every=None, clock=lambda: now[0])
    try:
        (line,) = view.edges()
        assert (line.name, line.samples, line.state) == ("house", 40, "quiet")
        window = view.window("house", [0, 1])
        assert window is not None and window.original is None and window.band is not None
        rows, times = samples(40)
        assert window.times.tolist() == times.tolist()
        known = np.isfinite(rows)
        assert (np.isfinite(window.decoded) == known).all()
        assert (np.abs(window.decoded - rows)[known] <= BOUND + 1e-12).all()
        detail = view.edge("house")
        assert detail is not None and detail.max_error is None
        assert detail.compared[0].n_bytes == line.n_bytes
        assert detail.spent["readings"] > 0.0
        assert detail.link["store: streams"] == 1
        link.send(*samples(5, start=40))
        view.refresh()
        after = view.window("house", [0])
        assert after is not None and after.times.tolist() == samples(45)[1].tolist()
        (line,) = view.edges()
        assert (line.samples, line.state, line.lag) == (45, "streaming", "0 s ago")
        now[0] = 60.0
        assert view.edges()[0].state == "quiet"
    finally:
        view.close()
        link.close()


def test_a_large_store_is_shown_from_its_end(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.send(*samples(50))
    link.close()
    view = StoredView(str(link.store), every=None, capacity=10)
    try:
        window = view.window("house", [0])
        assert window is not None and window.times.tolist() == samples(50)[1][-10:].tolist()
    finally:
        view.close()


def test_a_store_is_polled(tmp_path: Path) -> None:
    import time

    link = Link(tmp_path)
    link.send(*samples(5))
    view = StoredView(str(link.store), every=0.02)
    try:
        link.send(*samples(5, start=5))
        end = time.monotonic() + 10.0
        while view.edges()[0].samples != 10 and time.monotonic() < end:
            time.sleep(0.02)
        assert view.edges()[0].samples == 10
    finally:
        view.close()
        link.close()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        StoredView(str(tmp_path / "none.db"))
    (tmp_path / "text").write_text("nothing like a store, but long enough to be looked at" * 100)
    with pytest.raises(StoreError):
        StoredView(str(tmp_path / "text"))


@pytest.mark.parametrize("has_times", [True, False])
def test_a_file_is_shown(tmp_path: Path, has_times: bool) -> None:
    rows, times = samples(100)
    schema = SCHEMA if has_times else Schema.of(2)
    path = tmp_path / "readings.ost"
    with OstWriter(path, schema, max_error=BOUND) as writer:
        writer.write(rows, times if has_times else None)
    view = OstView(path)
    (line,) = view.edges()
    assert (line.name, line.state, line.samples) == ("readings.ost", "complete", 100)
    assert line.n_bytes == path.stat().st_size
    detail = view.edge("readings.ost")
    assert detail is not None and detail.max_error is not None and detail.max_error <= BOUND + 1e-12
    assert detail.link["file: complete"] == "yes" and detail.spent
    window = view.window("readings.ost", [0])
    assert window is not None
    assert window.times.tolist() == (times.tolist() if has_times else list(range(100)))
    text = csv_text(window, schema)
    assert text.splitlines()[0] == (
        "time,roof [°C] decoded,roof [°C] largest error" if has_times else "sample,0 decoded,0 largest error"
    )
    assert len(text.splitlines()) == 101
    assert text.splitlines()[1].startswith("1970-01-01T00:00:00," if has_times else "0,")


def test_the_band_of_a_relative_error_follows_the_readings() -> None:
    record = EdgeRecord(SCHEMA, RelativeError(0.1))
    record.show(np.array([1, 2]), np.array([[10.0, 1.0], [20.0, np.nan]]))
    window = record.window([0], None, None)
    assert window is not None and window.band is not None
    np.testing.assert_allclose(window.band[:, 0], [1.0, 2.0])


@pytest.mark.parametrize("target", [Paper(1), Rmse(0.5), BitsPerReading(4.0), Lossless()], ids=repr)
def test_every_target_can_be_shown(tmp_path: Path, view: LiveView, target: Target) -> None:
    broker = MemoryBroker()
    rows, times = np.cumsum(np.ones((60, 2)), axis=0) * [0.1, 0.3], np.arange(60) * 3600
    cloud = Cloud(SqliteStore(":memory:"), broker.transport(), listener=view.listen, accelerate=False)
    with cloud, Edge("house", SCHEMA, target, ":memory:", broker.transport(), max_delay=0.0, accelerate=False) as edge:
        for start in range(0, 60, 20):
            edge.push(rows[start : start + 20], times[start : start + 20])
            edge.step()
            cloud.step()
            edge.step()
    detail, window = view.edge("house"), view.window("house", [0, 1])
    assert detail is not None and detail.overview.samples == 60 and detail.target
    assert window is not None and (window.band is None) == (not isinstance(target, Lossless))
    chart = readings_chart(window, SCHEMA, (0, 59 * 3600), colours(dark=False))
    assert len(chart["series"]) == (6 if isinstance(target, Lossless) else 2)


def paper_samples() -> tuple[np.ndarray, np.ndarray]:
    """Samples that a dictionary pays for: along one of two directions each."""
    rng = np.random.default_rng(0)
    directions = np.array([[0.8, 0.6], [-0.6, 0.8]])
    return rng.normal(size=(960, 1)) * directions[rng.integers(2, size=960)], np.arange(960) * 3600


def test_a_live_view_shows_dictionaries_and_gaps(tmp_path: Path, view: LiveView) -> None:
    broker = MemoryBroker()
    rows, times = paper_samples()
    store = tmp_path / "cloud.db"
    cloud = Cloud(SqliteStore(store), broker.transport(), listener=view.listen, accelerate=False)
    outbox = tmp_path / "outbox.db"
    with cloud, Edge("house", SCHEMA, Paper(1), outbox, broker.transport(), max_delay=0.0, accelerate=False) as edge:
        assert "frank-wolfe gap" not in edge.status()
        for start in range(0, 960, 96):
            edge.push(rows[start : start + 96], times[start : start + 96])
            edge.step()
            cloud.step()
            edge.step()
            view.edge_status(edge.status())
        status, components = edge.status(), edge.encoder.codec.dictionary.components
    detail = view.edge("house")
    assert detail is not None and detail.learning is not None
    learning = detail.learning
    assert learning.epoch == status["dictionaries sent"] >= 1
    np.testing.assert_array_equal(learning.components, components)
    assert [epoch for _, epoch in learning.sent] == list(range(learning.epoch + 1))
    assert learning.gaps[-1] == (times[-1], status["frank-wolfe gap"]) and len(learning.gaps) == 10
    assert all(0.0 <= gap <= 2.0 for _, gap in learning.gaps)
    # The cloud's store tells the same, but for the gap.
    with closing(StoredView(str(store), every=None)) as stored:
        again = stored.edge("house")
    assert again is not None and again.learning is not None
    assert again.learning.sent == learning.sent and not again.learning.gaps
    np.testing.assert_array_equal(again.learning.components, components)
    for paint in (colours(dark=False), colours(dark=True)):
        for chart in (atoms_chart(components, SCHEMA, paint), learning_chart(learning, SCHEMA.time, paint)):
            json.dumps(chart, allow_nan=False)


def test_a_file_shows_its_dictionaries(tmp_path: Path) -> None:
    rows, times = paper_samples()
    with OstWriter(tmp_path / "file.ost", SCHEMA, n_nonzero=1) as writer:
        writer.write(rows, times)
    detail = OstView(tmp_path / "file.ost").edge("file.ost")
    assert detail is not None and detail.learning is not None
    assert detail.learning.epoch >= 1 and detail.learning.components.shape == (2, 2)
    with OstWriter(tmp_path / "other.ost", SCHEMA, max_error=0.1) as writer:
        writer.write(rows, times)
    detail = OstView(tmp_path / "other.ost").edge("other.ost")
    assert detail is not None and detail.learning is None


def test_a_large_dictionary_is_drawn_in_part() -> None:
    schema = Schema(tuple(Column(f"s{k}") for k in range(100)), None)
    chart = atoms_chart(np.eye(100)[::-1], schema, colours(dark=False))
    cells = chart["series"][0]["data"]
    assert len(cells) == MOST_ATOMS**2
    # Atoms are in the order of their largest sensors.
    assert all(weight == (1.0 if column == row else 0.0) for column, row, weight in cells)


def test_memory_of_a_history_does_not_grow() -> None:
    history = History(3, capacity=100)
    for start in range(0, 5000, 7):
        history.add(np.arange(start, start + 7), np.full((7, 3), float(start)))
    assert len(history) == 100
    assert history.times.tolist() == list(range(4905, 5005))
    assert len(history._times) <= 200
    history.forget_from(5000)
    assert history.times[-1] == 4999
    history.add(np.arange(1000), np.zeros((1000, 3)))
    assert history.times.tolist() == list(range(900, 1000))


def test_thinning_keeps_peaks_and_gaps() -> None:
    values = np.zeros(10_000)
    values[1234], values[4321] = 9.0, -9.0
    values[7000] = np.nan
    chosen = thinned(values, 300)
    assert len(chosen) <= 302
    assert {1234, 4321, 7000} <= set(chosen.tolist())
    assert thinned(np.full(1000, np.nan), 100).size == 50


def test_a_comparison_counts_what_compressors_make() -> None:
    import gzip

    rows, times = samples(500)
    comparison = Comparison()
    for start in range(0, 500, 50):
        comparison.add(times[start : start + 50], rows[start : start + 50], 10)
    sizes = {each.name: each.n_bytes for each in comparison.sizes()}
    assert sizes["orthostream"] == 100
    assert abs(sizes["JSON, gzip"] - len(gzip.compress(json_lines(times, rows), 9))) < 200
    assert 0 < sizes["JSON, lzma"] < sizes["JSON"]
    assert Comparison().sizes() == []


def test_charts_are_plain_and_can_be_sent(link: Link, view: LiveView) -> None:
    import json

    link.send(*samples(30))
    detail, window = view.edge("house"), view.window("house", [1])
    assert detail is not None and window is not None
    paint = colours(dark=True)
    chart = readings_chart(window, SCHEMA, (window.first, window.last), paint)
    place = map_chart(detail, detail.latest, [0], paint, "°C'; alert(1); '")
    assert "alert(1)" not in place["tooltip"][":formatter"] and "'; " not in place["tooltip"][":formatter"]
    json.dumps([chart, place, spent_chart({"readings": 3.0, "exact": 0.0}, paint)], allow_nan=False)
    gap = [point for point in chart["series"][2]["data"] if point[1] is None]
    assert len(gap) == 3
    # Sensors without places are shown in their order.
    assert [point["value"][:2] for point in place["series"][0]["data"]] == [[0.0, 0.0], [1.0, 0.0]]
    assert sparkline([1, 5, 3]).count(",") == 3 and "polyline" not in sparkline([1])


def test_zooming_in_and_out_and_along() -> None:
    whole = Zoom()
    assert whole.span(0, 1000) == (0, 1000)
    near = whole.nearer(0, 1000, 1)
    assert near.span(0, 1000) == (500, 1000) and near.span(0, 1100) == (600, 1100)
    back = near.earlier(0, 1000)
    assert back.span(0, 1000) == (250, 750) == back.span(0, 1100)
    assert back.nearer(0, 1000, 1).span(0, 1000) == (375, 625)
    assert back.earlier(0, 1000).earlier(0, 1000).span(0, 1000) == (0, 500)
    assert back.farther(0, 1000) == whole
    assert whole.nearer(0, 3, 1).span(0, 3) == (0, 3)


def test_traffic_is_counted_only_if_it_was_sent() -> None:
    broker = MemoryBroker()
    transport = CountedTransport(broker.transport())
    with transport:
        assert transport.is_connected
        assert transport.publish("a/b", b"12345")
    assert not transport.publish("a/b", b"12345")
    assert (transport.sent.messages, transport.sent.payload, transport.reconnects) == (1, 5, 0)
    # PUBLISH: 2 bytes, 2 + 3 of the topic, 2 of the number; PUBACK: 4.
    assert transport.sent.mqtt == 9 + 4
    large = Traffic()
    large.count("a/b", 3000)
    assert large.tcp_ip == 40 * 4
