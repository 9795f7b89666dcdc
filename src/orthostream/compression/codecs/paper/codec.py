"""Example 1 of the paper: sparse codes in a dictionary that the edge learns and sends to the cloud when it pays."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from orthostream._checks import between, integer
from orthostream._typing import BoolArray, FloatArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload, SharedDictionary
from orthostream.compression.codecs.paper.dictionary_update import QuantisedDictionary
from orthostream.compression.codecs.paper.dictionary_update.givens import check_angle_bits
from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import n_rotations
from orthostream.compression.codecs.paper.dictionary_update.rotation_delta import LEAST_ERROR
from orthostream.compression.codecs.paper.payload import CodeLayout
from orthostream.compression.codecs.paper.saved_learner import learner_from_bytes, learner_to_bytes
from orthostream.compression.codecs.plain_state import checked_array, set_values, values_of
from orthostream.dictionary import OrthogonalDictionaryLearning
from orthostream.dictionary.missing import complete
from orthostream.dictionary.sparse_coding import keep_largest
from orthostream.optimize import frank_wolfe_gap

#: Each fit of the gaps of a sample brings its code closer to the best for the readings alone.
_FITS = 10
_ERRORS = ("_held_error", "_learnt_error")
_PARTS = ("dictionary", "indices", "values", "mask", "header")


class PaperCodec(Codec):
    """Send the largest few coefficients of each sample, and a new dictionary when the old one has become bad.

    For each mini-batch the encoder (1) asks what error the dictionary of the cloud makes and what error the learnt one
    would make; where the former is larger by more than ``threshold``, it sends the learnt one as Givens angles; (2)
    codes the samples in the dictionary that the cloud holds, rounded angles and all, and sends supports and values; (3)
    learns from the mini-batch. The decoder recovers samples from codes. Nothing bounds the error of a single reading.

    Where the paper speaks of the error of the learnt dictionary's code decoded by the cloud's dictionary, each
    dictionary has its own code here: that is what it would send.

    Parameters
    ----------
    n_sensors : int
    n_nonzero : int, default 8
        eta_0, coefficients that are kept of each sample.
    n_components : int, optional
        Atoms; as many as sensors by default.
    value_bits : int, default 10
        Bits of a value, 2 to 24. The values of a payload share a step.
    angle_bits : int, default 8
        Bits of a Givens angle, 2 to 16.
    threshold : float, default 0.3
        A dictionary is sent when the error of the one that is held exceeds that of the learnt one by this share of the
        latter. Infinity never sends one.
    memory : float, default 100
        Samples that the comparison of errors looks back on, with weights that fade. 1 compares on the mini-batch alone,
        as the paper does: on hourly temperatures, eight times as many dictionaries for an error that is 13 % smaller.
    preset : {"paper", "exact", "tracking", "compression"}
        How the encoder learns: see `orthostream.OrthogonalDictionaryLearning`.
    rotation_error : float, optional
        Send dictionaries after the first as small rotations of the one that is held, with this relative error, instead
        of as angles: not in the paper, and about half the bytes.
    random_state : int, default 0

    Attributes
    ----------
    values_sent, bytes_sent : dict
        What the encoder has sent since it was made or restarted, by part: dictionary, indices, values, mask, header.
        Values are counted as the paper counts (an angle, an index and a coefficient are one each); bytes may be
        fractions, and add up to the bytes of all payloads.

    Notes
    -----
    NaN marks a missing reading. It stays NaN, and coefficients are fitted to the other readings of the sample. Infinite
    readings cannot be sent: `encode` refuses them before anything has changed.

    Examples
    --------
    >>> rows = np.outer(np.sin(np.arange(60)), [1.0, 2.0, 3.0]) + 10.0
    >>> edge, cloud = PaperCodec(3, n_nonzero=2), PaperCodec(3, n_nonzero=2)
    >>> received = []
    >>> for start in range(0, 60, 6):
    ...     received += [cloud.decode(payload) for payload in edge.encode(rows[start : start + 6])]
    >>> np.concatenate(received).shape, cloud.digest == edge.digest
    ((60, 3), True)
    """

    def __init__(
        self,
        n_sensors: int,
        n_nonzero: int = 8,
        *,
        n_components: int | None = None,
        value_bits: int = 10,
        angle_bits: int = 8,
        threshold: float = 0.3,
        memory: float = 100.0,
        preset: str = "paper",
        rotation_error: float | None = None,
        random_state: int = 0,
    ) -> None:
        self._empty = QuantisedDictionary(n_sensors if n_components is None else n_components, n_sensors)
        atoms = self._empty.n_components
        integer("n_nonzero", n_nonzero, 1, atoms, what="n_components")
        integer("value_bits", value_bits, 2, 24)
        between("threshold", threshold, 0.0, np.inf)
        between("memory", memory, 1.0, np.inf)
        if rotation_error is not None:
            between("rotation_error", rotation_error, LEAST_ERROR, 1.0)
        self.n_sensors = self._empty.n_features
        self.angle_bits = check_angle_bits(angle_bits)
        self.threshold = float(threshold)
        self.memory = float(memory)
        self.preset = preset
        self.rotation_error = rotation_error
        self.random_state = random_state
        self._layout = CodeLayout(self.n_sensors, atoms, int(n_nonzero), int(value_bits))
        self.most_samples = self._layout.most_samples
        self.restart()

    def restart(self) -> None:
        self._dictionary = QuantisedDictionary(self._empty.n_components, self.n_sensors)
        self._learner = OrthogonalDictionaryLearning.preset(
            self.preset, n_components=self._empty.n_components, random_state=self.random_state
        )
        self._missing: BoolArray = np.zeros(self.n_sensors, dtype=bool)
        self._held_error, self._learnt_error = 0.0, 0.0
        self._last_batch: FloatArray | None = None
        self.values_sent = dict.fromkeys(_PARTS, 0)
        self.bytes_sent = dict.fromkeys(_PARTS, 0.0)

    def state(self) -> dict[str, Any]:
        return {
            "dictionary": self._dictionary.state(),
            "missing": self._missing.astype(np.uint8),
            "learner": learner_to_bytes(self._learner),
            "errors": values_of(self, _ERRORS),
            "values_sent": dict(self.values_sent),
            "bytes_sent": dict(self.bytes_sent),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.restart()
        self._dictionary.set_state(state["dictionary"])
        self._missing = checked_array(state["missing"], "uint8", (self.n_sensors,), "missing") != 0
        if state["learner"] is not None:
            self._learner = learner_from_bytes(state["learner"])
            if self._learner.raw_components_.shape != self._dictionary.components.shape:
                raise ValueError("the learner has another shape than the dictionary.")
        set_values(self, state["errors"], _ERRORS)
        self.values_sent = {part: int(state["values_sent"][part]) for part in _PARTS}
        self.bytes_sent = {part: float(state["bytes_sent"][part]) for part in _PARTS}

    @property
    def digest(self) -> int:
        return zlib.crc32(np.packbits(self._missing).tobytes(), self._dictionary.digest)

    @property
    def components(self) -> FloatArray:
        """The dictionary that both sides hold."""
        return self._dictionary.components

    @property
    def bits(self) -> dict[str, float]:
        """What the side that sends has spent on each part."""
        return {part: 8.0 * size for part, size in self.bytes_sent.items() if size}

    @property
    def dictionary(self) -> SharedDictionary:
        return SharedDictionary(self._dictionary.epoch, self.components)

    @property
    def frank_wolfe_gap(self) -> float | None:
        if self._last_batch is None or not hasattr(self._learner, "state_"):
            return None
        solver, state = self._learner.solver_, self._learner.state_
        rows = np.ldexp(self._last_batch, -_exponent(self._last_batch))
        gradient = solver.objective.gradient(state.x, complete(rows, self._learner.raw_components_.T.astype(float)))
        norm = -float(np.sum(gradient * solver.feasible.lmo(gradient)))
        return float(frank_wolfe_gap(solver.feasible, state.x, gradient)) / norm if norm > 0.0 else 0.0

    # -- the edge ------------------------------------------------------------------------------------------------

    def encode(self, rows: FloatArray) -> list[Payload]:
        rows = self._checked(rows)
        payloads = self._dictionary_payloads(rows)
        for start in range(0, len(rows), self._layout.most_samples):
            payloads.append(self._readings_payload(rows[start : start + self._layout.most_samples]))
        if not np.isnan(rows).all():
            self._learner.partial_fit(rows)
            self._last_batch = rows
        return payloads

    def _checked(self, rows: FloatArray) -> FloatArray:
        rows = np.asarray(rows, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.n_sensors or not len(rows):
            raise ValueError(f"rows must have shape (n >= 1, {self.n_sensors}), got {rows.shape}.")
        infinite = np.argwhere(np.isinf(rows))
        if infinite.size:
            row, sensor = infinite[0].tolist()
            raise ValueError(
                f"sensor {sensor} reads {rows[row, sensor]} in row {row}: a sparse code cannot carry infinite "
                "readings; mark them as missing (NaN), or choose a codec with a maximum error."
            )
        return rows

    def _dictionary_payloads(self, rows: FloatArray) -> list[Payload]:
        """Return the learnt dictionary if it is so much better than the one that is held."""
        if not hasattr(self._learner, "state_"):
            return []
        learnt = self._learner.raw_components_.astype(float)
        kept = (1.0 - 1.0 / self.memory) ** len(rows)
        self._held_error = kept * self._held_error + self._squared_error(rows, self.components)
        self._learnt_error = kept * self._learnt_error + self._squared_error(rows, learnt)
        if not self._held_error > (1.0 + self.threshold) ** 2 * self._learnt_error:
            return []
        self._held_error = self._learnt_error
        if self.rotation_error is not None and self._dictionary.epoch > 0:
            payload = self._dictionary.update(learnt, relative_error=self.rotation_error)
        else:
            payload = self._dictionary.key(learnt, bits=self.angle_bits)
        self.values_sent["dictionary"] += n_rotations(self.n_sensors, len(learnt))
        self.bytes_sent["dictionary"] += len(payload.body)
        return [payload]

    def _squared_error(self, rows: FloatArray, components: FloatArray) -> float:
        """Return the squared relative RMSE of samples that are coded in a dictionary with exact values."""
        scaled = np.ldexp(rows, -_exponent(rows))
        filled = self._filled(scaled, components)
        errors = keep_largest(filled @ components.T, self._layout.n_nonzero) @ components - filled
        energy = float(np.nansum(scaled * scaled))
        return float((errors[~np.isnan(rows)] ** 2).sum()) / energy if energy > 0.0 else 0.0

    def _filled(self, rows: FloatArray, components: FloatArray) -> FloatArray:
        """Return samples without gaps: what is put there is what the sparse code will say, and makes no error."""
        missing = np.isnan(rows)
        filled: FloatArray = complete(rows, components.T)
        for _ in range(_FITS if missing.any() else 0):
            codes = keep_largest(filled @ components.T, self._layout.n_nonzero)
            filled = np.where(missing, codes @ components, filled)
        return filled

    def _readings_payload(self, rows: FloatArray) -> Payload:
        missing = np.isnan(rows)
        heard = rows[~missing.all(axis=1)]
        exponent = _exponent(heard)
        filled = self._filled(np.ldexp(heard, -exponent), self.components)
        codes = self._layout.quantised(missing, filled @ self.components.T, exponent)
        body, parts = self._layout.pack(codes, self._missing)
        self._missing = missing[-1].copy()
        for part, size in parts.items():
            self.bytes_sent[part] += size
        if codes.mantissa:
            self.values_sent["indices"] += codes.supports.size
            self.values_sent["values"] += codes.levels.size
        return Payload(READINGS, body)

    # -- the cloud -----------------------------------------------------------------------------------------------

    def decode(self, payload: Payload) -> FloatArray:
        if payload.kind != READINGS:
            self._dictionary.receive(payload)
            return np.empty((0, self.n_sensors))
        codes = self._layout.unpack(payload.body, self._missing)
        self._missing = codes.missing[-1].copy()
        return codes.recovered(self.components)


def _exponent(rows: FloatArray) -> int:
    """Return the exponent of the power of two that is just above all readings, so that squares cannot overflow."""
    return int(np.frexp(np.nanmax(np.abs(rows), initial=0.0))[1]) if rows.size else 0
