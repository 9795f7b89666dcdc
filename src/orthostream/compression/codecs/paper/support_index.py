"""Which atoms a sparse code uses, as one number: the combinatorial number system.

The subsets of s out of K atoms are numbered from 0 to C(K, s) - 1, so that ceil(log2 C(K, s)) bits tell one from the
others. For 8 out of 56 these are 31, where 8 indices take 48.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

from orthostream.compression.errors import FrameError


def support_bits(n_components: int, n_nonzero: int) -> int:
    """Return how many bits the number of a subset takes.

    >>> support_bits(56, 8), support_bits(4, 4)
    (31, 0)
    """
    return (comb(n_components, n_nonzero) - 1).bit_length()


def support_number(support: Sequence[int]) -> int:
    """Return the number of a subset, given its members in ascending order.

    >>> support_number([0, 1, 2]), support_number([0, 1, 3]), support_number([53, 54, 55])
    (0, 1, 27719)
    """
    return sum(comb(member, place) for place, member in enumerate(support, start=1))


def support_of_number(number: int, n_components: int, n_nonzero: int) -> list[int]:
    """Return the members of a subset in ascending order.

    >>> support_of_number(27719, 56, 3)
    [53, 54, 55]
    """
    if not 0 <= number < comb(n_components, n_nonzero):
        raise FrameError(f"{number} is not the number of a subset of {n_nonzero} out of {n_components} atoms.")
    support: list[int] = []
    member = n_components - 1
    for place in range(n_nonzero, 0, -1):
        table = _binomials(place, n_components)
        while table[member] > number:
            member -= 1
        number -= table[member]
        support.append(member)
        member -= 1
    return support[::-1]


@lru_cache(maxsize=4096)
def _binomials(place: int, n_components: int) -> tuple[int, ...]:
    return tuple(comb(member, place) for member in range(n_components))
