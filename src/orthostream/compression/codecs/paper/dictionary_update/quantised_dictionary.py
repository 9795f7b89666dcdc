"""The dictionary that both sides of a wire hold, and how one side moves both."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from orthostream._checks import integer
from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.codec import DICTIONARY, UPDATE, Payload
from orthostream.compression.codecs.paper.dictionary_update.givens import (
    FEWEST_BITS,
    MOST_BITS,
    check_angle_bits,
    from_givens_angles,
    givens_angles,
    pack_angles,
    unpack_angles,
)
from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import rotate_rows
from orthostream.compression.codecs.paper.dictionary_update.reorthonormalise import reorthonormalised
from orthostream.compression.codecs.paper.dictionary_update.rotation_delta import (
    UNITS,
    TangentGrid,
    aligned,
    find_rotations,
    pack_levels,
    unpack_levels,
)
from orthostream.compression.codecs.plain_state import checked_array
from orthostream.compression.errors import FrameError

#: Features that a dictionary may have at most: its basis takes 32 MB.
MOST_FEATURES = 2048

#: Epoch and, after it, bits of an angle, or 0 and a step where rotations follow.
_KEY = struct.Struct("<IB")
#: Epoch of the base, digest of the result, step.
_UPDATE = struct.Struct("<III")
_STEP = struct.Struct("<I")


class QuantisedDictionary:
    """A dictionary known by integers, so that two sides that have seen the same payloads hold the same bits.

    It starts as the identity. `key` and `update` make a payload of a learnt dictionary and move to what the payload
    says; `receive` moves the other side. An update says how to come from one dictionary to the next, and is refused by
    whoever holds another; a key is for anyone.

    Atoms have no order and no sign of their own. A key of angles keeps both; rotations, in updates and in short keys,
    take those that cost least. Code against `components`, never against what was learnt.

    Parameters
    ----------
    n_components : int
        K, atoms.
    n_features : int
        N, at least K and at most 2,048.

    Attributes
    ----------
    components : array of shape (n_components, n_features)
        Orthonormal rows.
    epoch : int
        How many dictionaries there have been; 0 is the identity.
    digest : int
        32 bits that tell this dictionary from others, made of the integers that it was made of.

    Examples
    --------
    >>> edge, cloud = QuantisedDictionary(2, 2), QuantisedDictionary(2, 2)
    >>> learnt = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> key = edge.key(learnt, bits=10)
    >>> cloud.receive(key)
    >>> cloud.components.round(2)
    array([[ 0.6,  0.8],
           [-0.8,  0.6]])
    >>> cloud.receive(edge.update(np.array([[0.28, 0.96], [-0.96, 0.28]]), relative_error=0.01))
    >>> bool((cloud.components == edge.components).all()), cloud.epoch, cloud.digest == edge.digest
    (True, 2, True)
    """

    def __init__(self, n_components: int, n_features: int) -> None:
        self.n_features = integer("n_features", n_features)
        if n_features > MOST_FEATURES:
            raise ValueError(f"n_features must be at most {MOST_FEATURES}, got {n_features}; split the sensors.")
        self.n_components = integer("n_components", n_components, 1, n_features, what="n_features")
        self._take(np.eye(self.n_features), 0, self._digest_of(b""))

    @property
    def components(self) -> FloatArray:
        """The atoms, one in each row; not to be written to."""
        return self._basis[: self.n_components]

    def state(self) -> dict[str, Any]:
        """Return the dictionary that is held."""
        return {"basis": np.array(self._basis), "epoch": self.epoch, "digest": self.digest}

    def set_state(self, state: dict[str, Any]) -> None:
        """Hold the dictionary of another side."""
        basis = checked_array(state["basis"], "float64", self._basis.shape, "basis").copy()
        self._take(basis, int(state["epoch"]), int(state["digest"]))

    # -- the side that learns ------------------------------------------------------------------------------------

    def key(self, components: FloatArray, *, bits: int = 8, relative_error: float | None = None) -> Payload:
        """Return a whole dictionary, and hold it.

        Parameters
        ----------
        components : array of shape (n_components, n_features)
            Orthonormal rows.
        bits : int, default 8
            Bits of each Givens angle.
        relative_error : float, optional
            Send rotations of adaptive length instead, as few bits as keep the relative error (in Frobenius norm) below
            this: about four fifths of the bytes of angles at the same error.
        """
        atoms = self._checked(components)
        epoch = _next(self.epoch)
        if relative_error is None:
            levels, negative = givens_angles(atoms.T, check_angle_bits(bits))
            body = _KEY.pack(epoch, bits) + pack_angles(levels, negative, bits)
        else:
            units, levels = _rotations(atoms, np.eye(self.n_features), relative_error)
            packed = pack_levels(levels, self.n_features, self.n_components)
            body = _KEY.pack(epoch, 0) + _STEP.pack(units) + packed
        payload = Payload(DICTIONARY, body)
        self.receive(payload)
        return payload

    def update(self, components: FloatArray, *, relative_error: float = 0.03) -> Payload:
        """Return the way from the dictionary that is held to another, and hold that one.

        Parameters
        ----------
        components : array of shape (n_components, n_features)
            Orthonormal rows.
        relative_error : float, default 0.03
            The Frobenius norm of the error may be this times that of the dictionary. From 0.0001 to 1.
        """
        atoms = self._checked(components)
        units, levels = _rotations(atoms, self._basis, relative_error)
        packed = pack_levels(levels, self.n_features, self.n_components)
        digest = self._digest_of(_STEP.pack(units) + packed, self.digest)
        payload = Payload(UPDATE, _UPDATE.pack(self.epoch, digest, units) + packed)
        self.receive(payload)
        return payload

    def _checked(self, components: FloatArray) -> FloatArray:
        atoms = np.asarray(components, dtype=float)
        shape = (self.n_components, self.n_features)
        if atoms.shape != shape:
            raise ValueError(f"components must have shape {shape}, got {atoms.shape}.")
        deviation = np.abs(atoms @ atoms.T - np.eye(len(atoms))).max() if np.isfinite(atoms).all() else np.inf
        if not deviation < 1e-4:
            raise ValueError(f"components must have orthonormal rows; their products deviate by {deviation:.2g}.")
        return atoms

    # -- both sides ----------------------------------------------------------------------------------------------

    def receive(self, payload: Payload) -> None:
        """Move to the dictionary of a payload; raise FrameError, and stay, where it is not for us."""
        if payload.kind == DICTIONARY:
            self._receive_key(payload.body)
        elif payload.kind == UPDATE:
            self._receive_update(payload.body)
        else:
            raise FrameError(f"a payload of kind {payload.kind} does not bring a dictionary.")

    def _receive_key(self, body: bytes) -> None:
        if len(body) < _KEY.size:
            raise FrameError(f"a dictionary needs more than {len(body)} bytes.")
        epoch, bits = _KEY.unpack_from(body)
        rest = body[_KEY.size :]
        if bits == 0:
            if len(rest) < _STEP.size:
                raise FrameError(f"a dictionary of rotations needs more than {len(body)} bytes.")
            (units,) = _STEP.unpack_from(rest)
            basis = self._rotated(np.eye(self.n_features), units, rest[_STEP.size :])
        elif FEWEST_BITS <= bits <= MOST_BITS:
            levels, negative = unpack_angles(rest, self.n_features, self.n_components, bits)
            basis = from_givens_angles(levels, negative, self.n_features, bits)
        else:
            raise FrameError(f"angles have {FEWEST_BITS} to {MOST_BITS} bits, not {bits}.")
        self._take(basis, epoch, self._digest_of(body))

    def _receive_update(self, body: bytes) -> None:
        if len(body) < _UPDATE.size:
            raise FrameError(f"an update of a dictionary needs more than {len(body)} bytes.")
        epoch, digest, units = _UPDATE.unpack_from(body)
        if epoch != self.epoch:
            raise FrameError(f"an update of dictionary {epoch} cannot be applied to dictionary {self.epoch}.")
        rest = body[_UPDATE.size :]
        if digest != self._digest_of(_STEP.pack(units) + rest, self.digest):
            raise FrameError(f"an update was made for another dictionary than the one of epoch {epoch} that is held.")
        self._take(reorthonormalised(self._rotated(self._basis, units, rest)), _next(epoch), digest)

    def _rotated(self, basis: FloatArray, units: int, data: bytes) -> FloatArray:
        if not 1 <= units <= UNITS:
            raise FrameError(f"the step of rotations must be from 1 to {UNITS} units, not {units}.")
        grid = TangentGrid(units)
        levels = unpack_levels(data, self.n_features, self.n_components, grid.most)
        return rotate_rows(basis, levels, self.n_components, grid)

    def _digest_of(self, integers: bytes, before: int = 0) -> int:
        return zlib.crc32(integers, zlib.crc32(struct.pack("<HHI", self.n_components, self.n_features, before)))

    def _take(self, basis: FloatArray, epoch: int, digest: int) -> None:
        basis.flags.writeable = False
        self._basis, self.epoch, self.digest = basis, epoch, digest


def _next(epoch: int) -> int:
    return (epoch + 1) & 0xFFFFFFFF


def _rotations(atoms: FloatArray, basis: FloatArray, relative_error: float) -> tuple[int, IntArray]:
    return find_rotations(aligned(atoms, basis), basis, relative_error)
