"""The estimate for compression: second moments of several memory lengths, mixed as the stream asks for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.mixed_memories.constants import MEMORIES
from orthostream.optimize.estimates.mixed_memories.decisions import forgetting_rates, largest_part
from orthostream.optimize.estimates.mixed_memories.layout import layout_for, parts
from orthostream.optimize.estimates.mixed_memories.update import next_memory, remembered
from orthostream.optimize.estimates.principal import principal_gradient
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy
from orthostream.optimize.polar_decomposition import polar

_FOLDER = "orthostream.optimize.estimates.mixed_memories"
_KERNEL = Kernel(
    "mixed_memories_update",
    (
        f"{_FOLDER}.constants",
        f"{_FOLDER}.layout",
        "orthostream.optimize.objectives.rank_weights",
        f"{_FOLDER}.decisions",
        f"{_FOLDER}.loops",
        f"{_FOLDER}.update",
    ),
)


class MixedMemories(GradientEstimate):
    r"""The gradient of the rank-weighted energy over a mixture of memories, which finds its own length.

    The gradient of `RankWeightedEnergy` has two parts. With the mean weight :math:`\bar w_j` of each atom, which is how
    important the atom is, the first part is :math:`\bar w_j C d_j`, where C is the second moment of the samples: it
    leads to principal components. The second part comes from what each sample's weights are above these means.

    *The first part* has five second moments. One never forgets, the others do after 6 N, 1.25 N, N/4 and N/20 samples
    of N features (of 32, if there are fewer). Each predicts the correlations of the coefficients of the next
    mini-batch. Their shares in C are those with which the mixed prediction had the smallest squared error for the last
    300 samples. There are two sets of shares, one fitted to important atoms and one to the others, and each atom mixes
    them by its importance.

    *The second part* needs samples, as ranks change with the dictionary. The last 20 N samples are kept, and 2 N of
    them are ranked at each step: all of the newest, and of older ones fewer, others at each step, as far back as the
    mixture of memories reaches. A sample counts with its share in that mixture. The longer the mixture, the more such
    looks are averaged.

    Each gradient replaces the last one, and each vertex the last point. A mini-batch of more than N/4 samples (and more
    than 12) is cut into parts with a step for each, as one step would leave the dictionary behind. Ranks mean little
    before the atoms fit the stream. Until there are as many samples as features, the dictionary is therefore that of
    the principal components.

    Parameters
    ----------
    objective : RankWeightedEnergy, optional
        What is minimised; value and gap are computed with it.
    rows_per_feature : int, default 20
        The number of samples in memory, per feature.

    Notes
    -----
    A sample of weight 2 counts as two samples. A sample of weight zero, or of zeros only, is ignored. A mini-batch of
    such samples changes nothing. The memory holds about 27 N^2 numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> atoms = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])  # equal energy: any basis is principal
    >>> solver = StochasticFrankWolfe(SpectralBall(), MixedMemories(rows_per_feature=50), post_step=PolarStep())
    >>> state = solver.init(np.eye(3))
    >>> for _ in range(200):
    ...     state = solver.step(state, rng.standard_normal((6, 3)) * (rng.random((6, 3)) < 0.3) @ atoms)
    >>> np.abs(atoms @ state.x).max(axis=1).round(1)
    array([1., 1., 1.])
    """

    def __init__(self, objective: RankWeightedEnergy | None = None, *, rows_per_feature: int = 20) -> None:
        self.objective: RankWeightedEnergy = RankWeightedEnergy() if objective is None else objective
        self.rows_per_feature = _checks.integer("rows_per_feature", rows_per_feature)

    def layout(self, shape: tuple[int, ...]) -> Layout:
        features, atoms = shape
        return layout_for(features, atoms, self.rows_per_feature * features)

    def begin(self, x: FloatArray) -> ArrayBlock:
        begun = super().begin(x)
        begun["shares"][...] = 1.0 / MEMORIES
        return begun

    @property
    def kernel(self) -> Kernel | None:
        return _KERNEL if type(self) is MixedMemories and type(self.objective) is RankWeightedEnergy else None

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        energy = self.objective
        return energy.power, energy.shrink, energy.head, float(self.rows_per_feature)

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the gradient, gamma (1, or 0 if all samples are zero), and the memory."""
        rows = np.asarray(batch.toarray() if hasattr(batch, "toarray") else batch, dtype=float)
        if not np.isfinite(rows).all():
            raise ValueError("the mini-batch is not finite: look for NaN, infinity or extreme values in it.")
        stack = x.shape[:-2]
        rows = np.broadcast_to(rows, (*stack, *rows.shape[-2:]))
        counted = np.asarray(rows.any(axis=-1) * (1.0 if weights is None else weights))
        if not counted.any():
            return memory["gradient"], 0.0, memory
        blocks = memory.array.copy()
        for place in np.ndindex(stack):
            live = counted[place] > 0.0
            if live.any():
                blocks[place] = self._next(memory.array[place], x[place], rows[place][live], counted[place][live])
        new = ArrayBlock(memory.layout, blocks)
        return new["gradient"], 1.0, new

    def _next(self, block: FloatArray, x: FloatArray, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the next block of one problem, given samples with a positive weight."""
        energy, (features, atoms) = self.objective, x.shape
        room = self.rows_per_feature * features
        if np.count_nonzero(parts(block, features, atoms, room)[2]) < features:
            block = remembered(block, x, rows, weights, room)
            gradient, _, _, moments, totals, *_ = parts(block, features, atoms, room)
            gradient[:] = principal_gradient(moments[-1] / totals[-1], atoms)
            return block
        settings = energy.power, energy.shrink, energy.head, room
        count = -(-len(rows) // largest_part(features))
        for i, part in enumerate(np.array_split(np.arange(len(rows)), count)):
            if i:
                x = polar(gradient, near=x, sign=-1.0)[0]
            gradient, _, block = next_memory(block, x, rows[part], weights[part], *settings)
        return block

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        scaled = {name: memory[name] * factor**self.power for name in ("gradient", "moments", "pull")}
        scaled["rows"] = memory["rows"] * factor
        return memory.layout.block(memory.array.shape[:-1], dict(memory) | scaled)

    def energy(self, memory: ArrayBlock) -> FloatArray:
        total, features = memory["totals"][..., -1], memory["moments"].shape[-1]
        trace = np.trace(memory["moments"][..., -1, :, :], axis1=-2, axis2=-1)
        return np.asarray(trace / (features * np.where(total > 0.0, total, 1.0)))

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the weighted sum of the squared coefficients of each atom over all samples."""
        return np.asarray((x * (memory["moments"][..., -1, :, :] @ x)).sum(axis=-2))

    def report(self, memory: ArrayBlock, samples: int) -> Report:
        """Return the number of last samples that have half of the weight in the mean mixture of memories."""
        rates = forgetting_rates(memory["moments"].shape[-1])
        shares, total = memory["shares"].mean(axis=-2), memory["totals"][..., -1]
        low, high = np.zeros_like(total), total
        for _ in range(60):
            middle = 0.5 * (low + high)
            enough = (shares * _weight_of_last(middle, total, rates)).sum(axis=-1) >= 0.5
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return Report(np.zeros_like(high), high, np.zeros_like(high))

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the memory that was saved, or one made of the samples that a `Replay` saved."""
        if "ranking" not in arrays:
            return super().restored(arrays, x)
        begun = self.begin(x)
        begun["gradient"][...] = arrays["gradient"]
        features = x.shape[-2]
        rows, weights = np.asarray(arrays["rows"], dtype=float), np.asarray(arrays["weights"], dtype=float)
        for place in np.ndindex(x.shape[:-2]):
            block = begun.array[place]
            for i in np.flatnonzero(weights[place]):
                new = rows[place][i : i + 1], weights[place][i : i + 1]
                block = remembered(block, x[place], *new, self.rows_per_feature * features)
            begun.array[place] = block
        return begun


def _weight_of_last(count: FloatArray, total: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the share of the last ``count`` of ``total`` samples in each memory."""
    count, total = count[..., None], total[..., None]
    forgets = rates > 0.0
    steady = np.where(forgets, rates, 1.0)
    faded = np.expm1(-steady * count) / np.where(total > 0.0, np.expm1(-steady * total), 1.0)
    return np.asarray(np.where(forgets, faded, count / np.where(total > 0.0, total, 1.0)))
