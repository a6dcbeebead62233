"""A sweep: a family of models over a product or a zip of values, as plain data; its points are enumerated lazily.

A sweep is cut into chunks of consecutive points. Chunks depend on the sweep alone, not on how many workers there are or
on where an earlier run was interrupted, so that the same numbers come out either way.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.documents import WIDTH
from giantsteps.numerics.models.losses import loss_named
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup

if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.numerics.models.network import Network

KINDS = ("theory", "simulation", "both")
MODES = ("product", "zip")
ENSEMBLES = ("srf", "network", "equivalent")
BULK_MODELS = ("isotropic", "network")
ROWS = ("unit", "gaussian")
ALWAYS = ("alpha", "beta", "ridge")
DIRECT = ("spike", "bulk", "alignment")
STEP = ("alpha0", "eta")
PARAMETERS = (*ALWAYS, "noise", *DIRECT, *STEP, "steps")
MOST_POINTS = 100_000_000


class SweepError(ValueError):
    """The sweep asked for is not accepted; the message is one clear sentence."""


@dataclass(frozen=True)
class Axis:
    """One parameter of the model and its values; `swept` where it was given as a range or a list."""

    name: str
    values: tuple[float, ...]
    swept: bool = True


@dataclass(frozen=True)
class Experiment:
    """What is simulated at each point: `seeds` experiments at dimension d, of one kind of
    `numerics.experiments.simulate`.

    All points share the seed: points that differ in the ridge alone are fitted on the same draws, others are not
    independent either, so that differences between points scatter less than the points themselves.
    """

    dimension: int
    seeds: int
    seed: int = 0
    kind: str = "srf"


@dataclass(frozen=True)
class Sweep:
    """A family of models, to be solved by the theory, simulated, or both.

    `axes` in the order of the product, the last fastest; with mode "zip" all swept axes advance together. The model is
    given by spike, bulk and alignment, or by alpha0, eta and steps (`Model.from_gradient_step`); the numbers of alpha0
    or eta for each of several steps stand in `schedule` by their name, and the first of them in `axes`. With kind
    "both" the theory is evaluated at the ratios that the simulation realises, n/d and p/d with whole n and p. Beside
    the limit stands the value at `width` neurons. Without `bulk_model` a gradient step has the network's own bulk,
    unless features other than networks are simulated.

    Raises SweepError for a parameter missing or given twice, axes of different length in a zip, or too many points.
    """

    activation: str
    target: str
    axes: tuple[Axis, ...]
    kind: str = "theory"
    mode: str = "product"
    groups: tuple[ReadoutGroup, ...] = UNIFORM
    bulk_model: str = ""
    loss: str = "square"
    experiment: Experiment | None = None
    rows: str = "unit"
    width: int = WIDTH
    same_batch: bool = False
    schedule: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def __post_init__(self) -> None:
        if not self.bulk_model:
            networks = self.experiment is None or self.experiment.kind == "network"
            own = self.has_step and networks and not self.same_batch
            object.__setattr__(self, "bulk_model", "network" if own else "isotropic")
        _one_of("kind", self.kind, KINDS)
        _one_of("mode", self.mode, MODES)
        _one_of("bulk_model", self.bulk_model, BULK_MODELS)
        _one_of("rows", self.rows, ROWS)
        if not (isinstance(self.width, int) and self.width >= 1):
            raise SweepError(f"width = {self.width} is not accepted: a whole number >= 1 is, for example width = 1000")
        _check_loss(self)
        _check_axes(self.axes, own_bulk=all(group.bulk is not None for group in self.groups))
        _check_experiment(self)
        if self.same_batch and not self.has_step:
            raise SweepError(
                "same_batch is for a model that is given by its gradient step: give alpha0 and eta, for example alpha0 "
                "= 2 and eta = 3"
            )
        lengths = {len(axis.values) for axis in self.swept}
        if self.mode == "zip" and len(lengths) > 1:
            found = ", ".join(f"{axis.name} has {len(axis.values)}" for axis in self.swept)
            raise SweepError(
                f'mode = "zip" requires swept parameters of equal length, but {found}: use for example '
                'alpha = [1, 2] with ridge = [0.1, 0.2], or mode = "product"'
            )
        if len(self) > MOST_POINTS:
            raise SweepError(
                f"the sweep has {len(self)} points, at most {MOST_POINTS} are accepted, for example two ranges of 1000"
            )

    @property
    def swept(self) -> tuple[Axis, ...]:
        """The axes that were given as a range or a list, in order."""
        return tuple(axis for axis in self.axes if axis.swept)

    @property
    def has_step(self) -> bool:
        """Whether the model is given by its gradient step."""
        return any(axis.name in STEP for axis in self.axes)

    @property
    def unequal_norms(self) -> bool:
        """Whether the rows of the bulk may differ in norm (`Model.unequal_norms`)."""
        return self.bulk_model == "network" or self.rows == "gaussian"

    @property
    def simulated(self) -> bool:
        """Whether anything is drawn at finite dimension."""
        return self.kind != "theory"

    @property
    def digest(self) -> str:
        """SHA-256 of what the sweep asks for: spaces, comments and the order of keys in a file do not change it."""
        asked = asdict(self)
        if self.rows == "unit":
            del asked["rows"]  # results of sweeps that were begun before rows could be chosen stay usable
        if self.width == WIDTH:
            del asked["width"]
        if not self.same_batch:
            del asked["same_batch"]
        if not self.schedule:
            del asked["schedule"]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def __len__(self) -> int:
        lengths = [len(axis.values) for axis in self.swept]
        return max(lengths, default=1) if self.mode == "zip" else math.prod(lengths)

    def point(self, index: int) -> dict[str, float]:
        """The parameters of point `index`, every one of them. Raises IndexError outside 0 <= index < len."""
        if not 0 <= index < len(self):
            raise IndexError(f"point {index} of a sweep of {len(self)} points")
        values: dict[str, float] = {}
        for axis in reversed(self.axes):
            if not axis.swept:
                values[axis.name] = axis.values[0]
            elif self.mode == "zip":
                values[axis.name] = axis.values[index]
            else:
                index, place = divmod(index, len(axis.values))
                values[axis.name] = axis.values[place]
        return {axis.name: values[axis.name] for axis in self.axes}

    @property
    def chunk(self) -> int:
        """Points per chunk: what is worth one task and one transaction, and what an interruption may cost.

        Solving many points at once pays where they share the functions of kappa, simulating where they share draws;
        at least 64 chunks (of 16 points or more) keep workers busy in a small sweep.
        """
        if self.simulated:
            trailing = self._run({"ridge"})
            return min(8, trailing)
        if len(self.groups) > 1 or self.unequal_norms or self.loss != "square":
            return 16
        run = self._run({"alpha", "ridge"} if self.has_step else {"alpha", "beta", "ridge", "noise"})
        return max(16, min(4000, 50 * run, math.ceil(len(self) / 64)))

    def _run(self, names: set[str]) -> int:
        """How many consecutive points differ in these parameters only."""
        if self.mode == "zip":
            return len(self) if {axis.name for axis in self.swept} <= names else 1
        run = 1
        for axis in reversed(self.swept):
            if axis.name not in names:
                break
            run *= len(axis.values)
        return run

    def subject(self, point: dict[str, float]) -> Model | Network:
        """The model at one point; where a network is simulated, the network itself.

        Raises ModelError or SimulationError where there is none.
        """
        activation, target = function(self.activation), function(self.target)
        given: dict[str, Any] = dict(point) | {
            "readout": self.groups, "loss": self.loss, "gaussian_rows": self.rows == "gaussian",
        }  # fmt: skip
        given |= dict(self.schedule) | ({"same_batch": True} if self.same_batch else {})
        if self.experiment is not None and self.experiment.kind == "network":
            from giantsteps.numerics.models.network import Network

            return Network(activation, target, **given)
        if self.has_step:
            given["bulk_model"] = self.bulk_model
            return Model.from_gradient_step(activation, target, **given)
        # Where every group brings a bulk of its own, that of the model plays no part.
        return Model(activation, target, **({"bulk": 1.0} | given))


@lru_cache(maxsize=16)
def function(text: str) -> Activation:
    """An activation or target, read once per process. Raises ExpressionError."""
    from giantsteps.derivations.activations.activation import activation

    return activation(text)


def _one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise SweepError(
            f"{name} = {str(value)[:60]!a} is not accepted: it has to be one of {', '.join(accepted)}, for example "
            f'{name} = "{accepted[0]}"'
        )


def _check_axes(axes: tuple[Axis, ...], own_bulk: bool) -> None:
    names = [axis.name for axis in axes]
    for axis in axes:
        if axis.name not in PARAMETERS or names.count(axis.name) > 1:
            raise SweepError(f"{axis.name} is not a parameter, or stands twice: one each of {', '.join(PARAMETERS)}")
        if not axis.values or (len(axis.values) > 1 and not axis.swept):
            raise SweepError(f"{axis.name} has {len(axis.values)} values: give a number or a list, like [0.5, 1, 2]")
    missing = [name for name in ALWAYS if name not in names]
    direct, step = [n for n in DIRECT if n in names], [n for n in (*STEP, "steps") if n in names]
    if direct and step:
        raise SweepError(
            f"{direct[0]} and {step[0]} were both given: a model takes either spike, bulk and alignment or alpha0 and "
            "eta, for example alpha0 = 2 and eta = 3"
        )
    missing += [name for name in (STEP if step else DIRECT) if name not in names and not (own_bulk and name == "bulk")]
    if missing:
        raise SweepError(
            f"missing: {', '.join(missing)}; a sweep needs alpha, beta, ridge and either spike, bulk and alignment or "
            "alpha0 and eta, for example alpha = 1.5"
        )


def _check_loss(sweep: Sweep) -> None:
    try:
        loss_named(sweep.loss)
    except ValueError as error:
        raise SweepError(str(error)) from None
    if sweep.loss != "square" and sweep.simulated:
        raise SweepError(
            f'kind = "{sweep.kind}" requires the square loss, and loss is "{sweep.loss}": use kind = "theory", or '
            "giantsteps compare for one model"
        )


def _check_experiment(sweep: Sweep) -> None:
    experiment = sweep.experiment
    if (experiment is not None) != sweep.simulated:
        raise SweepError(
            f'kind = "{sweep.kind}" '
            + ("needs a table [simulation]" if experiment is None else "takes no table [simulation]")
            + ', for example kind = "both" with [simulation], dimension = 1000 and seeds = 8'
        )
    if sweep.bulk_model == "network" and not sweep.has_step:
        raise SweepError(
            "the network's own bulk follows from its gradient step: give alpha0 and eta instead of spike, bulk and "
            "alignment, for example alpha0 = 2 and eta = 3"
        )
    if experiment is None:
        return
    _one_of("kind of simulation", experiment.kind, ENSEMBLES)
    if experiment.dimension < 2 or experiment.seeds < 1 or experiment.seed < 0:
        raise SweepError("a simulation needs dimension >= 2, seeds >= 1 and seed >= 0, for example dimension = 1000")
    if experiment.kind == "network" and not sweep.has_step:
        raise SweepError(
            'a simulation of kind "network" takes its gradient step: give alpha0 and eta, for example alpha0 = 2 and '
            "eta = 3"
        )
    if experiment.kind != "network" and sweep.bulk_model == "network":
        raise SweepError('bulk_model = "network" requires kind = "network" under [simulation]')
