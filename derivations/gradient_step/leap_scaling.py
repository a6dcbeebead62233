r"""What one giant step does to a neuron of a multi-index problem: signal, noise, and their orders in d.

One neuron w, |w| = 1, feels the gradient g = (1/n) sum y sigma'(w.x) x of n samples. Its overlaps with the target's
directions are tau/sqrt(d). Signal is the mean of g within these directions, pi; noise is g - E g. With s_k the
orthonormal Hermite coefficients of the activation and C_l the first non-zero Hermite tensor of the target,

    d^((l-1)/2) pi_j -> sqrt(l!)/(l-1)! s_l C_l[j, tau, .., tau],      (n/d) E|g - E g|^2 -> E[y^2] E[sigma'^2].

So n = d^(l - delta) samples leave a share d^(-min(1, delta)/2) of the neuron within the target's directions, and a step
eta = p d^((l-1)/2) makes the signal of order one.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import exponent_of, exponent_of_sum
from giantsteps.derivations.gradient_step.hermite_tensors import hermite, z1, z2
from giantsteps.derivations.gradient_step.spike import counted
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite
from giantsteps.derivations.kernel.averages import iterated, linear
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expansion
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import repeated

SOURCE = "arXiv 2305.18270, Theorems 1 and 2"
DEGREE = 3  # the target's degree, and the order to which the activation is expanded
# Two orders more, for a correction to a signal of leap index three: parity leaves out the next one.
SIGNAL_DEGREE = DEGREE + 2
POLYNOMIAL = (
    f"target of two directions and activation are polynomials of degree {DEGREE} and {SIGNAL_DEGREE}; higher orders "
    "enter alike"
)

root_d = sp.Symbol(r"\sqrt{d}", positive=True)
_across = sp.Symbol(r"z_\perp", real=True)  # what a neuron sees outside the target's directions
_overlaps = sp.symbols("epsilon_1 epsilon_2", real=True)
_label = sp.Function("g_*", real=True)
_spread = sp.Function("n_*", real=True)
_gradient = sp.Symbol(r"\pi_1", real=True)
_TENSORS = {1: s.tensor_1, 2: s.tensor_2, 3: s.tensor_3}


def target(leap: int) -> sp.Expr:
    """Any polynomial of z1, z2 of degree DEGREE whose Hermite tensors start at order ``leap``."""
    return sum(
        (
            one * hermite(order - j, z1) * hermite(j, z2) / (sp.factorial(order - j) * sp.factorial(j))
            for order in range(leap, DEGREE + 1)
            for j, one in enumerate(_TENSORS[order])
        ),
        sp.S.Zero,
    )


def hermite_given_target(order: int, overlaps: tuple[sp.Expr, ...]) -> sp.Expr:
    """E[He_k(w.x) | z1, z2]: a polynomial of t = eps.z with |eps|^2 in place of the unit variance of He_k."""
    field = sum((e * z for e, z in zip(overlaps, (z1, z2), strict=False)), sp.S.Zero)
    square = sum((e**2 for e in overlaps), sp.S.Zero)
    return sum(
        (
            sp.factorial(order)
            / (sp.factorial(j) * sp.factorial(order - 2 * j))
            * (-square / 2) ** j
            * field ** (order - 2 * j)
            for j in range(order // 2 + 1)
        ),
        sp.S.Zero,
    )


def slope_coefficient(order: int) -> sp.Expr:
    """E[He_k sigma'] = E[He_{k+1} sigma] = sqrt((k+1)!) s_{k+1}."""
    return sp.sqrt(sp.factorial(order + 1)) * s.hermite_coefficients[order + 1]


def field(*overlaps: sp.Expr) -> sp.Expr:
    """w.x = eps.z + sqrt(1 - |eps|^2) z_perp."""
    within = sum((e * z for e, z in zip(overlaps, (z1, z2), strict=False)), sp.S.Zero)
    return within + sp.sqrt(1 - sum((e**2 for e in overlaps), sp.S.Zero)) * _across


def slope_weights(degree: int) -> tuple[sp.Expr, ...]:
    """The weights of He_k in sigma', for an activation of this degree."""
    return tuple(slope_coefficient(k) / sp.factorial(k) for k in range(degree))


@functools.cache
def given_target(order: int) -> Theorem:
    """E[He_k(w.x) | z1, z2] at any overlaps: averaged over z_perp."""
    average_ = Expectation(hermite(order, field(*_overlaps)), _across)
    known = expansion(average_)
    return equal(known, hermite_given_target(order, _overlaps))


def mean_gradient(leap: int) -> Theorem:
    """pi_1 = E[g(z) sigma'(w.x) z1] at overlaps tau/sqrt(d), exactly for polynomials."""
    weights, seen = slope_weights(SIGNAL_DEGREE), field(*_overlaps)
    label = define(_label(z1, z2), target(leap), "the target, a polynomial without orders below the leap index", z1, z2)
    slopes = [hermite(k, seen) for k in range(SIGNAL_DEGREE)]
    slope = sum((w * polynomial for w, polynomial in zip(weights, slopes, strict=True)), sp.S.Zero)
    weight = _label(z1, z2) * z1
    whole = Expectation(weight * slope, z1, z2, _across)
    small = {e: tau / root_d for e, tau in zip(_overlaps, s.leap_overlaps, strict=True)}
    first = rewrite(
        (iterated((), whole, (_across,)),
         linear((), Expectation(weight * slope, _across),
                tuple((w * weight, p) for w, p in zip(weights, slopes, strict=True))))
    )  # fmt: skip
    within = rewritten(first, *(given_target(k) for k in range(1, SIGNAL_DEGREE)))
    scaled = instantiate((within,), small)
    meaning = define(_gradient, sides(scaled.statement)[0], "the mean gradient along the first direction")
    return averages_expanded(rewritten(meaning, scaled, label))


def contracted(leap: int) -> sp.Expr:
    """C_l[1, tau, .., tau]."""
    first, second = s.leap_overlaps
    return sum(
        (sp.binomial(leap - 1, j) * _TENSORS[leap][j] * first ** (leap - 1 - j) * second**j for j in range(leap)),
        sp.S.Zero,
    )


@functools.cache
def signal(leap: int) -> Derivation:
    """The limit of d^((l-1)/2) pi_1 for leap index l, corrections of order 1/sqrt(d) or 1/d left behind."""
    exact = mean_gradient(leap)
    scaled = congruence((exact,), _gradient * root_d ** (leap - 1), _gradient)
    by_tensor = sp.sqrt(sp.factorial(leap)) / sp.factorial(leap - 1) * s.hermite_coefficients[leap] * contracted(leap)
    tends = limit_rational((), value(scaled), sp.expand(by_tensor), root_d)
    limit = name_limit((rewrite((tends, scaled), True),), s.leap_signal, "the limit of the scaled mean gradient")
    return Derivation(
        f"mean gradient of a neuron at leap index {leap}",
        SOURCE,
        proved(
            "Averaged over what the target does not see, He_k of the neuron's input becomes a polynomial of order "
            "k in its overlaps; here k = 2.",
            given_target(2),
        ),
        proved(
            "Orders below the leap index have no overlap with the target: the first that survives is l - 1, one "
            "factor of the tensor being the direction itself. The limit is the tensor applied to tau.",
            limit,
        ),
        hypotheses=(POLYNOMIAL,),
    )


@functools.cache
def noise() -> Derivation:
    """(n/d) E|g - E g|^2 -> E[y^2] E[sigma'^2] for a target of one direction."""
    label = s.tensor_1[0] * z1 + s.tensor_2[0] * hermite(2, z1) / 2

    def slope(seen: sp.Expr) -> sp.Expr:
        return sum((w * hermite(k, seen) for k, w in enumerate(slope_weights(DEGREE))), sp.S.Zero)

    first, both = _overlaps[0], (z1, _across)
    seen = slope(field(first))
    force = label * seen
    own = force**2 * (z1**2 + _across**2)
    spread = (
        repeated(s.d - 2, Expectation(force**2, *both)) + Expectation(own, *both)
        - Expectation(force * z1, *both) ** 2 - Expectation(force * _across, *both) ** 2
    ) / s.d  # fmt: skip
    meaning = define(
        _spread(first), spread, "(n/d) times the variances of y sigma'(w.x) x/n: across the plane and within it", first
    )
    anywhere = averages_expanded(counted(meaning))
    at_overlap = instantiate((anywhere,), {first: s.leap_overlaps[0] / root_d})
    scaled = rewritten(at_overlap, define(s.d, root_d**2, "the dimension by its root"))
    second, mean, rest = (
        averages_expanded(define(name, Expectation(inside, z1), what))
        for name, inside, what in (
            (s.h2_star, label**2, "the second moment of the target"),
            (s.h1, slope(z1), "the mean slope of the activation"),
            (s.h1_check, (slope(z1) - s.h1) ** 2, "the second moment of sigma' - h1"),
        )
    )
    rest = rewritten(rest, mean)
    square = sp.expand(value(second) * (value(mean) ** 2 + sp.expand(value(rest))))
    limit = name_limit(
        (rewrite((limit_rational((), value(scaled), square, root_d), scaled), True),),
        s.leap_noise,
        "the limit of the scaled noise",
    )
    return Derivation(
        "noise of the gradient of one neuron",
        SOURCE,
        proved(
            "Each of the d - 2 coordinates outside the target's direction and the neuron's own is independent of "
            "label and slope: it adds E[y^2 sigma'^2]/n.",
            limit,
        ),
        proved("The second moment of the labels, by Parseval's identity.", second),
        proved("The mean slope is the first coefficient of the activation.", mean),
        proved("What the linear part of sigma' leaves.", rest),
        results=(limit, second, mean, rest),
        hypotheses=(f"the target is a polynomial of one direction of degree 2, the activation one of degree {DEGREE}",),
    )


# ---- orders in d ----

_mean, _step, _all_noise, _one_noise, _next = sp.symbols(r"|\pi| \eta/p |\delta| \delta_{1} |\pi'|", positive=True)
_excess = sp.Symbol("x", positive=True)  # by how much a shortfall is below one, or beyond it
OVERLAP = define(s.overlap, 1 / sp.sqrt(s.d), "the overlap of a neuron with a direction of the target")
MEAN = define(_mean, s.overlap ** (s.leap - 1), "the mean gradient, one overlap for all but one factor")
ALL_NOISE = define(_all_noise, sp.sqrt(s.d / s.n), "what n samples leave of d coordinates of order one")
ONE_NOISE = define(_one_noise, 1 / sp.sqrt(s.n), "what n samples leave of one coordinate of order one")


def samples(shortfall: sp.Expr) -> Theorem:
    """n = d^(l - delta)."""
    return define(s.n, s.d ** (s.leap - shortfall), "the samples, short of d^l by d^delta")


_NO_CANCELLATION = (
    "the step is so long that the neuron's initial direction is negligible",
    "no two terms of a sum cancel",
)
_within, _whole = sp.symbols(r"e_{\pi} e_{w}", real=True)
SHARE = define(s.overlap_rate, _within - _whole, "the exponent of |pi|/|w|")


def _share(title: str, within: Theorem, whole: Theorem, rate: sp.Expr, *of_shortfall: Theorem) -> Derivation:
    """The share of a neuron within the target's directions, from the orders of what is within them and of all."""
    share = concluded(Equation(s.overlap_rate, rate), rewritten(SHARE, within, whole), *of_shortfall)
    return Derivation(
        title,
        SOURCE,
        proved("Within the target's few directions: the mean gradient and the noise of one coordinate.", within),
        proved("For the whole neuron: the mean gradient and the noise of all coordinates.", whole),
        proved("The share is the quotient of the two.", share),
        results={s.overlap_rate: rate},
        hypotheses=_NO_CANCELLATION,
    )


def _sum(name: sp.Symbol, largest: sp.Symbol, other: sp.Symbol, shortfall: sp.Expr, *of_shortfall: Theorem) -> Theorem:
    """The exponent of mean gradient and noise together."""
    sizes = (MEAN, ALL_NOISE, ONE_NOISE, samples(shortfall), OVERLAP, *of_shortfall)
    return exponent_of_sum(name, (largest, other), "mean gradient and noise", *sizes)


@functools.cache
def share_below_one() -> Derivation:
    """n = d^(l - delta), 0 < delta < 1: |pi|/|w| = d^(-delta/2)."""
    short = define(s.shortfall, 1 - _excess, "a shortfall below one")
    within = _sum(_within, _mean, _one_noise, s.shortfall, short)
    whole = _sum(_whole, _all_noise, _mean, s.shortfall)
    return _share("too few samples by less than a factor of d", within, whole, -s.shortfall / 2, short)


@functools.cache
def share_beyond_one() -> Derivation:
    """n = d^(l - delta), delta > 1: |pi|/|w| = d^(-1/2), as for random weights."""
    within = _sum(_within, _one_noise, _mean, 1 + _excess)
    whole = _sum(_whole, _all_noise, _mean, 1 + _excess)
    return _share("too few samples by more than a factor of d", within, whole, -sp.Rational(1, 2))


@functools.cache
def share_enough() -> Derivation:
    """n = d^l: |pi|/|w| is of order one."""
    within, whole = (
        _sum(name, _mean, noise_, sp.S.Zero) for name, noise_ in ((_within, _one_noise), (_whole, _all_noise))
    )
    return _share("enough samples", within, whole, sp.S.Zero)


@functools.cache
def across() -> Derivation:
    """n = d^l: outside the space of the first tensor the next tensor and the noise leave d^(-1/2) of the signal."""
    following = define(_next, s.overlap**s.leap, "the mean gradient by the next tensor, one overlap more")
    sizes = (following, ONE_NOISE, samples(sp.S.Zero), OVERLAP)
    outside = exponent_of_sum(_within, (_next, _one_noise), "what is outside the first tensor", *sizes)
    inside = exponent_of(_whole, _mean, "the mean gradient", MEAN, OVERLAP)
    share = equal(
        rewritten(define(s.across_rate, _within - _whole, "the exponent of their quotient"), outside, inside),
        -sp.Rational(1, 2),
    )
    return Derivation(
        "outside the leap space",
        SOURCE,
        proved("The mean gradient along the first tensor.", inside),
        proved(
            "Outside the columns of the first tensor the mean gradient starts with the next one, a root of d smaller; "
            "the noise of one coordinate is 1/sqrt(n), of the same order.",
            outside,
        ),
        proved("Together they are a root of d smaller.", share),
        hypotheses=_NO_CANCELLATION,
    )


@functools.cache
def rates() -> Derivation:
    """Exponents of signal, noise, and of the step that makes the signal of order one."""
    inverse = define(_step, 1 / _mean, "the step that makes the signal of order one")
    signal_rate = exponent_of(s.signal_rate, _mean, "the mean gradient", MEAN, OVERLAP)
    noise_rate = exponent_of(s.noise_rate, _all_noise, "the noise of the gradient", ALL_NOISE, samples(s.shortfall))
    step_rate = exponent_of(s.step_rate, _step, "the step", inverse, MEAN, OVERLAP)
    return Derivation(
        "orders of signal, noise and step",
        SOURCE,
        proved("The mean gradient has l - 1 factors of an overlap, each of order d^(-1/2).", signal_rate),
        proved("The noise is sqrt(d/n) with n = d^(l - delta).", noise_rate),
        proved("The neuron moves by (eta/p) g: the signal is of order one when eta/p is its inverse.", step_rate),
        results=(signal_rate, noise_rate, step_rate),
    )
