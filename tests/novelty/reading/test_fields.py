"""The names of fields: given, or usual ones."""

from __future__ import annotations

import pytest

from orthostream.novelty.reading import DocumentError
from orthostream.novelty.reading.fields import ID, TEXT, TIME, TITLE, Fields, GivenFields, check_fields, find_fields


@pytest.mark.parametrize("role", ["text", "title", "id", "time"])
def test_every_usual_name_is_found_in_any_case(role: str) -> None:
    for name in {"text": TEXT, "title": TITLE, "id": ID, "time": TIME}[role]:
        for written in (name, name.upper(), f" {name.capitalize()}"):
            assert getattr(find_fields(["other", written], GivenFields()), role) == (written,)


def test_the_usual_order_counts_not_the_one_of_the_input() -> None:
    assert find_fields(["summary", "dt", "text", "url", "date", "id"], GivenFields()) == Fields(
        ("text", "summary"), (), ("id", "url"), ("date", "dt")
    )


def test_a_given_name_replaces_usual_ones_and_has_one_use() -> None:
    names = ["text", "headline", "title"]
    assert find_fields(names, GivenFields(text="headline")) == Fields(("headline",), ("title",), (), ())
    assert find_fields(["headline"], GivenFields(text="headline")).title == ()
    assert "title" not in Fields().or_usual(GivenFields(text="title")).title or Fields().title


def test_given_names_are_exact() -> None:
    with pytest.raises(DocumentError, match=r"there is no field 'Body' for the text; there are 'body', 'id'"):
        check_fields(["body", "id"], GivenFields(text="Body"))


@pytest.mark.parametrize("role", ["text", "title", "id", "time"])
def test_an_unknown_name_is_an_error_that_says_what_there_is(role: str) -> None:
    with pytest.raises(DocumentError, match=f"there is no column 'nope' for the {role}; there are 'text', 'day'"):
        check_fields(["text", "day"], GivenFields(**{role: "nope"}), "column")


def test_a_text_or_a_title_is_needed() -> None:
    check_fields(["headline"], GivenFields())
    check_fields(["story"], GivenFields(text="story"))
    with pytest.raises(DocumentError, match=r"there are 'story', 'id': name one as text"):
        check_fields(["story", "id"], GivenFields())


def test_hostile_names_make_no_endless_message() -> None:
    names = [f"{number}\n\ud800" + "x" * 10_000 for number in range(1000)]
    with pytest.raises(DocumentError) as caught:
        check_fields(names, GivenFields())
    message = str(caught.value)
    assert len(message) < 3000 and "\n" not in message and message.encode() and "and 980 more" in message
