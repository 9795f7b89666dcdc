"""The test of Diebold and Mariano, which tells whether two methods differ significantly in their losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from orthostream._checks import integer, one_of
from orthostream._typing import FloatArray

_ROUNDING = 4.0 * float(np.finfo(float).eps)


class DieboldMariano(NamedTuple):
    """The result of the test.

    Attributes
    ----------
    statistic : float
        Negative if the first method has the smaller losses.
    p_value : float
        Two-sided: the probability of a statistic at least as large if both methods have the same expected loss.
    mean_difference : float
        The mean of the first losses minus that of the second.
    kernel : str
        The weights of lags in the long-run variance: "uniform"; "bartlett" if uniform weights gave no positive
        variance; "none" if the difference is constant.

    Examples
    --------
    >>> diebold_mariano([1.0, 2.0, 1.0], [1.0, 2.0, 1.0], horizon=1)
    DieboldMariano(statistic=0.0, p_value=1.0, mean_difference=0.0, kernel='none')
    """

    statistic: float
    p_value: float
    mean_difference: float
    kernel: str


def diebold_mariano(
    losses_1: ArrayLike, losses_2: ArrayLike, horizon: int = 4, variant: str = "corrected"
) -> DieboldMariano:
    """Test whether two methods have the same expected loss, when losses of nearby time slots are correlated.

    With d the T differences of the losses, m their mean and c_k their autocovariance at lag k, the long-run variance is
    ``v = c_0 + 2 (c_1 + … + c_{h-1})``, for a horizon of h slots, and the statistic of Harvey, Leybourne and Newbold
    (1997) is ::

        m / sqrt(v / T) * sqrt((T + 1 - 2h + h(h - 1)/T) / T)

    It is compared with Student's t with T - 1 degrees of freedom. If v is not positive, Bartlett's weights 1 - k/h are
    used instead, which always give a positive variance.

    Parameters
    ----------
    losses_1, losses_2 : arrays of shape (n_slots,)
        The loss of each method in each time slot; the paper uses squares of `slot_rmse`.
    horizon : int, default 4
        Differences this many slots apart are assumed to be uncorrelated. There must be more slots than that.
    variant : {"corrected", "paper"}
        "paper" is the formula as the paper prints it, for comparison. It differs in three ways: the factor is
        ``sqrt((T - 1 - 2h + h(h - 1)) / T)``; the sum of all d replaces the mean m, also in the autocovariances; and
        the statistic is compared with the normal distribution. The sum makes the test useless: on long records the
        statistic tends to plus or minus ``sqrt(T / (2h - 1))`` for any losses, so the paper's own table cannot come
        from it. With the mean instead of the sum, the two statistics agree within 1 % at the paper's T = 749.

    Returns
    -------
    DieboldMariano
        If the losses differ by a constant, the statistic is infinite and the p-value 0. If they are equal, the
        statistic is 0 and the p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.uniform(size=100)
    >>> result = diebold_mariano(losses, losses + rng.uniform(-0.1, 0.3, size=100))
    >>> result.statistic < 0, result.p_value < 0.01, result.kernel
    (True, True, 'uniform')
    """
    one_of("variant", variant, ("corrected", "paper"))
    first, second = _losses("losses_1", losses_1), _losses("losses_2", losses_2)
    if first.shape != second.shape:
        raise ValueError(f"the methods have losses in {len(first)} and in {len(second)} slots; compare the same slots.")
    factor = _factor(len(first), horizon, variant)
    rounding = _ROUNDING * np.maximum(np.abs(first), np.abs(second))
    difference = np.where(np.abs(first - second) > rounding, first - second, 0.0)
    # Scaling does not change the statistic; divided by the largest difference, squares neither overflow nor underflow.
    unit = float(np.abs(difference).max())
    if unit == 0.0:
        return DieboldMariano(0.0, 1.0, 0.0, "none")
    scaled = difference / unit
    centre = float(scaled.sum() if variant == "paper" else scaled.mean())
    deviations = np.where(np.abs(scaled - centre) > rounding / unit + _ROUNDING, scaled - centre, 0.0)
    variance, kernel = _long_run_variance(deviations, horizon)
    with np.errstate(divide="ignore"):
        statistic = float(factor * centre / np.sqrt(variance / len(scaled)))
    tail = ndtr(-abs(statistic)) if variant == "paper" else stdtr(len(scaled) - 1, -abs(statistic))
    return DieboldMariano(statistic, float(2.0 * tail), float(difference.mean()), kernel)


def _losses(name: str, values: ArrayLike) -> FloatArray:
    losses = np.asarray(values, dtype=float)
    if losses.ndim != 1:
        raise ValueError(f"{name} must have one loss for each slot, got an array of shape {losses.shape}.")
    if not np.isfinite(losses).all():
        slot = int(np.argmin(np.isfinite(losses)))
        raise ValueError(f"{name} must be finite, got {losses[slot]} in slot {slot}; leave that slot out of both.")
    return losses


def _factor(n_slots: int, horizon: int, variant: str) -> float:
    integer("horizon", horizon)
    if variant == "paper":
        square = (n_slots - 1 - 2 * horizon + horizon * (horizon - 1)) / max(n_slots, 1)
    else:
        square = (n_slots + 1 - 2 * horizon + horizon * (horizon - 1) / max(n_slots, 1)) / max(n_slots, 1)
    if n_slots <= max(horizon, 1) or square <= 0.0:
        raise ValueError(
            f"{n_slots} slots are too few for a horizon of {horizon}: take more slots, or a shorter horizon."
        )
    return float(np.sqrt(square))


def _long_run_variance(deviations: FloatArray, horizon: int) -> tuple[float, str]:
    n_slots = len(deviations)
    if not deviations.any():
        return 0.0, "none"
    covariances = np.array([deviations[lag:] @ deviations[: n_slots - lag] for lag in range(horizon)]) / n_slots
    twice = np.where(np.arange(horizon) > 0, 2.0, 1.0)
    uniform = float(twice @ covariances)
    if uniform > n_slots * np.finfo(float).eps * covariances[0]:
        return uniform, "uniform"
    return float((twice * (1.0 - np.arange(horizon) / horizon)) @ covariances), "bartlett"
