"""What was wrong with some lines of an input, which was read all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "broken encodings",
    "damaged gzip",
    "duplicate ids",
    "empty lines",
    "fields ignored",
    "malformed lines",
    "no text",
    "stray quotes",
    "too long",
    "wrong number of cells",
]

_KEPT, _LONGEST_REASON = 5, 200


class Problem(NamedTuple):
    """Something that was wrong with a line, or, if the number of the line is 0, with the whole input.

    >>> str(Problem(7, "Expecting value at column 3"))
    'line 7: Expecting value at column 3'
    """

    line: int
    reason: str

    def __str__(self) -> str:
        return ": ".join(filter(None, [f"line {self.line}" if self.line else "", self.reason]))


class Problems(Mapping[str, int]):
    """How often something was wrong, by kind; 0 for kinds that did not occur.

    "broken encodings", "duplicate ids" and "fields ignored" count documents that were read all the same. The other
    kinds count lines that gave no document; "damaged gzip" counts the places from which on nothing could be read.

    Attributes
    ----------
    first : dict of str to list of Problem
        The first five of each kind.

    Examples
    --------
    >>> problems = Problems()
    >>> for number in range(1, 8):
    ...     problems.report("malformed lines", number, "Expecting value")
    >>> problems
    Problems({'malformed lines': 7})
    >>> [problem.line for problem in problems.first["malformed lines"]]
    [1, 2, 3, 4, 5]
    >>> problems.messages()
    ['malformed lines: 7 (first: line 1: Expecting value)']
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.first: dict[str, list[Problem]] = {}

    def report(self, kind: Kind, line: int, reason: str = "") -> None:
        """Count a problem of a line; of the whole input if the line is 0."""
        self._counts[kind] += 1
        first = self.first.setdefault(kind, [])
        if len(first) < _KEPT:
            # Reasons can quote the input, which may be hostile.
            first.append(Problem(line, "".join(c if c.isprintable() else "�" for c in reason[:_LONGEST_REASON])))

    def messages(self) -> list[str]:
        """Return one line for each kind, the most frequent first."""
        return [f"{kind}: {count:,} (first: {self.first[kind][0]})" for kind, count in self._counts.most_common()]

    def __getitem__(self, kind: str) -> int:
        return self._counts[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __repr__(self) -> str:
        return f"Problems({dict(self._counts)})"
