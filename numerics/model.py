"""The parameters of one problem, validated; Result 3.1 as a constructor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from derivations.activation import Activation, integrable_square
from derivations.expression import ExpressionError
from numerics.coefficients import hermite_constants


class ModelError(ValueError):
    """The model asked for does not exist or is not accepted; the message is one clear sentence."""


@dataclass(frozen=True)
class ReadoutGroup:
    """Neurons that share one value of the initial readout (Appendix D of arXiv 2402.04980).

    weight u: the argument of the activation is u r kappa + bias + sqrt(bulk) z, with r the model's spike;
    fraction pi of the neurons; bulk None takes the model's. For a spike of rank s, u and kappa are vectors of R^s and
    u kappa their scalar product: further_weights are u_2, ..., u_s.
    """

    weight: float = 1.0
    fraction: float = 1.0
    bulk: float | None = None
    bias: float = 0.0
    further_weights: tuple[float, ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """u with all its components."""
        return (self.weight, *self.further_weights)


UNIFORM = (ReadoutGroup(),)


@dataclass(frozen=True)
class GradientStep:
    """The step that the first layer took: alpha0 = n0/d samples, eta the learning rate over d."""

    alpha0: float
    eta: float


class MapErrors(NamedTuple):
    """How far spike, bulk and alignment may be off because the averages that they are made of are (an estimate)."""

    spike: float
    bulk: float
    alignment: float


EXACT = MapErrors(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Model:
    """Ridge regression on spiked random features, in the proportional limit.

    Features sigma(u_a r kappa + b_a + sqrt(c_a) z) with kappa = v.x, target y = g(theta.x) + sqrt(noise) N(0, 1),
    v.theta = alignment, |v| = |theta| = 1. Ratios alpha = n/d, beta = p/d; spike r, bulk c and alignment gamma are
    O(1); the ridge multiplies |a|^2 beside sum_mu (y_mu - a.phi_mu/sqrt p)^2, equations (4)-(7).

    With a `step` the bulk is the network's own, beyond the paper (`numerics.network_bulk`), and spike, bulk and
    alignment are those of the step; without one it is isotropic with rows of equal norm, or with `gaussian_rows` of
    rows w ~ N(0, c I/d) (for a network: of initial rows w ~ N(0, I/d)).

    A spike of rank s (2 or 3) has s orthonormal directions v_j in place of v: kappa_j = v_j.x, the groups' weights are
    vectors of R^s, and alignment, further_alignments are theta.v_1, ..., theta.v_s, of norm at most 1 together.

    `uncertainty` is how far spike, bulk and alignment may be off where averages of a gradient step gave them; it goes
    into the error estimate of a solution.

    Raises ModelError when a parameter is out of range or when a second moment is infinite.
    """

    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    noise: float = 0.0
    spike: float = 1.0
    bulk: float = 1.0
    alignment: float = 1.0
    groups: tuple[ReadoutGroup, ...] = field(default=UNIFORM)
    step: GradientStep | None = None
    gaussian_rows: bool = False
    further_alignments: tuple[float, ...] = ()
    uncertainty: MapErrors = field(default=EXACT, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, (accepts, range_, example) in _RANGES.items():
            object.__setattr__(self, name, _checked(name, getattr(self, name), accepts, range_, example))
        object.__setattr__(self, "groups", _checked_groups(self.groups))
        object.__setattr__(self, "further_alignments", _checked_alignments(self.alignment, self.further_alignments))
        _check_rank(self)
        _check_moments(self)
        _check_bulk(self)

    @property
    def bulk_model(self) -> str:
        """ "network" for the network's own bulk after its step, else "isotropic"."""
        return "isotropic" if self.step is None else "network"

    @property
    def unequal_norms(self) -> bool:
        """Whether the rows of the bulk differ in norm, so that yhat has dmu0/dc beside mu0 and kappa mu1."""
        return self.step is not None or self.gaussian_rows

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
        return left if left > _ROUNDED_NORM else 0.0

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
                'and one alignment, for example --readout "1:0.5,-1:0.5" --alignment 0.8'
            )
        return tuple(slope for (slope,) in self.spikes)

    @property
    def bulks(self) -> tuple[float, ...]:
        """c_a of each group."""
        return tuple(self.bulk if group.bulk is None else group.bulk for group in self.groups)

    @property
    def fractions(self) -> tuple[float, ...]:
        """pi_a of each group."""
        return tuple(group.fraction for group in self.groups)

    @property
    def biases(self) -> tuple[float, ...]:
        """b_a of each group."""
        return tuple(group.bias for group in self.groups)

    def changed(self, **values: float) -> Model:
        """The same model with some parameters changed, validated again."""
        return replace(self, **values)  # type: ignore[arg-type]

    @classmethod
    def from_gradient_step(
        cls,
        activation: Activation,
        target: Activation,
        *,
        alpha: float,
        beta: float,
        ridge: float,
        alpha0: float,
        eta: float,
        noise: float = 0.0,
        groups: tuple[ReadoutGroup, ...] = UNIFORM,
        bulk_model: str = "isotropic",
        gaussian_rows: bool = False,
    ) -> Model:
        """The spiked random features equivalent to one gradient step, equations (9)-(12) (Result 3.1).

            r     = (eta/beta) h1 sqrt(h1*^2 + h2*/alpha0)
            gamma = h1*/sqrt(h1*^2 + h2*/alpha0)
            c     = 1 + (eta/beta)^2 (h2*/alpha0) E[(sigma' - h1)^2]

        with h2* -> h2* + noise, alpha0 = n0/d and eta the learning rate over d. alpha0 = 0 or eta = 0 means no step
        was made: r = 0, c = 1, gamma = 0.

        A group of readout weight u takes a step u times as long: its spike is u r, and where its bulk is not given it
        is 1 + u^2 (c - 1).

        bulk_model: "isotropic", the sRF of the paper, or "network", the bulk as it is (`numerics.network_bulk`, for
        several groups `numerics.network_groups`), which needs an odd activation. Biases enter after the step, which is
        made without. gaussian_rows: rows w ~ N(0, I/d) before the step instead of unit rows.

        Raises ModelError when E[sigma] != 0, E[sigma''] E[g] != 0 or E[(sigma' - h1)^2] is infinite.
        """
        beta = _checked("beta", beta, *_RANGES["beta"])
        noise = _checked("noise", noise, *_RANGES["noise"])
        alpha0 = _checked("alpha0", alpha0, *_NOT_NEGATIVE)
        eta = _checked("eta", eta, *_NOT_NEGATIVE)
        spike, bulk, alignment = gradient_step(activation, target, alpha0=alpha0, eta=eta, beta=beta, noise=noise)
        if any(group.further_weights for group in groups):
            raise ModelError(
                "one gradient step makes a spike of one direction: give one readout weight per group, for example 1:1"
            )
        return cls(
            activation, target, alpha=alpha, beta=beta, ridge=ridge, noise=noise,
            spike=spike, bulk=bulk, alignment=alignment,
            groups=tuple(_stepped(group, bulk) for group in _checked_groups(groups)),
            step=_step(bulk_model, alpha0, eta), gaussian_rows=gaussian_rows,
            uncertainty=gradient_step_errors(activation, target, alpha0=alpha0, eta=eta, beta=beta, noise=noise),
        )  # fmt: skip


def _stepped(group: ReadoutGroup, bulk: float) -> ReadoutGroup:
    if group.bulk is not None or abs(group.weight) == 1.0:
        return group
    return replace(group, bulk=1.0 + group.weight**2 * (bulk - 1.0))


# A mean that is zero in exact arithmetic comes out of the quadrature at the rounding of double precision.
_ZERO = 1e-11
INSTEAD = "give --spike, --bulk and --alignment directly instead, for example --spike 1 --bulk 1 --alignment 0.8"


def gradient_step(
    activation: Activation, target: Activation, *, alpha0: float, eta: float, beta: float, noise: float = 0.0
) -> tuple[float, float, float]:
    """(spike, bulk, alignment) after one gradient step; see `Model.from_gradient_step`."""
    if alpha0 == 0.0 or eta == 0.0:
        return 0.0, 1.0, 0.0
    student, teacher = hermite_constants(activation), hermite_constants(target)
    if abs(student.mean) > max(_ZERO * math.sqrt(student.h2), student.errors.mean):
        raise ModelError(f"the gradient-step map needs E[sigma] = 0, and here E[sigma] = {student.mean:.6g}; {INSTEAD}")
    if abs(student.curvature * teacher.mean) > _ZERO * math.sqrt(student.h2 * teacher.h2):
        raise ModelError(
            "the gradient-step map needs E[sigma''] E[g] = 0, and here "
            f"E[sigma''] = {student.curvature:.6g} and E[g] = {teacher.mean:.6g}; {INSTEAD}"
        )
    if math.isinf(student.h1_check):
        raise ModelError(
            "the gradient-step map needs a finite E[(sigma' - h1)^2], and here it is infinite "
            f"because {student.h1_check_reason}; {INSTEAD}"
        )
    second = (teacher.h2 + noise) / alpha0
    length = math.hypot(teacher.h1, math.sqrt(second))
    rate = eta / beta
    alignment = teacher.h1 / length if length > 0.0 else 0.0
    return rate * student.h1 * length, 1.0 + rate**2 * second * student.h1_check, alignment


def gradient_step_errors(
    activation: Activation, target: Activation, *, alpha0: float, eta: float, beta: float, noise: float = 0.0
) -> MapErrors:
    """How far the errors of the Hermite constants move what `gradient_step` returns, to first order."""
    if alpha0 == 0.0 or eta == 0.0:
        return EXACT
    student, teacher = hermite_constants(activation), hermite_constants(target)
    rate, second, second_error = abs(eta / beta), (teacher.h2 + noise) / alpha0, teacher.errors.h2 / alpha0
    length = math.hypot(teacher.h1, math.sqrt(second))
    if length == 0.0:
        return EXACT
    length_error = (abs(teacher.h1) * teacher.errors.h1 + 0.5 * second_error) / length
    return MapErrors(
        spike=rate * (student.errors.h1 * length + abs(student.h1) * length_error),
        bulk=rate**2 * (second_error * student.h1_check + second * student.errors.h1_check),
        alignment=(teacher.errors.h1 + abs(teacher.h1 / length) * length_error) / length,
    )


def _step(bulk_model: str, alpha0: float, eta: float) -> GradientStep | None:
    """The step that a bulk model keeps; where none was made both bulks are the same."""
    if bulk_model not in ("isotropic", "network"):
        raise ModelError(f"bulk model {bulk_model!r} is not known: isotropic or network, for example network")
    return GradientStep(alpha0, eta) if bulk_model == "network" and alpha0 > 0.0 and eta > 0.0 else None


def _check_bulk(model: Model) -> None:
    """A network's bulk has an odd activation, and the spike, bulks and alignment of its own step."""
    step = model.step
    if step is None:
        return
    if model.activation.parity != "odd":
        raise ModelError(
            f"the network's own bulk is built for odd activations, and {model.activation.expression} is not known to be"
            " odd; take the isotropic bulk, or for example tanh(z)"
        )
    own = gradient_step(
        model.activation, model.target, alpha0=step.alpha0, eta=step.eta, beta=model.beta, noise=model.noise
    )
    given = (model.spike, model.bulk, model.alignment)
    if any(abs(x - y) > 1e-9 * (1.0 + abs(y)) for x, y in zip(given, own, strict=True)):
        raise ModelError(
            "spike, bulk and alignment of a network follow from its gradient step and cannot be changed alone: make it"
            " again with Model.from_gradient_step"
        )
    for group, bulk in zip(model.groups, model.bulks, strict=True):
        if abs(bulk - 1.0 - group.weight**2 * (own[1] - 1.0)) > 1e-9 * bulk:
            raise ModelError(
                f"the bulk of a readout group follows from the network's gradient step, and {bulk:.6g} was given beside"
                " the weight "
                f"{group.weight:g}: leave the bulk away, for example 1:0.5,-1:0.5, or empty before a bias, "
                "1:0.5::0.3,-1:0.5::-0.3 (or give --bias), or take the isotropic bulk"
            )


_Range = tuple[Callable[[float], bool], str, str]
# Squares and cubes of parameters between these, and their ratios, stay inside double precision.
SMALLEST, LARGEST = 1e-50, 1e50
# Components such as 0.6 and 0.8 leave this much of 1 by rounding.
_ROUNDED_NORM = 1e-15
MOST_DIRECTIONS = 3
_POSITIVE: _Range = (lambda x: SMALLEST <= x <= LARGEST, "a number > 0, from 1e-50 to 1e50", "1.5")
_NOT_NEGATIVE: _Range = (
    lambda x: x == 0.0 or SMALLEST <= x <= LARGEST, "a number >= 0, either 0 or from 1e-50 to 1e50", "0.1",
)  # fmt: skip
_REAL: _Range = (lambda x: abs(x) <= LARGEST, "a real number of at most 1e50 in size", "1")
_RANGES: dict[str, _Range] = {
    "alpha": _POSITIVE,
    "beta": _POSITIVE,
    "ridge": _NOT_NEGATIVE,
    "noise": _NOT_NEGATIVE,
    "spike": _REAL,
    "bulk": _POSITIVE,
    "alignment": (lambda x: abs(x) <= 1.0, "a number between -1 and 1", "0.8"),
}


def _checked(name: str, value: object, accepts: Callable[[float], bool], range_: str, example: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not accepts(number):
        raise ModelError(f"{name} = {value} is not accepted: it has to be {range_}, for example {name} = {example}")
    return number


def _checked_groups(groups: tuple[ReadoutGroup, ...]) -> tuple[ReadoutGroup, ...]:
    if groups is UNIFORM:
        return groups  # most models, and sweeps make a hundred thousand of them
    if not groups:
        raise ModelError("the readout has no groups: give at least one, for example 1:1 (weight 1, fraction 1)")
    checked = []
    for group in groups:
        bulk = group.bulk
        checked.append(
            ReadoutGroup(
                weight=_checked("weight of a readout group", group.weight, *_RANGES["spike"]),
                fraction=_checked("fraction of a readout group", group.fraction, *_POSITIVE),
                bulk=None if bulk is None else _checked("bulk of a readout group", bulk, *_POSITIVE),
                bias=_checked("bias of a readout group", group.bias, *_RANGES["spike"]),
                further_weights=tuple(
                    _checked("weight of a readout group", u, *_RANGES["spike"]) for u in group.further_weights
                ),
            )
        )
    total = sum(group.fraction for group in checked)
    if abs(total - 1.0) > 1e-9:
        raise ModelError(
            f"the fractions of the readout groups add up to {total:.12g}, not to 1, for example 1:0.5,-1:0.5"
        )
    return tuple(checked)


def _checked_alignments(first: float, further: tuple[float, ...]) -> tuple[float, ...]:
    checked = tuple(_checked("alignment", value, *_RANGES["alignment"]) for value in further)
    square = math.fsum(x * x for x in (first, *checked))
    if square > 1.0 + _ROUNDED_NORM:
        raise ModelError(
            f"the alignments have norm {math.sqrt(square):.6g} together, and theta has norm 1: give components whose "
            "squares add up to at most 1, for example 0.6/0.5"
        )
    return checked


def _check_rank(model: Model) -> None:
    """As many components in every readout weight as there are alignments, at most three; one for a gradient step."""
    if model.rank > MOST_DIRECTIONS:
        raise ModelError(
            f"a spike of {model.rank} directions was given: at most {MOST_DIRECTIONS} are accepted, for example "
            "--alignment 0.6/0.5"
        )
    counts = sorted({len(group.weights) for group in model.groups} | {model.rank})
    if len(counts) > 1:
        raise ModelError(
            f"alignment and readout weights have {' and '.join(map(str, counts))} components: give as many in each, "
            'for example --alignment 0.6/0.5 --readout "1.5/1:0.5,1.5/-1:0.5"'
        )
    if model.rank > 1 and model.unequal_norms:
        raise ModelError("a spike of several directions is built for the isotropic bulk with rows of equal norm")


def _check_moments(model: Model) -> None:
    if model.activation.growth.quadratic:
        slopes = [math.hypot(*spike) for spike in model.spikes]
        for slope, bulk in sorted(set(zip(slopes, model.bulks, strict=True))):
            _check_second_moment("activation", model.activation, slope, bulk)
    _check_second_moment("target", model.target, 1.0, 0.0)


def _check_second_moment(role: str, function: Activation, spike: float, bulk: float) -> None:
    """E[f(spike kappa + bias + sqrt(bulk) z)^2] is finite; a bias does not change whether it is."""
    if function.growth.quadratic == 0:
        return
    try:
        finite = integrable_square(function, spike, bulk)
    except ExpressionError as reason:
        raise ModelError(f"the {role} is not accepted here: {reason}") from reason
    if not finite:
        raise ModelError(
            f"the second moment of the {role} is infinite when its argument has variance {spike**2 + bulk:.6g}: "
            "give a smaller spike or bulk, or a function that grows more slowly, for example tanh(z)"
        )
