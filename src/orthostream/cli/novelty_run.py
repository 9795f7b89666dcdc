"""A run of `orthostream novelty`: documents in, lines out, and a state that an interrupted run goes on from."""

from __future__ import annotations

import argparse
import heapq
import json
import os
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from orthostream._whole_file import write_whole
from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.novelty_progress import Interrupted, ReadSoFar
from orthostream.cli.trouble import disk_trouble_with
from orthostream.novelty.report import StreamReport, stream_page
from orthostream.novelty.report.figures import save_plot

if TYPE_CHECKING:
    from orthostream.novelty import Document, NovelDocumentDetector, ScoredDocument, Threshold
    from orthostream.novelty.reading import DocumentReader

#: Documents that are scored together, then learnt.
_AT_ONCE = 100
_INTERRUPTED = 130
#: Seconds between two writings of page and state while a file is followed: if documents come fast, and if they come
#: slowly.
_WRITE_EVERY, _WRITE_EVERY_IDLE = 30.0, 2.0


class NoveltyRun:
    """Turns a reader and a detector into lines of JSON, a state, a page and a picture."""

    def __init__(
        self, options: argparse.Namespace, detector: NovelDocumentDetector, reader: DocumentReader, source: str
    ) -> None:
        self.options, self.detector, self.reader, self.source = options, detector, reader, source
        self.before = Interrupted()
        if options.resume and options.state.exists():
            self.before = Interrupted.from_notes(detector.notes_, str(options.state))
            if self.before.output != _resolved(options.output):
                raise UserError(
                    f"the interrupted run wrote to {self.before.output or 'standard output'}: it can only go on there"
                )
        self.read = ReadSoFar()
        self.report = StreamReport() if self.before.report is None else StreamReport.from_json(self.before.report)
        self.output: BinaryIO | None = None
        self.output_bytes = self.before.output_bytes
        self.best: list[tuple[float, int, ScoredDocument]] = []
        self.began = time.monotonic()
        self.n_scored = self.n_flagged = 0
        self.written = self.began

    def __enter__(self) -> Self:
        return self

    def _open_output(self) -> None:
        """Open the output; what an interrupted run has written after its last state is cut off, and comes again."""
        path = self.options.output
        if path is None:
            self.output = sys.stdout.buffer
            return
        with disk_trouble_with(path):
            if not self.before.read.n_documents:
                self.output = _opened(path, "wb")
                return
            size = Path(path).stat().st_size if Path(path).exists() else 0
            if size < self.output_bytes:
                raise UserError(f"{path} is shorter than when {self.options.state} was written: it cannot be resumed")
            os.truncate(path, self.output_bytes)
            self.output = _opened(path, "ab")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.output is not None and self.options.output is not None:
            with disk_trouble_with(self.options.output):
                self.output.close()

    def run(self, stop: threading.Event) -> int:
        """Score all documents, until the input ends or the run is stopped; return the exit code."""
        unsaved = 0
        with LateProgress(f"reading {self.source}") as progress:
            for documents in self.reader.blocks(_AT_ONCE):
                new = self._without_known(documents)
                if new:
                    self._take(new)
                    unsaved += len(new)
                if unsaved >= self.options.save_every:
                    self._save()
                    unsaved = 0
                if self.options.follow:
                    unsaved = self._write_sometimes(unsaved, is_idle=len(documents) < _AT_ONCE)
                if not self.options.quiet:
                    progress(self._share())
                if stop.is_set():
                    break
        if self.read.n_documents < self.before.read.n_documents and not stop.is_set():
            raise UserError(
                f"{self.source} has fewer documents than the {self.before.read.n_documents:,} that "
                f"{self.options.state} was made from; without --resume, all of it counts as new"
            )
        if not self.n_scored and self.reader.problems and not self.read.n_documents:
            raise UserError(f"{self.source}: no document can be read: {self.reader.problems.messages()[0]}")
        if self.output is None:
            self._open_output()
        self._write_best()
        self._save()
        self._write_pictures()
        if not self.options.quiet:
            self._summarise()
        if stop.is_set():
            hint = "; add --resume to go on" if self.options.state is not None and self.options.top is None else ""
            print(f"orthostream: interrupted after {self.read.n_documents:,} documents{hint}", file=sys.stderr)
            return _INTERRUPTED
        return 0

    def _without_known(self, documents: list[Document]) -> list[Document]:
        """Return the documents that the interrupted run has not read."""
        known = self.before.read
        to_skip = max(0, known.n_documents - self.read.n_documents)
        self.read = self.read.after(documents[:to_skip])
        differs = (
            f"{self.source} differs from what {self.options.state} was made from; without --resume, all of it is new"
        )
        if self.read.n_documents and known.n_documents and self.read.first != known.first:
            if not self.options.follow:
                raise UserError(differs)
            print(f"orthostream: {self.source} is a new file: all of it is read", file=sys.stderr)
            self.before, self.read, to_skip = self.before._replace(read=ReadSoFar()), ReadSoFar(), 0
            self._open_output_to_append()
        if to_skip and self.read.n_documents == known.n_documents and self.read.last != known.last:
            raise UserError(differs)
        return documents[to_skip:]

    def _open_output_to_append(self) -> None:
        """Open the output at its end."""
        path = self.options.output
        if path is not None:
            with disk_trouble_with(path):
                self.output = _opened(path, "ab")
                self.output_bytes = self.output.tell()

    def _take(self, documents: list[Document]) -> None:
        if self.output is None:
            self._open_output()
        scored = self.detector.process(documents, explain=self._explained())
        self.read = self.read.after(documents)
        self.n_scored += len(scored)
        self.n_flagged += sum(document.novel for document in scored)
        self.report.add(scored, self.detector.topic_energies_)
        if self.options.top is not None:
            for document in scored:
                if document.threshold is not None:
                    entry = (document.score, -document.number, document)
                    if len(self.best) < self.options.top:
                        heapq.heappush(self.best, entry)
                    else:
                        heapq.heappushpop(self.best, entry)
            return
        self._write([document for document in scored if document.novel or self.options.all])

    def _explained(self) -> str | float:
        """Return which documents are explained: those that can be shown."""
        if self.options.top is None:
            wanted = self.options.explain or self.options.page is not None or self.options.state is not None
            return "flagged" if wanted else "none"
        if not self.options.explain:
            return "flagged" if self.options.page is not None else "none"
        return self.best[0][0] if len(self.best) == self.options.top else "all"

    def _write(self, documents: list[ScoredDocument]) -> None:
        assert self.output is not None
        lines = [_line(document, self.options.explain) for document in documents]
        if not lines:
            return
        with disk_trouble_with(self.options.output or "standard output"):
            content = "".join(lines).encode("utf-8", "replace")
            self.output.write(content)
            self.output.flush()
            self.output_bytes += len(content)

    def _write_best(self) -> None:
        if self.options.top is not None:
            self._write([document for *_, document in sorted(self.best, key=lambda entry: (-entry[0], -entry[1]))])

    def _save(self) -> None:
        path = self.options.state
        if path is None or not self.n_scored:
            return
        with disk_trouble_with(str(path)):
            if self.options.output is not None and self.output is not None:
                os.fsync(self.output.fileno())
            run = Interrupted(self.read, _resolved(self.options.output), self.output_bytes, self.report.to_json())
            self.detector.save(path.resolve(), run.to_notes())

    def _write_sometimes(self, unsaved: int, *, is_idle: bool) -> int:
        """Write page and state while a file is followed; return how many documents the state lacks."""
        if time.monotonic() - self.written < (_WRITE_EVERY_IDLE if is_idle else _WRITE_EVERY):
            return unsaved
        self._save()
        self._write_pictures()
        self.written = time.monotonic()
        return 0

    def _write_pictures(self) -> None:
        page, plot = self.options.page, self.options.plot
        if page is None and plot is None:
            return
        self.report.problems = dict(self.reader.problems) | self._oddities()
        self.report.documents_per_second = self._speed()
        self.report.rule = _rule(self.detector.threshold)
        topics = self._topics()
        if page is not None:
            with disk_trouble_with(str(page)):
                write_whole(
                    page.resolve(), stream_page(self.report, topics, Path(self.source).name).encode("utf-8", "replace")
                )
        if plot is not None:
            with disk_trouble_with(str(plot)):
                save_plot(self.report, topics, plot)

    def _topics(self) -> list[tuple[str, ...]]:
        from sklearn.exceptions import NotFittedError

        if not self.report.n_documents:
            return []
        try:
            return self.detector.topics(10)
        except NotFittedError:
            return [() for _ in range(self.detector.n_components)]

    def _summarise(self) -> None:
        """Say what was found, and what was wrong with the input."""
        parts = [f"{self.n_scored:,} documents" if self.n_scored != 1 else "1 document", f"{self.n_flagged:,} flagged"]
        if not self.n_scored:
            parts = ["no documents"]
        elif self.detector.warming_up_:
            parts.append(f"warming up: nothing is flagged in the first {self.detector.warm_up:,} documents")
        else:
            parts.append(f"threshold {self.detector.threshold_:.3f}")
            if not self.before.read.n_documents:
                parts.append(f"warm-up {self.detector.warm_up:,} documents")
        parts.append(f"{self._speed():,.0f} documents/s")
        print(f"{self.source}: " + "; ".join(parts), file=sys.stderr)
        told = self.reader.problems.messages()
        told += [f"{kind}: {count:,}" for kind, count in self._oddities().items() if count]
        for message in told:
            print(f"orthostream: {self.source}: {message}", file=sys.stderr)

    def _oddities(self) -> dict[str, int]:
        if not self.n_scored:
            return {}
        oddities = self.detector.oddities_
        return {"documents without words": oddities["empty"], "documents that were cut": oddities["cut"]}

    def _speed(self) -> float:
        return self.n_scored / max(time.monotonic() - self.began, 1e-9)

    def _share(self) -> float | None:
        """Return the part of the input that was read, None if its size is not known."""
        if self.options.input == "-" or self.options.follow or not Path(self.options.input).is_file():
            return None
        return self.reader.bytes_read / max(Path(self.options.input).stat().st_size, 1)


def _opened(path: str, mode: str) -> BinaryIO:
    """Open a file that is closed at the end of the run."""
    file: BinaryIO = Path(path).open(mode)  # type: ignore[assignment]  # noqa: SIM115
    return file


def _resolved(path: str | None) -> str | None:
    return None if path is None else str(Path(path).resolve())


def _rule(threshold: Threshold | None) -> str:
    """Return how documents are flagged, in a few words."""
    from orthostream.novelty import FixedThreshold, RecentQuantile

    if isinstance(threshold, FixedThreshold):
        return f"scores above {threshold.score:g}"
    if isinstance(threshold, RecentQuantile):
        return f"scores above the quantile {threshold.quantile:g} of the last {threshold.window:,}"
    rate = 0.01 if threshold is None else getattr(threshold, "rate", 0.01)
    return f"about {100 * rate:g} % of ordinary documents"


def _line(document: ScoredDocument, explain: bool) -> str:
    shown = document if explain else document._replace(explanation=None)
    return json.dumps(shown.to_json(), ensure_ascii=False) + "\n"
