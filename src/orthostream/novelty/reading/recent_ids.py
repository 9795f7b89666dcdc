"""Whether an identifier has come before, in bounded memory."""

from __future__ import annotations


class RecentIds:
    """Remembers at least the last ``n_ids`` different identifiers, and at most twice as many.

    >>> recent = RecentIds()
    >>> recent.add("a"), recent.add("b"), recent.add("a")
    (True, True, False)
    """

    def __init__(self, n_ids: int = 100_000) -> None:
        self._n_ids = n_ids
        self._newer: set[int] = set()
        self._older: set[int] = set()

    def add(self, name: str) -> bool:
        """Remember an identifier; return whether it is new."""
        # Hashes, since an identifier can be long; of 64 bits, so that it takes billions for a false alarm.
        key = hash(name)
        if key in self._newer:
            return False
        is_new = key not in self._older
        self._newer.add(key)
        if len(self._newer) >= self._n_ids:
            self._older, self._newer = self._newer, set()
        return is_new
