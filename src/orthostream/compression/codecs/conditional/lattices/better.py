"""When a sensor should have another lattice: as soon as that pays for its bytes."""

from __future__ import annotations

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.estimate import bits_per_reading, sampled
from orthostream.compression.codecs.conditional.lattices.find import candidates, cost
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted

#: Bits that it takes to learn a sensor anew, where what is known of it cannot be taken along.
_ANEW = 200.0
_GAIN = 0.05


def better_lattice(
    current: SensorLattice, recent: FloatArray, wanted: Wanted, others: tuple[SensorLattice, ...] = ()
) -> SensorLattice | None:
    """Return a lattice that would have been cheaper for recent readings, its own bytes included; None if none would.

    Parameters
    ----------
    current : SensorLattice
    recent : array
        Readings in order; it is assumed that as many like them are to come.
    wanted : Wanted
    others : tuple of SensorLattice
        Lattices of sensors of the same label, which are tried too.

    Examples
    --------
    >>> import numpy as np
    >>> better_lattice(Linear(), np.arange(64.0) / 2, Wanted())
    Linear(width=1, numerator=1.0, denominator=2.0, offset=0.0, single=False)
    >>> better_lattice(Linear(), np.arange(64.0), Wanted()) is None
    True
    """
    distinct = Distinct.of(recent)
    if distinct.total < 2:
        return None
    values = sampled(recent)
    now = bits_per_reading(current, values, wanted.error)
    tried = [each for each in (*others, *candidates(recent, distinct, wanted)) if each != current]
    if not tried:
        return None
    best = min(tried, key=lambda each: cost(each, values, distinct, wanted))
    gain = (now - cost(best, values, distinct, wanted)) * distinct.total
    kept = isinstance(current, Linear) and isinstance(best, Linear)
    needed = (0.0 if kept else _ANEW) + _GAIN * distinct.total
    return best if gain > needed else None
