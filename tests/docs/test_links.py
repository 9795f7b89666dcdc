"""Links in the documents point to existing files and headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_DOCUMENTS = [*_ROOT.glob("*.md"), *(_ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("document", _DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_to_files_and_headings(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if target.startswith(("http:", "https:")):
            continue
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        assert path.exists(), f"{document.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{document.name} links to {target}"


@pytest.mark.parametrize("document", _DOCUMENTS, ids=lambda path: path.name)
def test_no_blank_is_left_to_fill_in(document: Path) -> None:
    assert re.findall(r"@\w+@", document.read_text(encoding="utf-8")) == []
