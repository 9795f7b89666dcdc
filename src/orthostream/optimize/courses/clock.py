"""The clock of a hand-over: it sets the weight of a new gradient, and with it how much is remembered."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.courses import constants
from orthostream.optimize.courses.layout import Slot


def rho_of(n: FloatArray, floor: FloatArray | float) -> FloatArray:
    """Return the weight of the next gradient, of each problem."""
    cool = np.where(n[..., Slot.PHASE] == 1.0, constants.COOL_SPARSE, constants.COOL)
    return np.asarray(np.maximum(cool / (n[..., Slot.AGE] + cool - 1.0), floor))


def set_the_clock(
    n: FloatArray,
    force: FloatArray,
    power: FloatArray,
    feeling: FloatArray,
    per_atom: FloatArray,
    floor: FloatArray | float,
    adaptive: bool,
) -> None:
    """Let the clock go on where the mean force is noise, and back where it persists."""
    atoms = force.shape[-1]
    age = n[..., Slot.AGE]
    step: FloatArray = np.ones_like(age)
    if adaptive and atoms > 1:
        tiny = np.finfo(power.dtype).tiny
        trust = n[..., Slot.TRUST]
        squares = np.square(force, dtype=float)
        whole = squares.sum(axis=(-2, -1)) / np.maximum(trust * power.sum(axis=(-2, -1), dtype=float), tiny)
        pair = (squares / np.maximum(trust[..., None, None] * power, tiny)).max(axis=(-2, -1))
        usual = 2.0 * math.log(0.5 * atoms * (atoms - 1)) + 2.0  # about the largest of so many squared normals
        push = np.where(age * per_atom < constants.MIXTURE, constants.PUSH_YOUNG, constants.PUSH)
        slide = (1.0 - push * (whole - 1.0)) * np.maximum(1.0, 0.5 * age * feeling)
        step = np.minimum(slide, 2.0 - 2.0 * pair / usual)
        step = np.where(trust < 0.5, np.minimum(step, 1.0), 1.0)
    oldest: FloatArray | float = np.inf
    if np.any(np.asarray(floor) > 0.0):
        cool = np.where(n[..., Slot.PHASE] == 1.0, constants.COOL_SPARSE, constants.COOL)
        oldest = np.maximum(cool / np.maximum(floor, constants.NOTHING) - cool + 1.0, 1.0)
    n[..., Slot.AGE] = np.clip(age + step, 1.0, oldest)
