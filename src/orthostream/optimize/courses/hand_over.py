"""From the lp contrast to spike and slab, and back: the course of the recommended learner."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.courses import constants
from orthostream.optimize.courses.base import Course, Decision, Memory, Report
from orthostream.optimize.courses.clock import rho_of, set_the_clock
from orthostream.optimize.courses.layout import Row, Slot
from orthostream.optimize.courses.mixture import first_numbers, mixture, ratio_of
from orthostream.optimize.courses.pairs import gain_of_turning, most_alike, weakest
from orthostream.optimize.objectives.base import Batch, Objective, batch_size, columns_times, mean_factors, rows_times
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab, gates_of
from orthostream.optimize.schedules import AdaptiveSchedule, CoolThenConstant


class HandOver(Course):
    """The lp contrast until codes are seen to be sparse, then spike and slab, with a way back.

    *What is minimised.* The lp contrast finds the way from anywhere; spike and slab, whose three parameters are learnt
    by online EM, is exact where codes are exactly sparse and close to the best there is where they are not. The first
    hands over once the spike is a fifth of the slab and no two atoms share their gates; two that do are a pair that
    is still mixed, on which spike and slab exerts no force, and send the whole dictionary back. Of either contrast
    the multiple of the energy is taken off that makes its mean curvature nearly vanish. On the orthogonal group
    that changes nothing, yet the fixed-point iteration X = lmo(G) becomes nearly Newton's.

    *How much is remembered.* The part of a gradient that turns the dictionary, the skew part of D'G, is pure noise
    where nothing moves. Its running mean is compared with its variance: a force that persists says that the memory is
    too long, for the whole dictionary or for one pair of atoms, and the clock of the running mean goes back. Without
    it the clock goes on, and the mean gets longer. An abrupt change shows when a plain normal distribution has become
    the better bet on the coefficients.

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
    Weights of samples count them: a sample of weight 2 is two samples, to the memory too. A sample of zeros is none.

    None of its constants depends on the data: see `orthostream.optimize.courses.constants` and docs/learner.md. A step
    has one polar factor, where Algorithm 2 has two. The memory is three matrices of K x K, four rows of K and seventeen
    numbers. With fewer atoms than features the energy is not constant: spike and slab then wants all of it inside of
    what the atoms span, and a stream with more than that stays with the first contrast.

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

    core_ndim: ClassVar[int | None] = 2

    def __init__(
        self,
        p: float = 3.0,
        *,
        sparse: bool = True,
        schedule: AdaptiveSchedule | CoolThenConstant | None = None,
    ) -> None:
        self._yardstick = LpContrast(p)
        self.p = self._yardstick.p
        self.degree = max(self.p, 4.0)  # of the squared force
        self.sparse = bool(sparse)
        self.schedule = AdaptiveSchedule() if schedule is None else schedule
        if not isinstance(self.schedule, AdaptiveSchedule | CoolThenConstant):
            raise TypeError(f"the schedule of a HandOver is an AdaptiveSchedule or CoolThenConstant, got {schedule!r}.")

    @property
    def yardstick(self) -> Objective:
        return self._yardstick

    @property
    def is_free(self) -> bool:
        """Whether its memory may have any length."""
        schedule = self.schedule
        return (
            isinstance(schedule, AdaptiveSchedule)
            and schedule.half_life is None
            and schedule.half_life_per_atom is None
        )

    def floor(self, samples: FloatArray | float, atoms: int) -> tuple[FloatArray | float, bool]:
        """Return the least weight of a new gradient, and whether it may be larger to follow what moves."""
        if isinstance(self.schedule, AdaptiveSchedule):
            return self.schedule.floor(samples, atoms), True
        return self.schedule.floor(samples), False

    def begin(self, x: FloatArray) -> Memory:
        stack, atoms = x.shape[:-2], x.shape[-1]
        numbers = first_numbers(np.zeros(stack))
        rows = np.zeros((*stack, len(Row), atoms), x.dtype)
        return {"numbers": numbers, "atoms": rows, "matrices": np.zeros((*stack, 3, atoms, atoms), x.dtype)}

    def rescaled(self, memory: Memory, factor: float) -> Memory:
        numbers = memory["numbers"].copy()
        numbers[..., [Slot.SIGNAL, Slot.ENERGY]] *= factor**2
        numbers[..., Slot.BEND] *= factor ** (self.p - 2.0)
        together, force, power = _matrices(memory)
        scale = force.dtype.type(factor)
        powers = np.array([[0.0], [2.0], [self.p], [2.0]])
        atoms = (memory["atoms"] * factor**powers).astype(force.dtype)
        matrices = np.stack([together, force * scale**2, power * scale**4], axis=-3)
        return {"numbers": numbers, "atoms": atoms, "matrices": matrices}

    def energy(self, memory: Memory) -> FloatArray:
        return np.asarray(memory["numbers"][..., Slot.ENERGY])

    def report(self, memory: Memory, samples: int) -> Report:
        numbers = memory["numbers"]
        rho = np.minimum(rho_of(numbers, self.floor(samples, memory["atoms"].shape[-1])[0]), 1.0 - 1e-12)
        half_life = -samples * math.log(2.0) / np.log1p(-rho)
        return Report(numbers[..., Slot.PHASE], half_life, numbers[..., Slot.CHANGES])

    def current(self, memory: Memory) -> Objective:
        """Return the contrast of the present phase of a single problem, the mixture as it was measured."""
        numbers = memory["numbers"]
        if numbers.ndim != 1:
            raise ValueError("problems of a stack may be in different phases: look at one of them.")
        return mixture(numbers, _least(memory["atoms"].dtype)) if numbers[Slot.PHASE] else self._yardstick

    def decide(self, memory: Memory, x: FloatArray, batch: Batch, weights: FloatArray | None, again: bool) -> Decision:
        z = rows_times(batch, x)
        atoms = z.shape[-1]
        square = np.square(z, dtype=float)
        inside = _share_inside(batch, square)
        heard = square.sum(axis=-1) > 0.0
        if not heard.all():  # a sample of zeros is no evidence of a narrow spike
            weights = heard.astype(z.dtype) if weights is None else weights * heard
        samples = np.asarray(float(batch_size(batch)) if weights is None else weights.sum(axis=-1, dtype=float))
        factors = mean_factors(batch, weights)
        share = factors if isinstance(factors, float) else factors[..., None]
        per_atom = np.maximum(samples, constants.NOTHING) / atoms
        least = _least(z.dtype)

        def mean(values: FloatArray) -> FloatArray:
            """Return the mean over samples and atoms, for each problem."""
            return np.asarray((values * share).sum(axis=(-2, -1), dtype=float) / atoms)

        energy = mean(square)
        live = energy > constants.NOTHING
        before = memory["numbers"]
        n = np.where((before[..., Slot.ENERGY] <= constants.NOTHING)[..., None], first_numbers(energy), before)
        n[..., Slot.STEPS] += 1.0

        # How likely is each coefficient to be of the slab, and is a normal distribution the better bet?
        model = mixture(n, least)
        odds = model.log_odds(z)
        gates = gates_of(odds)
        second = np.where(live, n[..., Slot.ENERGY], 1.0)
        surprise = np.logaddexp(0.0, -odds) - 0.5 * square * (1.0 / model.slab - 1.0 / second)[..., None, None]
        gain = mean(surprise) + np.log(model.sparsity) + 0.5 * np.log(second / model.slab)
        phase = n[..., Slot.PHASE] == 1.0
        n[..., Slot.EVIDENCE] = np.where(phase, np.maximum(n[..., Slot.EVIDENCE] - gain * samples * atoms, 0.0), 0.0)
        n[..., Slot.TURN] = np.where(
            phase,
            np.maximum(n[..., Slot.TURN] + gain_of_turning(n, z, model, share * samples[..., None, None]), 0.0),
            0.0,
        )

        # The score of the contrast that counts, less a multiple of the energy, and the force that turns the atoms.
        floor, adaptive = self.floor(samples, atoms)
        rho = rho_of(n, floor)
        size = np.abs(z) if self.p == 3.0 else np.abs(z) ** (self.p - 2.0)
        bend = mean(size)
        first = n[..., Slot.STEPS] == 1.0
        n[..., Slot.BEND] = np.where(first, bend, n[..., Slot.BEND])
        spike = np.clip(constants.WIDEST * model.slab, model.spike, constants.WIDEN * model.spike)
        opened = SpikeAndSlab(model.sparsity, spike, model.slab).gates(z)
        new = np.stack([(a * share).sum(axis=-2) for a in (gates, square, size * square, gates * square)], axis=-2)
        new = new.astype(z.dtype, copy=False)
        rows = np.where(first[..., None, None], new, memory["atoms"])
        bent, gated = weakest(rows)
        whole = x.shape[-2] == atoms  # the energy of fewer atoms is not constant
        bent = whole * constants.SHIFT * np.minimum((self.p - 1.0) * n[..., Slot.BEND], bent)
        shut = whole * constants.SHIFT * np.minimum(model.sparsity, gated)
        unit = constants.PULL * np.maximum(second, np.finfo(float).tiny) ** (1.0 - 0.5 * self.p)
        score = np.where(
            phase[..., None, None],
            opened - shut[..., None, None],
            (size - bent[..., None, None]) * unit[..., None, None],
        )
        score = (score * z * share).astype(z.dtype, copy=False)
        force = z.mT @ score
        force = force - force.mT

        # Running means.
        mixing = np.maximum(np.minimum(1.0, per_atom / constants.MIXTURE), 1.0 / (n[..., Slot.STEPS] + 1.0))
        for slot, value in (
            (Slot.OPEN, mean(gates)),
            (Slot.SIGNAL, mean(gates * square)),
            (Slot.ENERGY, energy),
            (Slot.BEND, bend),
        ):
            n[..., slot] += mixing * (value - n[..., slot])
        slow = np.where(phase, rho, 1.0)
        watching = np.maximum(np.minimum(np.minimum(1.0, per_atom / constants.GATES), slow), 1.0 / n[..., Slot.STEPS])
        weighted = gates.astype(z.dtype, copy=False)
        counted = weighted * share
        rows = _toward(rows, new, watching, live)
        feeling = np.maximum(rho, np.minimum(1.0, per_atom / constants.FORCE))
        n[..., Slot.TRUST] = (1.0 - feeling) ** 2 * n[..., Slot.TRUST] + feeling**2
        together, old_force, power = _matrices(memory)
        together = _toward(together, weighted.mT @ counted, watching, live)
        power = _toward(power, force * force, feeling, live)
        force = _toward(old_force, force, feeling, live)

        ratio = ratio_of(n, least)
        n[..., Slot.LEVEL] += rho * (ratio - n[..., Slot.LEVEL])
        set_the_clock(n, force, power, feeling, per_atom, floor, adaptive)
        restart = (live & self._change_phase(n, rows, together, ratio, per_atom, inside, adaptive))[..., None, None]
        n[..., Slot.AGE] = np.maximum(n[..., Slot.AGE], 1.0)
        nothing = z.dtype.type(0.0)
        force, power = (np.where(restart, nothing, matrix) for matrix in (force, power))
        kept = {
            "numbers": np.where(live[..., None], n, before),
            "atoms": rows,
            "matrices": np.stack([together, force, power], axis=-3),
        }
        return Decision(-columns_times(batch, score), np.where(live, rho, 0.0), 1.0, kept)

    def _change_phase(
        self,
        n: FloatArray,
        rows: FloatArray,
        together: FloatArray,
        ratio: FloatArray,
        per_atom: FloatArray,
        inside: FloatArray,
        adaptive: bool,
    ) -> BoolArray:
        """Hand over, go back, or put the clock back; return where the force is to be measured anew."""
        if not self.sparse:
            return np.zeros(ratio.shape, bool)
        phase = n[..., Slot.PHASE] == 1.0
        correlation, pair = most_alike(rows[..., Row.GATE, :], together)
        for slot, atom in zip((Slot.FIRST, Slot.SECOND), pair, strict=True):
            n[..., Slot.TURN] = np.where(n[..., slot] == atom, n[..., Slot.TURN], 0.0)
            n[..., slot] = atom
        belongs = weakest(rows)[1]
        enough = (n[..., Slot.STEPS] * per_atom > constants.MIXTURE) & (belongs > constants.BELONGS)
        enough &= inside > constants.INSIDE
        window = np.maximum(1.0, constants.COOL_SPARSE * constants.MIXTURE / per_atom)
        hot = np.maximum(1.0, constants.COOL * constants.HOT / per_atom)
        stuck = correlation > constants.STUCK + n[..., Slot.TOLERATED]
        wait = ~phase & (ratio < constants.WAIT) & enough
        over = ~phase & (ratio < constants.SPARSE) & ~stuck & enough
        lost = phase & (n[..., Slot.EVIDENCE] > constants.ALARM)
        saddle = (n[..., Slot.TURN] > constants.ALARM) & (n[..., Slot.TOLERATED] == 0.0)
        astray = (belongs < constants.ASTRAY) | (inside < constants.OUTSIDE)
        back = phase & (stuck | lost | saddle | astray)
        n[..., Slot.WAITED] += np.where(wait & stuck, per_atom, 0.0) + np.where(back & stuck, constants.DETOUR, 0.0)
        resigned = n[..., Slot.WAITED] > constants.PATIENCE
        trait = np.maximum(n[..., Slot.TOLERATED], correlation - constants.STUCK + constants.MARGIN)
        n[..., Slot.TOLERATED] = np.where(resigned, trait, n[..., Slot.TOLERATED])
        n[..., Slot.WAITED] = np.where(resigned | lost, 0.0, n[..., Slot.WAITED])
        n[..., Slot.TOLERATED] = np.where(lost, 0.0, n[..., Slot.TOLERATED])
        age = np.where(wait, np.minimum(n[..., Slot.AGE], hot), n[..., Slot.AGE])
        age = np.where(over, np.minimum(age, window), age)
        cold = np.where(lost, np.maximum(1.0, constants.COOL * constants.LOST / per_atom), hot)
        age = np.where(back, np.minimum(age, cold), age)
        halved = phase & ~back & (n[..., Slot.LEVEL] < 0.5 * n[..., Slot.MARK])
        age = np.where(halved, np.minimum(age, window), age)
        if adaptive:
            n[..., Slot.AGE] = age
        settled = n[..., Slot.AGE] > constants.SETTLED * window
        n[..., Slot.MARK] = np.where(halved | settled, n[..., Slot.LEVEL], n[..., Slot.MARK])
        n[..., Slot.CHANGES] += lost
        for slot in (Slot.LEVEL, Slot.MARK):
            n[..., slot] = np.where(over, ratio, n[..., slot])
        slab = n[..., Slot.SIGNAL] / np.maximum(n[..., Slot.OPEN], 1e-12)
        for slot, value in ((Slot.OPEN, 0.5), (Slot.SIGNAL, 0.5 * slab), (Slot.ENERGY, 0.75 * slab)):
            n[..., slot] = np.where(back, value, n[..., slot])
        n[..., Slot.PHASE] = np.where(over, 1.0, np.where(back, 0.0, n[..., Slot.PHASE]))
        changed = over | back
        for slot in (Slot.EVIDENCE, Slot.TURN):
            n[..., slot] = np.where(changed, 0.0, n[..., slot])
        n[..., Slot.TRUST] = np.where(changed, 1.0, n[..., Slot.TRUST])
        return np.asarray(changed)


def _least(dtype: np.dtype[Any]) -> float:
    return constants.LEAST if dtype == np.float64 else constants.LEAST_SINGLE


def _share_inside(batch: Batch, square: FloatArray) -> FloatArray:
    """Return the share of a mini-batch's energy that its coefficients hold: all of it for a square dictionary."""
    features = batch.shape[-1]
    if square.shape[-1] == features:
        return np.ones(square.shape[:-2])
    total = np.square(batch, dtype=float).sum(axis=(-2, -1)) if isinstance(batch, np.ndarray) else batch.power(2).sum()
    return np.asarray(square.sum(axis=(-2, -1)) / np.maximum(total, np.finfo(float).tiny))


def _matrices(memory: Memory) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the running means of gate times gate, of the force, and of its square."""
    matrices = memory["matrices"]
    return matrices[..., 0, :, :], matrices[..., 1, :, :], matrices[..., 2, :, :]


def _toward(old: FloatArray, new: FloatArray, weight: FloatArray, live: BoolArray) -> FloatArray:
    """Return the running mean after a new value, of each problem whose mini-batch was not all zero."""
    weight = np.where(live, weight, 0.0).astype(old.dtype)
    return np.asarray(old + weight.reshape(weight.shape + (1,) * (old.ndim - weight.ndim)) * (new - old))
