"""`orthostream novelty`: score each document of a stream by what is new in it, and flag the novel ones."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.arguments import count_argument, number_argument
from orthostream.cli.errors import UserError
from orthostream.cli.link_process import stopping
from orthostream.cli.trouble import bad_values, trouble_with

if TYPE_CHECKING:
    from orthostream.novelty import NovelDocumentDetector

_PIPE = "-"
_EXAMPLES = """examples:
  orthostream novelty news.jsonl --explain
  orthostream novelty news.csv --page news.html --state news.state
  tail -F app.log | orthostream novelty - --format lines
  orthostream novelty news.jsonl --follow --state news.state --resume --output flagged.jsonl
"""
#: Options of the detector, by the name of its parameter: what an existing state was made with cannot be changed.
_FIXED = (
    "n_components",
    "contrast",
    "half_life",
    "batch_size",
    "max_terms",
    "warm_up",
    "first_story",
    "correct_growth",
)


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        "novelty",
        help="flag novel documents in a stream of text",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "input", metavar="IN", help="JSON lines, CSV or plain lines, also with .gz; - for standard input"
    )
    _add_input_options(parser.add_argument_group("input"))
    _add_output_options(parser.add_argument_group("output"))
    _add_detector_options(parser.add_argument_group("detector"))
    _add_threshold_options(parser.add_argument_group("threshold"))
    parser.set_defaults(run=run)


def _add_input_options(group: Any) -> None:
    what = "what the input holds (by its name, or its first line)"
    group.add_argument("--format", choices=("auto", "jsonl", "csv", "lines"), default="auto", help=what)
    for name in ("text", "title", "id", "time"):
        group.add_argument(
            f"--{name}", metavar="FIELD", help=f"the field or column of the {name} (a usual one is found)"
        )
    group.add_argument("--encoding", default="utf-8", help="the encoding of the input (utf-8)")
    group.add_argument("--follow", action="store_true", help="wait for further lines at the end, as tail -F does")


def _add_output_options(group: Any) -> None:
    what = "write the JSON lines to this file instead of standard output"
    group.add_argument("--output", metavar="FILE", help=what)
    group.add_argument("--all", action="store_true", help="a line for every document, not only for flagged ones")
    what = "at the end, a line for each of the N documents with the highest scores, instead of flagged ones"
    group.add_argument("--top", type=count_argument, metavar="N", help=what)
    what = "add what is new in a document, the topics and the earlier documents closest to it"
    group.add_argument("--explain", action="store_true", help=what)
    what = "write a page with the scores, the flagged documents and the topics"
    group.add_argument("--page", type=Path, metavar="FILE.html", help=what)
    what = "draw scores and topics (PNG, SVG or PDF)"
    group.add_argument("--plot", type=Path, metavar="FILE", help=what)
    what = "keep what was learnt in this file; if it exists, go on from it"
    group.add_argument("--state", type=Path, metavar="FILE", help=what)
    what = "go on with this input where an interrupted run left off (needs --state)"
    group.add_argument("--resume", action="store_true", help=what)
    what = "documents between two writings of --state (10,000)"
    group.add_argument("--save-every", type=count_argument, metavar="N", default=10_000, help=what)
    group.add_argument("--quiet", action="store_true", help="no summary, no progress")


def _add_detector_options(group: Any) -> None:
    group.add_argument("--components", dest="n_components", type=count_argument, metavar="K", help="topics (128)")
    what = "top: detects best; l3: the paper's contrast, whose topics read best (top)"
    group.add_argument("--contrast", choices=("top", "l3"), help=what)
    what = "documents after which the topics have forgotten half (4,000)"
    group.add_argument("--half-life", dest="half_life", type=count_argument, metavar="N", help=what)
    group.add_argument(
        "--terms", dest="max_terms", type=count_argument, metavar="N", help="size of the vocabulary (65,536)"
    )
    what = "also compare each document with the last 10,000, to find the very first one of a topic"
    group.add_argument("--first-story", dest="first_story", action="store_true", default=None, help=what)
    what = "do not learn flagged documents: a new topic is then flagged again and again"
    group.add_argument("--no-learn-flagged", dest="learn_flagged", action="store_false", default=None, help=what)
    what = "the paper's procedure: l3 contrast, TF-IDF, and a fixed threshold (0.9, or --threshold)"
    group.add_argument("--paper", action="store_true", help=what)
    group.add_argument("--seed", dest="random_state", type=int, metavar="N", default=0, help="of the first topics (0)")


def _add_threshold_options(group: Any) -> None:
    one = group.add_mutually_exclusive_group()
    what = "share of ordinary documents that may be flagged, at most 0.1 (0.01)"
    one.add_argument("--false-alarms", type=number_argument(_fraction), metavar="RATE", help=what)
    what = "flag the documents above this quantile of the last 2,000 scores"
    one.add_argument("--quantile", type=number_argument(_fraction), metavar="Q", help=what)
    what = "flag the documents with a score above this one"
    one.add_argument("--threshold", type=number_argument(_finite), metavar="SCORE", help=what)
    what = "documents at the start of which none is flagged (500)"
    group.add_argument("--warm-up", dest="warm_up", type=int, metavar="N", help=what)
    what = "give scores in standard deviations above recent ones: plain scores fall while the history grows"
    group.add_argument("--correct-growth", dest="correct_growth", action="store_true", default=None, help=what)


def _fraction(name: str, value: float) -> float:
    # Loaded here because it imports NumPy, which --help does not need.
    from orthostream._checks import fraction

    return fraction(name, value)


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}.")
    return value


def run(options: argparse.Namespace) -> int:
    """Score the documents of an input; return the exit code."""
    _check(options)
    from orthostream.cli.novelty_run import NoveltyRun
    from orthostream.novelty.reading import DocumentError, DocumentReader

    detector = _detector(options)
    source = sys.stdin.buffer if options.input == _PIPE else options.input
    fields = {name: getattr(options, name) for name in ("text", "title", "id", "time")}
    shown = "standard input" if options.input == _PIPE else options.input
    with stopping() as stop, trouble_with(shown), bad_values():
        reader = DocumentReader(
            source, options.format, follow=options.follow, encoding=options.encoding, stop=stop, **fields
        )
        with _locked(options.state), reader, NoveltyRun(options, detector, reader, shown) as going:
            try:
                return going.run(stop)
            except DocumentError as error:
                raise UserError(f"{shown}: {str(error).removesuffix('.')}") from error


@contextmanager
def _locked(state: Path | None) -> Iterator[None]:
    """Keep other runs from using the same state."""
    if state is None:
        yield
        return
    from orthostream.compression.file.lock import open_locked

    path = state.with_name(f"{state.name}.lock")
    try:
        lock = open_locked(path, create=True)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        raise UserError(f"another run is using {state}") from error
    with lock:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together, before anything is read."""
    if options.follow and options.input == _PIPE:
        raise UserError("standard input is read until it ends: --follow needs the name of a file")
    if options.follow and options.top:
        raise UserError("--top prints at the end of the input, which --follow does not have")
    if options.all and options.top:
        raise UserError("--all and --top both say which documents to print: choose one")
    if options.resume and options.state is None:
        raise UserError("--resume needs the file that the interrupted run wrote: add --state FILE")
    if options.resume and options.top:
        raise UserError("--top does not know the documents of the interrupted run: leave out --top or --resume")
    if options.input != _PIPE and not options.follow and not Path(options.input).exists():
        raise UserError(f"there is no file {options.input}")
    if options.input != _PIPE and Path(options.input).is_dir():
        raise UserError(f"{options.input} is a folder, not a file")
    written = [Path(path) for path in (options.output, options.page, options.plot, options.state) if path is not None]
    for path in written:
        if not path.parent.is_dir():
            raise UserError(f"there is no folder {path.parent} to write {path.name} to")
        if path.is_dir():
            raise UserError(f"{path} is a folder, not a file")
    for path in filter(None, (options.page, options.plot, options.state)):
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is no ordinary file: it cannot be replaced by a new one")
    names = [path.resolve() for path in written] + ([] if options.input == _PIPE else [Path(options.input).resolve()])
    if len(set(names)) < len(names):
        raise UserError("input, output, page, plot and state must be different files")
    if options.plot is not None:
        if options.plot.suffix not in (".png", ".svg", ".pdf"):
            raise UserError(f"--plot must end in .png, .svg or .pdf, got {options.plot.name}")
        if importlib.util.find_spec("matplotlib") is None:
            raise UserError("--plot needs matplotlib: pip install 'orthostream[bench]'")


def _detector(options: argparse.Namespace) -> NovelDocumentDetector:
    """Return the detector of the state file if there is one, else a new one."""
    from orthostream.novelty import NovelDocumentDetector

    threshold = _threshold(options)
    names = (*_FIXED, "learn_flagged", "random_state")
    given: dict[str, Any] = {name: getattr(options, name, None) for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    if threshold is not None:
        given["threshold"] = threshold
    with bad_values():
        if options.state is None or not options.state.exists():
            if options.paper:
                return NovelDocumentDetector.preset("paper", **given)
            return NovelDocumentDetector(**given)
        with trouble_with(str(options.state)):
            changed = {name: value for name, value in given.items() if name not in _FIXED}
            detector = NovelDocumentDetector.load(options.state, **changed)
    for name in _FIXED:
        value, known = given.get(name), getattr(detector, name)
        if value is not None and value != known:
            raise UserError(
                f"{options.state} was made with {name} = {known}: leave the option out, or name another state file"
            )
    if options.paper and detector.get_params()["weights"] != NovelDocumentDetector.preset("paper").weights:
        raise UserError(f"{options.state} was made without --paper: leave the option out, or name another state file")
    return detector


def _threshold(options: argparse.Namespace) -> Any:
    """Return the threshold that was asked for, None for the usual one."""
    from orthostream.novelty import FalseAlarmRate, FixedThreshold, RecentQuantile

    with bad_values():
        if options.false_alarms is not None:
            return FalseAlarmRate(options.false_alarms)
        if options.quantile is not None:
            return RecentQuantile(options.quantile)
        if options.threshold is not None:
            return FixedThreshold(options.threshold)
    return None
