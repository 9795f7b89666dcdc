"""The registry: one row for each method, from which all tables derive."""

from __future__ import annotations

import pytest

from orthostream.experiments import methods, paper_values
from orthostream.experiments.contenders import Contender
from orthostream.experiments.methods import (
    AODL,
    AODL_PASSES,
    AODL_TUNED,
    AVERAGED,
    COMPRESSION,
    CONSTANT,
    COSINES,
    DEEP,
    DEFAULT,
    FORGETTING,
    ICA,
    KNOWN_SUPPORT,
    L4,
    NCBDL,
    PCA,
    PROPOSED,
    RUNNING_PCA,
    SFW,
    SFW_OWN,
    SFW_POLAR,
    SPARSE_EIGENVECTORS,
)
from orthostream.experiments.plan import Plan
from orthostream.experiments.registry import _ROWS, BASELINES, METHODS, OFFLINE, ONLINE, OPTIONAL, TABLE, contender


def test_the_rows_of_table_one() -> None:
    paper = (PROPOSED, SFW, L4, AODL, DEEP, NCBDL)
    assert (*paper, SFW_POLAR, SFW_OWN, CONSTANT, DEFAULT, COMPRESSION, FORGETTING, PCA, ICA, COSINES) == TABLE
    assert paper[1:] == BASELINES
    assert set(paper_values.RMSE) == {PROPOSED, *BASELINES}
    assert (*TABLE[1:], AVERAGED, AODL_TUNED) == OPTIONAL
    assert [method.name for method in METHODS.values() if method.ours] == [
        PROPOSED,
        CONSTANT,
        DEFAULT,
        COMPRESSION,
        AVERAGED,
    ]


def test_no_two_rows_share_a_name_or_a_line() -> None:
    assert len(METHODS) == len({method.line for method in METHODS.values()}) == len(_ROWS)


def test_every_name_has_its_row() -> None:
    names = {value for key, value in vars(methods).items() if key.isupper()}
    assert names - set(METHODS) == {AODL_PASSES, RUNNING_PCA, SPARSE_EIGENVECTORS, KNOWN_SUPPORT}


def test_efforts_are_fields_of_a_plan() -> None:
    assert {method.effort for method in OFFLINE.values()} <= {"", *vars(Plan())}


@pytest.mark.parametrize("run", [run for method in ONLINE.values() for run in method.makers])
def test_every_run_of_an_online_method_can_be_made(run: str) -> None:
    assert isinstance(contender(run, seed=0), Contender)


def test_only_online_aodl_has_several_runs() -> None:
    for method in ONLINE.values():
        full, quick = (method.runs(quick=flag) for flag in (False, True))
        assert set(quick) <= set(full)
        assert (len(full), len(quick)) == ((24, 4) if method.name == AODL else (1, 1))
