"""The report: one self-contained HTML file."""

from __future__ import annotations

import base64
import html
import importlib.metadata
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files

from orthostream import __version__
from orthostream.experiments.outcome import Claim, Outcome, Table, Verdict, distinct_claims
from orthostream.experiments.plan import Plan

_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib", "spams-bin", "torch")


def report(
    outcomes: Sequence[Outcome], svgs: Mapping[str, bytes], *, facts: Mapping[str, str], notes: Sequence[str]
) -> str:
    """Return the page.

    Parameters
    ----------
    outcomes : in the order of the page
    svgs : each picture as SVG, by name
    facts : the description of the run
    notes : warnings that are shown before all numbers
    """
    style = files("orthostream.experiments").joinpath("report.css").read_text(encoding="utf-8")
    links = " ".join(f'<a href="#{outcome.name}">{_text(outcome.title)}</a>' for outcome in outcomes)
    banners = "".join(f'<p class="banner">{_text(note)}</p>' for note in notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Section V, reproduced</title><style>{style}</style></head><body><main>"
        "<h1>Online orthogonal dictionary learning:<br>the experiments, reproduced</h1>"
        '<p class="lead">Figures and tables of section V of Y. Xue and V. Lau, <em>Online Orthogonal Dictionary '
        "Learning Based on Frank-Wolfe Method</em>, run anew, with its baselines and with what it does not compare "
        f"with.</p>{banners}<nav>{links}</nav>"
        + _summary(outcomes)
        + "".join(_section(outcome, svgs) for outcome in outcomes)
        + _facts(facts)
        + "</main></body></html>\n"
    )


def _text(text: str) -> str:
    """Return escaped text, with Greek letters instead of their names in records."""
    for name, letter in (("eta0", "η₀"), ("theta=", "θ="), ("'v||", "ᵀv||"), ("D'D_true", "DᵀD*")):
        text = text.replace(name, letter)
    return html.escape(text.replace("||DᵀD*||_4^4", "‖DᵀD*‖₄⁴"))


def _summary(outcomes: Sequence[Outcome]) -> str:
    listed = distinct_claims(outcomes)
    counts = Counter(claim.verdict for _, claims in listed for claim in claims)
    tally = ", ".join(f"{verdict.value}: {counts[verdict]}" for verdict in Verdict if counts[verdict])
    rows = "".join(
        f'<tr class="part"><td colspan="5"><a href="#{outcome.name}">{_text(outcome.title)}</a></td></tr>'
        + "".join(_claim(claim) for claim in claims)
        for outcome, claims in listed
        if claims
    )
    return (
        f'<h2 id="summary">What the paper says, and what came out</h2><p>{tally}</p><div class="scroll">'
        '<table class="claims"><thead><tr><th>statement</th><th>paper</th><th>ours</th><th>verdict</th><th>remark</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _claim(claim: Claim) -> str:
    kind = claim.verdict.value.replace(" ", "-")
    return (
        f"<tr><td>{_text(claim.statement)}</td><td>{_text(claim.paper)}</td><td>{_text(claim.ours)}</td>"
        f'<td><span class="verdict {kind}">{claim.verdict.value}</span></td>'
        f'<td class="remark">{_text(claim.remark)}</td></tr>'
    )


def _section(outcome: Outcome, svgs: Mapping[str, bytes]) -> str:
    pictures = "".join(
        f'<figure id="figure-{picture.name}"><img alt="{_text(picture.caption)}" '
        f'src="data:image/svg+xml;base64,{base64.b64encode(svgs[picture.name]).decode()}">'
        f"<figcaption>{_text(picture.caption)}</figcaption></figure>"
        for picture in outcome.pictures
    )
    notes = "".join(f'<p class="note">{_text(note)}</p>' for note in outcome.notes)
    return (
        f'<section><h2 id="{outcome.name}">{_text(outcome.title)}</h2><p>{_text(outcome.introduction)}</p>'
        + pictures
        + "".join(_table(table) for table in outcome.tables)
        + notes
        + "</section>"
    )


_BEST = ' class="best"'


def _table(table: Table) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in table.head)
    rows = "".join(
        ('<tr class="ours">' if i in table.strong else "<tr>")
        + "".join(f"<td{_BEST if (i, j) in table.best else ''}>{_text(c)}</td>" for j, c in enumerate(row))
        + "</tr>"
        for i, row in enumerate(table.rows)
    )
    return (
        f'<div class="scroll"><table><caption>{_text(table.caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def described(plan: Plan) -> dict[str, str]:
    """Return what the numbers of a run depend on: seed, sizes, data, versions, machine."""
    return {
        "seed": str(plan.seed),
        "size": f"{plan.trials} trials of {plan.steps:,} mini-batches; {plan.epochs} epochs, {plan.sweeps} sweeps",
        **({"readings": plan.readings.source} if plan.readings is not None else {}),
        "versions": ", ".join([f"orthostream {__version__}", f"Python {platform.python_version()}", *_versions()]),
        "machine": f"{platform.machine()}, {platform.system()} {platform.release()}",
    }


def _facts(facts: Mapping[str, str]) -> str:
    items = "".join(f"<dt>{_text(key)}</dt><dd>{_text(value)}</dd>" for key, value in facts.items())
    return f'<h2 id="run">This run</h2><dl>{items}</dl>'


def _versions() -> list[str]:
    found = []
    for name in _VERSIONS:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return found
