"""The page in a real browser: hostile texts, sorting, filtering, by keyboard only, narrow, wide, light and dark."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.report import StreamReport, stream_page
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.scored_document import ScoredDocument

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
HOSTILE = [
    "</script><script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 1">',
    '"><svg onload="window.hit = 1"></svg>',
    "<style>* { display: none }</style>",
    "' onfocus='window.hit = 1' autofocus='",
    "javascript:window.hit=1",
    "&lt;b&gt; $title ${data}",
    "line\u2028separator",
    "\u202eright to left\u2066",
    "W" * 5000,
    "زلزال قوي يضرب الساحل",
    "石油价格在三月上涨",
    "Z̴̡̛̗͓̫̟̯͉̥͎̩͍̱̣̭̙͍a̶l̷g̸o" * 20,
    "",
    "half \ud83d of a character",
]
Open = Callable[..., Any]
MakeReport = Callable[..., StreamReport]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a report as a page; at the end, see that nothing went wrong in it and that it asked for no other file."""
    contexts: list[Any] = []
    troubles: list[str] = []
    requests: list[str] = []

    def open_page(
        report: StreamReport,
        topics: Sequence[Sequence[str]] = (),
        title: str = "News",
        *,
        width: int = 1280,
        scheme: str = "light",
        script: bool = True,
        fragment: str = "",
    ) -> Any:
        path = tmp_path / "page.html"
        path.write_text(stream_page(report, topics, title), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert {url.partition("#")[0] for url in requests} == {(tmp_path / "page.html").as_uri()}


def hostile_report() -> tuple[StreamReport, list[list[str]]]:
    """Return a stream in which every text is hostile, and the words of its topics."""
    report = StreamReport(rule=HOSTILE[0])
    for number in range(1, 4 * len(HOSTILE)):
        text = HOSTILE[number // 4]
        reasons = Explanation(
            (TermShare(text, 0.5),), (TopicShare(0, (text,), 0.1),), (EarlierDocument(text, text, 0.3),), (text,)
        )
        document = ScoredDocument(number, text, text, text, 1.0 - number / 1000, 0.5, number % 4 == 3, reasons)
        report.add([document], np.arange(len(HOSTILE), 0, -1) / 100)
    report.problems = {HOSTILE[1]: 3}
    return report, [[text] * 6 for text in HOSTILE]


def titles_shown(page: Any) -> list[str]:
    return list(page.eval_on_selector_all("#entries > li:not([hidden]) h3", "all => all.map(each => each.textContent)"))


def numbers_shown(page: Any) -> list[int]:
    return list(page.eval_on_selector_all("#entries > li:not([hidden])", "all => all.map(e => Number(e.id.slice(1)))"))


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if page.evaluate("(selector) => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the keyboard does not get to {selector}")


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize("width", [360, 1600])
def test_hostile_texts_do_nothing_and_fit(opened: Open, width: int) -> None:
    report, topics = hostile_report()
    page = opened(report, topics, HOSTILE[0], width=width)
    assert fits(page)
    # Everything that a text can get into: entries, dots and their tips, topics and what is said about them.
    flagged = report.flagged.all()
    assert titles_shown(page) == [each.title or f"(no title) {each.id or 'document 55'}" for each in flagged]
    for selector in (".chart a", "ol.topics canvas"):
        for place in range(page.locator(selector).count()):
            page.locator(selector).nth(place).focus()
            if selector == ".chart a":
                assert page.locator(".tip bdi").text_content() == titles_shown(page)[place]
                box = page.locator(".tip").bounding_box()
                assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.locator("#filter").fill("<img")
    assert titles_shown(page) == [HOSTILE[1]]
    assert page.evaluate("window.hit") is None
    assert page.locator("img, svg[onload], main style, [autofocus]").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == HOSTILE[0]
    assert fits(page)
    # No text runs out of its place.
    page.locator("#filter").fill("")
    overflowing = """all => all.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML)"""
    places = "h1, header p, #entries > li, #entries h3, #entries p, .reasons div, .reasons li, .tiles div"
    assert page.eval_on_selector_all(places, overflowing) == []


def test_a_script_that_got_in_all_the_same_would_not_run(browser: Any, tmp_path: Path, make_report: MakeReport) -> None:
    path = tmp_path / "page.html"
    page_with = stream_page(make_report(300), []).replace(
        "</main>", '<script>window.hit = 1</script><img src="x.png" onerror="window.hit = 2"></main>'
    )
    path.write_text(page_with, encoding="utf-8")
    (tmp_path / "x.png").write_bytes(b"no picture")
    context = browser.new_context()
    try:
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(path.as_uri())
        assert page.locator(".chart svg").count() == 1
        assert page.evaluate("window.hit") is None
        assert len([text for text in refused if "Content Security Policy" in text]) >= 2
    finally:
        context.close()


def test_sorting_and_filtering(opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]]) -> None:
    report = make_report(1000)
    flagged = report.flagged.all()
    assert len(flagged) == 100
    page = opened(report, topics)
    # Fifty at a time, and without a step between them when more are asked for.
    by_score = [each.number for each in sorted(flagged, key=lambda each: -each.score)]
    assert numbers_shown(page) == by_score[:50]
    page.locator("#more").click()
    assert numbers_shown(page) == by_score
    assert not page.locator("#more").is_visible()
    assert page.evaluate("document.activeElement.closest('li').id") == f"d{by_score[50]}"
    for order, expected in [
        ("earliest", sorted(by_score)),
        ("latest", sorted(by_score, reverse=True)),
        ("excess", [each.number for each in sorted(flagged, key=lambda each: (each.threshold or 0) - each.score)]),
        ("score", by_score),
    ]:
        page.locator("#order").select_option(order)
        assert numbers_shown(page) == expected[:50]
    # Words of the title, of terms, of topics and of times; all of them must be there, in any case.
    page.locator("#filter").fill("TERM333")
    assert numbers_shown(page) == [333]
    assert page.locator("#matches").text_content() == "1 of 100 documents"
    assert page.locator(".chart a:not(.off)").count() == 1
    page.locator("#filter").fill("headline 333 valparaiso")
    assert numbers_shown(page) == [333]
    page.locator("#filter").fill("nothing like this")
    assert numbers_shown(page) == [] and page.locator("#matches").text_content() == "0 of 100 documents"
    page.locator("#filter").fill("new terms")
    assert numbers_shown(page) == []
    page.locator("#filter").fill("")
    assert numbers_shown(page) == by_score[:50]
    assert page.locator(".chart a.off").count() == 0


def test_dots_lead_to_their_entries(opened: Open, make_report: MakeReport) -> None:
    report = make_report(1000)
    lowest = min(report.flagged.all(), key=lambda each: each.score)
    page = opened(report)
    dot = page.locator(f".chart a[href='#d{lowest.number}'] circle")
    dot.hover()
    assert page.locator(".tip bdi").text_content() == lowest.title
    assert f"score {lowest.score:.3f}" in page.locator(".tip").text_content()
    # It is beyond the fifty that are shown, and the filter hides it.
    page.locator("#filter").fill("term333")
    dot.click()
    assert page.locator(f"#d{lowest.number}").is_visible()
    assert page.locator("#filter").input_value() == ""
    assert page.evaluate("document.activeElement.textContent") == lowest.title
    assert page.evaluate("document.activeElement.getBoundingClientRect().top < innerHeight")
    assert page.locator("li.chosen").get_attribute("id") == f"d{lowest.number}"


def test_an_address_with_a_document_opens_its_entry(opened: Open, make_report: MakeReport) -> None:
    report = make_report(1000)
    lowest = min(report.flagged.all(), key=lambda each: each.score)
    page = opened(report, fragment=f"#d{lowest.number}")
    page.locator(f"#d{lowest.number} h3:focus").wait_for()
    assert page.evaluate("document.activeElement.textContent") == lowest.title


def test_zooming_by_numbers_and_by_dragging(opened: Open, make_report: MakeReport) -> None:
    report = make_report(1000)
    numbers = [each.number for each in report.flagged.all()]
    page = opened(report)

    def dots() -> int:
        return int(page.locator(".chart a").count())

    assert dots() == len(numbers)
    page.locator("#from").fill("400")
    page.locator("#from").press("Enter")
    page.locator("#to").fill("500")
    page.locator("#to").press("Tab")
    assert dots() == len([number for number in numbers if 400 <= number <= 500])
    assert page.locator("#score-readout").text_content().startswith("Documents 400 to 500: ")
    page.locator("#to").fill("100000")
    page.locator("#to").press("Enter")
    assert page.locator("#to").input_value() == "1000"
    page.locator("#whole").click()
    assert dots() == len(numbers)
    box = page.locator("#score-chart").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 220)
    assert float(page.locator(".chart .drag").get_attribute("width")) == pytest.approx(300, abs=2)
    page.mouse.up()
    first, last = (int(page.locator(field).input_value()) for field in ("#from", "#to"))
    assert 1 < first < last < 1000
    assert dots() == len([number for number in numbers if first <= number <= last])
    low = page.locator(".chart g text").count()
    page.locator("#close-up").click()
    assert page.locator("#close-up").get_attribute("aria-pressed") == "true"
    assert dots() == len([number for number in numbers if first <= number <= last])
    assert page.locator(".chart g text").count() == low
    # Where there is no dot, the numbers of the place are told.
    page.mouse.move(box["x"] + 300, box["y"] + 250)
    assert "median" in page.locator("#score-readout").text_content()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_tour_by_keyboard(opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]], width: int) -> None:
    report = make_report(1000)
    flagged = report.flagged.all()
    page = opened(report, topics, width=width)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the flagged documents"
    # Along the dots, and to an entry.
    tab_to(page, ".chart a")
    for key, number in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", -1), ("Home", 0)]:
        page.keyboard.press(key)
        assert page.locator(".tip bdi").text_content() == flagged[number].title
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == flagged[1].title
    assert page.evaluate("document.activeElement.tagName") == "H3"
    assert page.locator(".tip").count() == 0
    # The dot of before has the focus again, and a key that means nothing here leaves it there.
    page.locator("#close-up").focus()
    tab_to(page, ".chart a")
    page.keyboard.press("x")
    assert page.locator(".tip bdi").text_content() == flagged[1].title
    tab_to(page, "#filter")
    page.keyboard.type("quake")
    tab_to(page, "#order")
    page.keyboard.press("ArrowDown")
    assert page.locator("#order").input_value() == "excess"
    tab_to(page, "#more")
    page.keyboard.press("Space")
    assert len(numbers_shown(page)) == 100
    # Topics: a strip, along it, the next strip, and those behind the button.
    tab_to(page, "ol.topics canvas")
    strip = "document.activeElement.getAttribute('aria-label')"
    largest = int(np.argmax(sum(each.energies for each in report.topics.all())))
    assert page.evaluate(strip) == f"Share of the topic word{largest}, crude, barrel"
    page.keyboard.press("Home")
    value = "document.activeElement.getAttribute('aria-valuetext')"
    assert page.evaluate(value).startswith("Documents 1 to 50 (1987-03-01 10:01): ")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(value).startswith("Documents 51 to 100 ")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(value).startswith("Documents 51 to 100 ")
    assert page.evaluate(strip) != f"Share of the topic word{largest}, crude, barrel"
    assert page.locator("#topic-readout bdi").text_content() in page.evaluate(strip)
    assert page.locator("ol.topics li:visible").count() == 30
    tab_to(page, "#all-topics")
    assert page.evaluate("document.activeElement.textContent") == "Show the other 10 topics"
    page.keyboard.press("Enter")
    assert page.locator("ol.topics li:visible").count() == 40
    assert page.locator("#all-topics").get_attribute("aria-expanded") == "true"
    assert fits(page)


def test_strips_show_where_a_topic_is(opened: Open) -> None:
    report = StreamReport()
    for start in range(0, 1000, 50):
        shares = np.array([20.0 if start >= 500 else 0.0, 5.0])
        report.add([ScoredDocument(start + n, "", "", "", 0.5, 0.9, False, None) for n in range(1, 51)], shares)
    page = opened(report, [["late"], ["always"]])
    pixels = page.locator("ol.topics canvas").first.evaluate(
        "e => Array.from(e.getContext('2d').getImageData(0, 0, e.width, 1).data).filter((_, k) => k % 4 === 0)"
    )
    half = len(pixels) // 2
    assert set(pixels[:half]) == {0xF1} and set(pixels[half:]) == {0x0A}


def test_names_for_screen_readers(opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]]) -> None:
    page = opened(make_report(1000), topics)
    chart = page.get_by_role("group", name="Score over the stream")
    assert chart.count() == 1
    assert "documents are above the threshold" in page.locator("#course").text_content()
    assert page.get_by_role("link", name="Headline 333, Document 333").count() == 1
    assert page.get_by_role("slider", name="Share of the topic word0,").count() == 1
    for role, name in [
        ("spinbutton", "Documents"),
        ("spinbutton", "to"),
        ("searchbox", "Filter"),
        ("combobox", "Order"),
        ("button", "Only the highest scores"),
        ("region", "Flagged documents"),
    ]:
        assert page.get_by_role(role, name=name, exact=True).count() == 1
    # Every control has a name.
    unnamed = page.eval_on_selector_all(
        "input, select, button:not([hidden]), a, canvas[role]",
        "all => all.filter(e => !(e.labels?.length || e.textContent.trim() || e.ariaLabel)).map(e => e.outerHTML)",
    )
    assert unnamed == []


CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => colour.slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script, noscript")) continue;
    const style = getComputedStyle(element);
    const front = luminance(parse(element instanceof SVGElement ? style.fill : style.color));
    const back = luminance(behind(element instanceof SVGElement ? element.closest("div") : element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    found.push([ratio, element.outerHTML.slice(0, 100)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_in_light_and_dark(
    opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]], scheme: str
) -> None:
    page = opened(make_report(600), topics, scheme=scheme)
    page.locator("#close-up").click()
    page.locator(".chart a").first.focus()
    page.locator("ol.topics canvas").first.hover()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(background[:3]) < 200) == (scheme == "dark")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 300
    assert [each for each in contrasts if each[0] < 4.5] == []
    # The strips are painted anew when the scheme changes under the page.
    strip = page.locator("ol.topics canvas").first
    before = strip.evaluate("e => e.toDataURL()")
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    end = time.monotonic() + 20
    while strip.evaluate("e => e.toDataURL()") == before:
        assert time.monotonic() < end
        page.wait_for_timeout(20)


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_scrolling_to_the_side(
    opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]], width: int
) -> None:
    page = opened(make_report(3000, every=5), topics, "A long title of a page " * 8, width=width)
    assert fits(page)
    page.locator("#all-topics").click()
    page.locator("#more").click()
    assert fits(page)
    drawn = page.locator(".chart svg").bounding_box()["width"]
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function("(drawn) => document.querySelector('.chart svg').clientWidth !== drawn", arg=drawn)
    assert fits(page)
    # The dots moved with the chart.
    inside = page.locator(".chart").bounding_box()
    last = page.locator(".chart a circle").last.bounding_box()
    assert last["x"] + last["width"] <= inside["x"] + inside["width"] + 1


def test_without_a_script_there_are_counts_and_the_list(
    opened: Open, make_report: MakeReport, topics: list[tuple[str, ...]]
) -> None:
    report = make_report(1000)
    page = opened(report, topics, script=False, width=360)
    assert page.locator("noscript p").is_visible()
    assert page.locator("[data-of=documents] dd").text_content() == "1,000"
    assert page.locator("#entries > li:visible").count() == report.n_flagged
    assert page.locator(".tools:visible, button:visible, .chart:visible").count() == 0
    assert page.locator("ol.topics li:visible").count() == 40


@pytest.mark.parametrize("n_documents", [0, 1])
def test_streams_without_anything_to_draw(opened: Open, n_documents: int) -> None:
    report = StreamReport()
    report.add([ScoredDocument(n + 1, "", "", "", 0.5, None, False, None) for n in range(n_documents)], np.zeros(0))
    page = opened(report)
    assert page.get_by_text("No document is above the threshold.").is_visible()
    assert page.locator(".chart svg").count() == n_documents
    assert page.locator("#filter:visible, #scale:visible, #all-topics:visible, #more:visible").count() == 0


def test_two_thousand_entries_stay_usable(opened: Open, make_report: MakeReport) -> None:
    report = make_report(19_000, every=9)
    assert len(report.flagged.all()) == 2000
    page = opened(report)
    assert len(numbers_shown(page)) == 50
    assert page.locator(".chart a").count() == 2000
    page.locator("#filter").fill("term9999")
    assert numbers_shown(page) == [9999]
    page.locator("#filter").fill("")
    page.locator("#order").select_option("latest")
    assert numbers_shown(page)[0] == max(each.number for each in report.flagged.all())


def test_what_is_shown_of_a_title_is_what_python_says(opened: Open) -> None:
    report, topics = hostile_report()
    page = opened(report, topics)
    named = [text for text in HOSTILE if text]
    assert set(titles_shown(page)) >= {shown_text(text, 200) for text in named}
