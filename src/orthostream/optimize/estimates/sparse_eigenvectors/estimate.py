"""Sparse leading eigenvectors of the second moment, as an estimate of the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate
from orthostream.optimize.estimates.sparse_eigenvectors.components import Tolerance, sparse_components
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment
from orthostream.optimize.estimates.sparse_eigenvectors.sketched_moment import SketchedMoment
from orthostream.optimize.estimates.sparse_eigenvectors.whole_moment import WholeMoment
from orthostream.optimize.objectives.base import Batch, batch_size
from orthostream.optimize.objectives.sparse_pca import SparsePCAObjective
from orthostream.optimize.state import State

#: The point is brought up to date when more than this part of the memory is new.
_STALE = 0.1


class SparseEigenvectors(GradientEstimate):
    """Sparse principal components of all samples: the leading eigenvectors of their second moment, less the noise.

    The rows of a point are orthonormal components, shape (..., n_components, n_features); axes before these two are a
    stack of problems. The gradient is that of minus the variance along each component, on its support. So the vertex of
    `L2Ball` is the component itself, and gamma is 1. The point is brought up to date when a tenth of the samples is
    new, and left as it is (gamma 0) in between; `components` is always up to date.

    Up to ``largest_matrix`` features the second moment is kept whole. Beyond, the memory grows in proportion to the
    number of features: it holds the directions of largest variance, ``rank`` more than components, and as many samples
    that wait to be merged with them.

    Parameters
    ----------
    variance_loss : float, optional
        The part of its variance that each component may lose for more zeros. With 0, only what cannot be told from
        noise is zero. None allows 0.001, but no entry of more than five standard errors is lost, so that components get
        as close to the eigenvectors as the samples allow.
    half_life : float, optional
        The number of samples after which the weight of a sample is halved. None forgets nothing.
    largest_matrix : int, default 1000
    rank : int, default 100

    Notes
    -----
    Noise is what independent normal samples would have, or fewer of them, by as much as the fourth powers of the
    samples' lengths exceed those of normal samples. A weight of 2 counts as two samples.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import L2Ball, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> solver = StochasticFrankWolfe(L2Ball(), SparseEigenvectors())
    >>> state = solver.init(np.eye(1, 6))
    >>> for _ in range(100):
    ...     rows = rng.standard_normal((10, 6))
    ...     rows[:, 2:4] += 2.0 * rng.standard_normal((10, 1))
    ...     state = solver.step(state, rows)
    >>> state.x.round(1)
    array([[0. , 0. , 0.7, 0.7, 0. , 0. ]])
    """

    degree = 4.0

    def __init__(
        self,
        variance_loss: float | None = None,
        half_life: float | None = None,
        *,
        largest_matrix: int = 1000,
        rank: int = 100,
    ) -> None:
        self.objective = SparsePCAObjective(penalty=0.0)
        self.tolerance = Tolerance()
        if variance_loss is not None:
            self.tolerance = Tolerance(_checks.between("variance_loss", variance_loss, 0.0, 1.0), np.inf)
        self.half_life = None if half_life is None else _checks.positive("half_life", half_life)
        self.largest_matrix = _checks.integer("largest_matrix", largest_matrix, least=0)
        self.rank = _checks.integer("rank", rank)
        self._last: tuple[ArrayBlock, FloatArray, FloatArray] | None = None

    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Return the layout of the memory: the gradient, a `Moment`, and sums over the samples.

        These are ``weight``; ``squares``, of weights that fade twice as fast; ``fresh``, of those since the point was
        brought up to date; ``fourth``, of the fourth powers of the samples' lengths.
        """
        count, features = shape
        room = 2 * (self.rank + count)
        sums: dict[str, tuple[int, ...]] = {"weight": (), "squares": (), "fresh": (), "fourth": ()}
        if features <= max(self.largest_matrix, room):
            return Layout(gradient=shape, moment=(features, features), **sums)
        return Layout(gradient=shape, rows=(room, features), held=(), diagonal=(features,), **sums)

    def begin(self, x: FloatArray) -> ArrayBlock:
        if x.ndim < 2:
            raise ValueError(f"SparseEigenvectors takes a matrix with components as rows, got shape {x.shape}.")
        return self.layout(x.shape[-2:]).zeros(x.shape[:-2])

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        memory = self._with(memory, batch, weights)
        if (memory["fresh"] <= _STALE * memory["weight"]).all():
            return memory["gradient"], 0.0, memory
        found, variances = self.sought(memory, x)
        most = variances.max(axis=-1, keepdims=True)
        least = np.where(most > 0.0, 1e-9 * most, 1.0)  # a component without variance has a direction too
        memory["gradient"][...] = -2.0 * np.maximum(variances, least)[..., None] * found
        memory["fresh"][...] = 0.0
        return memory["gradient"], 1.0, memory

    def components(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the components of all samples so far; x is the last point, whose signs they have.

        The last answer is kept, for calls with the same memory.
        """
        if not memory["fresh"].any():
            return x
        if self._last is None or self._last[0] is not memory or self._last[1] is not x:
            self._last = memory, x, self.sought(memory, x)[0]
        return self._last[2]

    def sought(self, memory: ArrayBlock, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return components and their variances, sought from the memory."""
        found, variances = np.empty_like(x), np.empty(x.shape[:-1])
        for index in np.ndindex(x.shape[:-2]):
            one = ArrayBlock(memory.layout, memory.array[index])
            found[index], variances[index] = self._found(one, x[index])
        return found, variances

    def __getstate__(self) -> dict[str, Any]:
        """Leave the last answer out of pickles."""
        return vars(self) | {"_last": None}

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        powers = {"gradient": 2, "fourth": 4, **_kind(memory).powers}
        scaled = {name: array * factor ** powers.get(name, 0) for name, array in memory.items()}
        return memory.layout.block(memory.array.shape[:-1], scaled)

    def energy(self, memory: ArrayBlock) -> FloatArray | None:
        return None

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Return the memory to continue from; the components are sought anew if they may lose more or less variance."""
        memory = super().adopted(state, other)
        if memory is state.memory and getattr(other, "tolerance", None) != self.tolerance:
            memory = ArrayBlock(memory.layout, memory.array.copy())
            memory["fresh"][...] = memory["weight"]
        return memory

    def _with(self, memory: ArrayBlock, batch: Batch, weights: FloatArray | None) -> ArrayBlock:
        """Return the memory after a mini-batch."""
        kind = _kind(memory)
        memory = ArrayBlock(memory.layout, memory.array.copy())
        total = np.asarray(float(batch_size(batch)) if weights is None else weights.sum(axis=-1))
        if self.half_life is not None:
            keep = 0.5 ** (total / self.half_life)
            fading = {name: 0.5 * power for name, power in kind.powers.items()}
            for name, often in (fading | {"weight": 1.0, "fresh": 1.0, "squares": 2.0, "fourth": 1.0}).items():
                array = memory[name]
                array *= np.reshape(keep**often, keep.shape + (1,) * (array.ndim - keep.ndim))
        for name in ("weight", "squares", "fresh"):
            sums = memory[name]
            sums += total
        memory["fourth"][...] += _fourth_powers(batch, weights)
        kind.add(memory, _weighted(batch, weights))
        if not np.isfinite(memory.array).all():
            raise ValueError("the second moment is not finite: look for NaN or infinity in the mini-batch.")
        return memory

    def _found(self, memory: ArrayBlock, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the components of one problem and their variances; the point as it is if there is no variance."""
        if not memory["weight"] > 0.0:
            return x, np.zeros(len(x))
        moment = _kind(memory).of(memory)
        if not moment.diagonal.any():
            return x, np.zeros(len(x))
        weight, squares, fourth = (float(memory[name]) for name in ("weight", "squares", "fourth"))
        normal = float(moment.diagonal.sum()) ** 2 + 2.0 * moment.trace_of_square()
        samples = weight**2 / squares / max(fourth / weight / normal, 1.0)
        found, variances = sparse_components(moment, samples, len(x), self.tolerance)
        if memory["gradient"].any():
            against = (found * x).sum(axis=1) < 0.0
        else:  # there is no earlier component to agree with: the largest entry is positive
            against = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)[:, 0] < 0.0
        return np.where(against[:, None], 0.0 - found, found), variances


def _kind(memory: ArrayBlock) -> type[Moment]:
    return WholeMoment if "moment" in memory.layout.shapes else SketchedMoment


def _weighted(batch: Batch, weights: FloatArray | None) -> Any:
    """Return rows times the square roots of their weights, dense or sparse."""
    if not hasattr(batch, "toarray"):
        batch = np.asarray(batch, dtype=float)
        return batch if weights is None else batch * np.sqrt(weights)[..., None]
    return batch if weights is None else batch.multiply(np.sqrt(weights)[:, None]).tocsr()


def _fourth_powers(batch: Batch, weights: FloatArray | None) -> FloatArray:
    """Return the sum of the fourth powers of the samples' lengths."""
    if hasattr(batch, "toarray"):
        squares = np.asarray(batch.multiply(batch).sum(axis=1)).ravel()
    else:
        squares = np.square(batch).sum(axis=-1)
    return np.asarray((squares**2 if weights is None else weights * squares**2).sum(axis=-1))
