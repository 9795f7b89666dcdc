"""The page as text; `test_page_in_browser.py` looks at it in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest

from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.report import StreamReport, stream_page
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.scored_document import ScoredDocument

HOSTILE = [
    "</script><script>document.title = 'hit'</script>",
    "<img src=x onerror=\"document.title = 'hit'\">",
    '"><svg onload="document.title = \'hit\'">',
    "' onfocus='x' autofocus='",
    "&lt;b&gt; &amp; $title ${data} $& $`",
    "line\u2028separator\u2029here",
    "\u202eright to left\u2066",
    "]]> --> <!-- <![CDATA[",
    "half \ud83d of a character",
]


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and the texts of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._inside, []).append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def hostile_report() -> tuple[StreamReport, list[list[str]]]:
    report = StreamReport(rule=HOSTILE[1])
    for number, text in enumerate(HOSTILE, start=1):
        reasons = Explanation(
            (TermShare(text, 0.5),), (TopicShare(0, (text,), 0.1),), (EarlierDocument(text, text, 0.3),), (text,)
        )
        report.add([ScoredDocument(number, text, text, text, 0.9, 0.5, True, reasons)], np.ones(len(HOSTILE)))
    report.problems = {HOSTILE[0]: 1, HOSTILE[2]: 2}
    return report, [[text, text] for text in HOSTILE]


def test_hostile_texts_make_no_element_and_no_attribute(make_report: Callable[..., StreamReport]) -> None:
    hostile, topics = hostile_report()
    elements = Elements(stream_page(hostile, topics, HOSTILE[0])).elements
    assert {tag for tag, _ in elements} <= {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "h1", "bdi", "p", "noscript", "main", "dl"),
        *("div", "dt", "dd", "small", "section", "h2", "label", "input", "button", "span", "ul", "li", "select"),
        *("option", "output", "ol", "h3", "strong", "i", "b", "h4", "script"),
    }
    names = {name for _, attributes in elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in ("src", "style", "autofocus")]
    assert [attributes.get("type") for tag, attributes in elements if tag == "script"] == ["application/json", None]


def test_hostile_texts_are_shown_as_they_are() -> None:
    report, topics = hostile_report()
    page = stream_page(report, topics, HOSTILE[0])
    texts = Elements(page).texts
    for text in HOSTILE:
        shown = shown_text(text, 1000)
        assert shown in texts["li"], "a term, a topic or an earlier document"
        assert shown in texts["bdi"], "a title"
    assert not re.search("[\u2028-\u202e\u2066-\u2069\ud800-\udfff]", page)
    page.encode()


def test_the_policy_allows_the_script_and_the_style_of_the_page_only(
    make_report: Callable[..., StreamReport], topics: list[tuple[str, ...]]
) -> None:
    page = stream_page(make_report(), topics)
    found = Elements(page)
    (policy,) = [each["content"] for tag, each in found.elements if tag == "meta" and "http-equiv" in each]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digests = {
        tag: f"'sha256-{base64.b64encode(hashlib.sha256(texts[-1].encode()).digest()).decode()}'"
        for tag, texts in found.texts.items()
        if tag in ("script", "style")
    }
    assert rules == {
        "default-src": "'none'",
        "script-src": digests["script"],
        "style-src": digests["style"],
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # The policy stands before everything that it is for.
    assert page.index("Content-Security-Policy") < page.index("<title>") < page.index("<style>")


def test_nothing_is_fetched(make_report: Callable[..., StreamReport], topics: list[tuple[str, ...]]) -> None:
    page = stream_page(make_report(), topics)
    links = [each["href"] for _, each in Elements(page).elements if "href" in each]
    assert all(link is not None and link.startswith("#") for link in links)
    # The name of the XML language for pictures is the only address, and nothing is fetched from it.
    assert set(re.findall(r"\w+://[^\"' )]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(\s*['\"]?(?!#)|@import|fetch\(|XMLHttpRequest|innerHTML|eval\(", page)


def test_the_list_and_the_counts_need_no_script(
    make_report: Callable[..., StreamReport], topics: list[tuple[str, ...]]
) -> None:
    report = make_report(1000)
    page = stream_page(report, topics, "News of the day")
    text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", "\n", page, flags=re.DOTALL)
    for expected in ("News of the day", "1,000", f"{report.n_flagged:,}", "1 % false alarms", "8,123"):
        assert expected in text
    assert "malformed lines: 3" in text and "duplicate ids" not in text
    for each in report.flagged.all():
        assert each.title in text and each.time in text and f"term{each.number}" in text
    assert "valparaiso" in text and "oil, crude" in text and "An earlier storm" in text
    order = [float(each["data-score"] or "nan") for _, each in Elements(page).elements if "data-score" in each]
    assert len(order) == report.n_flagged and order == sorted(order, reverse=True)
    assert all(f"word{topic}, crude, barrel" in text for topic in range(len(topics)))


def test_the_data_of_the_charts_is_that_of_the_report(
    make_report: Callable[..., StreamReport], topics: list[tuple[str, ...]]
) -> None:
    report = make_report(3000)
    data = json.loads(Elements(stream_page(report, topics)).texts["script"][0])
    bins = report.scores.all()
    assert data["scores"]["last"] == [each.last for each in bins]
    assert data["scores"]["most"] == pytest.approx([each.most for each in bins], rel=1e-4)
    assert data["scores"]["threshold"][0] is None and data["scores"]["threshold"][-1] == pytest.approx(0.87, abs=1e-3)
    shares = np.array(data["topics"]["shares"]) / data["topics"]["parts"]
    expected = np.array([each.energies / each.size for each in report.topics.all()]).T
    assert shares.sum(axis=1).tolist() == sorted(shares.sum(axis=1), reverse=True)
    np.testing.assert_allclose(np.sort(shares.sum(axis=1)), np.sort(expected.sum(axis=1)), rtol=0.01)


def test_two_thousand_flagged_documents_are_a_page_of_less_than_three_megabytes() -> None:
    report = StreamReport()
    random = np.random.default_rng(0)
    title = "Headline of a usual length about prices of crude oil in March"
    words = ("dividend", "quarterly", "payable", "shareholders", "record", "april")
    reasons = Explanation(
        tuple(TermShare(f"industrial{k}", 0.1) for k in range(8)),
        tuple(TopicShare(k, words, 0.02) for k in range(3)),
        tuple(EarlierDocument(f"{k}", title, 0.3) for k in range(3)),
        ("valparaiso", "earthquake"),
    )
    for start in range(0, 200_000, 1000):
        block = [
            ScoredDocument(n, f"{n}", title, "1987-03-26 11:30:46", random.random(), 0.9, n % 80 == 0, reasons)
            for n in range(start + 1, start + 1001)
        ]
        report.add(block, random.random(128))
    page = stream_page(report, [words] * 128)
    assert page.count('<li id="d') == 2000 < report.n_flagged == 2500
    assert "The 2,000 with the highest scores, of 2,500." in page
    assert len(page.encode()) < 3_000_000


@pytest.mark.parametrize("n_documents", [0, 1])
def test_a_stream_of_nothing_or_of_one_document_is_a_page(n_documents: int) -> None:
    report = StreamReport()
    report.add([ScoredDocument(n + 1, "", "", "", 0.5, None, False, None) for n in range(n_documents)], np.zeros(0))
    page = stream_page(report, [])
    assert "No document is above the threshold." in page and "There are no topics." in page and "none yet" in page


def test_before_the_dictionary_there_are_no_topics() -> None:
    report = StreamReport()
    report.add([ScoredDocument(1, "", "", "", 1.0, None, False, None)], np.zeros(3))
    assert "There are no topics." in stream_page(report, [(), (), ()])


def test_words_for_another_number_of_topics_are_refused(make_report: Callable[..., StreamReport]) -> None:
    with pytest.raises(ValueError, match="words for 3 topics, but energies of 40"):
        stream_page(make_report(), [("oil",)] * 3)


def test_bars_have_a_length_even_if_most_documents_are_flagged() -> None:
    report = StreamReport()
    documents = [ScoredDocument(n, "", "", "", n / 10, 0.2, n > 2, None) for n in range(1, 8)]
    report.add(documents, np.zeros(0))
    bars = re.findall(r'<i class="w(\d+)"></i><b class="w(\d+)">', stream_page(report, []))
    assert bars == [(str(length), "0") for length in (100, 80, 60, 40, 20)]


def test_documents_without_a_title_have_a_name() -> None:
    report = StreamReport()
    report.add([ScoredDocument(n, name, "", "", 0.9, 0.5, True, None) for n, name in ((1, ""), (2, "a2"))], np.zeros(0))
    assert {"(no title) document 1", "(no title) a2"} <= set(Elements(stream_page(report, [])).texts["bdi"])
