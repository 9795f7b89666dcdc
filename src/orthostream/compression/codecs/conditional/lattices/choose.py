"""The lattices that keep a bound, for the readings that are known so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.choose_lattice import choose_lattice
from orthostream.compression.codecs.conditional.lattices.find import find_lattices
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices, from_plain
from orthostream.compression.codecs.conditional.lattices.met_again import fixed_cells
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.targets import ErrorBound


def wanted_by(bound: ErrorBound) -> list[Wanted]:
    """Return what each sensor's lattice has to fulfil under a bound that is not relative."""
    columns = (bound.absolute, bound.single, bound.whole)
    return [Wanted(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


def choose_lattices(
    rows: FloatArray, bound: ErrorBound, labels: Sequence[str], resolutions: list[Resolution] | None = None
) -> Lattices:
    """Return the cheapest lattices that keep a bound; resolutions that are declared are taken as they are."""
    if bound.relative is not None or resolutions is not None:
        return from_plain(choose_lattice(rows, bound, resolutions))
    with np.errstate(all="ignore"):
        found = find_lattices(rows, labels, wanted_by(bound))
        return Lattices([fixed_cells(each, rows[:, i]) or each for i, each in enumerate(found)])
