"""Baseline 4: deep spatiotemporal graph dictionary learning, after Khodayar et al."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from orthostream._checks import at_least, integer, optional_integer, positive
from orthostream._typing import FloatArray
from orthostream.baselines.base import checked_codes
from orthostream.baselines.spatiotemporal_graph import neighbour_means, sensor_graph
from orthostream.baselines.training_callbacks import TrainingCallback, asked_to_stop, check_callbacks, training_curves
from orthostream.dictionary.sparse_coding import keep_largest

if TYPE_CHECKING:
    from orthostream.baselines.spatiotemporal_training import Settings

#: Rows that go through the network at once.
_CHUNK = 1024

#: Standardised readings are clipped to this, so that single precision does not overflow; cells saturate far below.
_LARGEST = 1e6


class DeepSTGDL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a dictionary of the latent states of a sensor network, together with their encoder and decoders.

    An encoder maps the last readings of all sensors to a latent state z. The lasso codes z in a dictionary D of K
    atoms. Decoders map D x back to the readings and to the graph of the sensors. All are trained by Adam on::

        ||z - D x||^2 + penalty * ||x||_1 + node_weight * node + edge_weight * edge

    where x is the lasso's solution for the current z and D. Rows of X are consecutive in time. Needs torch (the extra
    ``deep``).

    Parameters
    ----------
    n_components : int, default 50
        The number of atoms, K.
    window : int, default 6
        How many readings the encoder sees, the current one included.
    hidden : int, default 20
        The size of the latent vector of a sensor.
    penalty : float, default 0.03
        The weight of the codes' l1 norm, in training and in `transform`.
    node_weight, edge_weight : float, default 0.25
        The weights of the decoders' losses. The node loss is the squared error of standardised readings, summed over
        sensors; the edge loss is the squared error of the weights in the graph, averaged over pairs of sensors.
    n_epochs, batch_size, learning_rate : int, int, float, default 200, 256, 0.005
        Parameters of Adam. The rate falls to zero along half a cosine.
    n_neighbours : int, default 5
        How many neighbours each sensor chooses; see `orthostream.baselines.spatiotemporal_graph`.
    n_nonzero : int, optional
        `transform` keeps this many of the largest coefficients of the lasso's solution, unchanged. All, by default.
    random_state : int, RandomState or None
        Draws the first weights and the order of the samples; torch's generator is not used.
    callbacks : sequence of functions, optional
        Each is called after every epoch with its number, from 1, and a dict with its values in `loss_curve_`. `fit`
        stops if one returns True.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features * hidden)
        Atoms of unit length as rows; the latent vectors of the sensors are concatenated.
    loss_curve_ : dict of arrays of shape (epochs,)
        The training curve: "loss" and its unweighted terms "coding" (with the l1 norm), "node" and "edge".
    graph_ : array of shape (n_features, n_features)
    weights_ : dict of arrays, the weights of the network
    mean_, scale_ : float, the mean and scale by which readings are standardised

    Notes
    -----
    `transform` follows the paper: the lasso with ``penalty``, then the ``n_nonzero`` largest coefficients. Both
    parameters may be changed after `fit`. A row is coded together with the ``window - 1`` rows before it; the first row
    is repeated as its own history. To code later rows with their true history, pass that as well and drop its codes.

    The text of the original paper was not available. The paper that compares with it gives the parts (an ST-LSTM, a
    dictionary of latent states, a node decoder of four layers with ReLU, an edge decoder, the l1 norm) and the sizes.
    We chose the rest:

    - there is one latent state for the whole network, so the readings of all sensors have one code;
    - a cell of the ST-LSTM sees its reading, its own hidden state and the mean of its neighbours'; cells share weights;
    - edges are decoded by sigmoids of inner products, and both decoders are trained by squared errors;
    - all sensors share the node decoder, and differ by their parts of the atoms;
    - the graph comes from correlations of the training readings;
    - one mean and one scale standardise all sensors;
    - the decoders' gradient passes straight through the codes to the encoder;
    - the encoder starts almost linear, the dictionary from principal directions of the first latent states.

    Examples
    --------
    >>> import numpy as np
    >>> phase = np.linspace(0.0, 20.0, 200)[:, None] + np.linspace(0.0, 1.0, 4)
    >>> readings = 10.0 + 5.0 * np.sin(phase)
    >>> learner = DeepSTGDL(8, n_epochs=40, batch_size=32, random_state=0).fit(readings)
    >>> estimates = learner.inverse_transform(learner.transform(readings))
    >>> bool(np.std(estimates - readings) < 0.2 * np.std(readings))
    True
    """

    n_features_in_: int

    def __init__(
        self,
        n_components: int = 50,
        *,
        window: int = 6,
        hidden: int = 20,
        penalty: float = 0.03,
        node_weight: float = 0.25,
        edge_weight: float = 0.25,
        n_epochs: int = 200,
        batch_size: int = 256,
        learning_rate: float = 0.005,
        n_neighbours: int = 5,
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[TrainingCallback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.window = window
        self.hidden = hidden
        self.penalty = penalty
        self.node_weight = node_weight
        self.edge_weight = edge_weight
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_neighbours = n_neighbours
        self.n_nonzero = n_nonzero
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from readings in the order of time."""
        _require_torch()
        from orthostream.baselines.spatiotemporal_training import Training

        rows: FloatArray = validate_data(self, X, dtype=np.float64)
        settings, neighbours = self._settings()
        largest = float(np.abs(rows).max()) or 1.0
        # Divide by the largest entry first, so that squares and sums do not overflow.
        self.mean_ = largest * float(np.mean(rows / largest))
        spread = float(np.std(rows / largest))
        # The spread of constant readings is rounding error, which must not become the scale.
        self.scale_ = largest * (spread if spread > 1e-12 else 1.0)
        self.window_ = settings.window
        self.graph_ = sensor_graph(rows / largest, neighbours)
        training = Training(self._padded(rows), self.graph_, settings, check_random_state(self.random_state))
        curve = []
        for epoch, losses in enumerate(training.epochs(), 1):
            curve.append(losses)
            if asked_to_stop(self.callbacks, epoch, losses):
                break
        self.loss_curve_ = training_curves(curve)
        self.weights_, self.components_ = training.learnt()
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the codes of readings in the order of time, each with at most ``n_nonzero`` nonzero entries."""
        check_is_fitted(self, "components_")
        rows: FloatArray = validate_data(self, X, reset=False, dtype=np.float64)
        count = optional_integer("n_nonzero", self.n_nonzero)
        penalty = positive("penalty", self.penalty)
        _require_torch()
        import torch

        from orthostream.baselines.spatiotemporal_lasso import lasso
        from orthostream.baselines.spatiotemporal_network import encode

        readings = torch.from_numpy(self._padded(rows))
        means = torch.from_numpy(neighbour_means(self.graph_).astype(np.float32))
        weights, atoms = self._tensors()
        atoms = atoms.double()
        gram = atoms @ atoms.T
        codes = []
        with torch.no_grad():
            for start in range(0, len(rows), _CHUNK):
                stop = min(start + _CHUNK, len(rows))
                windows = torch.stack([readings[start + lag : stop + lag] for lag in range(self.window_)])
                latents = encode(weights, means, windows).double()
                codes.append(lasso(latents @ atoms.T, gram, penalty).numpy())
        found: FloatArray = np.concatenate(codes)
        return found if count is None else keep_largest(found, count)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the readings that codes stand for."""
        check_is_fitted(self, "components_")
        codes = checked_codes(X, len(self.components_))
        if not np.isfinite(codes).all():
            raise ValueError("codes must be finite, got NaN or infinity.")
        _require_torch()
        import torch

        from orthostream.baselines.spatiotemporal_network import decode

        weights, atoms = self._tensors()
        estimates: FloatArray = np.empty((len(codes), self.n_features_in_))
        with torch.no_grad():
            for start in range(0, len(codes), _CHUNK):
                part = torch.from_numpy(codes[start : start + _CHUNK].astype(np.float32))
                estimates[start : start + _CHUNK] = decode(weights, part @ atoms, self.n_features_in_).numpy()
        return estimates * self.scale_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _settings(self) -> tuple[Settings, int]:
        """Return the checked parameters: those of the training, and the number of neighbours."""
        from orthostream.baselines.spatiotemporal_training import Settings

        optional_integer("n_nonzero", self.n_nonzero)
        check_callbacks(self.callbacks)
        settings = Settings(
            n_components=integer("n_components", self.n_components),
            window=integer("window", self.window),
            hidden=integer("hidden", self.hidden),
            penalty=positive("penalty", self.penalty),
            node_weight=at_least("node_weight", self.node_weight),
            edge_weight=at_least("edge_weight", self.edge_weight),
            n_epochs=integer("n_epochs", self.n_epochs),
            batch_size=integer("batch_size", self.batch_size),
            learning_rate=positive("learning_rate", self.learning_rate),
        )
        return settings, integer("n_neighbours", self.n_neighbours)

    def _padded(self, rows: FloatArray) -> FloatArray:
        """Return standardised readings, with ``window - 1`` copies of the first before it as its history."""
        with np.errstate(over="ignore"):
            standardised = np.clip((rows - self.mean_) / self.scale_, -_LARGEST, _LARGEST).astype(np.float32)
        padded: FloatArray = np.concatenate([np.repeat(standardised[:1], self.window_ - 1, axis=0), standardised])
        return padded

    def _tensors(self) -> tuple[Any, Any]:
        import torch

        # Arrays from a file or a memory map may be read-only, and torch warns about that.
        weights = {name: torch.from_numpy(np.require(value, requirements="W")) for name, value in self.weights_.items()}
        return weights, torch.from_numpy(np.require(self.components_, requirements="W"))


def _require_torch() -> None:
    if find_spec("torch") is None:
        raise ImportError("DeepSTGDL needs torch: pip install 'orthostream[deep]'")
