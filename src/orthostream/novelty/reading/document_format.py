"""What all formats of documents share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from orthostream.novelty.document import Document
from orthostream.novelty.reading.lines import TextLine


class DocumentFormat(ABC):
    """A way to write documents as lines of text."""

    @abstractmethod
    def documents(self, lines: Iterable[TextLine | None]) -> Iterator[Document | None]:
        """Yield the documents of a file, and None where the lines have one."""
