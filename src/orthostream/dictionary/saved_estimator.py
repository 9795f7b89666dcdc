"""Saving and loading a fitted estimator, with its solver's state and the rows that wait for a mini-batch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from orthostream.dictionary import persistence
from orthostream.dictionary.centre import Centre
from orthostream.dictionary.gap_record import GapRecord
from orthostream.dictionary.named import from_plain, to_plain
from orthostream.dictionary.youth import Youth, has_youth
from orthostream.optimize import State, StochasticFrankWolfe


class SavedEstimator:
    """The part of `StreamEstimator` that saves it to a file and loads it."""

    state_: State
    solver_: StochasticFrankWolfe
    scale_: float
    n_features_in_: int
    pending_: Any
    pending_weight_: Any
    _youth: Any
    _gaps: GapRecord
    _dtype: Any
    feature_names_in_: Any
    _added_later: ClassVar[Mapping[str, Any]] = {}
    """Parameters that earlier versions did not have, with the values that describe what they did."""
    _centre: Centre | None
    _restore_centre: Any
    _make_solver: Any
    _n_features_out: Any
    _get_param_names: Any
    get_params: Any

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted estimator: arrays and a JSON header, no pickle.

        A loaded estimator continues bit for bit as if it had never been saved. Callbacks and a random generator are not
        saved; a contrast or a schedule of your own must be passed to `load` again.
        """
        check_is_fitted(self, "state_")
        arrays = {f"state/{name}": array for name, array in self.state_.to_arrays().items()}
        pending = getattr(self, "pending_", None)
        if pending is not None:
            arrays["pending"] = pending if isinstance(pending, np.ndarray) else pending.toarray()
            if self.pending_weight_ is not None:
                arrays["pending_weight"] = self.pending_weight_
        if self._centre is not None:
            arrays |= {f"centre/{name}": array for name, array in self._centre.to_arrays().items()}
        parameters, unknown = {}, set()
        for name, value in self.get_params(deep=False).items():
            if name in ("init", "center") and value is not None and not isinstance(value, str):
                arrays[f"parameter/{name}"] = np.asarray(value, dtype=float)
            elif name != "callbacks":
                parameters[name] = to_plain(value)
                if parameters[name] is None and value is not None:
                    unknown.add(name)
        youth = self._youth
        if youth is not None:
            arrays["youth"] = youth.rows
        names = getattr(self, "feature_names_in_", None)
        header = {
            "class": type(self).__name__,
            "parameters": parameters,
            "own": [name for name in ("contrast", "schedule") if name in unknown],
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else [str(name) for name in names],
            "scale": self.scale_,
            "dtype": str(self._dtype),
            "youth": None if youth is None else youth.to_plain(),
            "gaps": self._gaps._asdict(),
            "sparse_pending": pending is not None and not isinstance(pending, np.ndarray),
        }
        persistence.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> Self:
        """Return the estimator that `save` wrote; keyword arguments replace or add parameters."""
        header, arrays = persistence.read(path)
        if header.get("class") != cls.__name__:
            raise persistence.SavedEstimatorError(
                f"{os.fspath(path)} holds a {header.get('class')}, not a {cls.__name__}."
            )
        unknown = set(parameters) - set(cls._get_param_names())
        if unknown:
            raise TypeError(f"{cls.__name__} has no parameters {', '.join(sorted(unknown))}.")
        for name in header.get("own", ()):
            if name not in parameters:
                raise ValueError(f"the {name} was an object of your own, which is not saved: load(path, {name}=...).")
        if parameters:
            cls(**parameters)._make_solver()  # a wrong parameter is not the file's fault
        try:
            estimator = cls._rebuilt(header, arrays, parameters)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise persistence.SavedEstimatorError(f"{os.fspath(path)} is damaged: {error}") from error
        if parameters.get("n_components") not in (None, estimator._n_features_out):
            raise ValueError(f"the saved learner has {estimator._n_features_out} components: their number is fixed.")
        return estimator

    @classmethod
    def _rebuilt(cls, header: dict[str, Any], arrays: dict[str, Any], parameters: dict[str, Any]) -> Self:
        words = dict(cls._added_later)
        words |= {name: from_plain(value) for name, value in header["parameters"].items()}
        words |= {
            name.removeprefix("parameter/"): array for name, array in arrays.items() if name.startswith("parameter/")
        }
        estimator = cls(**(words | parameters))
        estimator.n_features_in_ = int(header["n_features_in"])
        if header["feature_names_in"] is not None:
            estimator.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
        estimator.scale_ = float(header["scale"])
        estimator._gaps = GapRecord.from_plain(header.get("gaps", GapRecord()._asdict()))
        state = {n.removeprefix("state/"): a for n, a in arrays.items() if n.startswith("state/")}
        estimator._dtype = np.dtype(header.get("dtype", str(state["x"].dtype)))
        own = {name: parameters[name] for name in header.get("own", ())}
        saved = cls(**(words | own))  # with the parameters at the time of saving: its solver must read the state
        saved.scale_, saved.n_features_in_ = estimator.scale_, estimator.n_features_in_
        before = saved._make_solver()
        estimator.state_ = before.restore(state)
        estimator.solver_ = estimator._make_solver()
        if parameters.keys() & {"contrast", "schedule", "average", "method", "variance_loss"}:
            estimator.state_ = estimator.solver_.adopted(estimator.state_, before)
        if header.get("youth") is not None and has_youth(estimator.solver_, estimator.state_):
            estimator._youth = Youth.from_plain(header["youth"], arrays["youth"], estimator.state_.x.shape)
        centre = {n.removeprefix("centre/"): a for n, a in arrays.items() if n.startswith("centre/")}
        estimator._restore_centre(words.get("center"), centre)
        if "pending" in arrays:
            pending = arrays["pending"].astype(np.float64, copy=False)
            estimator.pending_ = sparse.csr_matrix(pending) if header["sparse_pending"] else pending
            estimator.pending_weight_ = arrays.get("pending_weight")
        return estimator
