"""What both sides of a wire hold."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.codecs.codec import DICTIONARY, READINGS, UPDATE, Payload
from orthostream.compression.codecs.paper.dictionary_update import QuantisedDictionary
from orthostream.compression.codecs.paper.dictionary_update.reorthonormalise import reorthonormalised
from orthostream.compression.errors import FrameError


def atoms(n_components: int, n_features: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n_features, n_components)))[0].T


def drifted(components: np.ndarray, by: float, seed: int) -> np.ndarray:
    """Orthonormal atoms near others, in any order and with any signs."""
    random = np.random.default_rng(seed)
    noisy = components + by * random.normal(size=components.shape) / np.sqrt(components.shape[1])
    left, _, right = np.linalg.svd(noisy, full_matrices=False)
    return (left @ right)[random.permutation(len(noisy))] * random.choice([-1.0, 1.0], (len(noisy), 1))


def distance(found: np.ndarray, true: np.ndarray) -> float:
    """Relative error, whatever the order and the signs of atoms."""
    likeness = found @ true.T
    order = np.abs(likeness).argmax(axis=1)
    assert sorted(order) == list(range(len(true)))
    signs = np.sign(likeness[np.arange(len(order)), order])
    return float(np.linalg.norm(found - true[order] * signs[:, None]) / np.sqrt(len(true)))


def state(dictionary: QuantisedDictionary) -> tuple[bytes, int, int]:
    return dictionary.components.tobytes(), dictionary.epoch, dictionary.digest


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (3, 8), (1, 5)])
def test_both_sides_hold_the_same(shape: tuple[int, int]) -> None:
    edge, cloud = QuantisedDictionary(*shape), QuantisedDictionary(*shape)
    assert state(edge) == state(cloud)
    learnt = atoms(*shape)
    cloud.receive(edge.key(learnt, bits=10))
    assert np.linalg.norm(edge.components - learnt) < 0.05
    for seed in range(5):
        learnt = drifted(learnt, 0.1, seed)
        cloud.receive(edge.update(learnt, relative_error=0.02))
        assert state(edge) == state(cloud)
        assert distance(edge.components, learnt) <= 0.02
    cloud.receive(edge.key(learnt, relative_error=0.005))
    assert state(edge) == state(cloud)
    assert edge.epoch == 7
    assert distance(edge.components, learnt) <= 0.005


def test_a_key_is_for_anyone() -> None:
    edge, late = QuantisedDictionary(4, 6), QuantisedDictionary(4, 6)
    edge.key(atoms(4, 6, 1))
    edge.update(atoms(4, 6, 2))
    late.receive(edge.key(atoms(4, 6, 3)))
    assert state(late) == state(edge)
    late.receive(edge.update(atoms(4, 6, 4)))
    assert state(late) == state(edge)


def test_updates_of_another_dictionary_are_refused() -> None:
    edge, behind, other = (QuantisedDictionary(5, 5) for _ in range(3))
    key = edge.key(atoms(5, 5))
    behind.receive(key)
    first = edge.update(atoms(5, 5, 1))
    second = edge.update(atoms(5, 5, 2))
    before = state(behind)
    with pytest.raises(FrameError, match="dictionary 2 cannot be applied to dictionary 1"):
        behind.receive(second)
    assert state(behind) == before
    other.key(atoms(5, 5, 9))
    before = state(other)
    with pytest.raises(FrameError, match="made for another dictionary"):
        other.receive(first)
    assert state(other) == before
    behind.receive(first)
    behind.receive(second)
    with pytest.raises(FrameError):
        behind.receive(second)
    assert state(behind) == state(edge)


def test_digests_tell_dictionaries_apart() -> None:
    digests = {QuantisedDictionary(3, size).digest for size in range(3, 8)}
    for seed in range(20):
        dictionary = QuantisedDictionary(3, 5)
        dictionary.key(atoms(3, 5, seed))
        digests.add(dictionary.digest)
        dictionary.update(atoms(3, 5, seed + 100))
        digests.add(dictionary.digest)
    assert len(digests) == 45


def test_many_updates_leave_atoms_orthonormal() -> None:
    edge = QuantisedDictionary(6, 8)
    learnt = atoms(6, 8)
    for seed in range(300):
        learnt = drifted(learnt, 0.05, seed)
        edge.update(learnt, relative_error=0.02)
    assert np.abs(edge.components @ edge.components.T - np.eye(6)).max() < 1e-14
    assert distance(edge.components, learnt) <= 0.02


def test_components_cannot_be_written_to() -> None:
    dictionary = QuantisedDictionary(2, 2)
    dictionary.key(np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        dictionary.components[0, 0] = 3.0


def test_reorthonormalised_keeps_what_is_orthonormal() -> None:
    rows = atoms(7, 9)
    assert np.abs(reorthonormalised(rows) - rows).max() < 1e-15
    bent = rows + 1e-5 * np.random.default_rng(0).normal(size=rows.shape)
    straight = reorthonormalised(bent)
    assert np.abs(straight @ straight.T - np.eye(7)).max() < 1e-8


def test_every_bit_flip_of_an_update_is_refused() -> None:
    edge, cloud = QuantisedDictionary(4, 5), QuantisedDictionary(4, 5)
    cloud.receive(edge.key(atoms(4, 5)))
    update = edge.update(atoms(4, 5, 1))
    before = state(cloud)
    for bit in range(8 * len(update.body)):
        body = bytearray(update.body)
        body[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FrameError):
            cloud.receive(Payload(UPDATE, bytes(body)))
        assert state(cloud) == before


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([READINGS, DICTIONARY, UPDATE, 77]), st.binary(max_size=60), st.booleans())
def test_hostile_bytes(kind: int, body: bytes, full: bool) -> None:
    dictionary = QuantisedDictionary(3, 4)
    before = state(dictionary)
    # Bytes that are rotations, without the trouble of guessing the header.
    body = b"\0\0\0\0\0\xff\xff\0\0" + body if full else body
    try:
        dictionary.receive(Payload(kind, body))
    except FrameError:
        assert state(dictionary) == before
    components = dictionary.components
    assert np.abs(components @ components.T - np.eye(3)).max() < 1e-12
    dictionary.update(np.eye(3, 4))


@pytest.mark.parametrize(
    "body", [b"\0\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\1\0\x10\0", b"\0\0\0\0\1", b"\0\0\0\0\x11", b"\0\0"]
)
def test_bad_keys(body: bytes) -> None:
    with pytest.raises(FrameError):
        QuantisedDictionary(3, 3).receive(Payload(DICTIONARY, body))


def test_the_last_epoch_is_followed_by_the_first() -> None:
    dictionary = QuantisedDictionary(1, 1)
    dictionary.receive(Payload(DICTIONARY, b"\xff\xff\xff\xff\x02\x00"))
    dictionary.update(np.ones((1, 1)))
    assert dictionary.epoch == 0


@pytest.mark.parametrize("words", [(0, 3), (4, 3), (1, 0), (1, 5000), (2.0, 3), (True, 3), (1, "3")])
def test_bad_shapes(words: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"n_(features|components) must be"):
        QuantisedDictionary(*words)


@pytest.mark.parametrize("wrong", [np.eye(2), np.ones((3, 3)), np.full((3, 3), np.nan), 1.01 * np.eye(3)])
def test_bad_components(wrong: np.ndarray) -> None:
    dictionary = QuantisedDictionary(3, 3)
    with pytest.raises(ValueError, match="components must have"):
        dictionary.key(wrong)
    with pytest.raises(ValueError, match="components must have"):
        dictionary.update(wrong)
    assert dictionary.epoch == 0


#: Payloads of a dictionary of 4 atoms with 6 features, the digest after each, and a checksum of the atoms' bits.
CONFORMANCE = [
    (DICTIONARY, "0100000006910d19b7be5623b05a92cd", 0x3E538D94, 0xF12042A8),
    (UPDATE, "010000009d7a63eea93a000001cb184fa9612a7cc1", 0xEE637A9D, 0xA44FF992),
    (DICTIONARY, "030000000032f600001c71008c61e99c947710ab34", 0x73E98668, 0xA2F9292C),
]


def test_bits_that_never_change() -> None:
    dictionary = QuantisedDictionary(4, 6)
    for kind, body, digest, checksum in CONFORMANCE:
        dictionary.receive(Payload(kind, bytes.fromhex(body)))
        assert dictionary.digest == digest
        assert zlib.crc32(dictionary.components.astype("<f8").tobytes()) == checksum
