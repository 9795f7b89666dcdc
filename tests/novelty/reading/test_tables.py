"""Tables: separators, quotes, headers, damage."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.novelty.document import Document
from orthostream.novelty.reading import DocumentError, DocumentReader, Problems
from orthostream.novelty.reading.lines import TextLine
from orthostream.novelty.reading.table_cells import SEPARATORS, split_cells
from orthostream.novelty.reading.table_rows import TableRows

CELLS = st.text(st.sampled_from('a"\n,;|é '), max_size=6)
ROWS = st.lists(st.tuples(CELLS, CELLS, st.just("end")).map(list), max_size=5)


def read(table: str, **options: Any) -> tuple[list[Document], dict[str, int]]:
    reader = DocumentReader(io.BytesIO(table.encode()), "csv", **options)
    return list(reader), dict(reader.problems)


def written(rows: list[list[str]], separator: str = ",", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize("separator", SEPARATORS)
@given(ROWS, st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_what_the_standard_library_writes_comes_back(separator: str, rows: list[list[str]], quoting: Any) -> None:
    lines = written(rows, separator, quoting).split("\n")[:-1]
    problems = Problems()
    table = TableRows(separator, 10_000, problems)
    table.n_columns = 3
    found = table.rows(TextLine(number, text) for number, text in enumerate(lines, start=1))
    assert [row.cells for row in found if row is not None] == rows
    assert problems == {}


@given(st.text(st.sampled_from('ab",'), max_size=12))
def test_a_line_is_split_as_the_standard_library_does(line: str) -> None:
    cells = split_cells(line, ",", 100)
    lines = iter([line, '"'])
    expected = next(csv.reader(lines), [])
    is_open = next(lines, None) is None
    assert (cells.texts, cells.is_open) == (expected or [""], is_open)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_the_separator_is_found(separator: str) -> None:
    rows = [["id", "title", "text"], ["1", "a, b; c | d", 'He said: "no,\tno"\nand left']]
    documents, problems = read(written(rows, separator))
    assert documents == [Document("a, b; c | d\n" + rows[1][2], "a, b; c | d", "1")] and problems == {}


def test_one_column_of_text_with_commas() -> None:
    documents, problems = read("text\nYes, no\nWell; perhaps\n")
    assert [document.text for document in documents] == ["Yes, no", "Well; perhaps"] and problems == {}


def test_line_feeds_in_cells_of_windows() -> None:
    documents, _ = read('id,text\r\n1,"a\r\n\r\nb"\r\n2,c\r\n')
    assert documents == [Document("a\n\nb", "a", "1"), Document("c", "c", "2")]


def test_without_identifier_it_is_the_number_of_the_line() -> None:
    documents, problems = read('\ntext,x\n"a\nb",1\n\nc,1\n')
    assert [document.id for document in documents] == ["3", "6"] and problems == {"empty lines": 2}


def test_wrong_numbers_of_cells_are_left_out_and_counted() -> None:
    reader = DocumentReader(io.BytesIO(b"id,text\n1,a\n2\n3,b,c,d\n4,e\n"), "csv")
    assert [document.id for document in reader] == ["1", "4"]
    assert [str(problem) for problem in reader.problems.first["wrong number of cells"]] == [
        "line 3: 1 instead of 2",
        "line 4: more than 2 instead of 2",
    ]


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b, c", "d\ne", 'f "g" h']), st.just("x")), min_size=1, max_size=8),
    st.integers(0, 8),
)
def test_a_stray_quote_costs_one_row(rows: list[tuple[str, str]], place: int) -> None:
    lines = [written([[str(number), *row]], quoting=csv.QUOTE_ALL) for number, row in enumerate(rows)]
    lines.insert(place, 'stray,"text,x\n')
    documents, problems = read("id,text,other\n" + "".join(lines))
    assert [(document.id, document.text) for document in documents] == [(str(i), row[0]) for i, row in enumerate(rows)]
    assert problems == {"stray quotes": 1}


def test_a_stray_quote_before_many_lines_without_quotes_costs_one_row() -> None:
    lines = "".join(f"{number},text {number}\n" for number in range(5000))
    documents, problems = read('id,text\nstray,"text\n' + lines)
    assert len(documents) == 5000 and problems == {"stray quotes": 1}
    documents, problems = read('id,text\nstray,"text\n' + lines, max_bytes=10_000)
    assert len(documents) == 5000 and problems == {"stray quotes": 1}


def test_a_stray_quote_does_not_hold_up_a_slow_stream() -> None:
    table = TableRows(",", 10_000, Problems())
    table.n_columns = 2
    texts: list[str | None] = ["1,a", '2,"stray', None, "3,b", "4,c", None, '5,"d', "e", None, '6"', "7,f", None]
    found = table.rows(text and TextLine(number, text) for number, text in enumerate(texts))
    cells = [["1", "a"], None, ["3", "b"], ["4", "c"], None, None, ["5", "d\ne\n6"], ["7", "f"], None]
    assert [row and row.cells for row in found] == cells


def test_a_quote_within_a_cell_is_a_character() -> None:
    documents, problems = read('id,text\n1,5" pipes\n2,"good" ones\n3,a\n')
    assert [document.text for document in documents] == ['5" pipes', "good ones", "a"] and problems == {}


@pytest.mark.parametrize("line", ['a","b', '"', '1,"x', '"""x', '1,"x""', "," * 500 + '"'])
@pytest.mark.parametrize("n_columns", [2, 300])
def test_a_flood_of_stray_quotes_takes_linear_work(line: str, n_columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from orthostream.novelty.reading import table_rows

    calls = 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        return split_cells(*arguments, **options)

    monkeypatch.setattr(table_rows, "split_cells", counted)
    n_lines = 3000
    table = TableRows(",", 1 << 20, Problems())
    table.n_columns = n_columns
    assert list(table.rows(TextLine(number, line) for number in range(n_lines))) == []
    assert n_lines <= calls < 8 * n_lines


def test_a_million_cells_are_not_made() -> None:
    assert len(split_cells(",".join(["a"] * 1000), ",", 10).texts) == 11
    assert len(split_cells(",".join(['"a"'] * 1000), ",", 10).texts) == 11


def test_names_of_columns() -> None:
    documents, _ = read(" ID , Text,text,\n1,a,b,c\n")
    assert documents == [Document("a", "a", "1")]
    documents, _ = read("id,a,b,a\n1,x,y,z\n", text="a", title="b")
    assert documents == [Document("y\nx", "y", "1")]
    with pytest.raises(DocumentError, match=r"no column is named like a text .* there are 'id', 'story': name one as"):
        read("id;story\n1;a\n")
    with pytest.raises(DocumentError, match=r"there is no column 'nope' for the id; there are 'id', 'text'"):
        read("id\ttext\n1\ta\n", id="nope")
    with pytest.raises(DocumentError, match=r"line 1 has more than 10,000 columns"):
        read("text" + "," * 20_000)


def test_a_header_alone_has_no_documents() -> None:
    assert read("id,text") == ([], {})


def test_half_a_file() -> None:
    text = written([["id", "text"], ["1", "a"], ["2", "b\nc"]])
    for end in range(len("id,text"), len(text)):
        documents, _ = read(text[:end])
        assert documents[:1] == ([Document("a", "a", "1")] if end > text.index("a", 8) else documents[:1])
        assert len(documents) <= 2
    assert len(read(text[:-1])[0]) == 2


def test_a_cell_of_ten_megabytes_in_one_line_and_in_many() -> None:
    text = "long " * 2_000_000
    assert read(f'id,text\n1,{text}\n2,"{text}"\n')[0] == [Document.of(text, id="1"), Document.of(text, id="2")]
    lines = 'a ""quoted"" line\n' * 100_000
    assert read(f'id,text\n1,"{lines}"\n')[0][0].text == lines.replace('""', '"')
