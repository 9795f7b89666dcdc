"""The estimate of the recommended learner: from the lp contrast to spike and slab, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.hand_over import arrays
from orthostream.optimize.estimates.hand_over import decisions as decide
from orthostream.optimize.estimates.hand_over.advantage_arrays import compare_with_laplacians
from orthostream.optimize.estimates.hand_over.constants import FEW_ATOMS, NOTHING, ROUNDING
from orthostream.optimize.estimates.hand_over.layout import (
    BEND,
    CHANGES,
    COUNT,
    ENERGY,
    FIRST,
    FORCE,
    GATE,
    GATED,
    PHASE,
    ROWS,
    SECOND,
    SIGNAL,
    SQUARE,
    STEPS,
    TOGETHER,
    TRUST,
    UNIT_SIZE,
)
from orthostream.optimize.estimates.hand_over.saved_memory import padded
from orthostream.optimize.estimates.hand_over.turning_arrays import turn_where_together
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch, Objective, columns_times
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab
from orthostream.optimize.schedules import AdaptiveSchedule, CoolThenConstant
from orthostream.optimize.state import State

_KERNEL = Kernel(
    "hand_over_update",
    (
        "orthostream.optimize.estimates.hand_over.constants",
        "orthostream.optimize.estimates.hand_over.layout",
        "orthostream.optimize.estimates.hand_over.decisions",
        "orthostream.optimize.estimates.hand_over.advantage",
        "orthostream.optimize.estimates.hand_over.advantage_loops",
        "orthostream.optimize.estimates.hand_over.turning",
        "orthostream.optimize.estimates.hand_over.loops",
    ),
)


class HandOver(GradientEstimate):
    """The lp contrast until codes are seen to be sparse, then spike and slab, with a way back.

    *What is minimised.* The lp contrast converges from any start. Spike and slab, whose three parameters are learnt by
    online EM, is exact for exactly sparse codes and nearly optimal for others. The first hands over to the second once
    the spike is a fifth of the slab and no two gates are strongly correlated. Two atoms with correlated gates are still
    mixed with each other, and spike and slab exerts no force on them; the estimate then goes back to the lp contrast.
    From both contrasts a multiple of the energy is subtracted, so that the mean curvature nearly vanishes. On the
    orthogonal group the energy is constant and the minimiser stays the same, but the fixed-point iteration X = lmo(G)
    becomes nearly a Newton iteration.

    *How much is remembered.* The force, the skew part of D'G, turns the dictionary. If the true dictionary does not
    change, the force is noise. So its running mean is compared with its variance. A force that persists, on all atoms
    or on one pair, means that the memory is too long, and the clock of the running mean is set back. Otherwise the
    clock runs on, and the memory gets longer. An abrupt change is detected when a normal distribution has become more
    likely than spike and slab.

    Parameters
    ----------
    p : float, default 3
        The power of the first contrast.
    sparse : bool, default True
        False uses the first contrast only.
    schedule : AdaptiveSchedule or CoolThenConstant, optional
        `AdaptiveSchedule` can limit the length of the memory; the default is no limit. `CoolThenConstant` fixes it.

    Notes
    -----
    A sample of weight 2 counts as two samples, also for the length of the memory. A sample of zeros is ignored.

    None of the constants depends on the data: see `orthostream.optimize.estimates.hand_over.constants` and
    docs/learner.md. A step has one polar factor, where Algorithm 2 has two. The memory is a gradient, three matrices of
    K x K, five rows of K and 21 numbers. With fewer atoms than features the energy is not constant: spike and
    slab then requires nearly all of it inside the span of the atoms; for other streams the first contrast is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> solver = StochasticFrankWolfe(SpectralBall(), HandOver(), post_step=PolarStep())
    >>> start = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    >>> state = solver.init(start)
    >>> for _ in range(200):
    ...     state = solver.step(state, rng.standard_normal((10, 5)) * (rng.random((10, 5)) < 0.3))
    >>> bool(np.isclose(np.abs(state.x), np.abs(state.x).round(), atol=1e-12).all())  # a signed permutation
    True
    """

    def __init__(
        self,
        p: float = 3.0,
        *,
        sparse: bool = True,
        schedule: AdaptiveSchedule | CoolThenConstant | None = None,
    ) -> None:
        contrast = LpContrast(p)
        self.objective = contrast
        self.p = contrast.p
        self.degree = max(self.p, 4.0)  # the squared force has degree 4
        self.sparse = bool(sparse)
        self.schedule = AdaptiveSchedule() if schedule is None else schedule
        if not isinstance(self.schedule, AdaptiveSchedule | CoolThenConstant):
            raise TypeError(f"the schedule of a HandOver is an AdaptiveSchedule or CoolThenConstant, got {schedule!r}.")
        self._adaptive = isinstance(self.schedule, AdaptiveSchedule)
        self._settings: dict[int, tuple[float, float, float, float]] = {}

    def layout(self, shape: tuple[int, ...]) -> Layout:
        atoms = shape[-1]
        return Layout(gradient=shape, numbers=(COUNT,), atoms=(ROWS, atoms), pairs=(3, atoms, atoms))

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        numbers = memory["numbers"].copy()
        numbers[..., [SIGNAL, ENERGY]] *= factor**2
        numbers[..., BEND] *= factor ** (self.p - 2.0)
        scaled = {
            "gradient": memory["gradient"] * factor**self.power,
            "numbers": numbers,
            "atoms": memory["atoms"] * factor ** np.array([[0.0], [2.0], [self.p], [2.0], [0.0]]),
            "pairs": memory["pairs"] * factor ** np.array([0.0, 2.0, 4.0])[:, None, None],
        }
        return memory.layout.block(numbers.shape[:-1], scaled)

    def energy(self, memory: ArrayBlock) -> FloatArray:
        return np.asarray(memory["numbers"][..., ENERGY])

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the running mean of the squared coefficient of each atom."""
        return np.asarray(memory["atoms"][..., SQUARE, :])

    def report(self, memory: ArrayBlock, samples: int) -> Report:
        numbers = memory["numbers"]
        half_life = self.schedule.longest(memory["atoms"].shape[-1])
        rhos = [decide.new_weight(n, samples, half_life)[0] for n in numbers.reshape(-1, COUNT).tolist()]
        rho = np.minimum(np.reshape(rhos, numbers.shape[:-1]), 1.0 - 1e-12)
        return Report(numbers[..., PHASE], -samples * math.log(2.0) / np.log1p(-rho), numbers[..., CHANGES])

    def noise(self, memory: ArrayBlock) -> float | None:
        """Return the spike of a single problem as a share of the mean energy; None with the lp contrast in force."""
        numbers = memory["numbers"]
        if numbers.ndim > 1 or numbers[PHASE] == 0.0:
            return None
        return float(decide.mixture(numbers)[1] / numbers[ENERGY])

    def for_completion(self, memory: ArrayBlock, x: FloatArray, missing: float) -> tuple[FloatArray, float | None]:
        return x, self.noise(memory)

    def current(self, memory: ArrayBlock) -> Objective:
        """Return the contrast of the current phase of a single problem, with the mixture as measured."""
        if memory["numbers"].ndim != 1:
            raise ValueError("problems of a stack may be in different phases: pass the memory of one of them.")
        return SpikeAndSlab(*decide.mixture(memory["numbers"])) if memory["numbers"][PHASE] else self.objective

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the saved memory; that of earlier versions, without the comparison with Laplacians, gets zeros."""
        return super().restored(padded(arrays, self.layout(x.shape[-2:])), x)

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Keep the memory of a hand-over between the same two contrasts; begin anew otherwise."""
        same = isinstance(other, HandOver) and (other.p, other.sparse) == (self.p, self.sparse)
        return super().adopted(state, other) if same else self.begin(state.x)

    @property
    def kernel(self) -> Kernel | None:
        return _KERNEL if type(self) is HandOver else None

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        settings = self._settings.get(atoms)
        if settings is None:
            settings = (self.p, float(self.schedule.longest(atoms)), float(self._adaptive), float(self.sparse))
            self._settings[atoms] = settings
        return settings

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the running mean of gradients, gamma (1, or 0 where the mini-batch is all zero), and the memory."""
        heard = arrays.listen(batch, x, weights, self.p)
        if not all(map(math.isfinite, heard.energies)):
            raise ValueError("the mini-batch is not finite: look for NaN, infinity or extreme values in it.")
        live = [energy > NOTHING for energy in heard.energies]
        if not any(live):
            return memory["gradient"], 0.0, memory
        new = ArrayBlock(memory.layout, memory.array.copy())
        problems = self._begin_step(new, heard, x.shape[-1])
        score = self._score(problems, new, heard, x.shape[-2] == x.shape[-1])
        self._remember(problems, new, heard, batch, score)
        self._set_clock(problems, new, batch, heard, x.shape[-2] == x.shape[-1])
        new["numbers"].reshape(-1, COUNT)[:] = [one.n for one in problems]
        if not all(live):
            kept = np.reshape(live, x.shape[:-2])
            new.array[~kept] = memory.array[~kept]
        return new["gradient"], 1.0, new

    def _begin_step(self, memory: ArrayBlock, heard: arrays.Heard, atoms: int) -> list[_Problem]:
        """Return, for each problem, its numbers, the weight of the new gradient and the mixture."""
        half_life = self.schedule.longest(atoms)
        problems = []
        for n, energy, samples in zip(
            memory["numbers"].reshape(-1, COUNT).tolist(), heard.energies, heard.samples, strict=True
        ):
            if n[ENERGY] <= NOTHING:
                decide.start(n, max(energy, NOTHING))
            n[STEPS] += 1.0
            rho, floor = decide.new_weight(n, samples, half_life)
            per_atom = max(samples, NOTHING) / atoms
            problems.append(_Problem(n, energy, samples, per_atom, rho, floor, decide.mixture(n)))
        return problems

    def _score(self, problems: list[_Problem], memory: ArrayBlock, heard: arrays.Heard, whole: bool) -> FloatArray:
        """Compute the gates and weigh the evidence; return the score of the contrast in force."""
        stack = memory.array.shape[:-1]
        odds, slope = arrays.spread([decide.log_odds(*one.mixture) for one in problems], stack)
        fresh = arrays.open_gates(heard, odds, slope)
        means, rows = arrays.mean_over_atoms(fresh), memory["atoms"]
        first = [one.n[STEPS] == 1.0 for one in problems]
        if any(first):
            rows[np.reshape(first, stack), :UNIT_SIZE] = fresh[np.reshape(first, stack)][..., :UNIT_SIZE, :]
        shapes = []
        asleep = _sleep_levels(problems, rows)
        for one, mean, (bent, gated) in zip(problems, means, arrays.weakest(rows, asleep), strict=True):
            if one.n[STEPS] == 1.0:
                one.n[BEND] = mean[arrays.SIZE]
            shapes.append(decide.score_shape(one.n, one.mixture[0], bent, gated, self.p, whole))
        sparse = [one.n[PHASE] == 1.0 for one in problems]
        factor, misfits, turns = heard.layers[..., arrays.SIZE, :, :], [0.0] * len(sparse), [0.0] * len(sparse)
        if any(sparse):
            wide = [
                decide.log_odds(a, decide.widened(spike, slab), slab)
                for a, spike, slab in (one.mixture for one in problems)
            ]
            gates = arrays.gate(heard, *arrays.spread(wide, stack))
            factor = gates if all(sparse) else np.where(np.reshape(sparse, (*stack, 1, 1)), gates, factor)
            misfits = arrays.misfit(heard)
            first_atom, second_atom = (
                np.reshape([int(one.n[place]) for one in problems], stack) for place in (FIRST, SECOND)
            )
            turns = arrays.gain_of_turning(heard, first_atom, second_atom, odds, slope)
        if self.sparse and rows.shape[-1] >= FEW_ATOMS:
            known = [(one.n, level, one.per_atom) for one, level in zip(problems, asleep, strict=True)]
            fresh[..., UNIT_SIZE, :] = compare_with_laplacians(known, rows, heard)
        else:
            fresh[..., UNIT_SIZE, :] = 0.0
        gate_weights = []
        for one, mean, misfit, turn in zip(problems, means, misfits, turns, strict=True):
            n, (sparsity, _, slab) = one.n, one.mixture
            size = one.samples * rows.shape[-1]
            decide.weigh_evidence(n, sparsity, slab, misfit, one.energy, turn * one.samples, size)
            decide.learn_mixture(n, mean[GATE], mean[GATED], one.energy, mean[arrays.SIZE], one.per_atom)
            one.gate_weight, one.force_weight = decide.other_weights(n, one.rho, one.per_atom)
            gate_weights.append((one.gate_weight,))
        arrays.mix(rows, fresh, *arrays.spread(gate_weights, stack))
        return arrays.score(factor, heard, *arrays.spread(shapes, stack))

    @staticmethod
    def _remember(
        problems: list[_Problem], memory: ArrayBlock, heard: arrays.Heard, batch: Batch, score: FloatArray
    ) -> None:
        """Add the score to the running means of gradients and of pairs of atoms."""
        weights = [(one.rho, one.gate_weight, one.force_weight) for one in problems]
        rho, gate_weight, force_weight = arrays.spread(weights, memory.array.shape[:-1])
        gradient = memory["gradient"]
        gradient *= 1.0 - rho
        gradient -= rho * columns_times(batch, score)
        arrays.remember(memory["pairs"], heard, score, gate_weight, force_weight)
        if any(decide.has_pair(one.n) for one in problems):
            turn_where_together([(one.n, one.mixture, one.per_atom, one.rho) for one in problems], memory, heard)

    def _set_clock(
        self, problems: list[_Problem], memory: ArrayBlock, batch: Batch, heard: arrays.Heard, whole: bool
    ) -> None:
        """Set the clock of each problem, and change its phase if its numbers call for it."""
        pairs, rows = memory["pairs"], memory["atoms"]
        atoms, adaptive = rows.shape[-1], self._adaptive
        ratios = []
        least = [ROUNDING * one.n[ENERGY] ** 2 for one in problems]
        forces = arrays.force_ratios(pairs, [one.n[TRUST] for one in problems], least)
        for one, (everything, largest) in zip(problems, forces, strict=True):
            ratios.append(decide.measure_level(one.n, one.rho))
            weight, per_atom = one.force_weight, one.per_atom
            decide.set_clock(one.n, everything, largest, weight, per_atom, atoms, one.floor, adaptive)
        if not self.sparse or not any(
            decide.may_change(one.n, ratio) for one, ratio in zip(problems, ratios, strict=True)
        ):
            return
        insides = [1.0] * len(problems) if whole else arrays.share_inside(batch, heard)
        asleep = _sleep_levels(problems, rows)
        belongs = [gated for _, gated in arrays.weakest(rows, asleep)]
        able = [
            decide.can_start(one.n, share, inside, one.per_atom)
            for one, share, inside in zip(problems, belongs, insides, strict=True)
        ]
        due = [
            decide.needs_pairs(one.n, ratio, start) for one, ratio, start in zip(problems, ratios, able, strict=True)
        ]
        if not any(due):
            return
        alike = arrays.most_alike(rows, pairs[..., TOGETHER, :, :], asleep)
        changed = [
            due[i]
            and decide.change_phase(
                one.n, ratios[i], *alike[i], belongs[i], insides[i], able[i], one.per_atom, adaptive
            )
            for i, one in enumerate(problems)
        ]
        if any(changed):  # the force of the old contrast says nothing about the new one
            pairs[np.reshape(changed, pairs.shape[:-3]), FORCE:] = 0.0


@dataclass(slots=True)
class _Problem:
    """The numbers of one problem, and what one step derives from them."""

    n: list[float]
    energy: float
    samples: float
    per_atom: float
    rho: float
    floor: float
    mixture: tuple[float, float, float]
    gate_weight: float = 0.0
    force_weight: float = 0.0


def _sleep_levels(problems: list[_Problem], rows: FloatArray) -> list[float]:
    """Return the mean square of a coefficient up to which an atom is asleep, of each problem."""
    levels = [decide.least_energy(one.n) for one in problems]
    counts = arrays.count_up_to(rows, levels)
    return [decide.only_if_few(level, few, rows.shape[-1]) for level, few in zip(levels, counts, strict=True)]
