r"""Hermite expansions of features without a spike: the series, its covariances, its linear part, its second order.

He_k are the probabilists' polynomials, E[He_j He_k] = k! delta_jk. These are what the Gaussian equivalence of plain
random features (equation (14) at r = 0) is made of, and the expansion of a target of several variables.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.equivalence import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import g, sigma

DEGREE = 4
# The activation as a polynomial: these are its coefficients in powers of its argument.
powers = sp.symbols(f"p_0:{DEGREE + 1}", real=True)


def hermite(order: int, argument: sp.Expr) -> sp.Expr:
    """He_k by its recurrence He_{k+1} = x He_k - k He_{k-1}."""
    before, now = sp.S.Zero, sp.S.One
    for k in range(order):
        before, now = now, sp.expand(argument * now - k * before)
    return now


def average(integrand: sp.Expr, *variables: sp.Symbol) -> sp.Expr:
    """E of a polynomial in standard normal variables, moment by moment."""
    return expand_expectations(Expectation(sp.expand(integrand), *variables))


def polynomial(argument: sp.Expr) -> sp.Expr:
    """The activation: any polynomial of degree DEGREE."""
    return sum((a * argument**k for k, a in enumerate(powers)), sp.S.Zero)


@functools.cache
def series() -> Derivation:
    """sigma(x) and its coefficients E[He_k sigma], for any polynomial of degree four."""
    moments = {moment: average(hermite(k, s.z) * polynomial(s.z), s.z) for k, moment in enumerate(s.hermite_moments)}
    rebuilt = sum((value / sp.factorial(k) * hermite(k, s.x) for k, value in enumerate(moments.values())), sp.S.Zero)
    steps = (
        Step(
            "He_k are orthogonal, E[He_j He_k] = k! delta_jk, moment by moment.",
            eq(average(hermite(2, s.z) ** 2, s.z), 2),
            *(
                Vanishing(
                    f"E[He_{j} He_{k}]",
                    average(hermite(j, s.z) * hermite(k, s.z), s.z) - (sp.factorial(k) if j == k else 0),
                )
                for j in range(DEGREE + 1)
                for k in range(j, DEGREE + 1)
            ),
        ),
        Step(
            "So the projections E[He_k sigma]/k! rebuild every polynomial; polynomials are dense in L2.",
            eq(s.feature_value, rebuilt),
            Vanishing("the series is the polynomial", rebuilt - polynomial(s.x)),
        ),
    )
    return Derivation(
        "Hermite series of a feature",
        f"{PAPER}, Section 3.2",
        *steps,
        results={**moments, s.feature_value: polynomial(s.x)},
        hypotheses=("the activation is a polynomial of degree four; others are limits of polynomials in mean square",),
    )


@functools.cache
def residual() -> Derivation:
    """mu*^2: the mean square of sigma less its first two terms, with mu0 = E sigma and mu1 = E[z sigma]."""
    names = {Expectation(sigma(s.z), s.z): s.mu0_constant, Expectation(s.z * sigma(s.z), s.z): s.mu1_constant}
    square = Expectation((sigma(s.z) - s.mu0_constant - s.mu1_constant * s.z) ** 2, s.z)
    result = expand_expectations(square).subs(names).subs(Expectation(sigma(s.z) ** 2, s.z), s.h2)
    step = Step(
        "The noise of the equivalent features has the variance that the linear part leaves.",
        eq(s.mu2_constant**2, result),
        NonNegative(
            "it is not negative where h2 = mu0^2 + mu1^2 + mu2^2",
            result.subs(s.h2, s.mu0_constant**2 + s.mu1_constant**2 + s.mu2_constant**2),
            ((sp.S.One, s.mu2_constant),),
        ),
    )
    root = Step(
        "The noise has the strength of its root.",
        eq(s.mu2_constant, sp.sqrt(result)),
        Vanishing("three squares", sp.sqrt(result) ** 2 - s.h2 + s.mu0_constant**2 + s.mu1_constant**2),
    )
    return Derivation(
        "residual of a feature",
        f"{PAPER}, Section 3.2, (14) at r = 0",
        step,
        root,
        results={s.mu2_constant: sp.sqrt(result)},
    )


@functools.cache
def linear_part() -> Derivation:
    """The slope b of the best linear fit: E(g - b z)^2 is least where E[z (g - b z)] = 0."""
    b = s.linear_coefficient
    error = expand_expectations(Expectation((g(s.z) - b * s.z) ** 2, s.z))
    (slope,) = sp.solve(sp.diff(error, b), b)
    named = slope.subs(Expectation(s.z * g(s.z), s.z), s.h1_star)
    step = Step(
        "Setting the derivative of the mean squared error in the slope to zero.",
        eq(b, named),
        Vanishing("the rest is uncorrelated with z", slope - Expectation(s.z * g(s.z), s.z)),
        NonNegative("the error is convex in the slope", sp.diff(error, b, 2), ((sp.Integer(2), sp.S.One),)),
    )
    return Derivation("linear part of the target", f"{PAPER}, Section 3.1, (12)", step, results={b: named})


@functools.cache
def second_order() -> Derivation:
    """A quadratic polynomial of two variables rebuilt from E[f], E[z_i f] and E[(z_i z_j - delta_ij) f]."""
    z1, z2 = s.z, s.xi
    coefficients = sp.symbols("q_0:6", real=True)

    def quadratic(x1: sp.Expr, x2: sp.Expr) -> sp.Expr:
        monomials = (sp.S.One, x1, x2, x1**2, x1 * x2, x2**2)
        return sum((q * m for q, m in zip(coefficients, monomials, strict=True)), sp.S.Zero)

    weights = {
        s.tensor_0: sp.S.One,
        s.tensor_1[0]: z1,
        s.tensor_1[1]: z2,
        s.tensor_2[0]: z1**2 - 1,
        s.tensor_2[1]: z1 * z2,
        s.tensor_2[2]: z2**2 - 1,
    }
    tensors = {name: average(w * quadratic(z1, z2), z1, z2) for name, w in weights.items()}
    x1, x2 = s.argument
    rebuilt = (
        tensors[s.tensor_0]
        + tensors[s.tensor_1[0]] * x1
        + tensors[s.tensor_1[1]] * x2
        + (tensors[s.tensor_2[0]] * (x1**2 - 1) + 2 * tensors[s.tensor_2[1]] * x1 * x2) / 2
        + tensors[s.tensor_2[2]] * (x2**2 - 1) / 2
    )
    slopes = {
        s.tensor_0: (),
        s.tensor_1[0]: (z1,),
        s.tensor_1[1]: (z2,),
        s.tensor_2[0]: (z1, z1),
        s.tensor_2[1]: (z1, z2),
        s.tensor_2[2]: (z2, z2),
    }
    by_stein = tuple(
        Step(
            f"${sp.latex(name)}$ by Stein's lemma: the mean of a derivative.",
            eq(name, tensors[name]),
            Vanishing(
                "the mean of the derivative",
                average(functools.reduce(sp.diff, variables, quadratic(z1, z2)), z1, z2) - tensors[name],
            ),
        )
        for name, variables in slopes.items()
    )
    step = Step(
        "The second-order Hermite tensor of two variables is z_i z_j - delta_ij, with weight 1/2!.",
        eq(s.target_value, rebuilt),
        Vanishing("every quadratic polynomial is rebuilt", rebuilt - quadratic(x1, x2)),
    )
    return Derivation(
        "Hermite tensors up to second order",
        "slides, multi-index targets",
        *by_stein,
        step,
        results={**tensors, s.target_value: quadratic(x1, x2)},
    )
