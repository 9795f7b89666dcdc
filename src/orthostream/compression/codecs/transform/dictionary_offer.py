"""When a learnt dictionary is worth the bits that it takes to send it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.compression.codecs.codec import Payload
from orthostream.compression.codecs.paper.saved_learner import learner_from_bytes, learner_to_bytes
from orthostream.compression.codecs.plain_state import checked_array
from orthostream.compression.codecs.transform.adapted_basis import seeded
from orthostream.compression.codecs.transform.shared_state import SharedState

#: Samples between two looks, which are also those that a look is about; and over how many a dictionary must pay.
_WINDOW = 168
_PAYS_WITHIN = 504
#: How exactly atoms are sent, as the norm of the error over that of the atoms.
_RELATIVE_ERROR = 0.15
_FRAME_BITS = 32


class DictionaryOffer:
    """Learns an orthogonal dictionary from what is measured, and offers it when it would save more than it costs.

    Both sides adapt a basis from what was decoded, for nothing; what was measured says more, above all of atoms too
    weak to be sent. Whether that is worth it is measured on the residuals of the last samples: the bits that they would
    take in the basis that is held, against those in the basis after the dictionary as it would arrive.
    """

    def __init__(self) -> None:
        self._learner = OrthogonalDictionaryLearning.preset("compression", random_state=0)
        self._residuals: list[FloatArray] = []
        self._rows = 0

    def state(self) -> dict[str, Any]:
        """Return what was learnt, and the samples of the next look."""
        residuals = [np.array(part) for part in self._residuals]
        return {"learner": learner_to_bytes(self._learner), "residuals": residuals}

    def set_state(self, state: dict[str, Any], n_sensors: int) -> None:
        """Go on with a state that was saved."""
        if state["learner"] is not None:
            self._learner = learner_from_bytes(state["learner"])
            if self._learner.raw_components_.shape[1] != n_sensors:
                raise ValueError(f"the learner is not one of {n_sensors} sensors.")
        parts = [checked_array(part, "float64", (len(part), n_sensors), "residuals") for part in state["residuals"]]
        self._residuals, self._rows = parts, sum(map(len, parts))

    def learn(self, centred: FloatArray, residuals: FloatArray) -> None:
        """Take in samples around their mean, NaN where missing, and what was not predicted of them."""
        self._learner.partial_fit(centred)
        self._residuals.append(residuals)
        self._rows += len(residuals)

    def payload(self, state: SharedState, step: float) -> Payload | None:
        """Return a dictionary that pays, if it is time to look and there is one."""
        if self._rows < _WINDOW:
            return None
        residuals = np.concatenate(self._residuals)
        self._residuals, self._rows = [], 0
        atoms: FloatArray = self._learner.raw_components_
        energies = np.square(residuals @ atoms.T).sum(axis=0)
        trial = copy.copy(state.dictionary)
        leading = atoms[np.argsort(-energies)[: trial.n_components]]
        if trial.epoch == 0:
            payload = trial.key(leading, relative_error=_RELATIVE_ERROR)
        else:
            payload = trial.update(leading, relative_error=_RELATIVE_ERROR)
        held = state.basis.components
        gain = _bits(residuals, held, step) - _bits(residuals, seeded(held, trial.components, state.basis.moment), step)
        pays = gain * _PAYS_WITHIN / len(residuals) > 8 * len(payload.body) + _FRAME_BITS
        return payload if pays else None


def _bits(residuals: FloatArray, components: FloatArray, step: float) -> float:
    """Return about how many bits residuals take in a basis."""
    coefficients = residuals @ components.T / step
    return 0.5 * float(np.log2(1.0 + coefficients * coefficients).sum())
