r"""The sign activation in closed form (Sections 3.1 and 3.2 of arXiv 2402.04980 for sigma = sign).

Integrals over half lines are found with SymPy and then proved: an antiderivative is differentiated back. With b_J =
(2J - 1)!!/(2J)!! the partial sums of sum_k k s_k^2 are explicit and diverge: Result 3.1 has no bulk variance for
sign, although spiked random features with a sign activation exist.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step.constants import hermite
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq, ge

DENSITY = sp.exp(-(s.z**2) / 2) / sp.sqrt(2 * sp.pi)
_threshold = sp.Symbol("a", real=True)


def half_line(polynomial: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """An antiderivative of polynomial * density that vanishes at +infinity, and the integral from a to infinity."""
    antiderivative = sp.integrate(polynomial * DENSITY, s.z)
    antiderivative = sp.expand(antiderivative - sp.limit(antiderivative, s.z, sp.oo))
    return antiderivative, sp.expand(-antiderivative.subs(s.z, _threshold))


def antiderivative_obligations(polynomial: sp.Expr) -> tuple[Vanishing, ...]:
    """The antiderivative differentiates back to the integrand, and vanishes at infinity."""
    found, _ = half_line(polynomial)
    return (
        Vanishing(f"antiderivative of ({polynomial}) times the density", sp.diff(found, s.z) - polynomial * DENSITY),
        Vanishing("it vanishes at infinity", sp.limit(found, s.z, sp.oo)),
    )


def sign_average(polynomial: sp.Expr, threshold: sp.Expr) -> sp.Expr:
    """E[polynomial(z) sign(z - threshold)] = 2 * integral above the threshold - E[polynomial]."""
    above = half_line(polynomial)[1]
    whole = sp.limit(above, _threshold, -sp.oo)
    return sp.expand((2 * above - whole).subs(_threshold, threshold))


@functools.cache
def first_moments() -> Derivation:
    """h1 = sqrt(2/pi), h2 = 1 for sign; equation (12)."""
    h1 = sign_average(s.z, sp.S.Zero)
    return Derivation(
        "the sign activation: h1 and h2",
        "Section 3.1, equation (12)",
        Step("z sign(z) = |z|: twice the half-line integral.", eq(s.h1, h1), *antiderivative_obligations(s.z)),
        Step("sign(z)^2 = 1.", eq(s.h2, sp.S.One)),
        results={s.h1: h1, s.h2: sp.S.One},
    )


@functools.cache
def conditional_coefficients() -> Derivation:
    """mu0 = erf(r kappa/sqrt(2c)), mu1 and mu2 for sign; equation (15)."""
    b = sp.Symbol("b", real=True)
    threshold = -b / sp.sqrt(s.c)
    mean = sign_average(sp.S.One, threshold)
    linear = sp.powsimp(sign_average(s.z, threshold)) / sp.sqrt(s.c)
    residual = 1 - mean**2 - s.c * linear**2
    mean_, linear_, residual_ = (found.subs(b, s.r * s.kappa) for found in (mean, linear, residual))
    return Derivation(
        "the sign activation: mu0, mu1, mu2",
        "Section 3.2, equation (15)",
        Step(
            "sign(r kappa + sqrt(c) z) is the sign of z + r kappa/sqrt(c): integrate the density above the threshold.",
            eq(s.mu0, mean_),
            *antiderivative_obligations(sp.S.One),
        ),
        Step(
            "The same with a factor z, divided by sqrt(c).",
            eq(s.mu1, linear_),
            *antiderivative_obligations(s.z),
            Vanishing("Stein's lemma: mu1 is the derivative of mu0", sp.diff(mean, b) - linear),
            Vanishing("heat equation", sp.diff(mean, s.c) - sp.diff(mean, b, 2) / 2),
        ),
        Step(
            "sign^2 = 1, so the residual variance needs no further integral.",
            eq(s.mu2_square, residual_),
            Vanishing("the three parts of E sign^2 = 1", residual_ + mean_**2 + s.c * linear_**2 - 1),
        ),
        results={s.mu0: mean_, s.mu1: linear_, s.mu2_square: residual_},
    )


# b_J = (2J - 1)!!/(2J)!!, the central binomial coefficient over 4^J.
level, ratio = s.level, s.central_ratio


def next_ratio(value: sp.Expr) -> sp.Expr:
    """b_{J+1} from b_J."""
    return value * (2 * level + 1) / (2 * level + 2)


@functools.cache
def divergence(checked: int = 6) -> Derivation:
    """sum_{k=2}^{2J+1} k s_k^2 = (2/pi) ((2J + 1) b_J - 1) for sign, and b_J >= 1/(2 sqrt J): h1_check is infinite."""

    # s_k = E[He_k sign]/sqrt(k!) = 2 density(0) He_{k-1}(0)/sqrt(k!), since (He_{k-1} density)' = -He_k density.
    def weighted_square(order: int) -> sp.Expr:
        coefficient = 2 * DENSITY.subs(s.z, 0) * hermite(order - 1).subs(s.z, 0)
        return order * coefficient**2 / sp.factorial(order)

    def central(index: int) -> sp.Expr:
        return sp.binomial(2 * index, index) / sp.Integer(4) ** index

    partial = 2 / sp.pi * ((2 * level + 1) * ratio - 1)
    grown = partial.subs({level: level + 1, ratio: next_ratio(ratio)}, simultaneous=True)
    growth = sp.cancel((level + 1) * next_ratio(ratio) ** 2 / (level * ratio**2) - 1)
    return Derivation(
        "the sign activation: the step has no bulk variance",
        "Section 3.1, equation (12)",
        Step(
            "Only odd k count, with k s_k^2 = (2/pi) b_J at k = 2J + 1.",
            eq(sp.Symbol("k") * sp.Symbol("s_k") ** 2, 2 / sp.pi * ratio),
            *(
                tuple(
                    Vanishing(f"k = {2 * j + 1}", weighted_square(2 * j + 1) - 2 / sp.pi * central(j))
                    for j in range(checked)
                )
                + tuple(Vanishing(f"k = {2 * j}", weighted_square(2 * j)) for j in range(1, checked))
            ),
        ),
        Step(
            "The partial sums are explicit, by induction over J.",
            eq(s.partial_sum, partial),
            Vanishing("J = 0 is the empty sum", partial.subs({level: 0, ratio: 1})),
            Vanishing("one more term", grown - partial - 2 / sp.pi * next_ratio(ratio)),
        ),
        Step(
            "4 J b_J^2 is one at J = 1 and does not decrease, so b_J >= 1/(2 sqrt J) and the sums grow like sqrt(J).",
            ge(ratio, 1 / (2 * sp.sqrt(level))),
            Vanishing("J = 1", 4 * central(1) ** 2 - 1),
            NonNegative("4 J b_J^2 does not decrease", growth, ((1 / (4 * level * (level + 1)), sp.S.One),)),
        ),
        results={s.partial_sum: partial},
        hypotheses=(
            f"k s_k^2 = (2/pi) b_J is checked up to k = {2 * checked - 1}; beyond it is He_(2j)(0) = (-1)^j (2j - 1)!!",
        ),
    )
