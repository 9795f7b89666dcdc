"""The estimate of the recommended learner: a hand-over, and an anchor that it must not fall behind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.guarded import arrays
from orthostream.optimize.estimates.guarded import decisions as decide
from orthostream.optimize.estimates.guarded.constants import KEEP_REPEATS, MEAN_GUESS, MONSTROUS
from orthostream.optimize.estimates.guarded.layout import (
    ANCHOR,
    CENTRED,
    COURSE,
    GRADIENT,
    GUARD_COUNT,
    GUESS,
    LAST_BATCH,
    LAST_SAMPLE,
    LENGTH,
    LIMIT,
    LOUD,
    MATRICES,
    MEAN_POINT,
    MOMENTS,
    POINT,
    REPLACE,
    RESTART,
    SECOND_MOMENT,
    SEEN,
    TRUSTED,
)
from orthostream.optimize.estimates.guarded.mean import learn_mean, offset_of
from orthostream.optimize.estimates.guarded.repeats import without_repeats
from orthostream.optimize.estimates.hand_over import HandOver
from orthostream.optimize.estimates.hand_over.layout import CHANGES, COUNT, FORCE
from orthostream.optimize.estimates.hand_over.saved_memory import padded
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch
from orthostream.optimize.polar_decomposition import polar
from orthostream.optimize.state import State

_POLAR, _COURSE, _HERE = (
    "orthostream.optimize.polar_decomposition.",
    "orthostream.optimize.estimates.hand_over.",
    "orthostream.optimize.estimates.guarded.",
)
_KERNEL = Kernel(
    "guarded_update",
    (
        *(_POLAR + name for name in ("coefficients", "loops")),
        *(
            _COURSE + name
            for name in ("constants", "layout", "decisions", "advantage", "advantage_loops", "turning", "loops")
        ),
        *(_HERE + name for name in ("constants", "layout", "decisions", "loops")),
    ),
)

#: With at least this share of missing readings, rows are completed with the anchor's dictionary.
_MANY_GAPS = 0.4
#: Gaps are solved for after so many samples per atom, times the share of missing readings: a wrong dictionary would
#: confirm itself.
_CAUTION = 1000.0


class Guarded(GradientEstimate):
    """A `HandOver` that is compared with l3 on fresh samples, and started again from it when it falls behind.

    The hand-over, here called the *course*, can go wrong on streams that are not what it expects: bursts, repeats,
    supports that stay. So an *anchor* learns beside it: l3 with a long memory and a mean over its points, the cautious
    choice. Every 20 samples per atom a snapshot of both dictionaries is taken. The samples of the second half of that
    time tell which one makes sparser codes: neither snapshot has learnt from them, and samples that repeat at once are
    over by then. `answer` is the dictionary that is trusted. A course that stays behind starts again from the anchor,
    and an anchor that is far behind, as after a change, starts again from the course.

    A *door* stands in front of both. Samples longer than a running quantile are cut to it, so that no outlier
    dominates, and samples that are next to silence are left out. The anchor, and after a restart the course, subtract
    the running mean of the samples where that is an offset: clearly not zero, and not the main part of the samples.

    Parameters
    ----------
    course : HandOver, optional
    skip_repeats : bool, default True
        Whether a sample, or a mini-batch, that comes more than four times in a row is ignored from then on: in a stream
        it tells nothing new. False is for passes over a data set.

    Notes
    -----
    Beside the memory of the course there are five matrices of the dictionary's size, three rows of K, a mean of N, and
    26 numbers. The anchor takes one polar factor after each sample per atom at first, and after each 3 % of its samples
    later.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> solver = StochasticFrankWolfe(SpectralBall(), Guarded(), post_step=PolarStep())
    >>> state = solver.init(np.linalg.qr(rng.standard_normal((5, 5)))[0])
    >>> for t in range(400):
    ...     scale = 1000.0 if t % 10 == 0 else 1.0  # outliers
    ...     state = solver.step(state, scale * rng.standard_normal((10, 5)) * (rng.random((10, 5)) < 0.3))
    >>> bool(np.isclose(np.abs(solver.answer(state)), np.abs(state.x).round(), atol=1e-12).all())
    True
    """

    def __init__(self, course: HandOver | None = None, *, skip_repeats: bool = True) -> None:
        self.skip_repeats = bool(skip_repeats)
        self.course = HandOver() if course is None else course
        if not isinstance(self.course, HandOver):
            raise TypeError(f"Guarded takes a HandOver, got {course!r}.")
        self.objective = self.course.objective
        self.power, self.degree = self.course.power, self.course.degree

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return Layout(
            **self.course.layout(shape).shapes,
            guard=(GUARD_COUNT,),
            matrices=(MATRICES, *shape),
            moments=(MOMENTS, shape[-1]),
            mean=(shape[-2],),
        )

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        stack = memory.array.shape[:-1]
        guard = memory["guard"].copy()
        guard[..., LIMIT] += np.where(guard[..., SEEN] > 0.0, 2.0 * np.log(factor), 0.0)
        guard[..., LENGTH] *= factor**2
        guard[..., [LAST_SAMPLE, LAST_BATCH]] *= factor
        changed = {"guard": guard, "mean": memory["mean"] * factor}
        inner = self.course.layout(memory["gradient"].shape[len(stack) :])
        course = self.course.rescaled(ArrayBlock(inner, memory.array[..., : inner.size]), factor)
        return memory.layout.block(stack, dict(memory) | dict(course) | changed)

    def energy(self, memory: ArrayBlock) -> FloatArray:
        return self.course.energy(memory)

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the running mean of the squared coefficient of each atom of the dictionary that is reported."""
        own = self.course.energies(memory, x)
        return np.where(_is_trusted(memory)[..., None], own, memory["moments"][..., SECOND_MOMENT, :])

    def report(self, memory: ArrayBlock, samples: int) -> Report:
        report = self.course.report(memory, samples)
        return report._replace(trusted=_is_trusted(memory).astype(float))

    def answer(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the course's dictionary where it is trusted, and the anchor's elsewhere."""
        trusted = _is_trusted(memory)
        if trusted.all():
            return x
        return arrays.choose(trusted, x, memory["matrices"][..., ANCHOR, :, :])

    def for_completion(self, memory: ArrayBlock, x: FloatArray, missing: float) -> tuple[FloatArray, float | None]:
        """Return the course's dictionary, or the anchor's if many readings are missing.

        A wrong course would confirm itself by what it puts into the gaps. So the noise is not told before many samples
        were seen.
        """
        guard = memory["guard"]
        if not guard[..., SEEN].all():
            return x, None
        noise = self.course.noise(memory)
        if noise is not None and guard[LOUD] > _CAUTION * missing * x.shape[-1]:
            return x, noise
        return x if missing < _MANY_GAPS else memory["matrices"][..., POINT, :, :], None

    def limited(self, memory: ArrayBlock, batch: Batch, unit: float) -> Batch:
        """Return the mini-batch with monstrous samples cut, so that their scale does not become that of the learner."""
        guard = memory["guard"]
        if guard.ndim > 1 or guard[SEEN] == 0.0 or not isinstance(batch, np.ndarray):
            return batch
        # In logarithms, because neither the limit nor its ratio to the unit need be a number of double precision.
        longest = math.exp(min(0.5 * guard[LIMIT] + 0.5 * math.log(MONSTROUS) - math.log(unit), 700.0))
        sizes = np.abs(batch).max(axis=-1, keepdims=True)
        monsters = np.isfinite(sizes) & (sizes > longest)
        if not monsters.any():
            return batch
        return batch * np.where(monsters, longest / np.where(monsters, sizes, 1.0), 1.0)

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the saved memory; that of a hand-over without a guard gets a new anchor."""
        missing = {name: array for name, array in self.begin(x).items() if name not in arrays}
        inner = self.course.layout(x.shape[-2:])
        arrays, saved = padded(arrays, self.layout(x.shape[-2:])), set(inner.shapes)
        return super().restored(dict(arrays) if missing.keys() & saved else {**missing, **arrays}, x)

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Keep the memory of a hand-over between the same two contrasts, guarded or not; begin anew otherwise."""
        course = other.course if isinstance(other, Guarded) else other
        if not isinstance(course, HandOver) or (course.p, course.sparse) != (self.course.p, self.course.sparse):
            return self.begin(state.x)
        return self.restored(dict(state.memory), state.x)

    @property
    def kernel(self) -> Kernel | None:
        return _KERNEL if type(self) is Guarded and self.course.kernel is not None else None

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        *others, sparse = self.course.settings(memory, atoms, samples)
        return others[0], others[1], others[2], sparse if self.skip_repeats else sparse + KEEP_REPEATS

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the course's gradient, gamma (1, or 0 where no sample is admitted), and the memory."""
        if x.ndim > 2 and not isinstance(batch, np.ndarray):
            batch = batch.toarray()
        new = ArrayBlock(memory.layout, memory.array.copy())
        stack = x.shape[:-2]
        numbers: list[list[float]] = new["guard"].reshape(-1, GUARD_COUNT).tolist()
        offset = offset_of(new, numbers, batch)
        centred = batch if offset is None else batch - offset[..., None, :]
        squares = np.broadcast_to(arrays.squared_lengths(centred), (*stack, centred.shape[-2]))
        if not np.isfinite(squares).all():
            raise ValueError("the mini-batch is not finite: look for NaN, infinity or extreme values in it.")
        typical = arrays.typical_lengths(squares, weights)
        self._begin(new, numbers, x, squares, typical)
        limits = np.reshape(np.exp([g[LIMIT] for g in numbers]), stack)
        fresh = without_repeats(numbers, batch, weights, stack) if self.skip_repeats else weights
        door = arrays.admit(squares, fresh, limits)
        forget = [
            decide.move_limit(g, counts[0], counts[1], counts[2], length, x.shape[-1])
            for g, counts, length in zip(numbers, door.counts, typical, strict=True)
        ]
        new.array[np.reshape(forget, stack), : self.course.layout(x.shape[-2:]).size] = 0.0
        after_door = [list(g) for g in numbers]
        live = np.reshape([samples > 0.0 for samples in door.samples], stack)
        untaught = new.array if live.all() else new.array.copy()
        gamma = 0.0
        if live.any():
            cut = uncentred = own = arrays.shortened(centred, door.factors)
            if offset is not None:
                uncentred = arrays.shortened(batch, door.factors)
                own = arrays.choose(np.reshape([g[CENTRED] == 1.0 for g in numbers], stack), cut, uncentred)
            gamma = self._learn(new, numbers, x, uncentred, cut, own, door)
        if not live.all():
            new.array[~live] = untaught[~live]
            alive = live.reshape(-1).tolist()
            numbers = [g if one else before for g, before, one in zip(numbers, after_door, alive, strict=True)]
        new["guard"].reshape(-1, GUARD_COUNT)[:] = numbers
        return new["gradient"], gamma, new

    @staticmethod
    def _begin(
        memory: ArrayBlock, numbers: list[list[float]], x: FloatArray, squares: FloatArray, typical: list[float]
    ) -> None:
        """Start the guard of the problems that see their first samples."""
        for i, (g, row) in enumerate(zip(numbers, squares.reshape(len(numbers), -1), strict=True)):
            if g[SEEN] == 0.0 and row.any():
                decide.start_guard(g, typical[i], float(memory["numbers"].reshape(-1, COUNT)[i, CHANGES]))
                memory["matrices"].reshape(-1, MATRICES, *x.shape[-2:])[i, POINT:] = x.reshape(-1, *x.shape[-2:])[i]

    def _learn(
        self,
        memory: ArrayBlock,
        numbers: list[list[float]],
        x: FloatArray,
        uncentred: Batch,
        cut: Batch,
        own: Batch,
        door: arrays.Admitted,
    ) -> float:
        """Let course and anchor learn from the samples that were admitted, compare them and judge; return gamma."""
        stack, atoms = x.shape[:-2], x.shape[-1]
        inner = self.course.layout(x.shape[-2:])
        _, gamma, course = self.course.update(ArrayBlock(inner, memory.array[..., : inner.size]), x, own, door.weights)
        memory.array[..., : inner.size] = course.array
        totals = np.reshape(door.samples, stack)
        shares = door.weights / np.where(totals > 0.0, totals, 1.0)[..., None]
        units = np.reshape(np.exp([-0.5 * g[LIMIT] for g in numbers]), stack)
        per_atom = [max(samples, 1e-200) / atoms for samples in door.samples]
        learn_mean(memory, numbers, uncentred, shares, door.samples)
        rho = np.reshape([decide.anchor_weight(g) for g in numbers], stack)
        due = [decide.count_batch(g, each) for g, each in zip(numbers, per_atom, strict=True)]
        matrices = memory["matrices"]
        if any(compared for compared, _ in due):
            found = arrays.leads(matrices, cut, own, door.weights, units)
            for g, (compared, _), lead, each in zip(numbers, due, found, per_atom, strict=True):
                if compared:
                    decide.compare(g, *lead, each)
        arrays.teach_anchor(matrices, memory["moments"], cut, shares, units, rho)
        moves = [move for _, move in due]
        if any(moves):
            weights = [
                decide.point_weight(g, each) if move else 0.0
                for g, each, move in zip(numbers, per_atom, moves, strict=True)
            ]
            self._move_anchor(matrices, numbers, np.reshape(moves, stack), np.reshape(weights, stack))
        self._judge(memory, numbers, x)
        return gamma

    @staticmethod
    def _move_anchor(matrices: FloatArray, numbers: list[list[float]], moves: BoolArray, weights: FloatArray) -> None:
        """Move the anchors to the minimisers for their gradients, and add these to the means of their points."""
        guesses = np.reshape([g[GUESS] for g in numbers], moves.shape)
        low = float(guesses) if not moves.shape else guesses
        point, low = polar(matrices[..., GRADIENT, :, :], near=matrices[..., POINT, :, :], low=low, sign=-1.0)
        matrices[..., POINT, :, :] = arrays.choose(moves, point, matrices[..., POINT, :, :])
        mean = matrices[..., MEAN_POINT, :, :]
        mean += weights[..., None, None] * (matrices[..., POINT, :, :] - mean)
        for g, move, guess in zip(numbers, moves.reshape(-1).tolist(), np.reshape(low, -1).tolist(), strict=True):
            if move:
                g[GUESS] = decide.carried_guess(guess)

    @staticmethod
    def _judge(memory: ArrayBlock, numbers: list[list[float]], x: FloatArray) -> None:
        """Decide which dictionary each problem trusts, start again what fell behind, and take new snapshots."""
        atoms, core = x.shape[-1], x.shape[-2:]
        matrices = memory["matrices"].reshape(-1, MATRICES, *core)
        inner = memory["numbers"].reshape(-1, COUNT)
        points = x.reshape(-1, *core)
        for i, g in enumerate(numbers):
            n: Any = inner[i].tolist()
            verdict = decide.judge(g, n)
            if verdict == RESTART:
                mean = memory["mean"].reshape(len(numbers), -1)[i]
                decide.start_from_anchor(n, g, float(mean @ mean))
                inner[i] = n
                pull = float(np.linalg.norm(matrices[i, GRADIENT])) / atoms**0.5
                memory["gradient"].reshape(-1, *core)[i] = -pull * matrices[i, ANCHOR]
                memory["pairs"].reshape(-1, 3, atoms, atoms)[i, FORCE:] = 0.0
                matrices[i, COURSE] = matrices[i, ANCHOR]
            elif verdict == REPLACE:
                matrices[i, GRADIENT] = 0.0
                matrices[i, POINT:] = points[i]
            if decide.block_is_over(g):
                matrices[i, ANCHOR] = polar(matrices[i, MEAN_POINT], near=matrices[i, ANCHOR], low=MEAN_GUESS)[0]
                matrices[i, COURSE] = points[i]


def _is_trusted(memory: ArrayBlock) -> BoolArray:
    """Return whether the course is reported: if it is trusted, or if there is no anchor yet."""
    guard = memory["guard"]
    return np.asarray((guard[..., TRUSTED] == 1.0) | (guard[..., SEEN] == 0.0))
