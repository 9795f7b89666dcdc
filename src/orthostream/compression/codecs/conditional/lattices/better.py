"""When a sensor should have another lattice: as soon as that pays for its bytes."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.estimate import bits_per_reading, sampled, side_bits
from orthostream.compression.codecs.conditional.lattices.find import candidates, cost, only_met
from orthostream.compression.codecs.conditional.lattices.levels import Levels
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.met_again import fixed_cells
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted

#: Bits that it takes to learn a sensor anew, where what is known of it cannot be taken along.
_ANEW = 200.0
#: Bits of a reading that a change must save: little where what is known of a sensor can be taken along.
_GAIN, _KEPT_GAIN = 0.05, 0.005


def better_lattice(
    current: SensorLattice,
    recent: FloatArray,
    wanted: Wanted,
    others: tuple[SensorLattice, ...] = (),
    extra: float = 0.0,
    paid: float = np.inf,
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
    extra : float
        Bits of a reading that are spent on new levels, which other levels would save.
    paid : float
        Bits that a reading has cost lately: no more can be saved.

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
    if isinstance(current, Levels):
        # Levels become more by themselves.
        tried = [each for each in tried if not only_met(each, distinct)]
    if not tried:
        return fixed_cells(current, recent, paid)
    gains = [now + extra * isinstance(each, Levels) - cost(each, values, distinct, wanted) for each in tried]
    best = int(np.argmax(gains))
    kept = isinstance(current, Linear) and isinstance(tried[best], Linear)
    needed = _KEPT_GAIN * distinct.total if kept else _ANEW + _GAIN * distinct.total
    pays = gains[best] * distinct.total > needed and paid * distinct.total > needed + side_bits(tried[best])
    return tried[best] if pays else fixed_cells(current, recent, paid)
