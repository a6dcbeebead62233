"""A network that takes gradient steps: its parameters, their ranges, and the model of its features."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian.callables import activation as function
from giantsteps.numerics.models.gradient_step import GradientStep, PerStep
from giantsteps.numerics.models.losses import SQUARE, Loss, loss_named
from giantsteps.numerics.models.model import LARGEST, SMALLEST, UNIFORM, Model, ReadoutGroup
from giantsteps.numerics.models.parameters import ModelError, checked_flag, refuse_other_groups
from giantsteps.numerics.models.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


# What the rows and the step of a simulated network are made of is 0 or between these in size: beyond them sums over
# neurons lose the smaller terms to rounding. Products with a power of the weights then stay finite.
LEAST_SIZE, MOST_SIZE = 1e-10, 1e10


class SimulationError(ModelError):
    """A finite-size experiment cannot be run; the message says what to change."""


_NETWORK_RANGES = {
    "alpha": (SMALLEST, MOST_SIZE),
    "beta": (SMALLEST, MOST_SIZE),
    "ridge": (SMALLEST, LARGEST),
    "noise": (SMALLEST, MOST_SIZE),
}
_STEP_RANGES = {"alpha0": (LEAST_SIZE, MOST_SIZE), "eta": (LEAST_SIZE, MOST_SIZE)}


def _number(name: str, value: object) -> float:
    """The value as a float. Raises SimulationError where it is no number."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise SimulationError(f"{name} = {value!r} is not accepted: it has to be a number, like 1.5") from None


def _per_step(name: str, value: object) -> PerStep:
    """The value as a float, or as one for each step."""
    return tuple(_number(name, x) for x in value) if isinstance(value, tuple | list) else _number(name, value)


@dataclass(frozen=True, repr=False)
class Network(Problem):
    """A two-layer network that takes a gradient step of rate eta d on n0 = alpha0 d samples (Section 2.2).

    activation, target: sigma and g, as `giantsteps.activation` takes them. The step is taken, not modelled: sigma
        need not be odd.
    alpha, beta, ridge: of the readout, as for `Model`.
    alpha0, eta: samples of a step per dimension, n0/d, and learning rate over d: one number, or one per step.
    noise: the variance of the label noise, in all steps and for the readout.
    gaussian_rows: whether rows start at w ~ N(0, I/d) in place of |w| = 1.
    overlap: the mean of w_i.w_j over pairs of initial rows (`overlapping_rows`); the theory of a model does not cover
        it.
    steps: the number of steps, each on fresh samples.
    readout: groups of neurons with the initial readout a0 = u/sqrt(p); their biases are added after the step.
    same_batch: whether two steps are taken on the same samples.
    loss: the loss of the readout; a step takes the square loss.

    Weights, biases, eta and alpha0 are 0 or from LEAST_SIZE to MOST_SIZE in size, alpha, beta and noise at most
    MOST_SIZE, the ridge and the least values of alpha, beta and noise as for a Model.

    Raises SimulationError for a parameter out of range.

    >>> network = giantsteps.Network("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=3)
    >>> network.model().alignment
    0.79365...
    """

    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    alpha0: PerStep
    eta: PerStep
    noise: float = 0.0
    gaussian_rows: bool = False
    overlap: float = 0.0
    steps: int = 1
    readout: tuple[ReadoutGroup, ...] = UNIFORM
    same_batch: bool = False
    loss: Loss = field(default=SQUARE, kw_only=True)

    if TYPE_CHECKING:  # what the fields are read from: text and lists too

        def __init__(
            self,
            activation: Any,
            target: Any,
            alpha: float,
            beta: float,
            ridge: float,
            alpha0: float | Sequence[float],
            eta: float | Sequence[float],
            noise: float = 0.0,
            gaussian_rows: bool = False,
            overlap: float = 0.0,
            steps: int = 1,
            readout: Sequence[ReadoutGroup] = UNIFORM,
            same_batch: bool = False,
            *,
            loss: Loss | str = SQUARE,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("activation", "target"):
            object.__setattr__(self, name, function(getattr(self, name)))
        for name in (*_NETWORK_RANGES, "overlap", "steps"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        for name in _STEP_RANGES:
            object.__setattr__(self, name, _per_step(name, getattr(self, name)))
        object.__setattr__(self, "loss", loss_named(self.loss))
        object.__setattr__(self, "gaussian_rows", checked_flag("gaussian_rows", self.gaussian_rows))
        refuse_other_groups(self.readout)
        groups = (
            replace(
                group,
                weight=_number("weight of a readout group", group.weight),
                fraction=_number("fraction of a readout group", group.fraction),
                bias=_number("bias of a readout group", group.bias),
            )
            for group in self.readout
        )
        object.__setattr__(self, "readout", tuple(groups))
        if any(group.bulk is not None or group.further_weights for group in self.groups):
            raise SimulationError(
                "the readout groups of a network have one weight and a fraction, and their bulk follows from the step: "
                "omit it, for example readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), or with biases "
                "readout=(ReadoutGroup(1.0, 0.5, bias=0.3), ReadoutGroup(-1.0, 0.5, bias=-0.3)), or use the "
                'isotropic bulk, bulk_model="isotropic"'
            )
        total = sum(group.fraction for group in self.groups)
        if min((group.fraction for group in self.groups), default=0.0) <= 0.0 or not abs(total - 1.0) <= 1e-9:
            raise SimulationError(
                f"the fractions of the readout groups have to be positive and add up to 1, not to {total:.6g}: for "
                "example 1:0.5,-1:0.5"
            )
        if all(group.weight == 0.0 for group in self.groups):
            raise SimulationError(
                "with a zero initial readout there is no gradient step: give a group another weight, for example "
                "1:0.5,0:0.5"
            )
        if not 0.0 <= self.overlap < 1.0:
            raise SimulationError(
                f"an initial overlap of {self.overlap} is not accepted: it has to be a number >= 0 and < 1, like 0.1"
            )
        if self.overlap and self.gaussian_rows:
            raise SimulationError("an initial overlap requires unit rows: omit the overlap, or the Gaussian rows")
        for group in self.groups:
            for name, value in (("weight", group.weight), ("bias", group.bias)):
                if value != 0.0 and not LEAST_SIZE <= abs(value) <= MOST_SIZE:
                    raise SimulationError(
                        f"a {name} of {value:g} of a readout group is not accepted: in a simulation it has to be 0 or "
                        f"from {LEAST_SIZE:g} to {MOST_SIZE:g} in size, like 0.5"
                    )
        for name, (least, most) in (_NETWORK_RANGES | _STEP_RANGES).items():
            given, positive = getattr(self, name), name in ("alpha", "beta")
            for value in given if isinstance(given, tuple) else (given,):
                if not least <= value <= most and (positive or value != 0.0):
                    range_ = "> 0," if positive else ">= 0, either 0 or"
                    raise SimulationError(
                        f"{name} = {value:g} is not accepted: it has to be a number {range_} from {least:g} to "
                        f"{most:g} in a simulation, like 1.5"
                    )
        try:
            step = GradientStep(self.alpha0, self.eta, self.steps, self.same_batch)
        except ModelError as error:
            raise SimulationError(str(error)) from None
        for name in ("alpha0", "eta", "steps", "same_batch"):
            object.__setattr__(self, name, getattr(step, name))

    @property
    def step(self) -> GradientStep:
        """The steps that it takes."""
        return GradientStep(self.alpha0, self.eta, self.steps, self.same_batch)

    def __repr__(self) -> str:
        return f"Network({self.described()}{f', overlap={self.overlap:g}' if self.overlap else ''})"

    def model(self, bulk_model: str | None = None) -> Model:
        """The theory's model of this network; raises ModelError where its map does not exist (Result 3.1).

        It is that of rows without mutual overlap, whatever `overlap` is; several steps with overlap have none.

        bulk_model: "network" (default), the network's own bulk, beyond the paper (`numerics.bulk.network`), or
        "isotropic", the spiked random features of the paper, which is taken after two steps on the same batch.
        """
        if self.overlap and self.step.several:
            raise ModelError(
                "rows that overlap are only supported for one gradient step, and here there are several: use steps=1"
            )
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "overlap"}
        return Model.from_gradient_step(**kept, bulk_model=bulk_model)


def network_of(model: Model) -> Network:
    """The network whose gradient step a model is of. Raises SimulationError for a model that is of none."""
    if model.step is None:
        raise SimulationError(
            "a network is simulated from its gradient step: give alpha0=2, eta=3 in place of the spike"
        )
    groups = tuple(ReadoutGroup(one.weight, one.fraction, bias=one.bias) for one in model.groups)
    return Network(
        model.activation, model.target, model.alpha, model.beta, model.ridge, noise=model.noise,
        gaussian_rows=model.gaussian_rows, readout=groups, loss=model.loss,
        **{name: getattr(model.step, name) for name in ("alpha0", "eta", "steps", "same_batch")},
    )  # fmt: skip
