"""Every method of the experiments, one row each: its name, how it is made, and how it is drawn.

The rows are in the order of Table I, the paper's methods first. To add a method, add a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from orthostream.baselines import (
    DCT,
    BetaBernoulliDictionaryLearning,
    DeepSTGDL,
    ForgettingPCA,
    L3FastICA,
    OfflinePCA,
    OnlineAODL,
)
from orthostream.dictionary import OrthogonalDictionaryLearning
from orthostream.experiments import methods as name
from orthostream.experiments.contenders import (
    BATCH_ITERATIONS,
    Contender,
    EstimatorContender,
    SolverContender,
    StreamContender,
)
from orthostream.experiments.task import TaskReport
from orthostream.optimize import ConstantSchedule, MokhtariSchedule, PaperSchedule, Schedule


class Line(NamedTuple):
    """Colour, style and width of a line, with matplotlib's names."""

    color: str
    ls: str
    lw: float


@dataclass(frozen=True)
class Method:
    """A row of the registry; a plain `Method` is a curve of the synthetic figures and is not in Table I."""

    name: str
    line: Line
    #: Whether it belongs to this package; its rows are in bold.
    ours: bool = field(default=False, kw_only=True)
    #: Whether it is a baseline of the paper.
    paper: bool = field(default=False, kw_only=True)
    #: Whether a run may leave it out.
    optional: bool = field(default=True, kw_only=True)


#: Makes an online method from a seed and a penalty, which most ignore.
MakeContender: TypeAlias = Callable[[int, float], Contender]


@dataclass(frozen=True)
class OnlineMethod(Method):
    """A method that follows the stream. Of several runs, the best for each eta is taken in hindsight."""

    make: MakeContender
    #: Penalties to try, in a full and in a quick run; 0 stands for a method without one.
    penalties: tuple[float, ...] = field(default=(0.0,), kw_only=True)
    quick_penalties: tuple[float, ...] = field(default=(0.0,), kw_only=True)
    #: Other ways to run it, by the name of the run.
    variants: Mapping[str, MakeContender] = field(default_factory=dict, kw_only=True)

    @property
    def makers(self) -> dict[str, MakeContender]:
        """The makers of the method and of its variants, by the name of the run."""
        return {self.name: self.make, **self.variants}

    def runs(self, *, quick: bool) -> list[tuple[str, float]]:
        """Return the name and the penalty of each run."""
        penalties = self.quick_penalties if quick else self.penalties
        return [(run, penalty) for run in self.makers for penalty in penalties]


class OfflineFit(NamedTuple):
    """What an offline method may need to know when it is made."""

    #: The value of the grid to train with; None if there is none to choose.
    value: float | None
    n_rows: int
    #: Epochs or sweeps.
    effort: int
    seed: int
    report: TaskReport

    def tell(self, done: int, _: Any) -> None:
        """Report progress; a callback for estimators that train in epochs or sweeps."""
        self.report(done / self.effort)


@dataclass(frozen=True)
class OfflineMethod(Method):
    """A method that is trained once, on the readings before the stream."""

    make: Callable[[OfflineFit], Any]
    #: Values among which walk-forward validation chooses; without a `coding_parameter`, each needs a training.
    grid: tuple[float, ...] = field(default=(), kw_only=True)
    #: The grid of a quick run, if it differs.
    quick_grid: tuple[float, ...] | None = field(default=None, kw_only=True)
    #: The parameter of `transform` that the grid lists values of; one training then serves all of them.
    coding_parameter: str = field(default="", kw_only=True)
    #: The attribute of the fitted estimator with its training curves by name.
    curves: str = field(default="", kw_only=True)
    #: The field of `Plan` that says how long to train: "epochs" or "sweeps".
    effort: str = field(default="", kw_only=True)
    #: A rough estimate of the time of training for each row, and each epoch or sweep.
    seconds_per_row: float = field(default=0.001, kw_only=True)
    #: The number of atoms, if it is not the number of features.
    n_components: int | None = field(default=None, kw_only=True)
    uses_torch: bool = field(default=False, kw_only=True)

    def values(self, *, quick: bool) -> tuple[float, ...]:
        """Return the grid of a full or a quick run."""
        return self.quick_grid if quick and self.quick_grid is not None else self.grid


def _solver(schedule: Schedule, **options: Any) -> MakeContender:
    return lambda seed, _: SolverContender(seed, schedule, **options)


def _preset(preset: str) -> MakeContender:
    return lambda seed, _: StreamContender(OrthogonalDictionaryLearning.preset(preset, random_state=seed))


def _aodl(passes: int) -> MakeContender:
    def make(seed: int, penalty: float) -> Contender:
        learner = OnlineAODL(penalty=penalty, fit_iterations=BATCH_ITERATIONS, random_state=seed)
        return EstimatorContender(learner, passes)

    return make


def _deep(fit: OfflineFit) -> DeepSTGDL:
    return DeepSTGDL(n_epochs=fit.effort, random_state=fit.seed, callbacks=[fit.tell])


def _ncbdl(fit: OfflineFit) -> BetaBernoulliDictionaryLearning:
    assert fit.value is not None
    prior = fit.n_rows * fit.value
    return BetaBernoulliDictionaryLearning(
        a0=prior, b0=prior, n_sweeps=fit.effort, random_state=fit.seed, callbacks=[fit.tell]
    )


_ROWS = (
    OnlineMethod(name.PROPOSED, Line("#0b5fa5", "-", 2.0), _solver(PaperSchedule()), ours=True, optional=False),
    OnlineMethod(name.SFW, Line("#c8553d", "--", 1.4), _solver(MokhtariSchedule(), orthogonal=False), paper=True),
    OnlineMethod(name.L4, Line("#8f2d8c", "-.", 1.4), _solver(PaperSchedule(), p=4), paper=True),
    OnlineMethod(
        name.AODL,
        Line("#d9902f", ":", 1.8),
        _aodl(passes=0),
        paper=True,
        # As in the paper, the best for each eta is taken in hindsight. This favours Online AODL.
        penalties=(0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0),
        quick_penalties=(1.0, 8.0),
        variants={name.AODL_PASSES: _aodl(passes=BATCH_ITERATIONS)},
    ),
    OfflineMethod(
        name.DEEP,
        Line("#5b5f97", "--", 1.4),
        _deep,
        paper=True,
        grid=(0.001, 0.01, 0.03, 0.1, 0.3),
        coding_parameter="penalty",
        curves="loss_curve_",
        effort="epochs",
        seconds_per_row=0.0006,
        n_components=50,
        uses_torch=True,
    ),
    OfflineMethod(
        name.NCBDL,
        Line("#7a5c3e", "-.", 1.4),
        _ncbdl,
        paper=True,
        grid=(1 / 800, 1 / 80, 1 / 8, 1.0),
        quick_grid=(1 / 8,),
        curves="trace_",
        effort="sweeps",
        seconds_per_row=5e-5,
        n_components=80,
    ),
    OnlineMethod(
        name.SFW_POLAR,
        Line("#e8a598", "--", 1.2),
        _solver(MokhtariSchedule(), orthogonal=False, polar_codes=True),
    ),
    OnlineMethod(
        name.SFW_OWN,
        Line("#7d2a1a", "--", 1.0),
        _solver(MokhtariSchedule(), orthogonal=False, own_start=True),
    ),
    OnlineMethod(name.CONSTANT, Line("#12897b", "-", 1.6), _solver(ConstantSchedule()), ours=True),
    OnlineMethod(name.DEFAULT, Line("#b3123f", "-", 1.6), _preset("exact"), ours=True),
    OnlineMethod(name.COMPRESSION, Line("#2f7d32", "-", 1.6), _preset("compression"), ours=True),
    OnlineMethod(name.FORGETTING, Line("#2e2e2e", "-", 1.2), lambda *_: EstimatorContender(ForgettingPCA())),
    OfflineMethod(name.PCA, Line("#8a8a8a", "--", 1.2), lambda _: OfflinePCA()),
    OfflineMethod(name.ICA, Line("#6b8e23", "-.", 1.2), lambda fit: L3FastICA(random_state=fit.seed)),
    OfflineMethod(name.COSINES, Line("#b5b5b5", ":", 1.4), lambda _: DCT()),
    Method(name.AVERAGED, Line("#5aa9e6", "-", 1.6), ours=True),
    Method(name.AODL_TUNED, Line("#a8661a", ":", 1.2)),
)

METHODS: dict[str, Method] = {method.name: method for method in _ROWS}
ONLINE: dict[str, OnlineMethod] = {method.name: method for method in _ROWS if isinstance(method, OnlineMethod)}
OFFLINE: dict[str, OfflineMethod] = {method.name: method for method in _ROWS if isinstance(method, OfflineMethod)}

#: The rows of Table I, in order.
TABLE = tuple(method for method in METHODS if method in ONLINE or method in OFFLINE)

#: The baselines of the paper.
BASELINES = tuple(method.name for method in _ROWS if method.paper)

#: Methods that a run may leave out.
OPTIONAL = tuple(method.name for method in _ROWS if method.optional)

_MAKERS = {run: make for method in ONLINE.values() for run, make in method.makers.items()}


def contender(run: str, seed: int, penalty: float = 1.0) -> Contender:
    """Return an online method, or a variant of one, by its name; only Online AODL has a penalty."""
    return _MAKERS[run](seed, penalty)
