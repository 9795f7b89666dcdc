"""The pages in a real browser: live, on wide and narrow screens, in light and dark, by keyboard only."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.compression import Column, OstWriter, Schema, TimeAxis

pytest.importorskip("nicegui", reason="NiceGUI is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.xdist_group("dashboard"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
#: Milliseconds that a page has for anything.
PATIENCE = 30_000


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """Run a command that serves a page; give the address."""
    command = [sys.executable, "-m", "orthostream.cli.main", *arguments, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("page"), line + process.stderr.read()
        yield line.split()[1]
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        assert "Traceback" not in errors, errors


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def city() -> Iterator[str]:
    """A demo that streams while the tests look at it."""
    with served(
        "demo", "--hours", "6000", "--sensors", "12", "--edges", "3", "--seconds", "150", "--keep-open"
    ) as address:
        yield address


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; at the end, see that nothing went wrong in it and that nothing left this machine."""
    contexts: list[Any] = []
    troubles: list[str] = []
    requests: list[str] = []

    def open_page(address: str, width: int = 1400, scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert requests
    foreign = [url for url in requests if not re.match(r"(http|ws)://127\.0\.0\.1:\d+/|data:|blob:", url)]
    assert foreign == []


def number(page: Any, what: str) -> float:
    return float(page.locator(f"dl.tiles [data-of={what}]").get_attribute("data-value") or "nan")


def wait_for_more(page: Any, what: str, than: float) -> None:
    page.wait_for_function(
        "([what, than]) => Number(document.querySelector(`dl.tiles [data-of=${what}]`)?.dataset.value) > than",
        arg=[what, than],
    )


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(120):
        if page.evaluate("(selector) => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the keyboard does not get to {selector}")


def option_of_chart(page: Any, what: str) -> Any:
    script = """(what) => {
      const element = document.querySelector(`[data-of=${what}]`);
      return getElement(Number(element.id.slice(1))).chart.getOption();
    }"""
    return page.evaluate(script, what)


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def span(page: Any) -> tuple[int, int]:
    place = page.locator("[data-of=span]")
    place.and_(page.locator("[data-first]")).wait_for()
    return int(place.get_attribute("data-first")), int(place.get_attribute("data-last"))


def test_a_file_is_shown_and_taken_away(tmp_path: Path, opened: Callable[..., Any]) -> None:
    hours = np.arange(400)
    rows = np.column_stack([np.round(10.0 + 5.0 * np.sin(hours / 4.0), 1), np.round(hours / 50.0, 1)])
    schema = Schema((Column('<b onclick="x()">roof</b>', "°C"), Column("cellar")), TimeAxis("time", "s"))
    with OstWriter(tmp_path / "readings.ost", schema, max_error=0.5) as writer:
        writer.write(rows, hours * 3600)
    with served("dashboard", str(tmp_path / "readings.ost")) as address:
        page = opened(address)
        wait_for_more(page, "readings", 799)
        assert number(page, "readings") == 800
        assert number(page, "bytes") == (tmp_path / "readings.ost").stat().st_size
        # A name that looks like HTML is text.
        assert page.locator("b").count() == 0
        assert "<b onclick" in page.locator("[data-of=sensor] option").first.text_content()
        assert span(page) == (0, 399 * 3600)
        with page.expect_download() as download:
            page.click("[data-of=csv]")
        text = Path(download.value.path()).read_text()
        assert len(text.splitlines()) == 401 and text.startswith("time,")
        own, *others = [
            int(cell)
            for cell in page.eval_on_selector_all(
                "[data-of=comparison] [data-of=bytes]", "all => all.map(cell => cell.dataset.value)"
            )
        ]
        assert all(own < other for other in others)
        page.context.close()


def wait_until_it_stays(page: Any) -> None:
    """Wait until the chart shows the same stretch of time while readings come in."""
    for _ in range(20):
        before, readings = span(page), number(page, "readings")
        wait_for_more(page, "readings", readings)
        if span(page) == before:
            return
    pytest.fail("the chart goes on with the newest readings")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_a_tour_by_keyboard(city: str, opened: Callable[..., Any], width: int, scheme: str) -> None:
    page = opened(f"{city}/edges", width, scheme)
    page.locator("a[data-edge]").nth(2).wait_for()
    assert page.locator("a[data-edge]").count() == 3
    assert fits(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")
    # From the overview to an edge.
    tab_to(page, "a[data-edge='city-02']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/edge/city-02")
    wait_for_more(page, "readings", 0)
    assert fits(page)
    # Numbers change.
    readings, n_bytes = number(page, "readings"), number(page, "bytes")
    wait_for_more(page, "readings", readings)
    wait_for_more(page, "bytes", n_bytes)
    assert number(page, "largest-error") <= 0.5
    # Another edge, another sensor.
    tab_to(page, "select[data-of=edge]")
    page.keyboard.press("ArrowDown")
    page.wait_for_url("**/edge/city-03")
    page.locator("[data-of=readings-note][data-value]").wait_for()
    chosen = page.locator("select[data-of=sensor]").input_value()
    key = "ArrowUp" if chosen == "3" else "ArrowDown"
    tab_to(page, "select[data-of=sensor]")
    page.keyboard.press(key)
    page.wait_for_function("(old) => document.querySelector('select[data-of=sensor]').value !== old", arg=chosen)
    name = page.locator("select[data-of=sensor] option:checked").text_content()
    page.locator(f"[data-of=readings-chart][aria-label*='of {name} from']").wait_for()
    # Zoom, along and back.
    before = span(page)
    tab_to(page, "[data-of=zoom-in]")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "(width) => { const d = document.querySelector('[data-of=span]').dataset; return d.last - d.first < width; }",
        arg=0.75 * (before[1] - before[0]),
    )
    tab_to(page, "[data-of=earlier]")
    page.keyboard.press("Space")
    wait_until_it_stays(page)
    tab_to(page, "[data-of=all]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('[data-of=span]').dataset.first === '1483228800'")
    series = option_of_chart(page, "readings-chart")["series"]
    assert [each["type"] for each in series] == ["line", "line", "line", "scatter"]
    assert all(len(each["data"]) > 10 for each in series)
    assert sum(point["value"][2] is not None for point in option_of_chart(page, "map-chart")["series"][0]["data"]) > 0
    # Two sensors at once.
    tab_to(page, "summary")
    page.keyboard.press("Enter")
    other = "[data-sensor]:not(:checked)"
    tab_to(page, other)
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelectorAll('[data-sensor]:checked').length === 2")
    page.locator("[data-of=readings-chart][aria-label*=', sensor']").wait_for()
    assert fits(page)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_pausing_and_taking_away(city: str, opened: Callable[..., Any], width: int) -> None:
    page = opened(f"{city}/edge/city-01", width)
    wait_for_more(page, "readings", 0)
    page.locator("[data-of=readings-note][data-value]").wait_for()
    tab_to(page, "[data-of=pause]")
    page.keyboard.press("Space")
    page.locator("[data-of=pause][aria-pressed=true]").wait_for()
    page.wait_for_timeout(500)
    readings = number(page, "readings")
    page.wait_for_timeout(2500)
    assert number(page, "readings") == readings
    assert page.locator("[data-of=notice]").text_content().startswith("Paused.")
    with page.expect_download() as download:
        page.press("[data-of=csv]", "Enter")
    assert download.value.suggested_filename == "city-01.csv"
    head, *lines = Path(download.value.path()).read_text().splitlines()
    assert re.fullmatch(r"time,(sensor \d+ \[°C\]) decoded,\1 original,\1 largest error", head)
    assert len(lines) == int(page.locator("[data-of=readings-note]").get_attribute("data-value"))
    for line in lines:
        _, decoded, original, bound = line.split(",")
        assert not decoded or abs(float(decoded) - float(original)) <= float(bound)
    with page.expect_download() as download:
        page.press("[data-of=png]", "Enter")
    assert download.value.suggested_filename == "city-01.png"
    assert Path(download.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    page.press("[data-of=pause]", "Enter")
    wait_for_more(page, "readings", readings)


@pytest.mark.slow
def test_pointer_wheel_and_map(city: str, opened: Callable[..., Any]) -> None:
    page = opened(f"{city}/edge/city-01")
    page.locator("[data-of=readings-note][data-value]").wait_for()
    page.locator("[data-of=readings-chart]").hover()
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(500)
    zoom = option_of_chart(page, "readings-chart")["dataZoom"][0]
    assert zoom["end"] - zoom["start"] < 100
    # It stays while new readings come in.
    readings = number(page, "readings")
    wait_for_more(page, "readings", readings)
    after = option_of_chart(page, "readings-chart")["dataZoom"][0]
    assert after["end"] - after["start"] < 100
    page.select_option("[data-of=colour-by]", "bits")
    page.locator("[data-of=map-note]:has-text('estimated')").wait_for()
    place = page.evaluate("""() => {
      const element = document.querySelector('[data-of=map-chart]');
      const chart = getElement(Number(element.id.slice(1))).chart;
      const [x, y] = chart.getOption().series[0].data[2].value;
      return chart.convertToPixel({seriesIndex: 0}, [x, y]);
    }""")
    page.locator("[data-of=map-chart]").click(position={"x": place[0], "y": place[1]})
    page.wait_for_function("document.querySelector('select[data-of=sensor]').value === '2'")


@pytest.mark.slow
def test_colours_can_be_chosen_and_are_kept(city: str, opened: Callable[..., Any]) -> None:
    page = opened(f"{city}/edge/city-01")
    page.locator("[data-of=readings-note][data-value]").wait_for()
    page.select_option("[data-of=theme]", "dark")
    page.locator("body.body--dark").wait_for()
    page.wait_for_timeout(500)
    assert option_of_chart(page, "readings-chart")["legend"][0]["textStyle"]["color"] == "#e6ebf0"
    page.reload()
    page.locator("body.body--dark").wait_for()
    page.wait_for_function("document.querySelector('[data-of=theme]').value === 'dark'")


@pytest.mark.slow
def test_everything_has_a_name_that_can_be_read_out(city: str, opened: Callable[..., Any]) -> None:
    page = opened(f"{city}/edge/city-01")
    page.locator("[data-of=readings-note][data-value]").wait_for()
    page.locator("[data-of=comparison] tr").nth(4).wait_for()
    nameless = page.evaluate("""() => [...document.querySelectorAll('button, select, input, a, [role=img], section')]
      .filter((e) => !(e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent || '').trim())
      .map((e) => e.outerHTML.slice(0, 200))""")
    assert nameless == []
    shown = "all => all.filter((e) => e.offsetParent !== null).map((e) => e.getAttribute('aria-label'))"
    labels = page.eval_on_selector_all("[role=img]", shown)
    assert len(labels) == 4 and all(len(label) > 20 for label in labels)
    assert page.locator("[role=status][aria-live=polite]").count() == 1
    assert page.locator("h1").count() == 1 and page.locator("main").count() == 1


@pytest.mark.slow
def test_what_does_not_exist_is_said(city: str, opened: Callable[..., Any]) -> None:
    page = opened(f"{city}/edge/nowhere")
    page.locator("text=There is no edge nowhere").wait_for()
    # A name of another site that leads here gets nothing.
    request = urllib.request.Request(f"{city}/edges", headers={"Host": "example.test"})
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(request)


@pytest.mark.slow
def test_the_papers_mode_shows_its_dictionary(tmp_path: Path, opened: Callable[..., Any]) -> None:
    folder = tmp_path / "run"
    run = ("--paper", "3", "--hours", "900", "--sensors", "10", "--seconds", "6", "--folder", str(folder))
    with served("demo", *run, "--keep-open") as address:
        page = opened(address)
        page.get_by_text("Done: ").wait_for()
        page.locator("[data-of=learning] [data-of=epoch]").filter(has_text=re.compile("[1-9]")).wait_for()
        assert 0.0 <= float(page.locator("[data-of='Frank-Wolfe gap']").text_content()) <= 2.0
        assert len(option_of_chart(page, "atoms-chart")["series"][0]["data"]) == 100
        gap, epoch = option_of_chart(page, "learning-chart")["series"]
        assert len(gap["data"]) >= 2 and epoch["data"][-1][1] >= 1
        assert "10 atoms of 10 sensors" in page.locator("[data-of=atoms-chart]").get_attribute("aria-label")
        page.context.close()


@pytest.mark.slow
def test_a_store_is_shown(tmp_path: Path, opened: Callable[..., Any]) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "orthostream.cli.main", "demo", "--no-page", "--hours", "200", "--seconds", "1"]
    subprocess.run([*command, "--folder", str(folder)], check=True, capture_output=True)
    with served("dashboard", str(folder / "cloud.db")) as address:
        page = opened(address)
        wait_for_more(page, "readings", 1000)
        page.locator("[data-of=comparison] tr").nth(4).wait_for()
        page.locator("[data-of='store: messages']").wait_for()
        assert page.locator("[data-of=largest-error]").text_content() == "not known"
        assert not page.locator("[data-of=atoms-chart]").is_visible()
        page.context.close()
