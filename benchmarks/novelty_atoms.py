"""Whether atoms can be read: coherence of their words, coefficients a document needs, agreement with the topics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
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
    "npmi_of_entries": "of entries",
    "active_coefficients": "active coefficients",
    "active_of_8": f"of {_KEPT}",
    "energy_in_8": f"energy in {_KEPT}",
    "nmi": "NMI with topics",
}

_HOW = """\
Atoms: {count} of each dictionary, after one pass over the stories; NMF: all stories at once, at most {passes} passes.
NPMI: coherence of the 10 words of each atom, mean over atoms; ours are those of `topics`, from the mean of the
documents that an atom represents. Of entries: of the words with the largest entries, for all alike. Active
coefficients: those that hold 90 % of the energy of a code with all atoms, mean over documents; of 8: of a code cut to
its 8 largest, for all alike. Energy in 8: the share of a document's energy that the atoms of these 8 explain, fitted
again where atoms are not orthogonal. NMI: of the strongest atom of a document with its topic."""


class Atoms(NamedTuple):
    """A dictionary, and the codes of all documents in it.

    Attributes
    ----------
    topics : the columns of the words of each atom, as its method chooses them
    entries : the columns of the largest entries of each atom
    codes : array (n_documents, n_atoms), with all atoms, for atoms of length 1
    products : array (n_documents, n_atoms), inner products of documents and atoms
    gram : array (n_atoms, n_atoms), inner products of the atoms; None for orthonormal ones
    """

    topics: Sequence[Sequence[int]]
    entries: Sequence[Sequence[int]]
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
        found[name] = [_ours(counts, rows, contrast, count, seed) for seed in range(effort.atom_seeds)]
    say(f"atoms of {PCA_ATOMS} ...")
    found[PCA_ATOMS] = [_tracked(blocks, rows, count)]
    say(f"atoms of {NMF_ATOMS} ...")
    found[NMF_ATOMS] = [_factorised(rows, count, effort.nmf_iterations)]
    values = {name: np.mean([_measures(atoms, collection) for atoms in each], axis=0) for name, each in found.items()}
    print(f"\n{_HOW.format(count=count, passes=effort.nmf_iterations)}\n")
    digits = ("{:.3f}", "{:.3f}", "{:.2f}", "{:.2f}", "{:.3f}", "{:.3f}")
    lines = [
        (name, [form.format(value) for form, value in zip(digits, each, strict=True)]) for name, each in values.items()
    ]
    print(table("atoms", "", list(_METRICS.values()), lines))
    for name in (TOP_ATOMS, L3_ATOMS):
        for line in _verdicts(name, values[name], values[NMF_ATOMS]):
            print(line)
    return [
        Record(NAME, name, "atoms", metric, float(value))
        for name, each in values.items()
        for metric, value in zip(_METRICS, each, strict=True)
    ]


def _verdicts(name: str, ours: FloatArray, batch: FloatArray) -> Iterator[str]:
    """Compare with NMF: NPMI should not be lower, nor active coefficients be more."""
    for place, what in enumerate(("NPMI", "NPMI of entries")):
        text = f"{what} of {name} at least that of {NMF_ATOMS}: {ours[place]:.3f}, {batch[place]:.3f}"
        yield verdict(ours[place] >= batch[place], text)
    for place, what in enumerate(("active coefficients", f"active coefficients of {_KEPT}"), start=2):
        text = f"{what}, {name} at most as many as {NMF_ATOMS}: {ours[place]:.2f}, {batch[place]:.2f}"
        yield verdict(ours[place] <= batch[place], text)


def _weighted(counts: SparseMatrix) -> tuple[list[DocumentBlock], SparseMatrix]:
    """Return the blocks of the stream, and all rows with the weights at its end."""
    weighting, blocks = PastWeighting(counts.shape[1]), []
    for start in range(0, counts.shape[0], _BLOCK):
        blocks.append(weighting.block(counts[start : start + _BLOCK]))
        weighting.count(blocks[-1].counts)
    return blocks, weighting.block(counts).rows


def _ours(counts: SparseMatrix, rows: SparseMatrix, contrast: str, n_components: int, seed: int) -> Atoms:
    detector = NovelDocumentDetector(n_components, contrast=contrast, random_state=seed)
    for start in range(0, counts.shape[0], _BLOCK):
        detector.score_then_learn(counts[start : start + _BLOCK])
    columns = detector.get_feature_names_out().astype(np.int64)
    components = np.zeros((n_components, counts.shape[1]))
    components[:, columns] = detector.components_
    # `transform` would cut the codes to their largest coefficients, which no other method does.
    codes = np.asarray(rows @ components.T)
    return Atoms(detector.topics(_WORDS), _largest(_turned(components)), codes, codes)


def _tracked(blocks: Sequence[DocumentBlock], rows: SparseMatrix, n_components: int) -> Atoms:
    rival = IncrementalPCAResidual(n_components)
    for block in blocks:
        rival.learn(block)
    places = rival.seen.select(sparse.csr_array(sparse.eye_array(rows.shape[1])))
    components = np.asarray((places @ (rival._terms @ rival._rotation)).T)
    codes, words = np.asarray(rows @ components.T), _largest(_turned(components))
    return Atoms(words, words, codes, codes)


def _factorised(rows: SparseMatrix, n_components: int, n_iterations: int) -> Atoms:
    model = NMF(n_components, init="nndsvd", max_iter=n_iterations, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn sorts the indices in place, which other matrices share.
        codes = model.fit_transform(sparse.csr_matrix(rows, copy=True))
    lengths = np.linalg.norm(model.components_, axis=1)
    atoms = model.components_ / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    words = _largest(atoms)
    return Atoms(words, words, codes * lengths, np.asarray(rows @ atoms.T), atoms @ atoms.T)


def _turned(components: FloatArray) -> FloatArray:
    """Return atoms that point to where most of their weight is."""
    return components * np.where((components**3).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)


def _largest(components: FloatArray) -> Any:
    return np.argsort(-components, axis=1, kind="stable")[:, :_WORDS]


def _measures(atoms: Atoms, collection: Collection) -> tuple[float, ...]:
    """Return the measures in the order of `_METRICS`; documents without a code do not count, but for NPMI."""
    energies = np.square(atoms.codes, dtype=float)
    coded = energies.sum(axis=1) > 0.0
    largest = -np.sort(-energies[coded], axis=1)
    return (
        _coherence(atoms.topics, collection),
        _coherence(atoms.entries, collection),
        _active(largest),
        _active(largest[:, :_KEPT]),
        float(_kept(atoms)[coded].mean()),
        float(normalized_mutual_info_score(collection.topics[coded], energies[coded].argmax(axis=1))),
    )


def _coherence(words: Sequence[Sequence[int]], collection: Collection) -> float:
    return float(topic_coherence([some for some in words if len(some) > 1], collection.counts).mean())


def _active(largest: FloatArray) -> float:
    """Return how many coefficients hold 90 % of the energy, from energies in falling order."""
    shares = largest / largest.sum(axis=1, keepdims=True)
    return float(np.mean(1.0 + np.count_nonzero(np.cumsum(shares, axis=1) < _ENERGY, axis=1)))


def _kept(atoms: Atoms) -> FloatArray:
    """Return the share of each document's energy that its best fit by the atoms of its largest coefficients has."""
    best = np.argsort(-np.abs(atoms.codes), axis=1, kind="stable")[:, :_KEPT]
    products = np.take_along_axis(atoms.products, best, axis=1).astype(float)
    if atoms.gram is None:
        return np.asarray(np.square(products).sum(axis=1))
    # Atoms may be parallel: the least-norm fit does not mind.
    grams = np.linalg.pinv(atoms.gram[best[:, :, None], best[:, None, :]], rcond=1e-8, hermitian=True)
    return np.asarray(np.einsum("ni,nij,nj->n", products, grams, products))
