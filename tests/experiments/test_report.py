"""The report, also in a real browser if there is one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orthostream.experiments import Claim, Outcome, Plan, Verdict, reproduce
from orthostream.experiments.outcome import Table, distinct_claims
from orthostream.experiments.report import report
from orthostream.experiments.summary import summary


def page_of(*outcomes: Outcome) -> str:
    return report(outcomes, {}, facts={"date": "today"}, notes=["<note>"])


def test_text_is_escaped_and_has_greek_letters() -> None:
    outcome = Outcome("x", "A <b>title</b>", "eta0 & theta=0.3", tables=[Table("c", ["", "eta0 = 2"], [["<i>", "1"]])])
    page = page_of(outcome)
    assert "A &lt;b&gt;title&lt;/b&gt;" in page and "<b>" not in page and "<i>" not in page and "<note>" not in page
    assert "η₀ &amp; θ=0.3" in page


def test_the_best_figures_are_marked() -> None:
    table = Table("c", ["", "a", "b"], [["x", "1", "4"], ["y", "2", "3"]], frozenset({1}), frozenset({(0, 1), (1, 2)}))
    outcome = Outcome("x", "X", "", tables=[table])
    page = page_of(outcome)
    assert '<tr><td>x</td><td class="best">1</td><td>4</td></tr>' in page
    assert '<tr class="ours"><td>y</td><td>2</td><td class="best">3</td></tr>' in page
    text = summary([outcome], {}, [])
    assert "| x | **1** | 4 |" in text and "| y | 2 | **3** |" in text


def test_every_claim_is_there_once_with_its_verdict() -> None:
    claim = Claim("it is so", "1", "2", Verdict.DIFFERS, "because")
    first, second = Outcome("a", "A", "", claims=[claim]), Outcome("b", "B", "", claims=[claim])
    assert [len(claims) for _, claims in distinct_claims([first, second])] == [1, 0]
    page = page_of(first, second)
    assert page.count("it is so") == 1
    assert '<span class="verdict differs">differs</span>' in page
    assert "<p>differs: 1</p>" in page


@pytest.mark.slow
def test_the_report_opens_in_a_browser(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    reproduce(["batch-size", "sparse-pca"], Plan(quick=True, trials=2, steps=30), tmp_path)
    errors: list[str] = []
    requests: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            for width in (1200, 390):
                page = browser.new_page(viewport={"width": width, "height": 900})
                page.on("console", lambda message: errors.append(message.text))
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.on("request", lambda request: requests.append(request.url))
                page.goto((tmp_path / "report.html").as_uri())
                images = page.eval_on_selector_all("img", "all => all.map(i => [i.complete, i.naturalWidth, i.alt])")
                assert len(images) == 2
                assert all(complete and natural > 100 and alt for complete, natural, alt in images)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                assert page.locator("table.claims .verdict").count() == 7
                page.click("nav a >> nth=1")
                assert page.url.endswith("#sparse-pca")
        finally:
            browser.close()
    assert errors == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
