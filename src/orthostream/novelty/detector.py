"""Example 2 of the paper: novel documents in a stream of text, found by what a learnt dictionary cannot represent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.exceptions import NotFittedError

from orthostream import _checks
from orthostream._typing import FloatArray, IntArray
from orthostream.novelty.arriving import Arriving, arriving
from orthostream.novelty.atoms import topic_words
from orthostream.novelty.described import described
from orthostream.novelty.detector_settings import generator, settings_of
from orthostream.novelty.saved_detector import load, save
from orthostream.novelty.scored_block import ScoredBlock
from orthostream.novelty.scored_document import ScoredDocument
from orthostream.novelty.stream_model import StreamModel
from orthostream.novelty.term_counts import Tokenizer
from orthostream.novelty.term_weights import TermWeights, TfIdf
from orthostream.novelty.thresholds import FixedThreshold, Threshold
from orthostream.novelty.word_tokenizer import WordTokenizer
from orthostream.optimize.objectives.contrast import Contrast
from orthostream.optimize.tall import PolarFactor
from orthostream.optimize.threads import one_blas_thread

#: Documents of one call that are scored before any of them is learnt.
_LONGEST_BLOCK = 1000


class NovelDocumentDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores each document of a stream by what is new in it, and learns a dictionary of topics on the way.

    A document is a unit vector of weighted terms. The dictionary has few orthonormal atoms over the whole vocabulary,
    learnt online (Algorithm 2). The score is the energy of the document outside of its ``n_nonzero`` largest
    coefficients, from 0 to 1: what lies outside of all atoms, and what does not fit into a sparse code. Time and memory
    of a document depend neither on the size of the vocabulary nor on how many documents came before.

    Documents are strings, mappings with a "text" and perhaps a "title", an "id" and a "time", mappings from words to
    counts, or the rows of a sparse matrix of counts, whose columns are the terms.

    Parameters
    ----------
    n_components : int, default 128
        The number of atoms: topics.
    contrast : "top", "l3" or a contrast, default "top"
        What the dictionary maximises: "top" the energy of the ``n_nonzero`` largest coefficients, which detects best;
        "l3" the paper's contrast, whose atoms read best.
    n_nonzero : int, default 8
        The coefficients in the code of a document.
    half_life : float, default 4000
        Documents after which the dictionary has forgotten half.
    batch_size : int, default 100
        The dictionary, the frequencies and the vocabulary change after each so many documents.
    tokenizer : callable, optional
        Maps a text to its words. By default `WordTokenizer`, which knows all scripts.
    feature_names : sequence of str, optional
        The terms of the columns of a matrix, for topics and explanations.
    weights : TermWeights, optional
        By default `DampedInverseFrequency`.
    max_terms : int, default 65536
        The size of the vocabulary. Memory for the dictionary is 4 bytes for each term and atom.
    term_half_life : float, default 50000
        Documents after which the frequencies of terms have fallen to half.
    threshold : Threshold, optional
        By default `FalseAlarmRate(0.01)`.
    warm_up : int, default 500
        Documents at the start of the stream of which none is flagged.
    correct_growth : bool, default False
        Whether scores are given in standard deviations above those of their time. Plain scores fall while the history
        grows.
    learn_flagged : bool, default True
        Whether flagged documents are learnt. If not, a new topic is flagged again and again.
    first_story : bool, default False
        Whether one minus the largest cosine to a recent document is added to the score. This finds the very first
        documents of a topic better, and later ones worse.
    n_recent : int, optional
        How many documents are remembered, by default 1000, with ``first_story`` 10000.
    random_state : int, RandomState or None, default None
        For the first dictionary.

    Attributes
    ----------
    threshold_ : float
        Documents with a higher score are flagged now; infinity while the detector is warming up.
    warming_up_ : bool
    n_documents_ : int
        Documents scored so far.
    oddities_ : Counter
        How many documents were empty ("empty"), or so long that their end was left out ("cut").
    components_ : array (n_components, n_terms)
        The atoms.

    Examples
    --------
    >>> detector = NovelDocumentDetector(n_components=2, batch_size=10, warm_up=20, random_state=0)
    >>> for _ in range(20):
    ...     scores = detector.score_then_learn(["cocoa prices rose", "the bank cut interest rates"] * 5)
    >>> known, new = detector.score(["interest rates of the bank", "earthquake shakes the coast"])
    >>> bool(new > known)
    True
    """

    _PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"contrast": "l3", "weights": TfIdf(), "threshold": FixedThreshold(0.9)},
    }

    def __init__(
        self,
        n_components: int = 128,
        *,
        contrast: str | Contrast = "top",
        n_nonzero: int = 8,
        half_life: float = 4000.0,
        batch_size: int = 100,
        tokenizer: Tokenizer | None = None,
        feature_names: Sequence[str] | None = None,
        weights: TermWeights | None = None,
        max_terms: int = 65_536,
        term_half_life: float = 50_000.0,
        threshold: Threshold | None = None,
        warm_up: int = 500,
        correct_growth: bool = False,
        learn_flagged: bool = True,
        first_story: bool = False,
        n_recent: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.contrast = contrast
        self.n_nonzero = n_nonzero
        self.half_life = half_life
        self.batch_size = batch_size
        self.tokenizer = tokenizer
        self.feature_names = feature_names
        self.weights = weights
        self.max_terms = max_terms
        self.term_half_life = term_half_life
        self.threshold = threshold
        self.warm_up = warm_up
        self.correct_growth = correct_growth
        self.learn_flagged = learn_flagged
        self.first_story = first_story
        self.n_recent = n_recent
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """Return a detector set up as "paper": l3 contrast, TF-IDF, the error of the sparse code, a fixed threshold."""
        return cls(**(cls._PRESETS[_checks.one_of("preset", name, cls._PRESETS)] | parameters))

    def score_then_learn(self, documents: Any) -> FloatArray:
        """Return the scores of some documents, then learn them.

        All documents of a call are scored before any of them is learnt; calls of more than 1,000 documents are cut into
        blocks of 1,000.
        """
        scores = [self._learnt(block).scores for block in self._blocks(self._read(documents), _LONGEST_BLOCK)]
        return np.concatenate([np.zeros(0), *scores])

    def process(self, documents: Any, explain: str | float = "flagged") -> list[ScoredDocument]:
        """Score some documents, say which are novel and why, then learn them.

        Parameters
        ----------
        documents : as for `score_then_learn`
        explain : "flagged", "all", "none", or a score above which documents are explained
        """
        if isinstance(explain, str):
            _checks.one_of("explain", explain, ("flagged", "all", "none"), also="a score")
        elif not isinstance(explain, int | float | np.number):
            raise ValueError(f"explain must be 'all', 'flagged', 'none' or a score, got {explain!r}.")
        found: list[ScoredDocument] = []
        for given in self._blocks(self._read(documents), _LONGEST_BLOCK):
            block = self._model.scored(given)
            # Before the block is learnt: then its own documents would be the closest ones.
            found += described(block, self._model, explain, self._name)
            self._finish(block)
        return found

    def partial_fit(self, documents: Any, y: Any = None) -> Self:
        """Learn some documents. Those that do not fill a mini-batch wait for the next call."""
        self.score_then_learn(documents)
        return self

    def fit(self, documents: Any, y: Any = None) -> Self:
        """Forget everything, then learn these documents as a stream, in mini-batches of which the last can be small."""
        given = self._read(documents)
        self._begin()
        for block in self._blocks(given, _checks.integer("batch_size", self.batch_size)):
            self._learnt(block)
        self._model.finish()
        return self

    def score(self, documents: Any, y: Any = None) -> FloatArray:
        """Return the scores of documents, higher for more novel ones, without learning anything."""
        return self._started().score(self._arriving(documents).counts)

    def score_samples(self, documents: Any) -> FloatArray:
        """Return minus the scores: as everywhere in scikit-learn, lower is less normal."""
        return -self.score(documents)

    def decision_function(self, documents: Any) -> FloatArray:
        """Return how far each document lies below the threshold; negative for novel ones."""
        return self.threshold_ - self.score(documents)

    def predict(self, documents: Any) -> IntArray:
        """Return -1 for novel documents and 1 for others; 1 for all while the detector is warming up."""
        return np.where(self.score(documents) > self.threshold_, -1, 1)

    def transform(self, documents: Any) -> FloatArray:
        """Return the sparse codes of documents: the ``n_nonzero`` largest coefficients, others zero.

        An array of shape (n_documents, n_components).
        """
        self._dictionary()
        model, counts = self._model, self._arriving(documents).counts
        with one_blas_thread():
            found = model.coded(model.weighted(counts, model.vocabulary.find(counts.terms)))
        assert found is not None
        return np.where(found.kept, found.coefficients, 0.0)

    @property
    def n_documents_(self) -> int:
        """How many documents were learnt, or wait for their mini-batch."""
        return self._started().n_documents

    @property
    def warming_up_(self) -> bool:
        """Whether no document can be flagged yet."""
        return bool(np.isinf(self.threshold_))

    @property
    def threshold_(self) -> float:
        """The score above which documents are flagged now; infinity while the detector is warming up."""
        return self._started().threshold

    @property
    def offset_(self) -> float:
        """Minus the threshold, on the scale of `score_samples`."""
        return -self.threshold_

    @property
    def oddities_(self) -> Counter[str]:
        """How many documents were "empty", or so long that their end was left out ("cut")."""
        return self._started().oddities

    @property
    def components_(self) -> FloatArray:
        """The atoms over the terms of `get_feature_names_out`, (n_components, n_terms).

        Rows are orthonormal as soon as there are more terms than atoms.
        """
        return self._dictionary().dense(self._model.vocabulary.slots()).T

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the terms of the columns of `components_`."""
        vocabulary = self._started().vocabulary
        return np.array([self._name(vocabulary.term(slot)) for slot in vocabulary.slots().tolist()], dtype=object)

    def topics(self, n_words: int = 10) -> list[tuple[Any, ...]]:
        """Return the words of each atom, those with the most weight first.

        Without ``feature_names``, the terms of a matrix are the numbers of its columns.
        """
        words = topic_words(self._dictionary(), self._model.vocabulary, _checks.integer("n_words", n_words))
        return [tuple(self._name(term) for term in terms) for terms in words]

    def save(self, path: str | os.PathLike[str], notes: dict[str, Any] | None = None) -> None:
        """Save the detector to a file without pickle; a loaded one goes on bit for bit.

        A tokenizer is not saved, nor are a contrast, weights or a threshold of your own: pass them to `load` again.
        ``notes`` are any values that JSON can hold, which `load` keeps as ``notes_``.
        """
        self._started()
        save(self, path, notes or {})

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> Self:
        """Return a saved detector. ``parameters`` are those that were not saved."""
        found: Self = load(cls, path, parameters)
        return found

    def _begin(self) -> None:
        """Check all parameters and forget everything."""
        self._model = StreamModel(settings_of(self), generator(self.random_state))
        self._takes_text: bool | None = None
        #: The energy that each atom holds of the documents of the last call.
        self.topic_energies_ = np.zeros(self.n_components)
        self.notes_: dict[str, Any] = {}

    def _started(self) -> StreamModel:
        if not hasattr(self, "_model"):
            raise NotFittedError("this detector has seen no documents yet: call score_then_learn, partial_fit or fit.")
        return self._model

    def _dictionary(self) -> PolarFactor:
        dictionary = self._started().dictionary
        if dictionary is None:
            raise NotFittedError(
                f"there is no dictionary yet: it begins after batch_size = {self.batch_size} documents, or with fit."
            )
        return dictionary

    def _read(self, documents: Any) -> Arriving:
        return arriving(documents, _TOKENIZER if self.tokenizer is None else self.tokenizer)

    def _arriving(self, documents: Any) -> Arriving:
        return self._of_known_kind(self._read(documents))

    def _of_known_kind(self, given: Arriving) -> Arriving:
        is_text = given.documents is not None
        if self._takes_text is not None and len(given) and self._takes_text != is_text:
            known, other = ("texts", "a matrix") if self._takes_text else ("matrices of counts", "texts")
            raise ValueError(f"this detector has seen {known}, and now got {other}: use another detector.")
        return given

    def _blocks(self, given: Arriving, size: int) -> Iterator[Arriving]:
        """Yield the documents of a call; the first ones decide whether texts or matrices come."""
        if not hasattr(self, "_model"):
            self._begin()
        if len(self._of_known_kind(given)):
            self._takes_text = given.documents is not None
        self._model.oddities["cut"] += given.n_cut
        self.topic_energies_ = np.zeros(self._model.settings.n_components)
        for start in range(0, len(given), size):
            yield given.part(start, start + size)

    def _learnt(self, given: Arriving) -> ScoredBlock:
        block = self._model.scored(given)
        self._finish(block)
        return block

    def _finish(self, block: ScoredBlock) -> None:
        if block.coded is not None:
            self.topic_energies_ = self.topic_energies_ + block.coded.energies.sum(axis=0)
        self._model.learn(block)

    def _name(self, term: Any) -> Any:
        """Return the word for a term."""
        names = self.feature_names
        return term if names is None or isinstance(term, str) or term >= len(names) else str(names[term])


_TOKENIZER = WordTokenizer()
