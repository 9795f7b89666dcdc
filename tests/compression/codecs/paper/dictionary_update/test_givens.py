"""Dictionaries as Givens angles."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.codecs.paper.dictionary_update.givens import (
    AngleGrid,
    from_givens_angles,
    givens_angles,
    pack_angles,
    unpack_angles,
)
from orthostream.compression.errors import FrameError


@pytest.mark.parametrize("bits", [2, 3, 8, 13, 16])
def test_cosines_and_sines(bits: int) -> None:
    most = 1 << (bits - 1)
    levels = np.arange(-most, most + 1)
    cosines, sines = AngleGrid(bits).rotations(levels)
    angles = levels * np.pi / 2.0**bits
    assert np.abs(cosines - np.cos(angles)).max() < 1e-15
    assert np.abs(sines - np.sin(angles)).max() < 1e-15
    assert np.abs(cosines**2 + sines**2 - 1.0).max() < 5e-16


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.data())
def test_round_trip(n_rows: int, data: st.DataObject) -> None:
    n_columns = data.draw(st.integers(1, n_rows))
    bits = data.draw(st.integers(2, 16))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    columns = np.linalg.qr(random.normal(size=(n_rows, n_columns)))[0] * random.choice([-1.0, 1.0], n_columns)
    levels, negative = givens_angles(columns, bits)
    assert len(levels) == n_rows * n_columns - n_columns * (n_columns + 1) // 2
    packed = pack_angles(levels, negative, bits)
    again, flags = unpack_angles(packed, n_rows, n_columns, bits)
    assert (again == levels).all() and (flags == negative).all()
    basis = from_givens_angles(again, flags, n_rows, bits)
    assert np.abs(basis @ basis.T - np.eye(n_rows)).max() < 1e-14
    step = np.pi / 2.0**bits
    error = np.linalg.norm(basis[:n_columns].T - columns) / np.sqrt(n_columns)
    assert error <= 0.5 * step * np.sqrt(2.0 * n_rows) + 1e-12


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_both_determinants(sign: float) -> None:
    matrix = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0]
    matrix[0] *= sign * np.sign(np.linalg.det(matrix))
    basis = from_givens_angles(*givens_angles(matrix, 12), 9, 12)
    assert np.linalg.det(basis) == pytest.approx(sign)
    assert np.linalg.norm(basis.T - matrix) < 0.01


def test_signed_permutations_are_exact() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        matrix = np.eye(6)[random.permutation(6)] * random.choice([-1.0, 1.0], 6)
        assert (matrix == from_givens_angles(*givens_angles(matrix, 2), 6, 2).T).all()


def test_each_bit_halves_the_error() -> None:
    matrix = np.linalg.qr(np.random.default_rng(0).normal(size=(48, 48)))[0]
    errors = [
        np.linalg.norm(from_givens_angles(*givens_angles(matrix, bits), 48, bits).T - matrix) / np.sqrt(48)
        for bits in (7, 8, 9)
    ]
    assert errors[1] < 0.02
    assert np.allclose(np.array(errors[:-1]) / errors[1:], 2.0, rtol=0.1)
    assert len(pack_angles(*givens_angles(matrix, 8), 8)) == 6 + 1128


def test_bits_that_never_change() -> None:
    levels = (np.arange(28) * 37) % 255 - 127
    basis = from_givens_angles(levels, np.arange(8) % 3 == 0, 8, 8)
    assert zlib.crc32(basis.astype("<f8").tobytes()) == 0x9655465A


@pytest.mark.parametrize("bits", [1, 17, 8.0, True, "8"])
def test_bad_bits(bits: object) -> None:
    with pytest.raises(ValueError, match="bits of an angle must be an integer from 2 to 16"):
        AngleGrid(bits)  # type: ignore[arg-type]


def test_bad_bytes() -> None:
    packed = pack_angles(*givens_angles(np.eye(4), 5), 5)
    for wrong in (packed[:-1], packed + b"\0", b"", packed[:-1] + b"\x01"):
        with pytest.raises(FrameError):
            unpack_angles(wrong, 4, 4, 5)
