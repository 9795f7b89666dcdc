"""The estimate of the recommended learner for fewer atoms than features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.guarded import Guarded
from orthostream.optimize.estimates.guarded import arrays as door
from orthostream.optimize.estimates.guarded.decisions import move_limit, start_guard
from orthostream.optimize.estimates.guarded.layout import GUARD_COUNT, LAST_BATCH, LAST_SAMPLE, LIMIT, SEEN
from orthostream.optimize.estimates.guarded.rehearsal import Rehearsal
from orthostream.optimize.estimates.guarded.repeats import without_repeats
from orthostream.optimize.estimates.hand_over.layout import CHANGES, PHASE
from orthostream.optimize.estimates.subspace import decisions as decide
from orthostream.optimize.estimates.subspace.entering import entered
from orthostream.optimize.estimates.subspace.layout import (
    BASIS,
    CHANGED,
    FRESH,
    GUESS,
    IN_FORCE,
    NUMBERS,
    QUICK_ONE,
    SEEN_PATIENT,
    WAITING,
    matrices_and_rows,
)
from orthostream.optimize.estimates.subspace.spans import chosen, fold, hold, judge, scores, squares_of
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch, columns_times, rows_times
from orthostream.optimize.polar_decomposition import polar
from orthostream.optimize.state import State

_HERE = "orthostream.optimize.estimates.subspace."
_INNER = "inside/"


class InSubspace(GradientEstimate):
    """A `Guarded` that learns K atoms inside of the K-dimensional subspace they span, which is tracked beside it.

    A point is the basis of the subspace times a K x K dictionary. The learner inside sees K coordinates of each sample
    and a square dictionary, so that all its arguments hold, whatever noise there is outside. Three bases compete:

    *The patient one* is found with the contrast: samples times the scores |z| z of their coefficients, in the mean,
    span what the atoms span. Noise that is uneven over the features disturbs it less than principal components. The
    part of a fresh mean that lies outside of the basis is its drift. Where that persists, the memory gets shorter.

    *The steady one* is the same without a clock, for streams that mislead the clock, such as repeats.

    *The quick one* are the principal components of the last samples, four per feature. It follows streams whose
    subspace changes all the time, as that of real sensors. Beyond 192 features there is none.

    Snapshots of them are compared by the energy that they hold of later samples, and the best one is in force. A new
    basis is turned in itself to be as close as possible to the last one: the learner inside notices nothing of a
    change but its improvement. If the subspace is suddenly another one, the learner inside starts again. Samples
    longer than a running quantile are cut to it before anything learns from them.

    Parameters
    ----------
    learner : Guarded, optional
    again : bool, default False
        Whether samples were seen before: they teach the learner inside, and no basis moves.

    Notes
    -----
    Beside the memory of a K x K learner there are eight matrices of the dictionary's size and K + 45 numbers; up to
    192 features two more, an N x N matrix, and N/2 samples that wait to be added to it.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> solver = StochasticFrankWolfe(SpectralBall(), InSubspace(), post_step=PolarStep())
    >>> truth, start = np.linalg.qr(rng.standard_normal((2, 12, 4)))[0]
    >>> state = solver.init(start)
    >>> for _ in range(400):
    ...     codes = rng.standard_normal((10, 4)) * (rng.random((10, 4)) < 0.3)
    ...     state = solver.step(state, codes @ truth.T + 0.01 * rng.standard_normal((10, 12)))
    >>> np.abs(truth.T @ solver.answer(state)).max(axis=0).round(3)
    array([1., 1., 1., 1.])
    """

    def __init__(self, learner: Guarded | None = None, *, again: bool = False) -> None:
        self.learner = Guarded() if learner is None else learner
        if not isinstance(self.learner, Guarded):
            raise TypeError(f"InSubspace takes a Guarded, got {learner!r}.")
        self.again = again
        self._inner: GradientEstimate = Rehearsal(self.learner) if again else self.learner
        self._layouts: dict[int, Layout] = {}
        self.objective = self.learner.objective
        self.power, self.degree = self.learner.power, self.learner.degree

    def layout(self, shape: tuple[int, ...]) -> Layout:
        features, atoms = shape
        count, side, room = matrices_and_rows(features)
        return Layout(
            gradient=shape,
            matrices=(count, *shape),
            moment=(side, side),
            waiting=(room, side),
            pulls=(atoms,),
            door=(GUARD_COUNT,),
            tracking=(NUMBERS,),
            **{_INNER + name: of for name, of in self.learner.layout((atoms, atoms)).shapes.items()},
        )

    def begin(self, x: FloatArray) -> ArrayBlock:
        memory = super().begin(x)
        _start_at(memory["matrices"], x)
        return memory

    def inside(self, memory: ArrayBlock) -> ArrayBlock:
        """Return the memory of the learner inside, a view."""
        atoms = memory.layout.shapes["pulls"][0]
        layout = self._layouts.get(atoms)
        if layout is None:
            layout = self._layouts[atoms] = self.learner.layout((atoms, atoms))
        return ArrayBlock(layout, memory.array[..., -layout.size :])

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        new = ArrayBlock(memory.layout, memory.array.copy())
        numbers = new["door"]
        numbers[..., LIMIT] += np.where(numbers[..., SEEN] > 0.0, 2.0 * np.log(factor), 0.0)
        numbers[..., [LAST_SAMPLE, LAST_BATCH]] *= factor
        new["gradient"][...] *= factor**self.power
        self.inside(new).array[...] = self.learner.rescaled(self.inside(memory), factor).array
        return new

    def energy(self, memory: ArrayBlock) -> FloatArray:
        return self.learner.energy(self.inside(memory))

    def report(self, memory: ArrayBlock, samples: int) -> Report:
        report = self.learner.report(self.inside(memory), samples)
        return report._replace(changes=report.changes + memory["tracking"][..., CHANGED])

    def answer(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return what the learner inside reports, as atoms of N features."""
        basis = memory["matrices"][..., BASIS, :, :]
        point = basis.mT @ x
        found = self.learner.answer(self.inside(memory), point)
        return x if found is point else basis @ found

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        return self.learner.energies(self.inside(memory), memory["matrices"][..., BASIS, :, :].mT @ x)

    def for_completion(self, memory: ArrayBlock, x: FloatArray, missing: float) -> tuple[FloatArray, float | None]:
        basis = memory["matrices"][..., BASIS, :, :]
        point = basis.mT @ x
        found, noise = self.learner.for_completion(self.inside(memory), point, missing)
        return x if found is point else basis @ found, noise

    def limited(self, memory: ArrayBlock, batch: Batch, unit: float) -> Batch:
        numbers = memory["door"]
        guard = Layout(guard=(GUARD_COUNT,)).block(numbers.shape[:-1], {"guard": numbers})
        return self.learner.limited(guard, batch, unit)

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the saved memory; that of a learner without a subspace goes on inside of the span of its atoms."""
        if "tracking" in arrays:
            return super().restored(arrays, x)
        memory = self.begin(x)
        basis, inner = entered(self.learner, arrays, x)
        _start_at(memory["matrices"], basis)
        memory["gradient"][...] = basis @ inner["gradient"]
        self.inside(memory).array[...] = inner.array
        return memory

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Keep the memory of a hand-over between the same two contrasts, inside of a subspace or not."""
        if not isinstance(other, InSubspace):
            kept = self.learner.adopted(state, other)
            return self.restored(dict(kept), state.x) if kept["numbers"].any() else self.begin(state.x)
        inner = state._replace(x=state.memory["matrices"][..., BASIS, :, :].mT @ state.x)
        inner = inner._replace(memory=other.inside(state.memory))
        kept = self.learner.adopted(inner, other.learner)
        memory = ArrayBlock(state.memory.layout, state.memory.array.copy())
        self.inside(memory).array[...] = kept.array
        return memory

    @property
    def kernel(self) -> Kernel | None:
        inner = self.learner.kernel
        if type(self) is not InSubspace or inner is None:
            return None
        own = tuple(_HERE + name for name in ("constants", "layout", "decisions", "spans", "loops"))
        return Kernel("subspace_update", inner.modules + own)

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        return self._inner.settings(memory, atoms, samples)

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the gradient of the learner inside, in the basis, gamma, and the memory."""
        if x.ndim > 2 and not isinstance(batch, np.ndarray):
            batch = batch.toarray()
        if self.again and not self.inside(memory)["guard"][..., SEEN].all():
            return memory["gradient"], 0.0, memory  # there is nothing yet that could be rehearsed
        new = ArrayBlock(memory.layout, memory.array.copy())
        basis = new["matrices"][..., BASIS, :, :]
        point = basis.mT @ x
        squares = np.broadcast_to(door.squared_lengths(batch), (*x.shape[:-2], batch.shape[-2]))
        if not np.isfinite(squares).all():
            raise ValueError("the mini-batch is not finite: look for NaN, infinity or extreme values in it.")
        typical = door.typical_lengths(squares, weights)
        if not self.again:
            self._begin(new, squares, typical)
            if self.learner.skip_repeats:
                doors = new["door"].reshape(-1, GUARD_COUNT)
                numbers = doors.tolist()
                weights = without_repeats(numbers, batch, weights, x.shape[:-2])
                doors[:] = numbers
        admitted = self._admit(new, squares, weights, typical)
        factors = np.stack([one.factors for one in admitted]).reshape(squares.shape)
        coordinates = rows_times(batch, basis) * factors[..., None]
        learnt, gamma, inner = self._inner.update(self.inside(new), point, coordinates, weights)
        self.inside(new).array[...] = inner.array
        moved = False
        if not self.again:
            stack = x.shape[:-2]
            for i, one in zip(np.ndindex(stack), admitted, strict=True):
                if one.samples[0] > 0.0:
                    rows = np.broadcast_to(batch, (*stack, *batch.shape[-2:]))[i] if stack else batch
                    seen = _Seen(rows, coordinates[i], point[i], one)
                    moved |= self._track(ArrayBlock(new.layout, new.array[i]), seen)
        basis = new["matrices"][..., BASIS, :, :]
        if gamma == 0.0 and moved:
            new["gradient"][...] = -(basis @ point)
            return new["gradient"], 1.0, new
        if gamma > 0.0:
            new["gradient"][...] = basis @ learnt
        return new["gradient"], gamma, new

    @staticmethod
    def _begin(memory: ArrayBlock, squares: FloatArray, typical: list[float]) -> None:
        """Start door and tracking of the problems that see their first samples."""
        doors, tracking = memory["door"].reshape(-1, GUARD_COUNT), memory["tracking"].reshape(-1, NUMBERS)
        for i, mine in enumerate(squares.reshape(len(doors), -1)):
            if doors[i, SEEN] == 0.0 and mine.any():
                start_guard(doors[i], typical[i], 0.0)
                decide.start_tracking(tracking[i])

    def _admit(
        self, memory: ArrayBlock, squares: FloatArray, weights: FloatArray | None, typical: list[float]
    ) -> list[door.Admitted]:
        """Return what the door lets in, for each problem, and move its limit."""
        found = []
        count = squares.shape[-1]
        doors, tracking = memory["door"].reshape(-1, GUARD_COUNT), memory["tracking"].reshape(-1, NUMBERS)
        matrices = memory["matrices"].reshape(-1, *memory["matrices"].shape[-3:])
        each = None if weights is None else np.broadcast_to(weights, squares.shape).reshape(-1, count)
        for i, mine in enumerate(squares.reshape(-1, count)):
            numbers, s = doors[i].tolist(), tracking[i].tolist()
            own = None if each is None else each[i]
            one = door.admit(mine, own, np.asarray(np.exp(numbers[LIMIT])))
            found.append(one)
            if self.again or not mine.any():
                continue
            long, short, silent = one.counts[0]
            if move_limit(numbers, long, short, silent, typical[i], memory["pulls"].shape[-1]):
                decide.forget_bases(s)
                matrices[i, FRESH] = 0.0
            doors[i], tracking[i] = numbers, s
        return found

    def _track(self, memory: ArrayBlock, seen: _Seen) -> bool:
        """Let the bases of one problem learn from a mini-batch; return whether the one in force has changed."""
        matrices, inner, s = memory["matrices"], self.inside(memory), memory["tracking"].tolist()
        atoms = matrices.shape[-1]
        _, half_life, adaptive, _ = self.settings(memory, atoms, 1)
        samples, weights = seen.admitted.samples[0], seen.admitted.weights
        unit, roots = float(np.exp(-0.5 * memory["door"][LIMIT])), np.sqrt(weights)
        point = self.learner.answer(inner, seen.point)
        in_slab = point is seen.point and bool(inner["numbers"][PHASE] == 1.0)
        score = scores(memory["pulls"], (seen.coordinates @ point) * unit, weights) * roots[:, None]
        cut = door.shortened(seen.rows, unit * seen.admitted.factors * roots)
        matrices[FRESH] += columns_times(cut, score @ point.T)
        s[WAITING] += samples
        due = decide.patient_is_due(s, atoms)
        if due:
            fold(s, matrices, half_life, adaptive > 0.0)
        dense = cut if isinstance(cut, np.ndarray) else cut.toarray()
        changed = judge(s, matrices, dense, samples, in_slab)
        moment, quick_due = memory["moment"], False
        if moment.size > 0 and not decide.quick_rests(s, in_slab, atoms):
            quick_due = hold(s, matrices, moment, memory["waiting"], dense, samples, half_life)
        moved = changed or (quick_due if s[IN_FORCE] == QUICK_ONE else due)
        if moved:
            found = chosen(s, matrices)
            product = found.T @ matrices[BASIS]
            if decide.is_elsewhere(s, squares_of(product), atoms, float(inner["numbers"][CHANGES])):
                inner.array[...] = 0.0
            turn, guess = polar(product, near=np.eye(atoms), low=s[GUESS])
            s[GUESS] = float(guess)
            matrices[BASIS] = found @ turn
        memory["tracking"][:] = s
        return moved


class _Seen(NamedTuple):
    """The mini-batch of one problem: rows, their coordinates in the basis, the point in the same, what was admitted."""

    rows: Batch
    coordinates: FloatArray
    point: FloatArray
    admitted: door.Admitted


def _start_at(matrices: FloatArray, basis: FloatArray) -> None:
    """Put a basis into force; the snapshots, and the quick basis if there is one, start there too."""
    matrices[..., BASIS, :, :] = basis
    matrices[..., SEEN_PATIENT:, :, :] = basis[..., None, :, :]
