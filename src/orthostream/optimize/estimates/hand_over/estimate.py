"""From the lp contrast to spike and slab, and back: the estimate of the recommended learner."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.block import Block, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.hand_over import arrays
from orthostream.optimize.estimates.hand_over import decisions as decide
from orthostream.optimize.estimates.hand_over.constants import NOTHING
from orthostream.optimize.estimates.hand_over.layout import (
    BEND,
    BENT,
    CHANGES,
    COUNT,
    ENERGY,
    FIRST,
    FORCE,
    GATE,
    GATED,
    PHASE,
    SECOND,
    SIGNAL,
    STEPS,
    TOGETHER,
    TRUST,
)
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch, Objective, columns_times
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab
from orthostream.optimize.schedules import AdaptiveSchedule, CoolThenConstant

_HERE = "orthostream.optimize.estimates.hand_over"
_KERNEL = Kernel("hand_over_update", (f"{_HERE}.decisions", f"{_HERE}.loops"))


class HandOver(GradientEstimate):
    """The lp contrast until codes are seen to be sparse, then spike and slab, with a way back.

    *What is minimised.* The lp contrast finds the way from anywhere. Spike and slab, whose three parameters are learnt
    by online EM, is exact where codes are exactly sparse and close to the best there is where they are not. The first
    hands over once the spike is a fifth of the slab and no two atoms share their gates. Two that do are a pair that
    is still mixed, on which spike and slab exerts no force; they send the whole dictionary back. From either contrast
    the multiple of the energy is subtracted that makes its mean curvature nearly vanish. On the orthogonal group
    that changes nothing, yet the fixed-point iteration X = lmo(G) becomes nearly Newton's.

    *How much is remembered.* The part of a gradient that turns the dictionary, the skew part of D'G, is pure noise
    where nothing moves. Its running mean is compared with its variance. A force that persists says that the memory is
    too long, for the whole dictionary or for one pair of atoms, and the clock of the running mean is set back. Without
    it the clock goes on, and the memory gets longer. An abrupt change shows when a plain normal distribution has become
    more likely than spike and slab.

    Parameters
    ----------
    p : float, default 3
        The power of the first contrast.
    sparse : bool, default True
        False stays with the first contrast for good.
    schedule : AdaptiveSchedule or CoolThenConstant, optional
        The first bounds the memory, or leaves it free, which is the default; with the second it has a fixed length.

    Notes
    -----
    Weights count samples: a sample of weight 2 is two samples, also to the memory. A sample of zeros is none.

    None of the constants depends on the data: see `orthostream.optimize.estimates.hand_over.constants` and
    docs/learner.md. A step has one polar factor, where Algorithm 2 has two. The memory is a gradient, three matrices of
    K x K, four rows of K and seventeen numbers. With fewer atoms than features the energy is not constant: spike and slab
    then requires nearly all of it inside the span of the atoms, and other streams stay with the first contrast.

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
        self.degree = max(self.p, 4.0)  # of the squared force
        self.sparse = bool(sparse)
        self.schedule = AdaptiveSchedule() if schedule is None else schedule
        if not isinstance(self.schedule, AdaptiveSchedule | CoolThenConstant):
            raise TypeError(f"the schedule of a HandOver is an AdaptiveSchedule or CoolThenConstant, got {schedule!r}.")
        self._adaptive = isinstance(self.schedule, AdaptiveSchedule)
        self._half_lives: dict[int, float] = {}

    def layout(self, shape: tuple[int, ...]) -> Layout:
        atoms = shape[-1]
        return Layout(gradient=shape, numbers=(COUNT,), atoms=(4, atoms), pairs=(3, atoms, atoms))

    def rescaled(self, memory: Block, factor: float) -> Block:
        numbers = memory["numbers"].copy()
        numbers[..., [SIGNAL, ENERGY]] *= factor**2
        numbers[..., BEND] *= factor ** (self.p - 2.0)
        scaled = {
            "gradient": memory["gradient"] * factor**self.power,
            "numbers": numbers,
            "atoms": memory["atoms"] * factor ** np.array([[0.0], [2.0], [self.p], [2.0]]),
            "pairs": memory["pairs"] * factor ** np.array([0.0, 2.0, 4.0])[:, None, None],
        }
        return memory.layout.block(numbers.shape[:-1], scaled)

    def energy(self, memory: Block) -> FloatArray:
        return np.asarray(memory["numbers"][..., ENERGY])

    def report(self, memory: Block, samples: int) -> Report:
        numbers = memory["numbers"]
        half_life = self._half_life(memory["atoms"].shape[-1])
        rhos = [decide.new_weight(n, samples, half_life)[0] for n in numbers.reshape(-1, COUNT).tolist()]
        rho = np.minimum(np.reshape(rhos, numbers.shape[:-1]), 1.0 - 1e-12)
        return Report(numbers[..., PHASE], -samples * math.log(2.0) / np.log1p(-rho), numbers[..., CHANGES])

    def current(self, memory: Block) -> Objective:
        """Return the contrast of the present phase of a single problem, the mixture as it was measured."""
        if memory["numbers"].ndim != 1:
            raise ValueError("problems of a stack may be in different phases: look at one of them.")
        return SpikeAndSlab(*decide.mixture(memory["numbers"])) if memory["numbers"][PHASE] else self.objective

    @property
    def kernel(self) -> Kernel:
        return _KERNEL

    def settings(self, memory: Block, atoms: int, samples: int) -> tuple[float, float, float, float]:
        return self.p, self._half_life(atoms), float(self._adaptive), float(self.sparse)

    def _half_life(self, atoms: int) -> float:
        if atoms not in self._half_lives:
            self._half_lives[atoms] = float(self.schedule.longest(atoms))
        return self._half_lives[atoms]

    def update(
        self, memory: Block, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, Block]:
        """Return the running mean of gradients after a mini-batch, gamma = 1 (0 where nothing was heard), the memory."""
        heard = arrays.listen(batch, x, weights)
        if not np.isfinite(heard.energy).all():
            raise ValueError("the mini-batch is not finite: look for NaN, infinity or extreme values in it.")
        live = heard.energy > NOTHING
        if not live.any():
            return memory["gradient"], 0.0, memory
        stack, atoms = x.shape[:-2], x.shape[-1]
        energies, samples = heard.energy.reshape(-1).tolist(), heard.samples.reshape(-1).tolist()
        per_atom = [max(count, NOTHING) / atoms for count in samples]
        numbers = memory["numbers"].reshape(-1, COUNT).tolist()
        for n, energy in zip(numbers, energies, strict=True):
            if n[ENERGY] <= NOTHING:
                decide.start(n, max(energy, NOTHING))
            n[STEPS] += 1.0
        half_life = self._half_life(atoms)
        rhos, floors = zip(
            *(decide.new_weight(n, count, half_life) for n, count in zip(numbers, samples, strict=True)), strict=True
        )

        # The gates of the mixture, and the means over the mini-batch.
        mixtures = [decide.mixture(n) for n in numbers]
        odds, slope = _spread([decide.log_odds(*one) for one in mixtures], stack)
        closed, size, layers = arrays.open_gates(heard, odds, slope, self.p)
        fresh = arrays.mean_of_samples(layers, heard.share)
        bends = arrays.mean_of_all(size, heard.share).reshape(-1).tolist()
        rows = memory["atoms"]
        first = [n[STEPS] == 1.0 for n in numbers]
        if any(first):
            rows = np.where(np.reshape(first, (*stack, 1, 1)), fresh, rows)
            for n, bend in zip(numbers, bends, strict=True):
                if n[STEPS] == 1.0:
                    n[BEND] = bend

        # The score of the contrast in force, and the evidence against it.
        score = self._score(numbers, mixtures, heard, size, rows, stack, x.shape[-2] == atoms)
        misfits, turns = self._misfit(numbers, heard, closed, odds, slope, stack)
        means = (fresh.sum(axis=-1) / atoms).reshape(-1, 4).tolist()
        gate_weights, force_weights = [], []
        for i, n in enumerate(numbers):
            sparsity, _, slab = mixtures[i]
            decide.weigh_evidence(n, sparsity, slab, misfits[i], energies[i], turns[i], samples[i] * atoms)
            decide.learn_mixture(n, means[i][GATE], means[i][GATED], energies[i], bends[i], per_atom[i])
            gate_weight, force_weight = decide.other_weights(n, rhos[i], per_atom[i])
            gate_weights.append((gate_weight,))
            force_weights.append((force_weight, n[TRUST]))

        # Running means.
        (gate_weight,), (force_weight, trust) = _spread(gate_weights, stack), _spread(force_weights, stack)
        rows = rows + gate_weight * (fresh - rows)
        (rho,) = _spread([(one,) for one in rhos], stack)
        gradient = columns_times(batch, score)
        gradient *= -rho
        gradient += (1.0 - rho) * memory["gradient"]
        force = heard.z.mT @ score
        pairs = arrays.remember(memory["pairs"], layers[..., 0, :, :], force, heard.share, gate_weight, force_weight)

        # Clock and phase.
        ratios = [decide.measure_level(n, one) for n, one in zip(numbers, rhos, strict=True)]
        alls, largest = (one.reshape(-1).tolist() for one in arrays.force_ratios(pairs, trust))
        for i, n in enumerate(numbers):
            weight = force_weights[i][0]
            decide.set_clock(n, alls[i], largest[i], weight, per_atom[i], atoms, floors[i], self._adaptive)
        if self.sparse:
            self._change_phases(numbers, ratios, rows, pairs, heard.inside.reshape(-1).tolist(), per_atom, self._adaptive)
        arrays_now = {"gradient": gradient, "numbers": np.array(numbers), "atoms": rows, "pairs": pairs}
        new = memory.layout.block(stack, arrays_now)
        if not live.all():
            new.array[~live] = memory.array[~live]
        return new["gradient"], 1.0, new

    def _score(
        self,
        numbers: list[list[float]],
        mixtures: list[tuple[float, float, float]],
        heard: arrays.Heard,
        size: FloatArray,
        rows: FloatArray,
        stack: tuple[int, ...],
        whole: bool,
    ) -> FloatArray:
        bents, gateds = (arrays.weakest(rows, row).reshape(-1).tolist() for row in (BENT, GATED))
        shapes = [
            decide.score_shape(n, one[0], bent, gated, self.p, whole)
            for n, one, bent, gated in zip(numbers, mixtures, bents, gateds, strict=True)
        ]
        shift, unit = _spread(shapes, stack)
        phases = [n[PHASE] == 1.0 for n in numbers]
        if not any(phases):
            return arrays.score(size, heard, shift, unit)
        wide = [decide.log_odds(a, decide.widened(spike, slab), slab) for a, spike, slab in mixtures]
        gates = arrays.gate(heard, *_spread(wide, stack))
        if not all(phases):
            gates = np.where(np.reshape(phases, (*stack, 1, 1)), gates, size)
        return arrays.score(gates, heard, shift, unit)

    def _misfit(
        self,
        numbers: list[list[float]],
        heard: arrays.Heard,
        closed: FloatArray,
        odds: Any,
        slope: Any,
        stack: tuple[int, ...],
    ) -> tuple[list[float], list[float]]:
        """Return the mean of log(1 + exp(-log-odds)), and the gain of turning the most correlated pair."""
        if not any(n[PHASE] for n in numbers):
            nothing = [0.0] * len(numbers)
            return nothing, nothing
        misfit = arrays.mean_of_all(np.log1p(closed), heard.share)
        first, second = (np.reshape([int(n[one]) for n in numbers], stack) for one in (FIRST, SECOND))
        turn = arrays.gain_of_turning(heard, first, second, odds, slope)
        return misfit.reshape(-1).tolist(), turn.reshape(-1).tolist()

    @staticmethod
    def _change_phases(
        numbers: list[list[float]],
        ratios: list[float],
        rows: FloatArray,
        pairs: FloatArray,
        insides: list[float],
        per_atom: list[float],
        adaptive: bool,
    ) -> None:
        """Change the phase of each problem where it is due, and start to measure its force again."""
        belongs = arrays.weakest(rows, GATED).reshape(-1).tolist()
        able = [decide.can_start(*one) for one in zip(numbers, belongs, insides, per_atom, strict=True)]
        if not any(decide.needs_pairs(*one) for one in zip(numbers, ratios, able, strict=True)):
            return
        found = arrays.most_alike(rows[..., GATE, :], pairs[..., TOGETHER, :, :])
        correlations, firsts, seconds = (one.reshape(-1).tolist() for one in found)
        flat = pairs.reshape(-1, *pairs.shape[-3:])
        for i, n in enumerate(numbers):
            if decide.needs_pairs(n, ratios[i], able[i]) and decide.change_phase(
                *(n, ratios[i], correlations[i], firsts[i], seconds[i]),
                *(belongs[i], insides[i], able[i], per_atom[i], adaptive),
            ):
                flat[i, FORCE:] = 0.0


def _spread(values: list[tuple[float, ...]], stack: tuple[int, ...]) -> tuple[Any, ...]:
    """Return numbers of each problem as floats for a single one, or as arrays of shape (*stack, 1, 1)."""
    return values[0] if not stack else tuple(np.array(values).T.reshape(-1, *stack, 1, 1))

