"""Problems are counted, and the first of each kind are kept."""

from __future__ import annotations

import copy

from orthostream.novelty.reading import Problem, Problems


def test_counts_are_a_mapping() -> None:
    problems = Problems()
    assert problems == {} and problems["no text"] == 0 and "no text" not in problems
    problems.report("no text", 3, "'body' is empty")
    problems.report("no text", 5, "'body' is empty")
    problems.report("damaged gzip", 0, "the input ends early")
    assert problems == {"no text": 2, "damaged gzip": 1} and "no text" in problems
    assert copy.deepcopy(problems) == problems
    assert problems.messages() == [
        "no text: 2 (first: line 3: 'body' is empty)",
        "damaged gzip: 1 (first: the input ends early)",
    ]


def test_a_flood_of_problems_takes_no_memory() -> None:
    problems = Problems()
    for number in range(10_000):
        problems.report("malformed lines", number, "x" * 10_000)
    assert problems["malformed lines"] == 10_000
    assert [problem.line for problem in problems.first["malformed lines"]] == [0, 1, 2, 3, 4]
    assert all(len(problem.reason) <= 200 for problem in problems.first["malformed lines"])


def test_reasons_are_one_line_that_can_be_printed() -> None:
    problems = Problems()
    problems.report("malformed lines", 1, "a\nb\x1b\ud800")
    assert problems.first["malformed lines"] == [Problem(1, "a�b��")]
