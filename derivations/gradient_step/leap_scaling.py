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

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.hermite_tensors import average, hermite, z1, z2
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.exponents import DIMENSION, ONE, Order, total

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
_TENSORS = {1: s.tensor_1, 2: s.tensor_2, 3: s.tensor_3}


def target(leap: int) -> sp.Expr:
    """Any polynomial of z1, z2 of degree DEGREE whose Hermite tensors start at order ``leap``."""
    return sum(
        (
            value * hermite(order - j, z1) * hermite(j, z2) / (sp.factorial(order - j) * sp.factorial(j))
            for order in range(leap, DEGREE + 1)
            for j, value in enumerate(_TENSORS[order])
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


def mean_gradient(leap: int) -> sp.Expr:
    """pi_1 = E[g(z) sigma'(w.x) z1] at overlaps tau/sqrt(d), exactly for polynomials."""
    overlaps = tuple(tau / root_d for tau in s.leap_overlaps)
    slope = sum(
        (slope_coefficient(k) / sp.factorial(k) * hermite_given_target(k, overlaps) for k in range(SIGNAL_DEGREE)),
        sp.S.Zero,
    )
    return average(target(leap) * z1 * slope, (z1, z2))


def contracted(leap: int) -> sp.Expr:
    """C_l[1, tau, .., tau]."""
    first, second = s.leap_overlaps
    return sum(
        (sp.binomial(leap - 1, j) * _TENSORS[leap][j] * first ** (leap - 1 - j) * second**j for j in range(leap)),
        sp.S.Zero,
    )


def _conditional_mean_is_right(order: int) -> Vanishing:
    """E[He_k(eps z1 + sqrt(1 - eps^2) z_perp) | z1] expanded and averaged over z_perp."""
    eps = s.overlap
    full = sp.expand(hermite(order, eps * z1 + sp.sqrt(1 - eps**2) * _across))
    return Vanishing(
        f"He_{order} given z1", sp.expand(average(full, (_across,)) - hermite_given_target(order, (eps, sp.S.Zero)))
    )


def signal(leap: int) -> Derivation:
    """The limit of d^((l-1)/2) pi_1 for leap index l, corrections of order 1/sqrt(d) or 1/d left behind."""
    exact = sp.expand(mean_gradient(leap) * root_d ** (leap - 1))
    limit = sp.expand(exact.subs(root_d, 1 / s.scale)).subs(s.scale, 0)
    by_tensor = sp.sqrt(sp.factorial(leap)) / sp.factorial(leap - 1) * s.hermite_coefficients[leap] * contracted(leap)
    return Derivation(
        f"mean gradient of a neuron at leap index {leap}",
        SOURCE,
        Step(
            "Averaged over what the target does not see, He_k of the neuron's input becomes a polynomial of order "
            "k in its overlaps.",
            eq(sp.Symbol("E[He_k(w.x)|z]"), hermite_given_target(2, (s.overlap, sp.S.Zero))),
            *(_conditional_mean_is_right(k) for k in range(SIGNAL_DEGREE)),
        ),
        Step(
            "Orders below the leap index have no overlap with the target: the first that survives is l - 1, one "
            "factor of the tensor being the direction itself.",
            eq(s.leap_signal, limit),
            RationalLimit("the scaled mean gradient", exact, root_d, limit),
            Vanishing("the limit is the tensor applied to tau", limit - by_tensor),
        ),
        results={s.leap_signal: limit},
        hypotheses=(POLYNOMIAL,),
    )


@functools.cache
def linear_signal() -> Derivation:
    """Leap index one."""
    return signal(1)


@functools.cache
def quadratic_signal() -> Derivation:
    """Leap index two."""
    return signal(2)


@functools.cache
def cubic_signal() -> Derivation:
    """Leap index three."""
    return signal(3)


@functools.cache
def noise() -> Derivation:
    """(n/d) E|g - E g|^2 -> E[y^2] E[sigma'^2] for a target of one direction."""
    eps = s.leap_overlaps[0] / root_d
    label = s.tensor_1[0] * z1 + s.tensor_2[0] * hermite(2, z1) / 2
    field = s.overlap * z1 + sp.sqrt(1 - s.overlap**2) * _across
    slope = sum((slope_coefficient(k) / sp.factorial(k) * hermite(k, field) for k in range(DEGREE)), sp.S.Zero)
    both = (z1, _across)

    def of(weight: sp.Expr) -> sp.Expr:
        return sp.expand(average(label**2 * sp.expand(slope**2) * weight, both)).subs(s.overlap, eps)

    mean = [average(label * slope * z, both).subs(s.overlap, eps) for z in both]
    exact = ((s.d - 2) * of(sp.S.One) + of(z1**2 + _across**2) - mean[0] ** 2 - mean[1] ** 2) / s.d
    scaled = sp.expand(exact.subs(s.d, root_d**2))
    second_moment = average(label**2, (z1,))
    plain = sum((slope_coefficient(k) / sp.factorial(k) * hermite(k, z1) for k in range(DEGREE)), sp.S.Zero)
    slope_square = average(plain**2, (z1,))
    h1 = average(plain, (z1,))
    limit = sp.expand(second_moment * slope_square)
    return Derivation(
        "noise of the gradient of one neuron",
        SOURCE,
        Step(
            "Each of the d - 2 coordinates outside the target's direction and the neuron's own is independent of "
            "label and slope: it adds E[y^2 sigma'^2]/n.",
            eq(s.leap_noise, limit),
            RationalLimit("(n/d) E|g - E g|^2", scaled, root_d, limit),
        ),
        Step(
            "The second moment of the labels, by Parseval's identity.",
            eq(s.h2_star, second_moment),
            Vanishing("squares over factorials", second_moment - s.tensor_1[0] ** 2 - s.tensor_2[0] ** 2 / 2),
        ),
        Step(
            "The mean slope is the first coefficient of the activation.",
            eq(s.h1, h1),
            Vanishing("E[sigma'] = s_1", h1 - s.hermite_coefficients[1]),
        ),
        Step(
            "E[sigma'^2] is h1^2 and what the linear part of sigma' leaves.",
            eq(s.h1_check, slope_square - h1**2),
            Vanishing("E[(sigma' - h1)^2]", average((plain - h1) ** 2, (z1,)) - slope_square + h1**2),
        ),
        results={s.leap_noise: limit, s.h2_star: second_moment, s.h1: h1, s.h1_check: sp.expand(slope_square - h1**2)},
        hypotheses=(f"the target is a polynomial of one direction of degree 2, the activation one of degree {DEGREE}",),
    )


# ---- orders in d ----

SIGNAL = Order((1 - s.leap) / 2)
_gap = sp.Symbol("x", positive=True)  # parametrises a shortfall between zero and one, or beyond one
BELOW_ONE = _gap / (1 + _gap)
BEYOND_ONE = 1 + _gap


def samples(shortfall: sp.Expr) -> Order:
    """n = d^(l - delta)."""
    return Order(s.leap - shortfall)


def noise_order(shortfall: sp.Expr) -> Order:
    """|g - E g| = sqrt(d/n) up to a constant."""
    return (DIMENSION / samples(shortfall)).root()


def orders(shortfall: sp.Expr) -> tuple[Order, tuple[Step, ...]]:
    """The order of |pi|/|w| after a giant step, with the comparisons it needs."""
    per_coordinate = (ONE / samples(shortfall)).root()
    within = total({"the mean gradient": SIGNAL, "the noise along one direction": per_coordinate})
    whole = total({"the mean gradient": SIGNAL, "the noise along all directions": noise_order(shortfall)})
    share = within.order / whole.order
    return share, (
        Step(
            f"Within the target's few directions {within.leader} decides.",
            eq(sp.Symbol(r"e_{\pi}"), within.order.exponent),
            *within.obligations,
        ),
        Step(
            f"For the whole neuron {whole.leader} decides.",
            eq(sp.Symbol("e_{w}"), whole.order.exponent),
            *whole.obligations,
        ),
    )


_NO_CANCELLATION = (
    "the step is so long that the neuron's initial direction is negligible",
    "no two terms of a sum cancel",
)


def _share(title: str, parametrised: sp.Expr, inverse: sp.Expr) -> Derivation:
    """The share at a shortfall written as a function of x > 0; ``inverse`` is x as a function of the shortfall."""
    found, steps = orders(parametrised)
    exponent = sp.cancel(sp.together(found.exponent.subs(_gap, inverse)))
    quotient = Step(
        "The share is the quotient of the two.",
        eq(s.overlap_rate, exponent),
        Vanishing("in terms of delta", sp.cancel(exponent.subs(s.shortfall, parametrised) - found.exponent)),
    )
    return Derivation(title, SOURCE, *steps, quotient, results={s.overlap_rate: exponent}, hypotheses=_NO_CANCELLATION)


@functools.cache
def share_below_one() -> Derivation:
    """n = d^(l - delta), 0 < delta < 1: |pi|/|w| = d^(-delta/2)."""
    return _share("too few samples by less than a factor of d", BELOW_ONE, s.shortfall / (1 - s.shortfall))


@functools.cache
def share_beyond_one() -> Derivation:
    """n = d^(l - delta), delta > 1: |pi|/|w| = d^(-1/2), as for random weights."""
    return _share("too few samples by more than a factor of d", BEYOND_ONE, s.shortfall - 1)


@functools.cache
def share_enough() -> Derivation:
    """n = d^l: |pi|/|w| is of order one."""
    return _share("enough samples", sp.S.Zero, sp.S.Zero)


@functools.cache
def across() -> Derivation:
    """n = d^l: outside the space of the first tensor the next tensor and the noise leave d^(-1/2) of the signal."""
    next_tensor = Order(SIGNAL.exponent.subs(s.leap, s.leap + 1))
    outside = total(
        {"the next tensor": next_tensor, "the noise along one direction": (ONE / samples(sp.S.Zero)).root()}
    )
    exponent = (outside.order / SIGNAL).exponent
    step = Step(
        "Outside the columns of the first tensor the mean gradient starts with the next one, a root of d smaller; the "
        "noise of one coordinate is 1/sqrt(n), of the same order.",
        eq(s.across_rate, exponent),
        *outside.obligations,
        Vanishing("both are of the same order", next_tensor.exponent + samples(sp.S.Zero).exponent / 2),
    )
    return Derivation(
        "outside the leap space", SOURCE, step, results={s.across_rate: exponent}, hypotheses=_NO_CANCELLATION
    )


@functools.cache
def rates() -> Derivation:
    """Exponents of signal, noise, and of the step that makes the signal of order one."""
    step = ONE / SIGNAL
    noisy = noise_order(s.shortfall).exponent
    return Derivation(
        "orders of signal, noise and step",
        SOURCE,
        Step(
            "The mean gradient has l - 1 factors of an overlap, each of order d^(-1/2).",
            eq(s.signal_rate, SIGNAL.exponent),
            Vanishing("l - 1 overlaps", SIGNAL.exponent + (s.leap - 1) * sp.Rational(1, 2)),
        ),
        Step(
            "The noise is sqrt(d/n) with n = d^(l - delta).",
            eq(s.noise_rate, noisy),
            Vanishing("sqrt(d/n)", 2 * noisy - 1 + s.leap - s.shortfall),
        ),
        Step(
            "The neuron moves by (eta/p) g: the signal is of order one when eta/p is its inverse.",
            eq(s.step_rate, step.exponent),
            Vanishing("step times signal", (step * SIGNAL).exponent),
        ),
        results={s.signal_rate: SIGNAL.exponent, s.noise_rate: noisy, s.step_rate: step.exponent},
    )
