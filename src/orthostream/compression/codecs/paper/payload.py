"""The bytes of sparse codes: which readings are missing, a scale, and for each sample a support and its values.

======================= ==================================================================================
uint16                  samples
uint16                  bytes of the mask of missing readings; 0 where nothing has changed
uint8, int16            mantissa and exponent of the step of values; a mantissa of 0 where all are zero
mask                    see `orthostream.compression.codecs.paper.missing_mask`
support, values, ...    for each sample of which something was read: the number of its support in
                        ceil(log2 C(K, s)) bits, then s values of ``value_bits`` bits, in the order of the atoms;
                        filled up with zeros to a whole byte
======================= ==================================================================================
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.codec import MOST_READINGS_PER_BYTE
from orthostream.compression.codecs.paper.missing_mask import pack_mask, unpack_mask
from orthostream.compression.codecs.paper.support_index import support_bits, support_number, support_of_number
from orthostream.compression.errors import FrameError

_HEADER = struct.Struct("<HHBh")
_LEAST_EXPONENT, _MOST_EXPONENT = -1200, 1200

#: Maximum number of readings in a payload (or one sample), so that few bytes cannot keep a decoder busy for long.
MOST_READINGS = 1 << 13


class SparseCodes(NamedTuple):
    """Samples as a few quantised coefficients each; a sample without any reading has no row of supports and levels.

    A value is its level times mantissa times 2^exponent.
    """

    missing: BoolArray
    supports: IntArray
    levels: IntArray
    mantissa: int
    exponent: int

    def recovered(self, components: FloatArray) -> FloatArray:
        """Return the samples, NaN where a reading is missing, by arithmetic that has the same bits everywhere."""
        heard = ~self.missing.all(axis=1)
        estimates = np.zeros((int(heard.sum()), components.shape[1]))
        if self.mantissa:
            weights = (self.levels * self.mantissa).astype(float)
            for place in range(self.levels.shape[1]):
                estimates += weights[:, place, None] * components[self.supports[:, place]]
        samples = np.full(self.missing.shape, np.nan)
        with np.errstate(over="ignore", under="ignore"):
            largest = np.finfo(float).max
            samples[heard] = np.clip(np.ldexp(estimates, self.exponent), -largest, largest)
        samples[self.missing] = np.nan
        return samples


@dataclass(frozen=True)
class CodeLayout:
    """What both sides know about the codes: how many atoms there are, how many are used, how long a value is."""

    n_sensors: int
    n_components: int
    n_nonzero: int
    value_bits: int

    @property
    def most_samples(self) -> int:
        """Maximum number of samples in a payload."""
        return max(1, min(MOST_READINGS // self.n_sensors, 65535))

    @property
    def largest_level(self) -> int:
        """The largest size of a quantised value."""
        return (1 << (self.value_bits - 1)) - 1

    def quantised(self, missing: BoolArray, codes: FloatArray, exponent: int) -> SparseCodes:
        """Return the largest coefficients of codes, in units of 2^exponent, as multiples of one step."""
        order = np.argsort(-np.abs(codes), axis=1, kind="stable")[:, : self.n_nonzero]
        supports = np.sort(order, axis=1).astype(np.int64)
        values = np.take_along_axis(codes, supports, axis=1)
        largest = float(np.abs(values).max(initial=0.0))
        fraction, power = np.frexp(largest / self.largest_level)
        mantissa, power = int(np.ceil(fraction * 256.0)), int(power) - 8
        if mantissa == 256:
            mantissa, power = 128, power + 1
        if largest == 0.0 or power + exponent < _LEAST_EXPONENT:
            return SparseCodes(missing, supports, np.zeros(supports.shape, dtype=np.int64), 0, 0)
        levels = np.rint(values / np.ldexp(float(mantissa), power)).astype(np.int64)
        levels = np.clip(levels, -self.largest_level, self.largest_level)
        return SparseCodes(missing, supports, levels, mantissa, power + exponent)

    def pack(self, codes: SparseCodes, before: BoolArray) -> tuple[bytes, dict[str, float]]:
        """Return codes as bytes, and how many of these each part takes."""
        mask = pack_mask(codes.missing, before)
        header = _HEADER.pack(len(codes.missing), len(mask), codes.mantissa, codes.exponent)
        if not codes.mantissa:
            least = -(-codes.missing.size // MOST_READINGS_PER_BYTE)
            return (header + mask).ljust(least, b"\0"), {"header": float(len(header)), "mask": float(len(mask))}
        index_bits = support_bits(self.n_components, self.n_nonzero)
        numbers = np.array([_digits(support_number(support), index_bits) for support in codes.supports.tolist()])
        places = np.arange(self.value_bits - 1, -1, -1)
        values = ((codes.levels + self.largest_level)[:, :, None] >> places) & 1
        flags = np.concatenate([numbers, values.reshape(len(values), -1)], axis=1)
        packed = np.packbits(flags.astype(np.uint8)).tobytes()
        parts = {
            "indices": numbers.size / 8.0,
            "values": values.size / 8.0,
            "mask": float(len(mask)),
            # Padding is counted as header.
            "header": len(header) + len(packed) - flags.size / 8.0,
        }
        return header + mask + packed, parts

    def unpack(self, body: bytes, before: BoolArray) -> SparseCodes:
        """Return what `pack` was given; raise FrameError if the bytes are corrupt."""
        if len(body) < _HEADER.size:
            raise FrameError(f"sparse codes need more than {len(body)} bytes.")
        n_samples, mask_size, mantissa, exponent = _HEADER.unpack_from(body)
        if n_samples * self.n_sensors > MOST_READINGS_PER_BYTE * len(body):
            raise FrameError(f"{len(body)} bytes cannot be {n_samples} samples of {self.n_sensors} sensors.")
        if not 1 <= n_samples <= self.most_samples:
            raise FrameError(f"a payload brings 1 to {self.most_samples} samples, not {n_samples}.")
        if not _LEAST_EXPONENT <= exponent <= _MOST_EXPONENT:
            raise FrameError(f"a step of 2^{exponent} is out of range.")
        rest = body[_HEADER.size + mask_size :]
        if len(body) < _HEADER.size + mask_size or (any(rest) and not mantissa):
            raise FrameError(f"{len(body)} bytes are not as many as {n_samples} sparse codes take.")
        missing = unpack_mask(body[_HEADER.size : _HEADER.size + mask_size], n_samples, before)
        n_codes = int((~missing.all(axis=1)).sum())
        if not mantissa:
            nothing = np.zeros((n_codes, self.n_nonzero), dtype=np.int64)
            return SparseCodes(missing, nothing, nothing, 0, 0)
        index_bits = support_bits(self.n_components, self.n_nonzero)
        code_bits = index_bits + self.n_nonzero * self.value_bits
        if len(rest) != -(-n_codes * code_bits // 8):
            raise FrameError(f"{n_codes} codes take {-(-n_codes * code_bits // 8)} bytes, not {len(rest)}.")
        flags = np.unpackbits(np.frombuffer(rest, dtype=np.uint8))
        if flags[n_codes * code_bits :].any():
            raise FrameError("the bits after the last code are not zero.")
        table = flags[: n_codes * code_bits].reshape(n_codes, code_bits)
        supports = [self._support(row[:index_bits]) for row in table]
        digits = table[:, index_bits:].reshape(n_codes, self.n_nonzero, self.value_bits).astype(np.int64)
        levels = (digits << np.arange(self.value_bits - 1, -1, -1)).sum(axis=2) - self.largest_level
        if levels.size and int(levels.max()) > self.largest_level:
            raise FrameError(f"a value of {int(levels.max())} steps is larger than {self.largest_level}.")
        indices = np.array(supports, dtype=np.int64).reshape(n_codes, self.n_nonzero)
        return SparseCodes(missing, indices, levels, mantissa, exponent)

    def _support(self, flags: ByteArray) -> list[int]:
        # Filled up in front to whole bytes.
        padded = np.concatenate([np.zeros(-len(flags) % 8, dtype=np.uint8), flags])
        number = int.from_bytes(np.packbits(padded).tobytes(), "big")
        return support_of_number(number, self.n_components, self.n_nonzero)


def _digits(number: int, n_bits: int) -> IntArray:
    """Return the binary digits of an integer of any length, the highest first."""
    data = np.frombuffer(number.to_bytes(-(-n_bits // 8), "big"), dtype=np.uint8)
    digits: IntArray = np.unpackbits(data)[-n_bits or len(data) :].astype(np.int64)
    return digits
