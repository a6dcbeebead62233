r"""The sign activation in closed form (Sections 3.1 and 3.2 of arXiv 2402.04980 for sigma = sign).

The mean of sign(z + a) is an error function, and its derivatives in a are the moments with a sign. With b_J =
(2J - 1)!!/(2J)!! the partial sums of sum_k k s_k^2 are explicit and diverge: Result 3.1 has no bulk variance for
sign, although spiked random features with a sign activation exist.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.equivalence.conditional_coefficients import MU0, MU1, MU2, at_spike, mean_square, mu0_of
from giantsteps.derivations.gradient_step.assumptions import H1, H2
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.gradient_step.signs import (
    ERROR_FUNCTION,
    chebyshev,
    moment_of_sign,
    shift,
    slope_of_sign,
    square_of_sign,
    without_factor,
)
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.steps import rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq, ge
from giantsteps.derivations.language.named_functions import sgn, sigma

DENSITY = sp.exp(-(s.z**2) / 2) / sp.sqrt(2 * sp.pi)
_x = sp.Symbol("x", real=True)

SIGN = in_model("sign activation", Equation(sigma(_x), sgn(_x)), "Section 3.2: sigma = sign", _x)


def sign_at(argument: sp.Expr) -> Theorem:
    """sigma(argument) = sgn(argument)."""
    return instantiate((SIGN,), {_x: argument})


@functools.cache
def first_moments() -> Derivation:
    """h1 = sqrt(2/pi), h2 = 1 for sign; equation (12)."""
    h1 = rewritten(rewrite((H1, sign_at(s.z))), moment_of_sign(1))
    h2 = rewrite((rewrite((H2, sign_at(s.z))), square_of_sign(s.z)))
    return Derivation(
        "the sign activation: h1 and h2",
        "Section 3.1, equation (12)",
        proved("z sign(z) = |z|: the slope at zero of the mean sign of z + a, which is erf(a/sqrt 2).", h1),
        proved("sign(z)^2 = 1.", h2),
        results=(h1, h2),
    )


@functools.cache
def conditional_coefficients() -> Derivation:
    """mu0 = erf(r kappa/sqrt(2c)), mu1 and mu2 for sign; equation (15)."""
    received = s.r * s.kappa + sp.sqrt(s.c) * s.z
    threshold = s.r * s.kappa / sp.sqrt(s.c)
    scaled = ring((), Equation(sgn(received), sgn(sp.sqrt(s.c) * (s.z + threshold))))
    sign = rewrite((scaled, without_factor(sp.sqrt(s.c), s.z + threshold)))
    mean = instantiate((ERROR_FUNCTION,), {shift: threshold})
    slope = instantiate((slope_of_sign(),), {shift: threshold})
    mu0, mu1 = (rewritten(by, sign_at(received), sign, known) for by, known in ((MU0, mean), (MU1, slope)))
    rest = rewritten(MU2, sign_at(received), square_of_sign(received), mu0, mu1)
    return Derivation(
        "the sign activation: mu0, mu1, mu2",
        "Section 3.2, equation (15)",
        proved("sign(r kappa + sqrt(c) z) is the sign of z + r kappa/sqrt(c), whose mean is an error function.", mu0),
        proved("With a factor z it is the derivative of that mean in the shift; divided by sqrt(c).", mu1),
        proved("sign^2 = 1, so the residual variance needs no further average.", rest),
        results=(mu0, mu1, rest),
    )


def strong_spike(statement: Relational) -> Theorem:
    """2 c/(r kappa)^2 >= Var[sigma | kappa] = 1 - mu0^2, at most twice the probability of the other sign."""
    received, ratio = s.r * s.kappa + sp.sqrt(s.c) * s.z, s.r * s.kappa / sp.sqrt(s.c)
    meaning = define(
        s.feature_variance, at_spike(mean_square() - mu0_of() ** 2), "the variance of a feature given kappa"
    )
    mean = conditional_coefficients().theorem_of(s.mu0)
    named = rewrite((meaning, MU0), True)
    variance = rewritten(named, sign_at(received), square_of_sign(received), mean)
    tail = chebyshev(ratio)
    other = sides(tail.statement)[1]
    goal = AtLeast(statement.gts, statement.lts)
    weights = (sp.Integer(2), sp.Integer(-1), -(value(mean) ** 2))
    return order((tail, variance, square_of_sign(ratio)), goal, weights, ((sp.Integer(1), other),))


# b_J = (2J - 1)!!/(2J)!!, the central binomial coefficient over 4^J.
level, ratio = s.level, s.central_ratio


def next_ratio(current: sp.Expr) -> sp.Expr:
    """b_{J+1} from b_J."""
    return current * (2 * level + 1) / (2 * level + 2)


@functools.cache
def divergence(checked: int = 6) -> Derivation:
    """sum_{k=2}^{2J+1} k s_k^2 = (2/pi) ((2J + 1) b_J - 1) for sign, and b_J >= 1/(2 sqrt J): h1_check is infinite."""

    # s_k = E[He_k sign]/sqrt(k!) = 2 density(0) He_{k-1}(0)/sqrt(k!), since (He_{k-1} density)' = -He_k density.
    def weighted_square(degree: int) -> sp.Expr:
        coefficient = 2 * DENSITY.subs(s.z, 0) * hermite(degree - 1, s.z).subs(s.z, 0)
        return degree * coefficient**2 / sp.factorial(degree)

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
