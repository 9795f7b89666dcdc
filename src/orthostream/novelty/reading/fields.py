"""The fields of a record that make a document."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from orthostream.novelty.document import ID, TEXT, TIME, TITLE
from orthostream.novelty.reading.errors import DocumentError

_SHOWN = 20


class GivenFields(NamedTuple):
    """The names of fields that the caller knows; None where a usual one is to be found."""

    text: str | None = None
    title: str | None = None
    id: str | None = None
    time: str | None = None

    @property
    def known(self) -> dict[str, str]:
        """What is given, by what it is."""
        return {role: name for role, name in self._asdict().items() if name is not None}


class Fields(NamedTuple):
    """The names of the fields that hold text, title, identifier and time; the first that is filled counts."""

    text: tuple[str, ...] = TEXT
    title: tuple[str, ...] = TITLE
    id: tuple[str, ...] = ID
    time: tuple[str, ...] = TIME

    def or_usual(self, given: GivenFields) -> Fields:
        """Return also the usual names of what is not given, for records that are unlike the first ones.

        >>> Fields(("Body",), (), (), ()).or_usual(GivenFields(title="subject", id="id", time="day"))
        Fields(text=('Body', 'text', 'body', 'content', 'abstract', 'description', 'summary'), \
title=('subject',), id=('id',), time=('day',))
        """
        taken = set(given.known.values())

        def extended(found: tuple[str, ...], name: str | None, words: tuple[str, ...]) -> tuple[str, ...]:
            if name is not None:
                return (name,)
            return found + tuple(word for word in words if word not in found and word not in taken)

        return Fields(
            extended(self.text, given.text, TEXT),
            extended(self.title, given.title, TITLE),
            extended(self.id, given.id, ID),
            extended(self.time, given.time, TIME),
        )


def find_fields(names: Collection[str], given: GivenFields) -> Fields:
    """Return those of the names of an input that are given, or usual in any case of letters; some may be missing.

    >>> find_fields(["Headline", "Summary", "Body", "day"], GivenFields(time="day"))
    Fields(text=('Body', 'Summary'), title=('Headline',), id=(), time=('day',))
    """
    taken = set(given.known.values())
    usual: dict[str, str] = {}
    for name in names:
        if name not in taken:
            usual.setdefault(name.strip().lower(), name)

    def found(name: str | None, words: Iterable[str]) -> tuple[str, ...]:
        if name is not None:
            return (name,) if name in names else ()
        return tuple(usual[word] for word in words if word in usual)

    return Fields(found(given.text, TEXT), found(given.title, TITLE), found(given.id, ID), found(given.time, TIME))


def check_fields(names: Collection[str], given: GivenFields, what: str = "field") -> None:
    """Raise `DocumentError` if a given name is missing, or if there is neither text nor title.

    >>> check_fields(["day", "line"], GivenFields())
    Traceback (most recent call last):
    ...
    orthostream.novelty.reading.errors.DocumentError: no field is named like a text (text, body, content, abstract, \
description, summary) or a title (title, headline, subject); there are 'day', 'line': name one as text
    """
    there = f"there are {', '.join(repr(name[:60]) for name in list(names)[:_SHOWN])}" if names else "there is none"
    there += f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    for role, name in given.known.items():
        if name not in names:
            raise DocumentError(f"there is no {what} {name[:60]!r} for the {role}; {there}")
    fields = find_fields(names, given)
    if not fields.text and not fields.title:
        usual = f"a text ({', '.join(TEXT)}) or a title ({', '.join(TITLE)})"
        raise DocumentError(f"no {what} is named like {usual}; {there}: name one as text")
