"""The parameters of one problem, validated; Result 3.1 as a constructor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.activation import activation as function
from giantsteps.numerics.models.documents import described, model_document
from giantsteps.numerics.models.gradient_step import (
    GradientStep,
    check_second_moment,
    check_step,
    gradient_step,
    mapped_step,
    mean_weight,
)
from giantsteps.numerics.models.losses import SQUARE, Loss, loss_named
from giantsteps.numerics.models.parameters import (
    EXACT,
    LARGEST,
    RANGES,
    ROUNDED_NORM,
    SMALLEST,
    UNIFORM,
    MapErrors,
    ModelError,
    ReadoutGroup,
    check_rank,
    checked_alignments,
    checked_errors,
    checked_flag,
    checked_groups,
    checked_number,
)
from giantsteps.numerics.models.readout_law import ReadoutLaw

__all__ = [
    "LARGEST", "SMALLEST", "UNIFORM", "GradientStep", "Model", "ModelError", "ReadoutGroup", "check_changes",
    "gradient_step",
]  # fmt: skip

Made = TypeVar("Made")


def _naming_what_is_missing(model: type[Made]) -> type[Made]:
    """The class with a sentence for what is left out, or belongs to a gradient step."""
    made = model.__init__

    @wraps(made)
    def checked(self: Made, *args: Any, **given: Any) -> None:
        step = [name for name in ("alpha0", "eta") if name in given]
        missing = [name for name in ("spike", "bulk", "alignment") if name not in given]
        if step or missing:
            what = f"takes no {' and '.join(step)}" if step else f"is missing {', '.join(missing)}"
            raise TypeError(
                f"Model() {what}: it is made with spike, bulk and alignment, for example spike=1, bulk=1, "
                "alignment=0.8; a model after a gradient step is Model.from_gradient_step(..., alpha0=2, eta=3)"
            )
        made(self, *args, **given)

    setattr(model, "__init__", checked)  # noqa: B010
    return model


@_naming_what_is_missing
@dataclass(frozen=True, repr=False)
class Model:
    """A readout fitted on spiked random features, in the proportional limit.

    Features sigma(u_a r kappa + b_a + sqrt(c_a) z) with kappa = v.x, target y = g(theta.x) + sqrt(noise) N(0, 1),
    v.theta = alignment, |v| = |theta| = 1. Ratios alpha = n/d, beta = p/d; spike r, bulk c and alignment gamma are
    O(1); the ridge multiplies |a|^2 beside sum_mu (y_mu - a.phi_mu/sqrt p)^2, equations (4)-(7). Another `loss` (or its
    name: logistic, hinge, huber:DELTA, absolute) has (ridge/2) |a|^2 beside the sum of its losses.

    `readout`: the initial readout, by groups of neurons that share a weight u, or a density of weights (`ReadoutLaw`).

    A model is given by spike, bulk and alignment, or comes from a gradient `step` (`from_gradient_step`). One that
    came from a step has the spike, bulk and alignment of that step and no others: `changed` maps through the step
    again, and a copy with other numbers is refused. `as_given` forgets the step.

    bulk_model "network" takes the bulk that the network has after its step, beyond the paper
    (`numerics.bulk.network`). Otherwise the bulk is isotropic with rows of equal norm, or with `gaussian_rows` of rows
    w ~ N(0, c I/d) (for a network: of initial rows w ~ N(0, I/d)).

    A spike of rank s (2 or 3) has s orthonormal directions v_j in place of v: kappa_j = v_j.x, the groups' weights are
    vectors of R^s, and alignment, further_alignments are theta.v_1, ..., theta.v_s, of norm at most 1 together.

    Activation and target may be given as text, as for `derivations.activations.activation.activation`.
    `given_uncertainty` is how far a spike, bulk and alignment that were computed may be off; it goes into the error
    estimate of a solution.

    Raises ModelError when a parameter is out of range or when a second moment is infinite.
    """

    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    noise: float = 0.0
    spike: float = field(kw_only=True)
    bulk: float = field(kw_only=True)
    alignment: float = field(kw_only=True)
    readout: tuple[ReadoutGroup, ...] | ReadoutLaw = field(default=UNIFORM)
    step: GradientStep | None = None
    bulk_model: str = "isotropic"
    gaussian_rows: bool = False
    further_alignments: tuple[float, ...] = ()
    given_uncertainty: MapErrors = EXACT
    loss: Loss = field(default=SQUARE, kw_only=True)

    if TYPE_CHECKING:  # what the fields are read from: text and lists too

        def __init__(
            self,
            activation: Activation | str,
            target: Activation | str,
            alpha: float,
            beta: float,
            ridge: float,
            noise: float = 0.0,
            readout: Sequence[ReadoutGroup] | ReadoutLaw = UNIFORM,
            step: GradientStep | None = None,
            bulk_model: str = "isotropic",
            gaussian_rows: bool = False,
            further_alignments: Sequence[float] = (),
            given_uncertainty: Sequence[float] = EXACT,
            *,
            spike: float,
            bulk: float,
            alignment: float,
            loss: Loss | str = SQUARE,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("activation", "target"):
            object.__setattr__(self, name, function(getattr(self, name)))
        for name, (accepts, range_, example) in RANGES.items():
            object.__setattr__(self, name, checked_number(name, getattr(self, name), accepts, range_, example))
        if not isinstance(self.readout, ReadoutLaw):
            object.__setattr__(self, "readout", checked_groups(self.readout))
        object.__setattr__(self, "loss", loss_named(self.loss))
        object.__setattr__(self, "gaussian_rows", checked_flag("gaussian_rows", self.gaussian_rows))
        object.__setattr__(self, "further_alignments", checked_alignments(self.alignment, self.further_alignments))
        object.__setattr__(self, "given_uncertainty", checked_errors(self.given_uncertainty))
        check_step(self)
        check_rank(self)
        _check_moments(self)

    def __repr__(self) -> str:
        return f"Model({described(self)})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, under the names of the command line's options."""
        return model_document(self)

    @property
    def law(self) -> ReadoutLaw | None:
        """The law of the initial readout where it has a density; None where it has groups."""
        return self.readout if isinstance(self.readout, ReadoutLaw) else None

    @property
    def groups(self) -> tuple[ReadoutGroup, ...]:
        """The groups of the initial readout. Raises ModelError where it has a density."""
        if isinstance(self.readout, ReadoutLaw):
            raise ModelError(
                f"this is built for groups of the initial readout, and here it has a density, {self.readout}: give for "
                "example (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))"
            )
        return self.readout

    @property
    def network_step(self) -> GradientStep | None:
        """The step whose own bulk the model has; None where the bulk is isotropic, as it is where no step was made."""
        made = self.step is not None and self.step.alpha0 > 0.0 and self.step.eta > 0.0
        return self.step if made and self.bulk_model == "network" else None

    @property
    def unequal_norms(self) -> bool:
        """Whether the rows of the bulk differ in norm, so that yhat has dmu0/dc beside mu0 and kappa mu1."""
        return self.gaussian_rows or self.network_step is not None

    @property
    def rank(self) -> int:
        """The number s of directions of the spike."""
        return 1 + len(self.further_alignments)

    @property
    def alignments(self) -> tuple[float, ...]:
        """theta.v_j for each direction of the spike."""
        return (self.alignment, *self.further_alignments)

    @property
    def remainder(self) -> float:
        """1 - |gamma|^2, the squared length of the target direction outside the spike."""
        if self.rank == 1:
            # (1 - g)(1 + g) keeps the digits when the alignment is close to 1.
            return (1.0 - self.alignment) * (1.0 + self.alignment)
        left = 1.0 - math.fsum(x * x for x in self.alignments)
        return left if left > ROUNDED_NORM else 0.0

    @property
    def spikes(self) -> tuple[tuple[float, ...], ...]:
        """u_a r, the vector of R^s that multiplies kappa in each group."""
        return tuple(tuple(u * self.spike for u in group.weights) for group in self.groups)

    @property
    def slopes(self) -> tuple[float, ...]:
        """u_a r, the factor of kappa in each group. Raises ModelError for a spike of several directions."""
        if self.rank > 1:
            raise ModelError(
                f"this is built for a spike of one direction, and here it has {self.rank}: give one number per group "
                "and one alignment, for example readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), "
                "alignment=0.8"
            )
        return tuple(slope for (slope,) in self.spikes)

    @cached_property  # a copy with other independent numbers keeps it
    def bulks(self) -> tuple[float, ...]:
        """c_a of each group: its own, else that of the model, or of a step u times as long (`StepMap.bulk_of`)."""
        return tuple(self._bulk_of(group) for group in self.groups)

    def _bulk_of(self, group: ReadoutGroup) -> float:
        if group.bulk is not None:
            return group.bulk
        if self.step is None or group.weight == 1.0:
            return self.bulk
        return mapped_step(self, self.step).bulk_of(group.weight)

    @property
    def uncertainty(self) -> MapErrors:
        """How far spike, bulk and alignment may be off where averages gave them: of a gradient step, or as given."""
        if self.step is None:
            return self.given_uncertainty
        return mapped_step(self, self.step).errors

    def bulk_error(self, weight: float) -> float:
        """How far the bulk of a group of this weight may be off, where the group was given none of its own."""
        return self.given_uncertainty.bulk if self.step is None else mapped_step(self, self.step).bulk_error(weight)

    @property
    def fractions(self) -> tuple[float, ...]:
        """pi_a of each group."""
        return tuple(group.fraction for group in self.groups)

    @property
    def biases(self) -> tuple[float, ...]:
        """b_a of each group."""
        return tuple(group.bias for group in self.groups)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before a number of this model is used, one sentence each; none for most models."""
        if self.step is None or self.bulk_model == "network":
            return ()
        found = _neglected(self, self.step)
        return () if found is None else (found,)

    def changed(self, **values: Any) -> Model:
        """The same model with some parameters changed, validated again; after a gradient step mapped through it again.

        A model from a step takes what `from_gradient_step` takes, others their own fields. Raises ModelError for a
        parameter that the model does not have.
        """
        if self.independent.issuperset(values):
            return self._with(values)
        check_changes(self, values)
        if self.step is None:
            # What replaces an uncertain number is exact.
            exact = {name: 0.0 for name in MapErrors._fields if name in values}
            return replace(self, **{"given_uncertainty": self.given_uncertainty._replace(**exact)} | values)
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _FROM_STEP}
        return Model.from_gradient_step(**(kept | {"alpha0": self.step.alpha0, "eta": self.step.eta} | values))

    @property
    def independent(self) -> frozenset[str]:
        """The numbers that nothing else of the model depends on, so that one that changes is checked alone."""
        return _RATIOS if self.step is None else _RATIOS_BESIDE_A_STEP

    def _with(self, numbers: Mapping[str, object]) -> Model:
        made = object.__new__(type(self))
        checked = {name: checked_number(name, value, *RANGES[name]) for name, value in numbers.items()}
        vars(made).update(vars(self), **checked)
        return made

    def as_given(self) -> Model:
        """The same model as if spike, bulk and alignment had been given: they stay, whatever else is changed.

        Raises ModelError for a network's own bulk, which follows from its step.
        """
        if self.step is None:
            return self
        if self.network_step is not None:
            raise ModelError(
                "a network's own bulk follows from its gradient step: take the isotropic bulk first, "
                'model.changed(bulk_model="isotropic").as_given()'
            )
        made, readout = mapped_step(self, self.step), self.readout
        errors = made.errors
        if not isinstance(readout, ReadoutLaw):
            readout = tuple(
                group
                if group.bulk is not None or made.bulk_of(group.weight) == self.bulk
                else replace(group, bulk=self._bulk_of(group), bulk_error=made.bulk_error(group.weight))
                for group in readout
            )
        return replace(self, step=None, bulk_model="isotropic", readout=readout, given_uncertainty=errors)

    @classmethod
    def from_gradient_step(
        cls,
        activation: Activation | str,
        target: Activation | str,
        *,
        alpha: float,
        beta: float,
        ridge: float,
        alpha0: float,
        eta: float,
        noise: float = 0.0,
        readout: Sequence[ReadoutGroup] | ReadoutLaw = UNIFORM,
        bulk_model: str = "network",
        gaussian_rows: bool = False,
        loss: Loss | str = SQUARE,
    ) -> Model:
        """The features after one gradient step: the network's own bulk, or the paper's isotropic one (Result 3.1).

        Equations (9)-(12):

            r     = (eta/beta) h1 sqrt(h1*^2 + h2*/alpha0)
            gamma = h1*/sqrt(h1*^2 + h2*/alpha0)
            c     = 1 + (eta/beta)^2 (h2*/alpha0) E[(sigma' - h1)^2]

        with h2* -> h2* + noise, alpha0 = n0/d and eta the learning rate over d. alpha0 = 0 or eta = 0 means no step
        was made: r = 0, c = 1, gamma = 0. This is for odd activations; for others, beyond the paper, y is
        Y = y - E[u] E[sigma], E[Y^2] stands for h2*, and the 1 of c is (1 + (eta/beta) E[sigma''] E[Y])^2
        (`numerics.models.gradient_step`).

        A group of readout weight u takes a step u times as long: its spike is u r, and where its bulk is not given it
        is 1 + u^2 (c - 1), or for activations with an even part `StepMap.bulk_of`.

        bulk_model: "network" (default), the bulk that real networks have (`numerics.bulk.network`; Gaussian rows
        require an odd activation), or "isotropic", the spiked random features of the paper. Biases enter after the
        step, which is made without. gaussian_rows: rows w ~ N(0, I/d) before the step instead of unit rows.

        Raises ModelError when E[(sigma' - h1)^2] is infinite.
        """
        beta = checked_number("beta", beta, *RANGES["beta"])
        noise = checked_number("noise", noise, *RANGES["noise"])
        step, student, teacher = GradientStep(alpha0, eta), function(activation), function(target)
        groups = readout
        if not isinstance(groups, ReadoutLaw):
            groups = checked_groups(cast("tuple[ReadoutGroup, ...]", readout))
        made = gradient_step(
            student, teacher, alpha0=step.alpha0, eta=step.eta, beta=beta, noise=noise, mean_weight=mean_weight(groups)
        )
        return cls(
            student, teacher, alpha=alpha, beta=beta, ridge=ridge, noise=noise, spike=made.spike, bulk=made.bulk,
            alignment=made.alignment, readout=groups, step=step, bulk_model=bulk_model, gaussian_rows=gaussian_rows,
            loss=loss_named(loss),
        )  # fmt: skip


def _neglected(model: Model, step: GradientStep) -> str | None:
    """What the isotropic bulk leaves out after this step, in a sentence, or None."""
    from giantsteps.numerics.models.even_part import even_part_warning

    # Of a density the letter 1, by which the step is named.
    largest = 1.0 if model.law else max(abs(group.weight) for group in model.groups)
    return even_part_warning(model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, largest)


_RATIOS = frozenset({"alpha", "beta", "ridge", "noise"})
# The step depends on the others.
_RATIOS_BESIDE_A_STEP = frozenset({"alpha", "ridge"})
# What a gradient step decides.
_FROM_STEP = ("step", "spike", "bulk", "alignment", "further_alignments", "given_uncertainty")


def check_changes(model: Model, values: Mapping[str, object]) -> None:
    """Raises ModelError where a model has no parameters of these names to change."""
    known = [one.name for one in fields(model) if one.name != "step"]
    if model.step is not None:
        known = [name for name in known if name not in _FROM_STEP] + ["alpha0", "eta"]
    for name in values:
        if name in known:
            continue
        if model.step is not None and name in _FROM_STEP:
            isotropic = '.changed(bulk_model="isotropic")' if model.network_step is not None else ""
            raise ModelError(
                f"{name} follows from the gradient step of this model and cannot be changed alone: change alpha0 or "
                f"eta, or forget the step, for example model{isotropic}.as_given().changed({name}=1.0)"
            )
        if name in ("alpha0", "eta"):
            raise ModelError(
                f"{name} was given, and this model has no gradient step, but a spike, bulk and alignment: make it with "
                "Model.from_gradient_step, for example with alpha0=2, eta=3"
            )
        raise ModelError(f"a model has no parameter {name}: one of {', '.join(known)} is accepted, for example beta=2")


def _check_moments(model: Model) -> None:
    bulks = (model.bulk,) if model.law else model.bulks  # looked at here, for copies to find them made
    if model.activation.growth.quadratic:
        spikes = ((model.spike,),) if model.law else model.spikes
        letters = [(math.hypot(*spike), bulk) for spike, bulk in zip(spikes, bulks, strict=True)]
        for slope, bulk in sorted(set(letters)):
            check_second_moment("activation", model.activation, slope, bulk)
    check_second_moment("target", model.target, 1.0, 0.0)
