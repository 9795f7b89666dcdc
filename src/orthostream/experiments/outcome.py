"""The results of an experiment for the report: records, claims with verdicts, pictures, tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from orthostream.experiments.record import Record
from orthostream.experiments.task import Task, TaskResult

if TYPE_CHECKING:
    from orthostream.experiments.plan import Plan


class Verdict(Enum):
    """How a measurement compares with the paper."""

    AGREES = "agrees"
    BETTER = "better"
    DIFFERS = "differs"
    #: The paper says nothing about it, or uses other data.
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the measurement, and the verdict."""

    statement: str
    paper: str
    ours: str
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure: `draw` makes it with matplotlib; the columns are the numbers that it shows."""

    name: str
    caption: str
    draw: Callable[[], Any]
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """A table of text cells; the first cell of a row is its name.

    Rows in ``strong`` are ours. Cells in ``best``, by row and column, are the best of a column, whoever's they are.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: frozenset[int] = frozenset()
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Outcome:
    """All results of one experiment."""

    name: str
    title: str
    introduction: str
    records: list[Record] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def distinct_claims(outcomes: Sequence[Outcome]) -> list[tuple[Outcome, list[Claim]]]:
    """Return each outcome with its claims, without those of earlier outcomes: figures share settings.

    >>> claim = Claim("It is so", "1", "2", Verdict.DIFFERS)
    >>> both = distinct_claims([Outcome("a", "A", "", claims=[claim]), Outcome("b", "B", "", claims=[claim])])
    >>> [len(claims) for _, claims in both]
    [1, 0]
    """
    made: set[str] = set()
    listed = []
    for outcome in outcomes:
        listed.append((outcome, [claim for claim in outcome.claims if claim.statement not in made]))
        made |= {claim.statement for claim in outcome.claims}
    return listed


class Experiment(ABC):
    """A figure or table of section V: its tasks, and a function that turns their results into an outcome."""

    name: str
    summary: str
    needs_readings: bool = False

    @abstractmethod
    def tasks(self, plan: Plan) -> list[Task]:
        """Return the tasks to run."""

    @abstractmethod
    def outcome(self, plan: Plan, results: Mapping[str, TaskResult]) -> Outcome:
        """Return the outcome, given the results of all tasks by name."""
