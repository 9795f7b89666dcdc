"""A document has a text to be scored, and a title to be shown."""

from __future__ import annotations

import pytest

from orthostream.novelty.document import LONGEST_FIRST_LINE, LONGEST_TITLE, Document


def test_title_and_body_are_the_text() -> None:
    assert Document.of("body", "title").text == "title\nbody"
    assert Document.of("", "title").text == "title"
    assert Document.of("body").text == "body"


def test_the_first_line_that_is_not_blank_is_the_title() -> None:
    assert Document.of("\n \n  first \nsecond").title == "first"
    assert Document.of(" " * 10_000 + "late").title == "late"
    assert Document.of(" \n ").title == ""


def test_long_titles_are_cut() -> None:
    title = Document.of("x" * 10_000).title
    assert title == "x" * (LONGEST_FIRST_LINE - 1) + "…"
    assert Document.of("x" * LONGEST_FIRST_LINE).title == "x" * LONGEST_FIRST_LINE
    given = Document.of("body", "y" * 10_000)
    assert len(given.title) == LONGEST_TITLE and given.text == "y" * 10_000 + "\nbody"


@pytest.mark.parametrize("character", ["\x1b", "\0", "\t", "\x9b", "\u202e", "\u2028"])
def test_a_title_cannot_control_a_terminal(character: str) -> None:
    document = Document.of(f"a{character}b")
    assert document.title == "a b"
    assert document.text == f"a{character}b"


def test_other_scripts_stay() -> None:
    text = "新しい\u3000記録 مرحبا 👩\u200d🚀"
    assert Document.of(text).title == text
