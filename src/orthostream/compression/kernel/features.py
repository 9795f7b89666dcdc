"""What the next sample is predicted from: one small regression in time that all sensors of a group share."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.kernel.group_state import N_FEATURES, SAMPLES, Group
from orthostream.compression.kernel.jumps import leaves_out_jumps
from orthostream.compression.kernel.rows import add_scaled, means


def features_of(group: Group, features: FloatArray, present: FloatArray) -> FloatArray:
    """Write what the next sample is predicted from, a row per feature; return the last sample."""
    at = int(group.clock[SAMPLES])
    history = group.history
    ring = history.shape[0]
    last: FloatArray = history[(at - 1) % ring]
    before = history[(at - 2) % ring]
    deviation = np.sqrt(group.variance)
    features[0] = last - before
    if leaves_out_jumps(group):
        features[0] -= group.jump
    features[1] = history[(at + 2) % ring] - history[(at + 1) % ring]
    features[2] = history[(at + 1) % ring] - last
    features[3] = last - group.mean
    features[:2] /= group.spread
    features[2:4] /= deviation
    total = 0.0
    for i in range(len(present)):
        present[i] = 1.0 if group.seen[i] > 0 else 0.0
        total += float(present[i])
    common = means(features[:4], present, max(total, 1.0))
    for k in range(3):
        unit = deviation if k == 2 else group.spread
        features[4 + k] = unit * float(common[k])
        features[k] *= unit
        features[k] -= features[4 + k]
    features[7] = deviation * float(common[3])
    features[3] *= deviation
    return last


def prediction(group: Group, features: FloatArray, last: FloatArray) -> FloatArray:
    """Return what the regression expects of each sensor."""
    predicted = last.copy()
    for k in range(N_FEATURES):
        add_scaled(predicted, features[k], float(group.weights[k]), 0)
    return predicted
