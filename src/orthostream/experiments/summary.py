"""The claims and tables of a report as Markdown, for other documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthostream.experiments.outcome import Outcome, Table, distinct_claims


def summary(outcomes: Sequence[Outcome], facts: Mapping[str, str], notes: Sequence[str]) -> str:
    """Return the description of the run, then the claims and tables of each experiment.

    >>> from orthostream.experiments.outcome import Claim, Outcome, Verdict
    >>> claim = Claim("It is so", "1", "2", Verdict.DIFFERS, "because")
    >>> print(summary([Outcome("a", "Title", "", claims=[claim])], {"seed": "0"}, []))
    - seed: 0
    <BLANKLINE>
    ## Title
    <BLANKLINE>
    | statement | paper | ours | verdict | remark |
    |---|---|---|---|---|
    | It is so | 1 | 2 | **differs** | because |
    <BLANKLINE>
    """
    parts = ["\n".join(f"- {key}: {value}" for key, value in facts.items()) + "\n", *(f"> {note}\n" for note in notes)]
    for outcome, claims in distinct_claims(outcomes):
        parts.append(f"## {outcome.title}\n")
        if claims:
            rows = [[c.statement, c.paper, c.ours, f"**{c.verdict.value}**", c.remark] for c in claims]
            parts.append(_table(["statement", "paper", "ours", "verdict", "remark"], rows))
        parts += [f"{table.caption}:\n\n" + _table(table.head, _marked(table)) for table in outcome.tables]
    return "\n".join(parts)


def _marked(table: Table) -> list[list[str]]:
    """Return the rows of a table with the best figures in bold."""
    return [
        [f"**{cell}**" if (i, j) in table.best else cell for j, cell in enumerate(row)]
        for i, row in enumerate(table.rows)
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
