"""Words of a text in any script."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection
from functools import cache

from orthostream import _checks

#: Function words of English, and the verbs of reported speech.
ENGLISH = (
    "about after all also an and any are as at be been but by can could for from had has have he her his if in into is "
    "it its more no not of on one or other our out said she so some such than that the their them then there these "
    "they this to up was we were what when which who will with would you"
)
#: Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, and Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ASCII_WORDS = re.compile("[a-z0-9]{2,}")


class WordTokenizer:
    """Finds the words of a text, without case; text without spaces gives all pairs of neighbouring characters.

    Punctuation separates words, single letters are left out, and so are words longer than ``longest`` characters,
    which are rarely language.

    Parameters
    ----------
    stop_words : "english", None or a collection of words, default "english"
        Words to leave out. Frequent words of other languages get little weight anyway.
    longest : int, default 64

    Examples
    --------
    >>> WordTokenizer()("The price of COCOA rose 3.5% to 1,200 dlrs")
    ['price', 'cocoa', 'rose', '200', 'dlrs']
    >>> WordTokenizer()("Crème brûlée, 東京都")
    ['crème', 'brûlée', '東京', '京都']
    """

    def __init__(self, stop_words: str | Collection[str] | None = "english", longest: int = 64) -> None:
        if isinstance(stop_words, str):
            _checks.one_of("stop_words", stop_words, ("english",), also="None or a collection of words")
        self.stop_words = stop_words
        self.longest = _checks.integer("longest", longest, 2)
        given: Collection[str] = ENGLISH.split() if isinstance(stop_words, str) else stop_words or ()
        self._stop_words = frozenset(_folded(word) for word in given)

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        found = _ASCII_WORDS.findall(text.lower()) if text.isascii() else _any_words(_folded(text))
        stop_words, longest = self._stop_words, self.longest
        return [word for word in found if word not in stop_words and len(word) <= longest]


def _folded(text: str) -> str:
    """Return a text without differences of case and of compatible characters."""
    return unicodedata.normalize("NFKC", text.casefold())


def _any_words(text: str) -> list[str]:
    words, unspaced = _patterns()
    found: list[str] = []
    for run in words.findall(text):
        if unspaced.match(run):
            found.extend(run[place : place + 2] for place in range(max(1, len(run) - 1)))
        elif len(run) > 1:
            found.append(run)
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    r"""Return the patterns of a run of letters, digits and marks of one kind, and of a character without spaces around.

    Python's ``\w`` leaves out combining marks, such as the vowel signs of Hindi, which would cut words in pieces.
    """
    marks = _class("M")
    spaced = f"(?:(?![{_UNSPACED}])[^\\W_]|(?![{_UNSPACED}])[{marks}])+"
    return re.compile(f"[{_UNSPACED}]+|{spaced}"), re.compile(f"[{_UNSPACED}]")


def _class(category: str) -> str:
    """Return the characters of a Unicode category as ranges for a pattern."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] == category:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
