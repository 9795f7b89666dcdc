"""Whether atoms can be read: coherence of their words, coefficients a document needs, agreement with the topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from orthostream import NovelDocumentDetector
from orthostream._typing import FloatArray
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.past_weighting import PastWeighting
from orthostream.metrics import topic_coherence
from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.rivals import IncrementalPCAResidual

from .measure import Record, say, table
from .novelty_effort import Effort
from .novelty_verdict import verdict

NAME = "novelty"
TOP_ATOMS, L3_ATOMS, PCA_ATOMS, NMF_ATOMS = "top-8 energy", "l3", "tracked PCA", "NMF, batch"
_WORDS, _ENERGY, _KEPT, _BLOCK = 10, 0.9, 8, 100
_METRICS = {
    "npmi": "NPMI",
    "active_coefficients": "active coefficients",
    "energy_in_8": f"energy in {_KEPT}",
    "nmi": "NMI with topics",
}

_HOW = """\
Atoms: {count} of each dictionary, after one pass over the stories; NMF: all stories at once, at most {passes} passes.
NPMI: coherence of the 10 words of each atom, mean over atoms. Active coefficients: those that hold 90 % of the energy
of a code, mean over documents. Energy in 8: the share of a document's energy that the atoms of its 8 largest
coefficients explain, fitted again where atoms are not orthogonal. NMI: of the strongest atom of a document with its
topic."""


class Atoms(NamedTuple):
    """A dictionary, and the codes of all documents in it.

    Attributes
    ----------
    topics : the columns of the words of each atom, those with the most weight first
    codes : array (n_documents, n_atoms), for atoms of length 1
    products : array (n_documents, n_atoms), inner products of documents and atoms
    gram : array (n_atoms, n_atoms), inner products of the atoms; None for orthonormal ones
    """

    topics: Sequence[Sequence[int]]
    codes: FloatArray
    products: FloatArray
    gram: FloatArray | None = None


def measure_atoms(collection: Collection, effort: Effort) -> list[Record]:
    """Learn dictionaries, print a table and verdicts, and return the records."""
    count, counts = effort.n_components, collection.counts
    blocks, rows = _weighted(counts)
    found: dict[str, list[Atoms]] = {}
    for name, contrast in ((TOP_ATOMS, "top"), (L3_ATOMS, "l3")):
        say(f"atoms of {name} ...")
        found[name] = [_ours(counts, contrast, count, seed) for seed in range(effort.atom_seeds)]
    say(f"atoms of {PCA_ATOMS} ...")
    found[PCA_ATOMS] = [_tracked(blocks, rows, count)]
    say(f"atoms of {NMF_ATOMS} ...")
    found[NMF_ATOMS] = [_factorised(rows, count, effort.nmf_iterations)]
    values = {name: np.mean([_measures(atoms, collection) for atoms in each], axis=0) for name, each in found.items()}
    print(f"\n{_HOW.format(count=count, passes=effort.nmf_iterations)}\n")
    lines = [
        (name, [f"{one[0]:.3f}", f"{one[1]:.2f}", f"{one[2]:.3f}", f"{one[3]:.3f}"]) for name, one in values.items()
    ]
    print(table("atoms", "", list(_METRICS.values()), lines))
    batch_npmi, batch_active, *_ = values[NMF_ATOMS]
    for name in (TOP_ATOMS, L3_ATOMS):
        npmi, active, *_ = values[name]
        print(verdict(npmi >= batch_npmi, f"NPMI of {name} at least that of {NMF_ATOMS}: {npmi:.3f}, {batch_npmi:.3f}"))
        text = f"active coefficients of {name} at most those of {NMF_ATOMS}: {active:.2f}, {batch_active:.2f}"
        print(verdict(active <= batch_active, text))
    return [
        Record(NAME, name, "atoms", metric, float(value))
        for name, each in values.items()
        for metric, value in zip(_METRICS, each, strict=True)
    ]


def _weighted(counts: SparseMatrix) -> tuple[list[DocumentBlock], SparseMatrix]:
    """Return the blocks of the stream, and all rows with the weights at its end."""
    weighting, blocks = PastWeighting(counts.shape[1]), []
    for start in range(0, counts.shape[0], _BLOCK):
        blocks.append(weighting.block(counts[start : start + _BLOCK]))
        weighting.count(blocks[-1].counts)
    return blocks, weighting.block(counts).rows


def _ours(counts: SparseMatrix, contrast: str, n_components: int, seed: int) -> Atoms:
    detector = NovelDocumentDetector(n_components, contrast=contrast, random_state=seed)
    for start in range(0, counts.shape[0], _BLOCK):
        detector.score_then_learn(counts[start : start + _BLOCK])
    codes = detector.transform(counts)
    return Atoms(detector.topics(_WORDS), codes, codes)


def _tracked(blocks: Sequence[DocumentBlock], rows: SparseMatrix, n_components: int) -> Atoms:
    rival = IncrementalPCAResidual(n_components)
    for block in blocks:
        rival.learn(block)
    places = rival.seen.select(sparse.csr_array(sparse.eye_array(rows.shape[1])))
    components = np.asarray((places @ (rival._terms @ rival._rotation)).T)
    # An atom points to where most of its weight is.
    components = components * np.where((components**3).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    codes = np.asarray(rows @ components.T)
    return Atoms(_largest(components), codes, codes)


def _factorised(rows: SparseMatrix, n_components: int, n_iterations: int) -> Atoms:
    model = NMF(n_components, init="nndsvd", max_iter=n_iterations, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn sorts the indices in place, which other matrices share.
        codes = model.fit_transform(sparse.csr_matrix(rows, copy=True))
    lengths = np.linalg.norm(model.components_, axis=1)
    atoms = model.components_ / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return Atoms(_largest(atoms), codes * lengths, np.asarray(rows @ atoms.T), atoms @ atoms.T)


def _largest(components: FloatArray) -> Any:
    return np.argsort(-components, axis=1, kind="stable")[:, :_WORDS]


def _measures(atoms: Atoms, collection: Collection) -> tuple[float, float, float, float]:
    """Return the measures in the order of `_METRICS`; documents without a code do not count, but for NPMI."""
    readable = [words for words in atoms.topics if len(words) > 1]
    coherence = float(topic_coherence(readable, collection.counts).mean())
    energies = np.square(atoms.codes, dtype=float)
    coded = energies.sum(axis=1) > 0.0
    shares = -np.sort(-energies[coded], axis=1) / energies[coded].sum(axis=1, keepdims=True)
    active = 1.0 + np.count_nonzero(np.cumsum(shares, axis=1) < _ENERGY, axis=1)
    agreement = normalized_mutual_info_score(collection.topics[coded], energies[coded].argmax(axis=1))
    return coherence, float(active.mean()), float(_kept(atoms)[coded].mean()), float(agreement)


def _kept(atoms: Atoms) -> FloatArray:
    """Return the share of each document's energy that its best fit by the atoms of its largest coefficients has."""
    best = np.argsort(-np.abs(atoms.codes), axis=1, kind="stable")[:, :_KEPT]
    products = np.take_along_axis(atoms.products, best, axis=1).astype(float)
    if atoms.gram is None:
        return np.asarray(np.square(products).sum(axis=1))
    # Atoms may be parallel: the least-norm fit does not mind.
    grams = np.linalg.pinv(atoms.gram[best[:, :, None], best[:, None, :]], rcond=1e-8, hermitian=True)
    return np.asarray(np.einsum("ni,nij,nj->n", products, grams, products))
