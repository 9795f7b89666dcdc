"""The one table of streams. A new one is a function in one of the modules and a line here."""

from __future__ import annotations

from functools import partial

from . import amplitudes, changes, readings, repeats, silences, sizes, supports
from .stream import Case

#: Names are part of the seed: a stream keeps its numbers whatever is added before it.
CASES = (
    Case("plain", supports.bernoulli),
    Case("noise .05", partial(supports.bernoulli, noise=0.05)),
    Case("theta .05", partial(supports.bernoulli, sparsity=0.05)),
    Case("theta .7", partial(supports.bernoulli, sparsity=0.7)),
    # When the signal is there.
    Case("bursts", silences.bursts),
    Case("bursts between zeros", partial(silences.bursts, faint=0.0)),
    Case("rare bursts", partial(silences.bursts, on=100, off=2400)),
    Case("Gaussian stretches", silences.gaussian_stretches),
    Case("noise stretches", silences.noise_stretches),
    Case("low signal after a silence", silences.late_signal),
    Case("ramp of scale by 1e6", silences.ramp),
    Case("jumps of scale by 1e3", silences.jumps),
    # Repeats.
    Case("samples repeated 50 times", repeats.repeated_samples),
    Case("mini-batches repeated 10 times", repeats.repeated_batches),
    Case("200 samples cycled", repeats.cycled),
    # Supports.
    Case("supports stay 100 samples", partial(supports.staying, samples=100)),
    Case("supports stay 10 samples", partial(supports.staying, samples=10)),
    Case("supports in blocks of 2", partial(supports.blocks, atoms=2)),
    Case("supports in blocks of 5", partial(supports.blocks, atoms=5)),
    Case("blocks of 2 all together, Laplacian", partial(supports.blocks_together, atoms=2)),
    Case("supports of pairs correlated by .5", partial(supports.correlated_pairs, correlation=0.5)),
    Case("supports of pairs correlated by .8", partial(supports.correlated_pairs, correlation=0.8)),
    Case("supports all correlated by .5", partial(supports.correlated_all, correlation=0.5)),
    Case("half of the atoms at a time", supports.half_at_a_time),
    Case("two atoms appear later", supports.later_atoms),
    Case("two atoms never occur", partial(supports.low_rank, atoms=8, size=10)),
    Case("rank 8 of 12", partial(supports.low_rank, atoms=8, size=12)),
    Case("rank 8 of 12, noise .02", partial(supports.low_rank, atoms=8, size=12, noise=0.02)),
    Case("unequal sparsity .05 to .6", supports.unequal_sparsity),
    Case("one-hot codes", partial(supports.one_at_a_time, one_hot=True)),
    Case("one atom at a time", partial(supports.one_at_a_time, one_hot=False)),
    # Amplitudes.
    Case("Student slabs, 1.5 degrees", partial(amplitudes.student_slabs, degrees=1.5)),
    Case("Student slabs, 1 degree", partial(amplitudes.student_slabs, degrees=1.0)),
    Case("Student codes, 3 degrees", partial(amplitudes.student, degrees=3.0)),
    Case("Laplacian codes", amplitudes.laplacian),
    Case("signs", amplitudes.signs),
    Case("lognormal scales", amplitudes.lognormal_scales),
    Case("slow volatility", amplitudes.volatility),
    Case("unequal energies 1 to .05", amplitudes.unequal_energies),
    Case("AR(.99) codes", amplitudes.slow_codes),
    Case("non-negative codes", amplitudes.non_negative),
    Case("counts", amplitudes.counts),
    # Readings.
    Case("offset .1", partial(readings.offset, deviations=0.1)),
    Case("offset .2", partial(readings.offset, deviations=0.2)),
    Case("offset .5", partial(readings.offset, deviations=0.5)),
    Case("offset that drifts", readings.drifting_offset),
    Case("10 % missing", partial(readings.missing, part=0.1)),
    Case("30 % missing", partial(readings.missing, part=0.3)),
    Case("50 % missing", partial(readings.missing, part=0.5)),
    Case("sensors missing in blocks", readings.missing_sensors),
    Case("outliers, .1 % of readings x 1000", readings.outliers),
    Case("glitches, .1 % of rows x 100", readings.glitches),
    Case("one row of 1e100", readings.one_huge_row),
    Case("sensor stuck at 100 in 1 % of rows", readings.stuck_sensor),
    Case("saturation at 2 deviations", readings.saturated),
    Case("readings rounded to .1", readings.quantised),
    Case("float32 rows", readings.single_precision),
    # Sizes.
    Case("uneven mini-batches, 1 to 100", sizes.uneven_batches, steps=1000),
    Case("mini-batches of 1", partial(sizes.batches_of, batch=1), steps=5000),
    Case("N=20 K=5, noise .2", partial(sizes.few_atoms, size=20, atoms=5, noise=0.2), atoms=5),
    Case("N=50 K=10, noise .05", partial(sizes.few_atoms, size=50, atoms=10, noise=0.05), atoms=10),
    # Changes.
    Case("abrupt change", changes.abrupt_change),
    Case("two regimes in turns", changes.regimes),
    Case("drift .002", changes.drift),
)
