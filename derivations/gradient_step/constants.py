r"""The constants of Result 3.1 and what follows for the alignment (Section 3.1, equations (10) and (12) of arXiv
2402.04980).

h1 = E[z sigma] is the mean of sigma'; h1_check = E[(sigma' - h1)^2] is a sum over Hermite coefficients; the alignment
grows with the batch.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.spike import spike
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import differentiate, g, sigma, sigma_prime


def stein_step(integrand: sp.Expr, variable: sp.Symbol, *others: sp.Symbol) -> sp.Expr:
    """Stein's lemma for the factor ``variable`` of an integrand: E[z f] = E[df/dz]."""
    rest = sp.cancel(integrand / variable)
    return Expectation(differentiate(rest, variable), variable, *others)


@functools.cache
def first_coefficient() -> Derivation:
    """h1 = E[z sigma] = E[sigma'] by Stein's lemma: what is subtracted from sigma' is its mean."""
    by_stein = stein_step(s.z * sigma(s.z), s.z)
    density = sp.exp(-(s.z**2) / 2)
    boundary = sp.diff(sigma(s.z) * density, s.z)
    # Independent of :func:`differentiate`: the product rule on sigma times the density.
    by_parts = (s.z * sigma(s.z) - sp.diff(sigma(s.z), s.z)) * density + boundary
    slope = sp.diff(sigma(s.z), s.z)
    left_over = Expectation(slope.xreplace({slope: sigma_prime(s.z)}), s.z)
    powers = tuple(
        Vanishing(
            f"Stein's lemma on z^{k}",
            expand_expectations(Expectation(s.z * s.z**k, s.z) - Expectation(sp.diff(s.z**k, s.z), s.z)),
        )
        for k in range(1, 6)
    )
    return Derivation(
        "h1 is the mean of sigma'",
        "Section 3.1, equation (12)",
        Step(
            "Integration by parts against the density exp(-z^2/2), whose derivative is -z times itself: (z sigma - "
            "sigma') exp(-z^2/2) is minus the derivative of sigma exp(-z^2/2), which vanishes at both ends.",
            eq(s.h1, by_stein),
            Vanishing("the integrand less its derivative is a total derivative", by_parts),
            Vanishing("the average of what is left", by_stein - left_over),
            *powers,
        ),
        results={s.h1: by_stein},
        hypotheses=("the activation is absolutely continuous and grows at most exponentially",),
    )


def hermite(order: int) -> sp.Expr:
    """The probabilists' Hermite polynomial by its recurrence He_{k+1} = z He_k - He_k'."""
    polynomial: sp.Expr = sp.S.One
    for _ in range(order):
        polynomial = sp.expand(s.z * polynomial - sp.diff(polynomial, s.z))
    return polynomial


def moment(polynomial: sp.Expr) -> sp.Expr:
    """E of a polynomial in a standard normal variable."""
    return expand_expectations(Expectation(sp.expand(polynomial), s.z))


@functools.cache
def alignment_growth() -> Derivation:
    """gamma^2 as a function of alpha0: below alpha0/(1 + alpha0), and increasing; consequences of equation (10)."""
    square = spike().results[s.gamma] ** 2
    slope = sp.factor(sp.diff(square, s.alpha0))
    total = s.alpha0 * s.h1_star**2 + s.h2_star
    residual = expand_expectations(Expectation((g(s.z) - s.h1_star * s.z) ** 2, s.z)).subs(
        {Expectation(g(s.z) ** 2, s.z): s.h2_star, Expectation(s.z * g(s.z), s.z): s.h1_star}
    )
    return Derivation(
        "the alignment grows with the batch",
        "Section 3.1, after Result 3.1",
        Step(
            "The best linear fit of the target leaves h2* - h1*^2, which is an average of a square.",
            eq(s.linear_floor, residual),
            Vanishing("E(g - h1* z)^2 = h2* - h1*^2", residual - s.h2_star + s.h1_star**2),
        ),
        Step(
            "The derivative of gamma^2 in alpha0 is a square over a square, times h2*.",
            eq(s.gamma_square_growth, slope),
            NonNegative("gamma^2 does not decrease", slope, ((s.h2_star, s.h1_star / total),)),
        ),
        results={s.gamma_square_growth: slope, s.linear_floor: residual},
    )
