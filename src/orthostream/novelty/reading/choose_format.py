"""Which format an input has, by its name or its first line."""

from __future__ import annotations

import json
from pathlib import PurePath

from orthostream.novelty.reading.fields import GivenFields
from orthostream.novelty.reading.first_lines import FirstLines
from orthostream.novelty.reading.table_cells import SEPARATORS
from orthostream.novelty.reading.table_separator import column_names, has_text

#: What `DocumentReader` takes as format; "auto" is by name, or else by the first line.
FORMATS = ("auto", "jsonl", "csv", "lines")

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "lines",
}


def format_of_name(name: str) -> str:
    """Return the format that the name of a file tells, or "auto".

    >>> format_of_name("news.jsonl"), format_of_name("NEWS.CSV.gz"), format_of_name("news")
    ('jsonl', 'csv', 'auto')
    """
    path = PurePath(name.lower())
    return _SUFFIXES.get((path.with_suffix("") if path.suffix == ".gz" else path).suffix, "auto")


def format_of_lines(first_lines: FirstLines, given: GivenFields) -> str:
    """Return the format that the first line looks like.

    >>> from orthostream.novelty.reading.lines import TextLine
    >>> for text in ('{"text": "Cocoa"}', "id,text", "Text, drugs and rock"):
    ...     print(format_of_lines(FirstLines([TextLine(1, text)], True), GivenFields()))
    jsonl
    csv
    lines
    """
    text = first_lines.lines[0].text.strip() if first_lines.lines else ""
    if text.startswith("{") or _is_json_string(text) or _begins_array(text):
        return "jsonl"
    return "csv" if any(_is_header(column_names(text, separator), given) for separator in SEPARATORS) else "lines"


def _is_json_string(text: str) -> bool:
    try:
        return text.startswith('"') and isinstance(json.loads(text), str)
    except ValueError:
        return False


def _begins_array(text: str) -> bool:
    return text.startswith("[") and text[1:].lstrip()[:1] in ("", "{", '"', "[", "]")


def _is_header(names: list[str], given: GivenFields) -> bool:
    """Return whether these are names of columns with a text; a single one must be given."""
    if given.text in names or given.title in names:
        return True
    return len(names) > 1 and has_text(names, given) and all(len(name.split()) == 1 for name in names)
