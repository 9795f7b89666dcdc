"""Numbers as people read them."""

from __future__ import annotations


def score_text(score: float) -> str:
    """Return a score with three digits after the point, or three digits that count if it is large or tiny.

    >>> score_text(0.93125), score_text(-2.5), score_text(1234567.0), score_text(0.00012)
    ('0.931', '-2.500', '1.23e+06', '0.00012')
    """
    return f"{score:.3f}" if score == 0.0 or 0.001 <= abs(score) < 10_000.0 else f"{score:.3g}"


def percent_text(share: float) -> str:
    r"""Return a share in percent.

    >>> percent_text(0.256), percent_text(0.0123), percent_text(0.0001)
    ('26\xa0%', '1.2\xa0%', '<0.1\xa0%')
    """
    if 0.0 < share < 0.0005:
        return "<0.1\xa0%"
    return f"{100.0 * share:.{0 if share >= 0.0995 or share == 0.0 else 1}f}\xa0%"


def count_text(count: int, one: str, several: str) -> str:
    """Return a number of things.

    >>> count_text(1, "document", "documents"), count_text(9493, "document", "documents")
    ('1 document', '9,493 documents')
    """
    return f"{count:,} {one if count == 1 else several}"
