"""The error of a learnt dictionary, up to the order and the signs of its atoms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def recovery_error(components: ArrayLike, true_components: ArrayLike) -> float:
    """Return ``|1 - ||D' D_true||_4^4 / K|``, zero if each atom is a true one or its negative.

    Parameters
    ----------
    components : array of shape (K, n_features)
        The learnt atoms as rows.
    true_components : array of shape (at least K, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> recovery_error(np.eye(3), -np.eye(3)[::-1])
    0.0
    """
    learnt, true = np.atleast_2d(components), np.atleast_2d(true_components)
    if learnt.shape[1] != true.shape[1]:
        raise ValueError(f"atoms of {learnt.shape[1]} and of {true.shape[1]} features cannot be compared.")
    return float(abs(1.0 - ((learnt @ true.T) ** 4).sum() / len(learnt)))
