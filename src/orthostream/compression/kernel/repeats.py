"""What repeats: the last cells of a sensor, the stretch of them that is met again, the most frequent one."""

from __future__ import annotations

from orthostream.compression.kernel.mixture import N_MATCHES, Mixture

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False


#: Cells that must agree before a stretch counts as met again, and cells that are compared at most.
_SHORTEST, _COMPARED = 5, 32


def last_cell(mixture: Mixture, i: int, ago: int) -> int:
    """Return the last cell of a sensor, or one before it."""
    return int(mixture.ring[i, (int(mixture.written[i]) - ago) % mixture.ring.shape[1]])


def take_cell(mixture: Mixture, i: int, cell: int) -> int:
    """Remember a cell; return 1 if it repeats the one before."""
    size = mixture.ring.shape[1]
    at = int(mixture.written[i])
    repeats = 1 if cell == mixture.ring[i, (at - 1) % size] else 0
    mixture.repeats[i] = ((int(mixture.repeats[i]) << 1) | repeats) & 255
    mixture.age[i] = min(int(mixture.age[i]) + 1, 100000) if repeats == 1 else 0
    if cell == mixture.mode[i]:
        mixture.votes[i] = min(int(mixture.votes[i]) + 1, 255)
    elif mixture.votes[i] == 0:
        mixture.mode[i] = cell
        mixture.votes[i] = 1
    else:
        mixture.votes[i] -= 1
    _follow(mixture, i, at, cell)
    return repeats


def _follow(mixture: Mixture, i: int, at: int, cell: int) -> None:
    """Write a cell to the ring; go on with the match, or look for another one."""
    size = mixture.ring.shape[1]
    match = int(mixture.match[i])
    if match >= 0:
        if mixture.ring[i, match % size] == cell:
            mixture.length[i] = min(int(mixture.length[i]) + 1, 100000)
            mixture.match[i] = match + 1
        else:
            mixture.length[i] = 0
            mixture.match[i] = -1
    mixture.ring[i, at % size] = cell
    at += 1
    mixture.written[i] = at
    # Each cell is shifted out after six more.
    trail = (int(mixture.trail[i]) * 352 + (cell + 1) * 0x2F0B4C47) & 0xFFFFFFFF
    mixture.trail[i] = trail
    place = _place(trail, i)
    # The long trail forgets a cell after 31 more.
    long_trail = (int(mixture.long_trail[i]) * 22 + (cell + 1) * 0x2F0B4C47) & 0xFFFFFFFF
    mixture.long_trail[i] = long_trail
    long_place = _place(long_trail, i)
    if mixture.length[i] < _COMPARED:
        _look_for(mixture, i, at, int(mixture.long_found[long_place]), _COMPARED)
    if mixture.match[i] < 0:
        _look_for(mixture, i, at, int(mixture.found[place]), _SHORTEST)
    mixture.found[place] = at
    mixture.long_found[long_place] = at


def _place(trail: int, i: int) -> int:
    return (((trail + i) * 0x2C1B3C6D & 0xFFFFFFFF) >> 16) & (N_MATCHES - 1)


def _look_for(mixture: Mixture, i: int, at: int, earlier: int, least: int) -> None:
    """Follow the stretch from ``earlier`` on if at least ``least`` cells before it equal the last ones."""
    size = mixture.ring.shape[1]
    if 0 < earlier < at and at - earlier < size - _COMPARED:
        length = 0
        while length < _COMPARED and (
            mixture.ring[i, (earlier - 1 - length) % size] == mixture.ring[i, (at - 1 - length) % size]
        ):
            length += 1
        if length >= least:
            mixture.match[i] = earlier
            mixture.length[i] = length
