"""How far a run of `orthostream novelty` has read its input, so that another run can go on from there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from orthostream.cli.errors import UserError

if TYPE_CHECKING:
    from orthostream.novelty import Document


class ReadSoFar(NamedTuple):
    """The number of documents that were read, and checksums of the first one and of all.

    Examples
    --------
    >>> from orthostream.novelty import Document
    >>> once = ReadSoFar().after([Document("a"), Document("b")])
    >>> once == ReadSoFar().after([Document("a")]).after([Document("b")]), once.n_documents
    (True, 2)
    """

    n_documents: int = 0
    first: str = ""
    last: str = ""

    def after(self, documents: Iterable[Document]) -> Self:
        """Return what was read after some more documents."""
        count, first, last = self
        for document in documents:
            # Each checksum covers the one before.
            text = "\0".join([last, document.id, document.text])
            last = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            count, first = count + 1, first or last
        return self._replace(n_documents=count, first=first, last=last)


class Interrupted(NamedTuple):
    """What the state file of an interrupted run says about that run."""

    read: ReadSoFar = ReadSoFar()
    output: str | None = None
    output_bytes: int = 0
    report: dict[str, Any] | None = None

    def to_notes(self) -> dict[str, Any]:
        """Return plain values for the state file."""
        return {"run": self._asdict() | {"read": list(self.read)}}

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any], state: str) -> Self:
        """Return what `to_notes` has written."""
        try:
            run = dict(notes["run"])
            count, first, last = run.pop("read")
            return cls(read=ReadSoFar(int(count), str(first), str(last)), **run)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{state} says nothing of an interrupted run: leave out --resume") from error
