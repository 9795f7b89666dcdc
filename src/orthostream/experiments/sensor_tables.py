"""Table I as records and as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orthostream.experiments import paper_values
from orthostream.experiments.outcome import Table
from orthostream.experiments.paper_values import ETAS
from orthostream.experiments.protocol import AFTER, BEFORE
from orthostream.experiments.record import Record
from orthostream.experiments.registry import METHODS, OFFLINE
from orthostream.experiments.sensor_results import SensorResults
from orthostream.metrics import bits_per_reading

_NAME = "sensors"
_MARKED = "the best of each column is marked"
_HEAD = ["", *(f"eta0 = {eta}" for eta in ETAS)]


def records(found: SensorResults) -> list[Record]:
    """Return every number of the table as a record."""
    made = []
    for method, measured in found.measured.items():
        for protocol in (AFTER, BEFORE):
            printed = _printed(paper_values.RMSE, method, found) if protocol == AFTER else None
            made += _along_etas(method, protocol, "rmse_percent", found.percent(method, protocol), printed)
            if tests := found.tests.get((method, protocol)):
                printed = _printed(paper_values.HLNDM, method, found) if protocol == AFTER else None
                made += _along_etas(method, protocol, "hlndm", [test.statistic for test in tests], printed)
                made += _along_etas(method, protocol, "hlndm_p_value", [test.p_value for test in tests])
                printed_formula = found.compare(method, protocol, "paper")
                made += _along_etas(method, protocol, "hlndm_as_printed", [test.statistic for test in printed_formula])
        printed = _printed(paper_values.MILLISECONDS, method, found)
        made += _along_etas(method, "", "milliseconds_per_slot", 1e3 * measured.seconds, printed)
        made += _along_etas(method, "", "bits_per_reading", [_bits(method, eta, found) for eta in ETAS])
    return made


def tables(found: SensorResults) -> list[Table]:
    """Return tables of errors under both protocols, tests, times, and chosen settings."""
    width = found.readings.rows.shape[1]
    methods = list(found.measured)
    ours = frozenset(i for i, method in enumerate(methods) if METHODS[method].ours)
    beside = " (in brackets: the paper's)" if found.readings.real else ""
    after = [
        ["compression ratio", *(f"{width // eta}" for eta in ETAS)],
        ["bits for a reading (raw: 16)", *(f"{bits_per_reading(width, eta):.1f}" for eta in ETAS)],
        *(_row(m, found.percent(m, AFTER), _printed(paper_values.RMSE, m, found)) for m in methods),
    ]
    seconds = {m: found.measured[m].seconds for m in methods}
    errors = {protocol: {m: found.percent(m, protocol) for m in methods} for protocol in (AFTER, BEFORE)}
    times = [_row(m, 1e3 * found.measured[m].seconds, _printed(paper_values.MILLISECONDS, m, found)) for m in methods]
    made = [
        Table(
            f"RMSE in %, the paper's protocol{beside}; {_MARKED}",
            _HEAD,
            after,
            frozenset(i + 2 for i in ours),
            _best(errors[AFTER], above=2),
        ),
        Table(
            f"RMSE in %, causal protocol; {_MARKED}",
            _HEAD,
            [_row(m, errors[BEFORE][m]) for m in methods],
            ours,
            _best(errors[BEFORE]),
        ),
        Table(
            "Corrected Diebold-Mariano statistic of the proposed method against each other one, the paper's protocol: "
            "negative favours the proposed; † and ‡ for p < 0.05 and p < 0.001"
            + (" (in brackets: the paper's, which prints them without the minus)" if found.readings.real else ""),
            _HEAD,
            _test_rows(found, AFTER),
        ),
        Table("The same, causal protocol", _HEAD, _test_rows(found, BEFORE)),
        Table(f"Processor time of a slot, milliseconds{beside}; {_MARKED}", _HEAD, times, ours, _best(seconds)),
    ]
    chosen = [[method, *measured.chosen] for method, measured in found.measured.items() if measured.chosen]
    if chosen:
        caption = (
            "What was chosen: penalty and start of Online AODL in hindsight, which favours it; by walk-forward "
            "validation on the training readings the penalty with which DeepSTGDL codes (it is trained with 0.03), and "
            "the share of the readings that NCBDL's a0 and b0 are"
        )
        made.append(Table(caption, _HEAD, chosen))
    return made


def _best(values: Mapping[str, Iterable[float]], above: int = 0) -> frozenset[tuple[int, int]]:
    """Return the cells with the least value of each column; the rows of methods start below others.

    >>> sorted(_best({"a": [1.0, 5.0], "b": [2.0, 3.0]}))
    [(0, 1), (1, 2)]
    """
    columns = zip(*values.values(), strict=True)
    return frozenset((above + column.index(min(column)), i) for i, column in enumerate(columns, start=1))


def _along_etas(
    method: str, protocol: str, metric: str, values: Iterable[float], printed: Sequence[float] | None = None
) -> list[Record]:
    return [
        Record(
            _NAME, method, f"eta0={eta} {protocol}".rstrip(), metric, float(value), None if printed is None else said
        )
        for eta, value, said in zip(ETAS, values, printed or ETAS, strict=True)
    ]


def _printed(table: Mapping[str, Sequence[float]], method: str, found: SensorResults) -> Sequence[float] | None:
    """Return the paper's row, if it has one and the data are the paper's."""
    return table.get(method) if found.readings.real else None


def _bits(method: str, eta: int, found: SensorResults) -> float:
    width = found.readings.rows.shape[1]
    atoms = OFFLINE[method].n_components if method in OFFLINE else None
    return bits_per_reading(width, eta, n_components=atoms or width)


def _row(method: str, values: Iterable[float], printed: Sequence[float] | None = None) -> list[str]:
    if printed is None:
        return [method, *(f"{value:.2f}" for value in values)]
    return [method, *(f"{value:.2f} ({said:.2f})" for value, said in zip(values, printed, strict=True))]


def _test_rows(found: SensorResults, protocol: str) -> list[list[str]]:
    rows = []
    for (method, tested), tests in found.tests.items():
        if tested == protocol:
            cells = [
                f"{t.statistic:+.2f}" + ("‡" if t.p_value < 0.001 else "†" if t.p_value < 0.05 else "") for t in tests
            ]
            printed = _printed(paper_values.HLNDM, method, found) if protocol == AFTER else None
            if printed is not None:
                cells = [f"{cell} ({said:.2f})" for cell, said in zip(cells, printed, strict=True)]
            rows.append([method, *cells])
    return rows
