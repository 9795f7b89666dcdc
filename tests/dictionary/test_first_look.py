"""Warnings about first rows that hold no dictionary, and silence about all others."""

from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning
from orthostream.dictionary import UncentredRowsWarning, UninformativeRowsWarning

NORMAL = np.random.default_rng(0).standard_normal((40, 6))
LOGGER = "orthostream.dictionary.first_look"


def learner(**words: Any) -> OrthogonalDictionaryLearning:
    return OrthogonalDictionaryLearning(max_iter=1, random_state=0, **words)


WITHOUT_INFORMATION = [
    (np.zeros((9, 6)), "zero or missing"),
    (np.full((9, 6), 2.0), "the same"),
    (np.eye(6)[[2] * 9], "the same"),
]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("rows", "message"), WITHOUT_INFORMATION)
def test_a_data_set_without_information_is_a_warning(kind: Any, rows: np.ndarray, message: str) -> None:
    with pytest.warns(UninformativeRowsWarning, match=message) as caught:
        learner().fit(kind(rows))
    assert len(caught) == 1
    assert caught[0].filename == __file__  # the line that has to change
    assert issubclass(UninformativeRowsWarning, UserWarning)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("rows", "message"), WITHOUT_INFORMATION)
def test_first_rows_of_a_stream_without_information_are_logged_once(
    kind: Any, rows: np.ndarray, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        learner().partial_fit(kind(rows)).partial_fit(kind(rows)).partial_fit(rows)
        learner().partial_fit(NORMAL).partial_fit(rows)
    assert [record.name for record in caplog.records] == [LOGGER]
    assert message in caplog.text


def test_missing_readings_are_no_difference() -> None:
    rows = np.full((9, 6), 2.0)
    rows[3, 2] = rows[4] = np.nan
    with pytest.warns(UninformativeRowsWarning, match="the same"):
        learner().fit(rows)
    with pytest.warns(UninformativeRowsWarning, match="zero or missing"):
        learner().fit(np.full((9, 6), np.nan))


@pytest.mark.parametrize("rows", [np.zeros((4, 6)), np.ones((4, 6)), np.zeros((1, 6)), NORMAL[:1], NORMAL])
def test_few_rows_of_a_stream_are_no_reason_to_say_anything(rows: np.ndarray, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        learner().partial_fit(rows)
    assert not caplog.records


def test_single_rows_and_lonely_readings_are_not_the_same_row() -> None:
    learner().fit(NORMAL[:1])
    lonely = np.full((6, 6), np.nan)
    np.fill_diagonal(lonely, 1.0 + np.arange(6))
    learner().fit(lonely)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_an_offset_of_a_stream_is_logged(kind: Any, scale: float, caplog: pytest.LogCaptureFixture) -> None:
    rows = kind((NORMAL + 5.0) * scale)
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        learner().partial_fit(rows).partial_fit(rows)
    assert [record.name for record in caplog.records] == [LOGGER]
    assert "96 % of their energy" in caplog.text
    assert 'center="running"' in caplog.text


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
@pytest.mark.parametrize("preset", ["exact", "compression", "paper"])
def test_an_offset_of_a_data_set_is_a_warning(
    kind: Any, scale: float, preset: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = OrthogonalDictionaryLearning.preset(preset, max_iter=1, random_state=0)
    with pytest.warns(UncentredRowsWarning, match="96 % of their energy") as caught:
        made.fit(kind((NORMAL + 5.0) * scale))
    assert len(caught) == 1 and not caplog.records
    assert caught[0].filename == __file__
    assert 'center="running"' in str(caught[0].message)
    made.partial_fit(kind((NORMAL + 5.0) * scale))  # only the first rows are looked at
    assert issubclass(UncentredRowsWarning, UserWarning)


def test_whoever_wants_the_mean_among_the_atoms_can_say_so() -> None:
    learner(center=np.zeros(6)).fit(NORMAL + 5.0)


def test_an_offset_is_logged_in_spite_of_gaps(caplog: pytest.LogCaptureFixture) -> None:
    rows = NORMAL + 5.0
    rows[::3, 2] = rows[:, 4] = np.nan
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        learner().partial_fit(rows)
    assert "96 % of their energy" in caplog.text


def test_nothing_is_logged_of_centred_rows_or_a_learner_that_centres(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger=LOGGER), warnings.catch_warnings():
        warnings.simplefilter("error")
        learner().fit(NORMAL)
        learner().fit(NORMAL + 0.5)  # a fifth of the energy
        learner(center="running").fit(NORMAL + 5.0)
        learner(center=np.full(6, 5.0)).partial_fit(NORMAL + 5.0)
        learner().partial_fit(NORMAL[:4] + 5.0)
    assert not caplog.records


def test_the_library_prints_nothing_by_itself() -> None:
    program = "import numpy, orthostream; orthostream.OrthogonalDictionaryLearning().partial_fit(numpy.ones((9, 3)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
