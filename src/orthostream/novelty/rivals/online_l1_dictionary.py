"""Online l1-dictionary learning: what a document costs in terms of nonnegative atoms, by absolute errors."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.rivals.l1_coding import L1Codes, l1_codes
from orthostream.novelty.rivals.rival import Rival
from orthostream.novelty.rivals.seen_columns import SeenColumns
from orthostream.optimize.sets.simplex import project_to_simplex

_CODE_STEP = 10.0
_CODE_ITERATIONS = 300
_FIRST_MULTIPLIER_STEP = 100.0


class OnlineL1Dictionary(Rival):
    """The cost ``||y - x A||_1 + penalty ||x||_1`` of the best nonnegative code x of a document y.

    After "Online L1-Dictionary Learning with Application to Novel Document Detection" by Kasiviswanathan, Wang,
    Banerjee and Melville (2012). As in the paper, documents have an l1 norm of 1, atoms are nonnegative with an l1 norm
    of at most 1, codes come from the alternating direction method of multipliers (ADMM), and the dictionary is updated
    by its inexact, online form on each block: a step of the errors, a projected gradient step of the atoms, a step of
    the multipliers. The multiplier step of block t grows as the square root of t, so that later blocks change the atoms
    less.

    Simplified or different: the first documents are the first atoms; multipliers begin at zero in each block, as they
    belong to its documents; a block takes 300 steps instead of one, which detects better; errors at terms that a whole
    block does not have are linear in the atoms, and need no multipliers.

    Empty documents cost nothing. No score is above 1, the cost of the code 0. As in the paper, a document that shares
    no term with an atom has that code and does not change the dictionary.

    Parameters
    ----------
    n_atoms : int, default 200
    penalty : float, default 0.1
    n_iterations : int, default 300
        Steps of the dictionary for each block.

    Examples
    --------
    >>> from scipy import sparse
    >>> known, new = sparse.csr_array([[0.6, 0.8, 0.0]]), sparse.csr_array([[0.0, 0.0, 1.0]])
    >>> rival = OnlineL1Dictionary(n_atoms=1)
    >>> rival.learn(DocumentBlock(known, known))
    >>> [rival.score(DocumentBlock(rows, rows)).round(6).item() for rows in (known, new)]
    [0.1, 1.0]
    """

    def __init__(self, n_atoms: int = 200, penalty: float = 0.1, n_iterations: int = 300) -> None:
        self.n_atoms = _checks.integer("n_atoms", n_atoms)
        self.penalty = _checks.positive("penalty", penalty)
        self.n_iterations = _checks.integer("n_iterations", n_iterations)
        self.seen = SeenColumns()
        self._atoms = np.zeros((0, 0))
        self._blocks = 0
        self._last: tuple[SparseMatrix, L1Codes] | None = None

    @property
    def name(self) -> str:
        return "online l1 dictionary"

    def learn(self, block: DocumentBlock) -> None:
        if self._has_learnt():
            codes = self._coded(block.rows).codes
            self._grow(block.rows)
            self._update(_of_unit_mass(self.seen.select(block.rows)), codes)
        else:
            self._grow(block.rows)
        self._last = None
        self._add_atoms(_of_unit_mass(self.seen.select(block.rows)))

    def _has_learnt(self) -> bool:
        return len(self._atoms) > 0

    def _scores(self, block: DocumentBlock) -> FloatArray:
        codes = self._coded(block.rows)
        return np.minimum(codes.costs, 1.0)

    def _coded(self, rows: SparseMatrix) -> L1Codes:
        """Return the codes; those of the last block are remembered, as it is scored and then learnt."""
        if self._last is None or self._last[0] is not rows:
            whole = _of_unit_mass(rows)
            known = self.seen.select(whole)
            found = l1_codes(self._atoms, known, self.penalty, _CODE_STEP, _CODE_ITERATIONS)
            unseen = whole.sum(axis=1) - known.sum(axis=1)
            self._last = (rows, L1Codes(found.codes, found.costs + unseen))
        return self._last[1]

    def _grow(self, rows: SparseMatrix) -> None:
        """Make room for the terms of these rows."""
        self.seen.add(rows)
        missing = len(self.seen) - self._atoms.shape[1]
        self._atoms = np.pad(self._atoms, ((0, 0), (0, missing)))

    def _add_atoms(self, rows: SparseMatrix) -> None:
        """Take documents as atoms while there are too few."""
        free = self.n_atoms - len(self._atoms)
        if free > 0:
            filled = np.flatnonzero(rows.sum(axis=1))[:free]
            self._atoms = np.vstack([self._atoms, rows[filled].toarray()])

    def _update(self, rows: SparseMatrix, codes: FloatArray) -> None:
        """Move the atoms that the codes use towards those with the least absolute error on these rows."""
        used = np.flatnonzero(codes.any(axis=0))
        if len(used) == 0:
            return
        self._blocks += 1
        # Documents with the code 0 have the same error whatever the atoms are.
        coded = np.flatnonzero(codes.any(axis=1))
        rows, codes, atoms = rows[coded], codes[np.ix_(coded, used)], self._atoms[used]
        # At all other terms these atoms are zero, and remain so.
        touched = np.unique(rows.indices)
        others = np.setdiff1d(np.flatnonzero(atoms.any(axis=0)), touched)
        terms = np.append(touched, others)
        targets = rows[:, touched].toarray()
        self._atoms[np.ix_(used, terms)] = self._improved(atoms[:, terms], targets, codes)

    def _improved(self, atoms: FloatArray, targets: FloatArray, codes: FloatArray) -> FloatArray:
        """Return the atoms after some steps of ADMM; the terms of the targets are the first terms of the atoms."""
        inside = targets.shape[1]
        multiplier_step = _FIRST_MULTIPLIER_STEP * np.sqrt(self._blocks)
        bound = 1.0 / multiplier_step
        step = 1.0 / np.linalg.norm(codes, 2) ** 2
        slopes = np.empty_like(atoms)
        slopes[:, inside:] = bound * codes.sum(axis=0)[:, None]
        multipliers = np.zeros_like(targets)
        differences = targets - codes @ atoms[:, :inside]
        for _ in range(self.n_iterations):
            # What soft thresholding takes away: the part of the residuals that the errors do not explain.
            unexplained = np.clip(differences + multipliers, -bound, bound)
            errors = differences + multipliers - unexplained
            slopes[:, :inside] = -codes.T @ unexplained
            atoms = _projected(atoms - step * slopes)
            differences = targets - codes @ atoms[:, :inside]
            multipliers += differences - errors
        return atoms


def _of_unit_mass(rows: SparseMatrix) -> SparseMatrix:
    """Return the rows divided by their sums, without stored zeros; rows of zeros stay."""
    masses = rows.sum(axis=1, dtype=float)
    scaled: SparseMatrix = sparse.csr_array(rows.multiply((1.0 / np.where(masses > 0.0, masses, 1.0))[:, None]))
    scaled.eliminate_zeros()
    return scaled


def _projected(atoms: FloatArray) -> FloatArray:
    """Return the nearest nonnegative atoms whose sums are at most 1."""
    atoms = np.maximum(atoms, 0.0)
    for number in np.flatnonzero(atoms.sum(axis=1) > 1.0):
        # Terms at zero do not matter, and are most of them.
        inside = np.flatnonzero(atoms[number])
        atoms[number, inside] = project_to_simplex(atoms[number, inside], 1.0)
    return atoms
