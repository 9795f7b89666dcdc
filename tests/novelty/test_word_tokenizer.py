"""Words in many scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.novelty import WordTokenizer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Привет, мир! Ёлка", ["привет", "мир", "ёлка"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("한국어 뉴스", ["한국어", "뉴스"]),
        ("日", ["日"]),
        ("It's 東京Tokyo2020大会", ["東京", "tokyo2020", "大会"]),
        ("\ufb01nance \uff12\uff10", ["finance", "20"]),
        ("e\u0301te\u0301", ["été"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("a b c", []),
        ("", []),
        ("👩‍👩‍👧 !!! \x00", []),
    ],
)
def test_scripts(text: str, words: list[str]) -> None:
    assert WordTokenizer()(text) == words


def test_stop_words() -> None:
    assert WordTokenizer()("the price of tin") == ["price", "tin"]
    assert WordTokenizer(stop_words=None)("the price of tin") == ["the", "price", "of", "tin"]
    assert WordTokenizer(stop_words=["PRICE"])("the price of tin") == ["the", "of", "tin"]
    with pytest.raises(ValueError, match=r"stop_words must be 'english' or None"):
        WordTokenizer(stop_words="german")


def test_endless_words_are_left_out() -> None:
    assert WordTokenizer()("tin " + "a" * 10**6 + " é" + "b" * 10**6) == ["tin"]
    assert WordTokenizer(longest=3)("tin zinc") == ["tin"]


@given(st.text(max_size=60))
def test_any_text_gives_folded_words(text: str) -> None:
    for word in WordTokenizer()(text):
        assert word
        assert not any(character.isspace() for character in word)
        assert unicodedata.normalize("NFKC", word.casefold()).casefold() == word.casefold()


@given(st.text("abc xyz09,._-'ABC", max_size=60))
def test_both_ways_agree_on_ascii(text: str) -> None:
    """A single character beyond ASCII changes the way a text is taken apart, but not its other words."""
    assert WordTokenizer()(text + " é") == WordTokenizer()(text)
