"""Saving and loading a detector: arrays and a JSON header in one file."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from orthostream.dictionary import persistence
from orthostream.dictionary.persistence import SavedEstimatorError
from orthostream.novelty.recent_documents import Label
from orthostream.novelty.score_level import ScoreLevel
from orthostream.novelty.stream_model import StreamModel
from orthostream.novelty.term_counts import TermCounts
from orthostream.novelty.term_weights import DampedInverseFrequency, TfIdf
from orthostream.novelty.thresholds import FalseAlarmRate, FixedThreshold, RecentQuantile
from orthostream.novelty.vocabulary import Vocabulary
from orthostream.optimize import LpContrast
from orthostream.optimize.objectives import TopEnergy

if TYPE_CHECKING:
    from orthostream.novelty.detector import NovelDocumentDetector

_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (DampedInverseFrequency, FalseAlarmRate, FixedThreshold, LpContrast, RecentQuantile, TfIdf, TopEnergy)
}
#: Parameters that are not saved: one is code, the other is kept as the state of the generator.
_NOT_SAVED = ("tokenizer", "random_state")
#: Parameters that can differ from those that a detector was saved with.
_CHANGEABLE = ("feature_names", "learn_flagged", "random_state", "threshold", "tokenizer")


def save(detector: NovelDocumentDetector, path: str | os.PathLike[str], notes: dict[str, Any]) -> None:
    """Write a detector to a file, completely or not at all."""
    model = detector._model
    parameters = {name: _plain(value) for name, value in detector.get_params(deep=False).items()}
    needed = [name for name, value in parameters.items() if value is _UNKNOWN and name not in _NOT_SAVED]
    header = {
        "class": type(detector).__name__,
        "parameters": {name: value for name, value in parameters.items() if value is not _UNKNOWN},
        "own": needed + ["tokenizer"] * (detector.tokenizer is not None),
        "takes_text": detector._takes_text,
        "level": list(model.level),
        "counts": [model.n_documents, model.words_step, model.vocabulary.n_documents],
        "oddities": dict(model.oddities),
        "random": model.random.bit_generator.state,
        "n_pending": len(model.pending),
        "has_state": model.state is not None,
        "notes": notes,
    }
    arrays = {"threshold": model.threshold_memory, "topics": detector.topic_energies_}
    arrays |= {f"vocabulary/{name}": array for name, array in model.vocabulary.to_arrays().items()}
    arrays |= _matrix_arrays("recent", model.recent.past.matrix())
    arrays["recent/labels"] = as_text([list(label) for label in model.recent.labels])
    arrays["words"] = as_text([list(words) for words in model.words])
    for number, block in enumerate(model.pending):
        arrays |= _matrix_arrays(f"pending/{number}", block.entries)
        is_matrix = isinstance(block.terms, np.ndarray)
        arrays[f"pending/{number}/terms"] = block.terms if is_matrix else as_text(block.terms)
    if model.state is not None:
        arrays |= {f"state/{name}": array for name, array in model.state.to_arrays().items()}
    persistence.write(path, header, arrays)


def load(kind: type[Any], path: str | os.PathLike[str], parameters: Mapping[str, Any]) -> Any:
    """Return a saved detector; ``parameters`` are those that were not saved."""
    header, arrays = persistence.read(path)
    name = os.fspath(path)
    if header.get("class") != kind.__name__:
        raise SavedEstimatorError(f"{name} holds {header.get('class')!r}, not a {kind.__name__}.")
    missing = sorted(set(header.get("own", ())) - set(parameters))
    if missing:
        raise ValueError(f"{name} was saved without {', '.join(missing)}: pass the same ones to load.")
    fixed = sorted(set(parameters) - set(_CHANGEABLE) - set(header.get("own", ())))
    if fixed:
        raise ValueError(
            f"{name} was made with its own {', '.join(fixed)}: only {', '.join(_CHANGEABLE)} can be changed."
        )
    try:
        saved = {word: _object(value) for word, value in header["parameters"].items()}
        detector = kind(**saved)
        if set(saved) - set(detector.get_params()):
            raise ValueError("it has unknown parameters.")
    except Exception as error:
        raise SavedEstimatorError(f"{name} is damaged: {' '.join(str(error).split())[:200]}") from error
    detector.set_params(**parameters)
    detector._begin()
    try:
        _restore(detector, header, arrays)
    except Exception as error:  # a damaged file can fail anywhere
        raise SavedEstimatorError(f"{name} is damaged: {' '.join(str(error).split())[:200]}") from error
    return detector


def _restore(detector: NovelDocumentDetector, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    wrong = [word for word, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    if wrong:
        raise ValueError(f"{wrong[0]} is not finite.")
    model: StreamModel = detector._model
    detector._takes_text, detector.notes_ = header["takes_text"], header["notes"]
    detector.topic_energies_ = arrays["topics"]
    settings = model.settings
    n_documents, words_step, n_learnt = header["counts"]
    model.n_documents, model.words_step = int(n_documents), int(words_step)
    model.level = ScoreLevel(*map(float, header["level"]))
    model.oddities = Counter({str(name): int(count) for name, count in header["oddities"].items()})
    model.threshold_memory = np.asarray(arrays["threshold"], dtype=float)
    model.random.bit_generator.state = header["random"]
    model.words = [tuple(words) for words in from_text(arrays["words"])]
    sound = detector._takes_text in (None, True, False) and model.n_documents >= 0 and float(n_learnt) >= 0.0
    sound = sound and arrays["topics"].shape == (settings.n_components,) and model.threshold_memory.ndim == 1
    sound = sound and len(model.words) in (0, settings.n_components) and bool(np.isfinite(model.level).all())
    if not sound:
        raise ValueError("its parts do not fit.")
    named = {
        word.removeprefix("vocabulary/"): array for word, array in arrays.items() if word.startswith("vocabulary/")
    }
    model.vocabulary = Vocabulary.from_arrays(named, settings.max_terms, settings.term_half_life, float(n_learnt))
    labels = [Label(*label) for label in from_text(arrays["recent/labels"])]
    rows = _matrix("recent", arrays)
    if rows.shape[0] != len(labels) or rows.shape[1] > model.vocabulary.n_slots:
        raise ValueError("recent documents and their labels do not fit.")
    if len(labels):
        model.recent.past.append(rows)
    model.recent.labels = deque(labels, maxlen=settings.n_recent)
    for number in range(int(header["n_pending"])):
        terms = arrays[f"pending/{number}/terms"]
        if terms.dtype == np.uint8:
            terms = from_text(terms)
        block = TermCounts(terms, _matrix(f"pending/{number}", arrays))
        if block.entries.shape[1] != len(block.terms):
            raise ValueError("waiting documents and their terms do not fit.")
        model.pending.append(block)
    if header["has_state"]:
        model.state = settings.solver.restore(_below("state/", arrays))
        if model.state.x.shape != (model.vocabulary.n_slots, settings.n_components):
            raise ValueError(f"a dictionary of shape {model.state.x.shape} does not fit the parameters.")


def _below(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


class _Unknown:
    """Stands for a parameter that cannot be written as plain data."""


_UNKNOWN = _Unknown()


def _plain(value: Any) -> Any:
    """Return a parameter as plain data, or `_UNKNOWN`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if type(value).__name__ in _CLASSES and type(value) is _CLASSES[type(value).__name__]:
        return {"class": type(value).__name__, "parameters": dict(vars(value))}
    if isinstance(value, list | tuple | np.ndarray) and all(isinstance(item, str) for item in value):
        return [str(item) for item in value]
    return _UNKNOWN


def _object(value: Any) -> Any:
    if isinstance(value, dict):
        return _CLASSES[value["class"]](**{name: item for name, item in value["parameters"].items() if name[0] != "_"})
    return value


def as_text(values: Any) -> Any:
    """Return JSON as an array of bytes.

    >>> from_text(as_text(["cocoa", 7, None]))
    ['cocoa', 7, None]
    """
    return np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)


def from_text(array: Any) -> Any:
    """Return the values that `as_text` turned into bytes."""
    return json.loads(array.tobytes())


def _matrix_arrays(name: str, matrix: Any) -> dict[str, Any]:
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(matrix.shape)}
    return {f"{name}/{part}": array for part, array in parts.items()}


def _matrix(name: str, arrays: Mapping[str, Any]) -> Any:
    n_rows, n_columns = (int(length) for length in arrays[f"{name}/shape"])
    parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
    matrix = sparse.csr_array(parts, shape=(n_rows, n_columns))
    matrix.check_format(full_check=True)
    return matrix
