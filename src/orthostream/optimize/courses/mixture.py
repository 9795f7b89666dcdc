"""The spike and the slab that a hand-over's running means describe."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.courses.layout import Slot
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab


def mixture(n: FloatArray, least: float) -> SpikeAndSlab:
    """Return the spike and slab that the running means describe, of each problem."""
    sparsity = np.clip(n[..., Slot.OPEN], 1e-3, 1.0 - 1e-3)
    slab = n[..., Slot.SIGNAL] / np.maximum(n[..., Slot.OPEN], 1e-12)
    slab = np.where(slab > 0.0, slab, 1.0)
    spike = np.clip((n[..., Slot.ENERGY] - n[..., Slot.SIGNAL]) / (1.0 - sparsity), least * slab, 0.9 * slab)
    return SpikeAndSlab(sparsity, spike, slab)


def ratio_of(n: FloatArray, least: float) -> FloatArray:
    """Return the ratio of the spike to the slab, of each problem."""
    model = mixture(n, least)
    return np.asarray(model.spike / model.slab)


def first_numbers(energy: FloatArray) -> FloatArray:
    """Return the numbers before the first mini-batch, of this mean energy."""
    n = np.zeros((*energy.shape, len(Slot)))
    n[..., [Slot.AGE, Slot.TRUST, Slot.LEVEL, Slot.MARK]] = 1.0
    slab = energy / 0.75
    n[..., Slot.OPEN], n[..., Slot.SIGNAL], n[..., Slot.ENERGY] = 0.5, 0.5 * slab, energy
    return n
