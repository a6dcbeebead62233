"""The parameters of one problem, validated; Result 3.1 as a constructor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian import callables
from giantsteps.numerics.gradient_steps.batches import INITIAL, State
from giantsteps.numerics.models.even_part import even_part_warning
from giantsteps.numerics.models.gradient_step import (
    GradientStep,
    PerStep,
    StepMap,
    check_second_moment,
    check_several,
    check_uniform,
    even_part,
    gradient_step,
    mean_weight,
    reached,
    step_map,
    steps_warnings,
)
from giantsteps.numerics.models.losses import SQUARE, Loss, loss_named
from giantsteps.numerics.models.parameters import (
    EXACT,
    LARGEST,
    RANGES,
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
    naming_what_is_missing,
)
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.models.spiked import Spiked

__all__ = [
    "LARGEST", "SMALLEST", "UNIFORM", "GradientStep", "Model", "ModelError", "ReadoutGroup", "check_changes",
    "gradient_step",
]  # fmt: skip


@naming_what_is_missing
@dataclass(frozen=True, repr=False)
class Model(Spiked):
    """A readout fitted on spiked random features, in the proportional limit.

    Features sigma(u_a r kappa + b_a + sqrt(c_a) z) with kappa = v.x, target y = g(theta.x) + sqrt(noise) N(0, 1),
    v.theta = alignment, |v| = |theta| = 1; r, c and gamma are O(1). The ridge multiplies |a|^2 beside sum_mu (y_mu -
    a.phi_mu/sqrt p)^2, equations (4)-(7). Another loss has (ridge/2) |a|^2 beside the sum of its losses.

    activation, target: sigma and g, as `giantsteps.activation` takes them: text, SymPy, or a callable.
    alpha, beta: samples and width per dimension, n/d and p/d, > 0.
    ridge, noise: lambda (0 is the limit from above) and Delta, the variance of the label noise.
    spike, bulk, alignment: r, c and gamma.
    readout: the initial readout: groups of neurons that share a weight u, or a density of weights (`ReadoutLaw`).
    step: the gradient step that the model came from; use `from_gradient_step`.
    bulk_model: "isotropic", the paper's, or "network", the bulk after the network's step (`numerics.bulk.network`).
    gaussian_rows: whether rows are w ~ N(0, c I/d) (of a network: initial rows w ~ N(0, I/d)), not of equal norm.
    further_alignments: theta.v_2, ..., theta.v_s of a spike of s = 2 or 3 orthonormal directions: kappa_j = v_j.x, the
        groups' weights are vectors of R^s, and all alignments together have norm at most 1.
    given_uncertainty: how far a computed spike, bulk and alignment may be off; part of a solution's error estimate.
    loss: square, or logistic, hinge, huber:DELTA, absolute.

    A model from a step has the spike, bulk and alignment of that step: `changed` maps through the step again, and a
    copy with other numbers is refused. `as_given` forgets the step.

    Raises ModelError when a parameter is out of range or when a second moment is infinite.

    >>> model.changed(ridge=1.0)
    Model(tanh(z) learns sin(z), ...)
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
            activation: Any,
            target: Any,
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
            object.__setattr__(self, name, callables.activation(getattr(self, name)))
        for name, (accepts, range_, example) in RANGES.items():
            object.__setattr__(self, name, checked_number(name, getattr(self, name), accepts, range_, example))
        if not isinstance(self.readout, ReadoutLaw):
            object.__setattr__(self, "readout", checked_groups(self.readout))
        object.__setattr__(self, "loss", loss_named(self.loss))
        object.__setattr__(self, "gaussian_rows", checked_flag("gaussian_rows", self.gaussian_rows))
        object.__setattr__(self, "further_alignments", checked_alignments(self.alignment, self.further_alignments))
        object.__setattr__(self, "given_uncertainty", checked_errors(self.given_uncertainty))
        _check_step(self)
        check_rank(self.rank, None if self.law else self.groups, self.unequal_norms)
        _check_moments(self)

    def __repr__(self) -> str:
        return f"Model({self.described()})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, under the names of the command line's options."""
        from giantsteps.derivations.expressions.tree import to_text

        functions = {name: to_text(getattr(self, name).expression) for name in ("activation", "target")}
        document = functions | {name: getattr(self, name) for name in ("alpha", "beta", "ridge", "noise")}
        if self.step is not None:
            document |= self.step.to_dict() | {"bulk_model": self.bulk_model}
        readout = [group.to_dict() for group in self.groups] if self.law is None else self.law.to_dict()
        rows = "gaussian" if self.gaussian_rows else "unit"
        return document | self.spiked() | {"readout": readout, "rows": rows, "loss": self.loss.name}

    def spiked(self) -> dict[str, Any]:
        """Spike, bulk and alignment as plain data: lists where groups or directions differ."""
        alignment = self.alignment if self.rank == 1 else list(self.alignments)
        if self.law is None:
            bulk = self.bulks[0] if len(set(self.bulks)) == 1 else list(self.bulks)
            return {"spike": self.spike, "bulk": bulk, "alignment": alignment}
        of_letter = "1 + u^2 (bulk - 1)" if self.bulk > 1.0 else "bulk"  # the bulk of a letter u, in words
        readout = {"readout": self.law.to_dict(), "bulk_of_letter": of_letter}
        return {"spike": self.spike, "bulk": self.bulk, "alignment": alignment} | readout

    @property
    def network_step(self) -> GradientStep | None:
        """The step whose own bulk the model has; None where the bulk is isotropic, as it is where no step was made."""
        made = self.step is not None and self.step.first < self.step.steps
        return self.step if made and self.bulk_model == "network" else None

    @property
    def states(self) -> tuple[State, ...]:
        """Spike, alignment and bulk after each gradient step; none where they were given."""
        if self.step is None:
            return ()
        if not self.step.several:
            made = State(self.spike, self.alignment, self.bulk)
            return (INITIAL,) * self.step.first + (made,) * (self.step.steps - self.step.first)
        found = reached(self.activation, self.target, self.step, beta=self.beta, noise=self.noise)
        return tuple(one.state for one in found)

    @property
    def unequal_norms(self) -> bool:
        """Whether the rows of the bulk differ in norm, so that yhat has dmu0/dc beside mu0 and kappa mu1."""
        return self.gaussian_rows or self.network_step is not None

    @cached_property  # a copy with other independent numbers keeps it
    def bulks(self) -> tuple[float, ...]:
        """c_a of each group: its own, else that of the model, or of a step u times as long (`StepMap.bulk_of`)."""
        return tuple(self._bulk_of(group) for group in self.groups)

    def _bulk_of(self, group: ReadoutGroup) -> float:
        if group.bulk is not None:
            return group.bulk
        return self.bulk if self.step is None or group.weight == 1.0 else self.mapped.bulk_of(group.weight)

    @property
    def mapped(self) -> StepMap:
        """What the gradient step makes of the functions; without one spike, bulk and alignment as given."""
        if self.step is None:
            return StepMap(self.spike, self.bulk, self.alignment, self.given_uncertainty)
        return step_map(
            self.activation, self.target, self.step, beta=self.beta, noise=self.noise,
            mean_weight=mean_weight(self.readout),
        )  # fmt: skip

    @property
    def uncertainty(self) -> MapErrors:
        """How far spike, bulk and alignment may be off where averages gave them: of a gradient step, or as given."""
        return self.mapped.errors

    def bulk_error(self, weight: float) -> float:
        """How far the bulk of a group of this weight may be off, where the group was given none of its own."""
        return self.given_uncertainty.bulk if self.step is None else self.mapped.bulk_error(weight)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before a number of this model is used, one sentence each; none for most models."""
        isotropic, said = self.bulk_model == "isotropic", callables.noted(self.activation, self.target)
        if self.step is not None and self.step.several:
            return (*said, *steps_warnings(self.activation, self.target, self.step, self.beta, self.noise, isotropic))
        if self.step is None or not isotropic:
            return said
        # Of a density the letter 1, by which the step is named.
        largest = 1.0 if self.law else max(abs(group.weight) for group in self.groups)
        found = even_part_warning(self.activation, self.target, *self.step.only, self.beta, self.noise, largest)
        return said if found is None else (*said, found)

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
        return Model.from_gradient_step(**(kept | {name: getattr(self.step, name) for name in _OF_STEP} | values))

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
                "a network's own bulk follows from its gradient step: use the isotropic bulk first, "
                'model.changed(bulk_model="isotropic").as_given()'
            )
        made, readout = self.mapped, self.readout
        if not isinstance(readout, ReadoutLaw):
            readout = tuple(
                group
                if group.bulk is not None or made.bulk_of(group.weight) == self.bulk
                else replace(group, bulk=self._bulk_of(group), bulk_error=made.bulk_error(group.weight))
                for group in readout
            )
        return replace(self, step=None, bulk_model="isotropic", readout=readout, given_uncertainty=made.errors)

    @classmethod
    def from_gradient_step(
        cls,
        activation: Any,
        target: Any,
        *,
        alpha: float,
        beta: float,
        ridge: float,
        alpha0: float | Sequence[float],
        eta: float | Sequence[float],
        steps: int = 1,
        same_batch: bool = False,
        noise: float = 0.0,
        readout: Sequence[ReadoutGroup] | ReadoutLaw = UNIFORM,
        bulk_model: str | None = None,
        gaussian_rows: bool = False,
        loss: Loss | str = SQUARE,
    ) -> Model:
        """The features after gradient steps: the network's own bulk, or the paper's isotropic one (Result 3.1).

        Equations (9)-(12), with h2* -> h2* + noise:

            r = (eta/beta) h1 sqrt(h1*^2 + h2*/alpha0)
            gamma = h1*/sqrt(h1*^2 + h2*/alpha0)
            c = 1 + (eta/beta)^2 (h2*/alpha0) E[(sigma' - h1)^2]

        alpha0 = 0 or eta = 0 means no step: r = 0, c = 1, gamma = 0. This is for odd activations; for others, beyond
        the paper, y is Y = y - E[u] E[sigma], E[Y^2] stands for h2*, and the 1 of c is (1 + (eta/beta) E[sigma'']
        E[Y])^2 (`numerics.models.gradient_step`).

        activation, target, alpha, beta, ridge, noise: as for `Model`.
        alpha0, eta: samples of a step per dimension, n0/d, and learning rate over d: one number, or one per step, as in
            eta=(2, 1), steps=2.
        steps: how many steps, each on fresh samples, beyond the paper (`numerics.gradient_steps.recursion`).
            `Model.states` has spike, bulk and alignment after each. Several steps require a uniform readout without
            biases.
        same_batch: whether two steps are taken on the same samples, whose bulk is not known: the isotropic one is
            taken.
        readout: as for `Model`. A group of weight u takes a step u times as long: its spike is u r, and its bulk, where
            not given, 1 + u^2 (c - 1), or for activations with an even part `StepMap.bulk_of`. Biases enter after the
            step.
        bulk_model: "network" (default), the bulk of real networks (`numerics.bulk.network`,
            `numerics.gradient_steps.law`; for Gaussian rows with an activation that is not odd it requires a uniform
            readout), or "isotropic", the paper's.
        gaussian_rows: whether rows start at w ~ N(0, I/d) in place of unit rows.
        loss: the loss of the readout; a step takes the square loss.

        Raises ModelError when E[(sigma' - h1)^2] is infinite, and for a schedule of another length than the steps.

        >>> trained.spike, trained.bulk, trained.alignment
        (1.388..., 1.189..., 0.793...)
        """
        beta = checked_number("beta", beta, *RANGES["beta"])
        noise = checked_number("noise", noise, *RANGES["noise"])
        step = GradientStep(cast(PerStep, alpha0), cast(PerStep, eta), steps, same_batch)
        student, teacher = callables.activation(activation), callables.activation(target)
        groups = readout
        if not isinstance(groups, ReadoutLaw):
            groups = checked_groups(cast("tuple[ReadoutGroup, ...]", readout))
        bulk_model = bulk_model or ("isotropic" if step.same_batch else "network")
        if step.several:  # before anything is computed
            check_several(step, groups, network=bulk_model == "network")
        made = step_map(student, teacher, step, beta=beta, noise=noise, mean_weight=mean_weight(groups))
        return cls(
            student, teacher, alpha=alpha, beta=beta, ridge=ridge, noise=noise, spike=made.spike, bulk=made.bulk,
            alignment=made.alignment, readout=groups, step=step, bulk_model=bulk_model, gaussian_rows=gaussian_rows,
            loss=loss_named(loss),
        )  # fmt: skip


_RATIOS = frozenset({"alpha", "beta", "ridge", "noise"})
# The step depends on the others.
_RATIOS_BESIDE_A_STEP = frozenset({"alpha", "ridge"})
_OF_STEP = ("alpha0", "eta", "steps", "same_batch")
# What a gradient step decides.
_FROM_STEP = ("step", "spike", "bulk", "alignment", "further_alignments", "given_uncertainty")


def check_changes(model: Model, values: Mapping[str, object]) -> None:
    """Raises ModelError where a model has no parameters of these names to change."""
    known = [one.name for one in fields(model) if one.name != "step"]
    if model.step is not None:
        known = [name for name in known if name not in _FROM_STEP] + list(_OF_STEP)
    for name in values:
        if name in known:
            continue
        if model.step is not None and name in _FROM_STEP:
            isotropic = '.changed(bulk_model="isotropic")' if model.network_step is not None else ""
            raise ModelError(
                f"{name} follows from the gradient step of this model and cannot be changed alone: change alpha0 or "
                f"eta, or forget the step, for example model{isotropic}.as_given().changed({name}=1.0)"
            )
        if name in _OF_STEP:
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


# Spike, bulk and alignment are a function of the same numbers, so that no more than rounding is between two of them.
SAME = 1e-12


def _check_step(model: Model) -> None:
    """Raises ModelError unless spike, bulk and alignment are those of the step and its own bulk is supported."""
    if model.bulk_model not in ("isotropic", "network"):
        raise ModelError(f"bulk model {model.bulk_model!r} is not known: isotropic or network, for example network")
    if model.step is None:
        if model.bulk_model == "network":
            raise ModelError(
                "the network's own bulk follows from its gradient step: make the model with Model.from_gradient_step, "
                "for example with alpha0=2, eta=3"
            )
        return
    if not isinstance(model.step, GradientStep):
        raise ModelError(
            f"step = {model.step!r} is not accepted: make the model with Model.from_gradient_step, for example with "
            "alpha0=2, eta=3"
        )
    if model.rank > 1 or (model.law is None and any(group.further_weights for group in model.groups)):
        raise ModelError(
            "one gradient step makes a spike of one direction: give one readout weight per group, for example 1:1"
        )
    given, made = (model.spike, model.bulk, model.alignment), model.mapped
    if any(abs(x - y) > SAME * (1.0 + abs(y)) for x, y in zip(given, made[:3], strict=True)):
        raise ModelError(
            "spike, bulk and alignment of this model follow from its gradient step and cannot be changed alone: use "
            "model.changed, which maps through the step again, make it anew with Model.from_gradient_step, or forget "
            "the step with model.as_given()"
        )
    if model.step.several:
        check_several(model.step, model.readout, network=model.network_step is not None)
    mean = even_part(model.activation).mean if model.law else 0.0
    if model.law and (made.turn or mean):
        raise ModelError(
            "after a step, a density of readout weights requires E[sigma] = 0 and E[sigma''] E[g] = 0; here E[sigma] = "
            f"{mean:.3g} and (eta/beta) E[sigma''] E[g] = {made.turn:.3g}: use for example tanh(z), or readout groups "
            "such as 1:0.5,-1:0.5"
        )
    if model.network_step is not None:
        _check_network_bulk(model, made)


def _check_network_bulk(model: Model, made: StepMap) -> None:
    """Raises ModelError for an activation or bulks that a network's own bulk does not support."""
    if model.activation.parity != "odd" and model.gaussian_rows:
        check_uniform(
            model.readout,
            f"the network's own bulk from Gaussian rows if the activation is odd, and {model.activation.expression} is "
            'not known to be: use gaussian_rows=False, bulk_model="isotropic", or for example activation="tanh"',
        )
    for group, bulk in zip(model.groups, model.bulks, strict=True):
        if abs(bulk - made.bulk_of(group.weight)) > 1e-9 * bulk:
            raise ModelError(
                f"the bulk of a readout group follows from the network's gradient step, and {bulk:.6g} was given "
                f"beside the weight {group.weight:g}: omit it, for example readout=(ReadoutGroup(1.0, 0.5), "
                "ReadoutGroup(-1.0, 0.5)), or with biases readout=(ReadoutGroup(1.0, 0.5, bias=0.3), "
                'ReadoutGroup(-1.0, 0.5, bias=-0.3)), or use the isotropic bulk, bulk_model="isotropic"'
            )
