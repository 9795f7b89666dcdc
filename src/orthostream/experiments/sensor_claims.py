"""The paper's claims about Table I, and verdicts on them."""

from __future__ import annotations

import numpy as np

from orthostream.experiments import paper_values
from orthostream.experiments.methods import PROPOSED, SFW, SFW_OWN
from orthostream.experiments.outcome import Claim, Verdict
from orthostream.experiments.paper_values import ETAS
from orthostream.experiments.protocol import AFTER, BEFORE
from orthostream.experiments.registry import BASELINES
from orthostream.experiments.sensor_results import SensorResults


def claims(found: SensorResults) -> list[Claim]:
    """Return every claim with its verdict."""
    made = _errors(found)
    if found.baselines:
        made += [_lowest(found), _tests(found), _printed_formula(found), _fastest(found)]
    if SFW in found.measured:
        made.append(_sfw(found))
    return [*made, *(_rivals(found, protocol) for protocol in (AFTER, BEFORE))]


def _errors(found: SensorResults) -> list[Claim]:
    made = []
    for eta, said, ours, causal in zip(
        ETAS,
        paper_values.RMSE[PROPOSED],
        found.percent(PROPOSED, AFTER),
        found.percent(PROPOSED, BEFORE),
        strict=True,
    ):
        verdict = Verdict.BETTER if ours < 0.98 * said else Verdict.AGREES if ours <= said else Verdict.DIFFERS
        made.append(
            Claim(
                f"RMSE of the proposed method, eta0 = {eta}",
                f"{said:.2f} %",
                f"{ours:.2f} %",
                _if_real(found, verdict),
                f"causal: {causal:.2f} %",
            )
        )
    return made


def _lowest(found: SensorResults) -> Claim:
    ours = found.percent(PROPOSED, AFTER)
    ahead = []
    for method in found.baselines:
        etas = [str(eta) for eta, lower in zip(ETAS, found.percent(method, AFTER) <= ours, strict=True) if lower]
        if etas:
            ahead.append(f"{method} at {', '.join(etas)}")
    return Claim(
        "The proposed method has the lowest RMSE at every eta0",
        "below all five baselines",
        f"except against {'; '.join(ahead)}" if ahead else "below all of them",
        # A single baseline can refute the claim; only all of them, fully trained, can confirm it.
        _if_real(found, Verdict.DIFFERS) if ahead else _if_comparable(found, Verdict.AGREES),
        f"{len(found.baselines)} baselines of the paper, its protocol",
    )


def _tests(found: SensorResults) -> Claim:
    tests = [test for method in found.baselines for test in found.tests[method, AFTER]]
    favour = sum(test.statistic < 0 and test.p_value < 0.05 for test in tests)
    most = favour + len(ETAS) * (len(BASELINES) - len(found.baselines))
    return Claim(
        "Corrected Diebold-Mariano tests favour the proposed method",
        "29 of 30 at the level 0.05",
        f"{favour} of {len(tests)}",
        _if_real(found, Verdict.DIFFERS) if most < 29 else _if_comparable(found, Verdict.AGREES),
        "with d = proposed - baseline a negative value favours the proposed; the paper prints the opposite sign",
    )


def _printed_formula(found: SensorResults) -> Claim:
    values = [abs(test.statistic) for method in found.baselines for test in found.compare(method, AFTER, "paper")]
    within = min(values) >= 1.5 and max(values) <= 7.6
    return Claim(
        "The Diebold-Mariano statistic by the formula as printed",
        "1.5 to 7.6",
        f"{min(values):.2f} to {max(values):.2f} in size",
        _if_comparable(found, Verdict.AGREES if within else Verdict.DIFFERS),
        "its mean is a sum, which makes it blind: whatever the errors it tends to (T/7)^(1/2) in size; the corrected "
        "formula is used everywhere else",
    )


def _sfw(found: SensorResults) -> Claim:
    said, ours = paper_values.RMSE[SFW], found.percent(SFW, AFTER)
    close = all(abs(mine - theirs) < 0.2 * theirs for mine, theirs in zip(ours, said, strict=True))
    return Claim(
        "SFW is far behind",
        f"{said[0]:.2f} % to {said[-1]:.2f} %",
        f"{ours[0]:.2f} % to {ours[-1]:.2f} %",
        _if_real(found, Verdict.AGREES if close else Verdict.DIFFERS),
        "" if close else f"SFW as its authors state it, from the start of the others; {_own_start(found)}",
    )


def _own_start(found: SensorResults) -> str:
    if SFW_OWN not in found.measured:
        return "the paper's row could not be reproduced"
    errors = found.percent(SFW_OWN, AFTER)
    said = np.array(paper_values.RMSE[SFW])
    nearer = found.readings.real and (np.abs(errors - said) < np.abs(found.percent(SFW, AFTER) - said)).all()
    text = f"from 20 batch iterations of its own it gets {errors[0]:.2f} % to {errors[-1]:.2f} %"
    return text + (", nearer to the paper's" if nearer else "")


def _fastest(found: SensorResults) -> Claim:
    times = {method: 1e3 * found.measured[method].seconds.mean() for method in (PROPOSED, *found.baselines)}
    fastest = min(times, key=lambda method: times[method])
    return Claim(
        "The proposed method takes the least time for a slot",
        "1.04 ms on average",
        f"{times[PROPOSED]:.2f} ms; least: {fastest}, {times[fastest]:.2f} ms",
        _if_comparable(found, Verdict.AGREES if fastest == PROPOSED else Verdict.DIFFERS),
        "another machine: the order alone can be compared",
    )


def _rivals(found: SensorResults, protocol: str) -> Claim:
    ours = found.percent(PROPOSED, protocol)
    rivals = {m: found.percent(m, protocol) for m in found.measured if m not in (PROPOSED, *found.baselines)}
    ahead = {method: errors for method, errors in rivals.items() if (errors < ours).all()}
    return Claim(
        f"Not in the paper: what beats the proposed method at every eta0 ({protocol})",
        "not compared",
        ", ".join(ahead) or "nothing",
        Verdict.NOT_COMPARABLE,
        "; ".join(f"{method}: {errors[0]:.2f} % to {errors[-1]:.2f} %" for method, errors in ahead.items()),
    )


def _if_real(found: SensorResults, verdict: Verdict) -> Verdict:
    return verdict if found.readings.real else Verdict.NOT_COMPARABLE


def _if_comparable(found: SensorResults, verdict: Verdict) -> Verdict:
    return verdict if found.comparable else Verdict.NOT_COMPARABLE
