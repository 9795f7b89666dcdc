"""Reuters-21578: loading it, and messages about missing and damaged files."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from orthostream.datasets import DataFolderError, load_reuters

NAME = "reuters_parsed.csv.gz"
HEADER = ["newid", "date", "lewissplit", "topics_attr", "topics", "title", "body", "dt"]
COCOA = 'Showers,\n"continued".'
ROWS = [
    ["12", "26-FEB-1987", "TRAIN", "YES", "cocoa", " BAHIA COCOA REVIEW ", COCOA, "1987-02-26 15:01:01"],
    ["3", "26-FEB-1987", "TRAIN", "YES", "earn", "CHAMPION", "", "1987-02-26 15:01:01"],
    ["7", "1-FEB-1987", "TEST", "YES", "grain|wheat", "GRAIN", "Wheat.", "1987-02-01T09:00:00"],
    ["8", "1-FEB-1987", "TEST", "NO", "", "NOTHING", "None.", "1987-02-01 09:00:01"],
    ["9", "?", "TRAIN", "YES", "acq", "UNDATED", "Sold.", ""],
    ["10", "?", "TRAIN", "YES", "acq", "WRONG DATE", "Sold.", "1987-02-30 09:00:00"],
    ["11", "20-OCT-1987", "TEST", "YES", "acq", "CAFÉ", "Größe.", "1987-10-20 09:00:00"],
]


def text_of(header: list[str], rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode()


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A small data set of the same layout."""
    folder = tmp_path / "reuters"
    folder.mkdir()
    (folder / NAME).write_bytes(gzip.compress(text_of(HEADER, ROWS)))
    return folder


def test_the_fields(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(shipped.parent))
    for reuters in (load_reuters(shipped), load_reuters(shipped.parent), load_reuters()):
        assert reuters.ids.tolist() == [3, 12, 11]
        assert reuters.topics.tolist() == ["earn", "cocoa", "acq"]
        assert reuters.titles == ["CHAMPION", "BAHIA COCOA REVIEW", "CAFÉ"]
        assert reuters.texts == ["CHAMPION\n", f"BAHIA COCOA REVIEW\n{COCOA}", "CAFÉ\nGröße."]
        expected = ["1987-02-26T15:01:01", "1987-02-26T15:01:01", "1987-10-20T09:00:00"]
        np.testing.assert_array_equal(reuters.dates, np.array(expected, dtype="datetime64[s]"))
        assert reuters.n_undated == 2


def test_documents_of_several_topics_or_none(shipped: Path) -> None:
    reuters = load_reuters(shipped, single_topic=False)
    assert reuters.ids.tolist() == [7, 8, 3, 12, 11]
    assert reuters.topics == [("grain", "wheat"), (), ("earn",), ("cocoa",), ("acq",)]
    assert reuters.n_undated == 2


def test_no_document_has_a_single_topic(shipped: Path) -> None:
    (shipped / NAME).write_bytes(gzip.compress(text_of(HEADER, ROWS[2:4])))
    reuters = load_reuters(shipped)
    assert (len(reuters.texts), len(reuters.topics), len(reuters.dates), reuters.n_undated) == (0, 0, 0, 0)


def test_a_byte_order_mark_is_no_part_of_the_header(shipped: Path) -> None:
    (shipped / NAME).write_bytes(gzip.compress(b"\xef\xbb\xbf" + text_of(HEADER, ROWS)))
    assert len(load_reuters(shipped).texts) == 3


def plain(content: bytes) -> Callable[[bytes], bytes]:
    return lambda _: gzip.compress(content)


def row(number: int, column: int, cell: str) -> Callable[[bytes], bytes]:
    changed = [list(cells) for cells in ROWS]
    changed[number][column] = cell
    return plain(text_of(HEADER, changed))


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut short": (lambda whole: whole[:-9], "cannot be read as a gzip file: "),
    "cut to the header": (lambda whole: whole[:5], "cannot be read as a gzip file: "),
    "a flipped bit": (lambda whole: whole[:60] + bytes([whole[60] ^ 8]) + whole[61:], "cannot be read as a gzip file"),
    "no gzip": (lambda _: text_of(HEADER, ROWS), "cannot be read as a gzip file: Not a gzipped file"),
    "empty": (lambda _: b"", "does not have the columns that it should, but no row"),
    "no text": (plain(b""), "does not have the columns that it should, but no row"),
    "no UTF-8": (plain(text_of(HEADER, ROWS).replace(b"CHAMPION", b"CH\xff")), "cannot be read as CSV: 'utf-8' codec"),
    "an open quote": (plain(text_of(HEADER, ROWS) + b'13,"open'), "cannot be read as CSV: unexpected end of data"),
    "other columns": (plain(text_of(["id", *HEADER[1:]], ROWS)), "columns that it should, but id, date, lewissplit"),
    "a column less": (plain(text_of(HEADER[:-1], ROWS)), "does not have the columns"),
    "a column in another place": (plain(text_of(HEADER[::-1], ROWS)), "does not have the columns"),
    "header alone": (plain(text_of(HEADER, [])), "has no documents"),
    "half a row": (plain(text_of(HEADER, [*ROWS, ["13", "26-FEB"]])), "row 9: 2 cells instead of 8"),
    "a word for a number": (row(1, 0, "three"), "row 3, column 'newid': 'three' is not a number"),
    "no number": (row(0, 0, ""), "row 2, column 'newid': '' is not a number"),
    "a negative number": (row(0, 0, "-4"), "'-4' is not a number"),
    "other digits": (row(0, 0, "٣"), "'٣' is not a number"),
    "an endless number": (row(0, 0, "1" * 50), "column 'newid': '1{40}' is not a number"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_in_one_line(shipped: Path, name: str) -> None:
    damage, message = DAMAGES[name]
    (shipped / NAME).write_bytes(damage((shipped / NAME).read_bytes()))
    with pytest.raises(DataFolderError, match=message) as caught:
        load_reuters(shipped)
    assert "\n" not in str(caught.value)
    assert "daviddlewis.com" in str(caught.value)
    assert NAME in str(caught.value)


def test_no_file(shipped: Path) -> None:
    (shipped / NAME).unlink()
    with pytest.raises(DataFolderError, match=r"reuters_parsed\.csv\.gz is not in .*reuters\."):
        load_reuters(shipped)


def test_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    for folder, message in ((None, "ORTHOSTREAM_DATA"), (tmp_path / "absent", "is not a folder")):
        with pytest.raises(DataFolderError, match=message):
            load_reuters(folder)


@pytest.mark.parametrize(
    "date",
    ["26-FEB-1987", "1987-02-26", "1987-2-26 15:01:01", "1987-13-26 15:01:01", "1987-02-26 25:01:01", "now", " "],
)
def test_a_wrong_date_counts_as_none(date: str, shipped: Path) -> None:
    (shipped / NAME).write_bytes(row(0, 7, date)(b""))
    reuters = load_reuters(shipped)
    assert reuters.ids.tolist() == [3, 11]
    assert reuters.n_undated == 3


@pytest.fixture
def real() -> Path:
    folder = Path(os.environ.get("ORTHOSTREAM_DATA", "")) / "reuters"
    if not os.environ.get("ORTHOSTREAM_DATA") or not folder.is_dir():
        pytest.skip("ORTHOSTREAM_DATA does not name a folder with Reuters-21578")
    return folder


def test_the_real_data(real: Path) -> None:
    reuters = load_reuters(real)
    assert len(reuters.texts) == len(reuters.titles) == len(reuters.topics) == len(reuters.dates) == len(reuters.ids)
    assert len(reuters.texts) == 9493
    assert reuters.n_undated == 1
    assert (np.diff(reuters.dates) >= np.timedelta64(0)).all()
    assert str(reuters.dates[0])[:7] == "1987-02"
    assert str(reuters.dates[-1])[:7] == "1987-10"
    assert len(set(reuters.ids.tolist())) == 9493
    topics, counts = np.unique(reuters.topics, return_counts=True)
    assert topics[np.argsort(-counts)][:2].tolist() == ["earn", "acq"]
    assert "cocoa" in reuters.texts[0].lower()


def test_all_of_the_real_data(real: Path) -> None:
    reuters = load_reuters(real, single_topic=False)
    assert len(reuters.texts) + reuters.n_undated == 21578
    assert sum(len(topics) == 1 for topics in reuters.topics) == 9493
