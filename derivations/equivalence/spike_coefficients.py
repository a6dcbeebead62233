r"""The coefficients mu0, mu1, mu2 along the spike (Section 3.2, equation (15) of arXiv 2402.04980).

Given kappa a neuron receives b + sqrt(c) z with b = r kappa. mu0 = E sigma is the heat semigroup applied to the
activation, mu1 = E[z sigma]/sqrt(c) its derivative in b, and mu2^2 what the best linear function of z leaves.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.equivalence import symbols as s
from onestep.derivations.gradient_step.constants import hermite, moment
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import differentiate, separate, sigma, sigma_prime

_t = sp.Symbol("t", real=True)
bias = sp.Symbol("b", real=True)  # r kappa, before it is put in

REGULAR = (
    "the activation is twice differentiable, or smooth enough after averaging for derivatives to pass under the average"
)


def received(variable: sp.Symbol) -> sp.Expr:
    """b + sqrt(c) z, what a neuron without overlap with v receives."""
    return bias + sp.sqrt(s.c) * variable


def mu0_of(function: sp.FunctionClass = sigma) -> Expectation:
    """E f(b + sqrt(c) z): the heat semigroup on ``function``; mu0 for sigma, mu1 for sigma'."""
    return Expectation(function(received(s.z)), s.z)


def at_spike(expression: sp.Expr) -> sp.Expr:
    """Put b = r kappa."""
    return expression.subs(bias, s.r * s.kappa)


def stein(expectation: sp.Expr) -> sp.Expr:
    """Stein's lemma for every average with a factor z: E[z f(z)] = E[f'(z)], repeated until no factor is left."""

    def once(average: sp.Expr) -> sp.Expr:
        constant, rest = average.integrand.as_independent(s.z, as_Add=False)
        power = rest.as_powers_dict().get(s.z, 0)
        if not power or not rest.has(sp.core.function.AppliedUndef):
            return average
        return constant * stein(separate(Expectation(differentiate(rest / s.z, s.z), s.z)))

    return sp.expand(expectation.replace(lambda e: isinstance(e, Expectation), once))


def slope_in(expectation: sp.Expr, variable: sp.Symbol, order: int = 1) -> sp.Expr:
    """The derivative in a parameter, under the average, with every factor z removed by Stein's lemma."""
    return stein(separate(differentiate(expectation, variable, order)))


def mean_square() -> Expectation:
    """E sigma(b + sqrt(c) z)^2."""
    return Expectation(sigma(received(s.z)) ** 2, s.z)


@functools.cache
def coefficients() -> Derivation:
    """mu1 = E sigma', mu0' = r mu1, and the heat equation d mu0/dc = (1/2) d^2 mu0/db^2; equation (15)."""
    mean = mu0_of()
    by_definition = Expectation(s.z * sigma(received(s.z)), s.z) / sp.sqrt(s.c)
    by_stein = stein(separate(by_definition))
    in_bulk = slope_in(mean, s.c)
    in_bias_twice = slope_in(mean, bias, 2)
    in_kappa = slope_in(at_spike(mean), s.kappa)
    residual = mean_square() - mean**2 - s.c * by_definition**2
    return Derivation(
        "the coefficients along the spike",
        "Section 3.2, equation (15)",
        Step("The mean of a feature at b = r kappa.", eq(s.mu0, mean)),
        Step(
            "The linear coefficient E[z sigma]/sqrt(c) is an average of sigma', by Stein's lemma.",
            eq(s.mu1, at_spike(by_stein)),
            Vanishing("mu1 is the derivative of mu0 in b", by_stein - slope_in(mean, bias)),
        ),
        Step(
            "Hence the derivative of mu0 in kappa is r mu1.",
            eq(s.mu0_slope, in_kappa),
            Vanishing("chain rule", in_kappa - s.r * at_spike(by_stein)),
        ),
        Step(
            "The derivative in c brings down z/(2 sqrt c), which Stein's lemma turns into a second "
            "derivative: the heat equation.",
            eq(s.mu0_bulk_slope, at_spike(in_bulk)),
            Vanishing("d/dc = (1/2) d^2/db^2", in_bulk - in_bias_twice / 2),
        ),
        Step("What a linear function of z does not explain.", eq(s.mu2_square, residual)),
        results={
            s.mu0: at_spike(mean),
            s.mu1: at_spike(by_stein),
            s.mu0_slope: in_kappa,
            s.mu0_bulk_slope: at_spike(in_bulk),
            s.mu2_square: at_spike(residual),
        },
        hypotheses=(REGULAR,),
    )


@functools.cache
def linear_fit() -> Derivation:
    """mu2^2 is the smallest error of a linear fit A + B z of a feature, reached at A = mu0, B = sqrt(c) mu1.

    Equation (15).
    """
    constant, slope = s.fit_constant, s.fit_slope
    value = sigma(received(s.z))
    error = expand_expectations(Expectation((value - constant - slope * s.z) ** 2, s.z))
    mean, linear = Expectation(value, s.z), Expectation(s.z * value, s.z)
    residual = mean_square() - mean**2 - linear**2
    named = {mean: s.mu0, linear: sp.sqrt(s.c) * s.mu1}
    result = (s.mu2_square + (constant - mean) ** 2 + (slope - linear) ** 2).xreplace(named)
    return Derivation(
        "the residual of the best linear fit",
        "Section 3.2, equation (15)",
        Step("The error of a fit, expanded.", eq(s.linear_fit_error, error)),
        Step(
            "Completing the squares leaves mu2^2, which is therefore not negative.",
            eq(s.linear_fit_error, result),
            NonNegative(
                "the excess over mu2^2 is a sum of squares",
                expand_expectations(error - residual),
                ((sp.S.One, constant - mean), (sp.S.One, slope - linear)),
            ),
        ),
        results={s.linear_fit_error: result},
    )


@functools.cache
def bias_slopes() -> Derivation:
    """Derivatives of mu1 and mu2^2 in a bias, the coefficients of kappa (Wv)_k in equations (69), (70)."""
    mu1 = mu0_of(sigma_prime)
    square = mean_square() - mu0_of() ** 2 - s.c * mu1**2
    mu1_slope, square_slope = slope_in(mu1, bias), slope_in(square, bias)
    # The same derivative by another route: 2 Cov(residual of the fit, sigma').
    residual = sigma(received(s.z)) - s.mu0 - s.mu1 * sp.sqrt(s.c) * s.z
    other = 2 * stein(separate(Expectation(residual * sigma_prime(received(s.z)), s.z)))
    other = other.xreplace({s.mu0: mu0_of(), s.mu1: mu1})
    return Derivation(
        "how the coefficients answer to a bias",
        "Appendix B, equations (68)-(70)",
        Step(
            "The linear coefficient is the slope of mu0, so its own slope is the second one.",
            eq(s.mu1_bias_slope, at_spike(mu1_slope)),
            Vanishing("d mu1/db = d^2 mu0/db^2", mu1_slope - slope_in(mu0_of(), bias, 2)),
        ),
        Step(
            "The residual variance: twice the average of the residual times sigma'.",
            eq(s.mu2_bias_slope, at_spike(square_slope)),
            Vanishing("the derivative of the best fit does not count", sp.expand(square_slope - other)),
        ),
        results={s.mu1_bias_slope: at_spike(mu1_slope), s.mu2_bias_slope: at_spike(square_slope)},
        hypotheses=(REGULAR,),
    )


@functools.cache
def hermite_series(degree: int = 5) -> Derivation:
    """Mehler's formula for two features of correlation epsilon/c, and mu2^2 as the squares beyond the linear one.

    The function z -> sigma(r kappa + sqrt(c) z) is taken as a polynomial with Hermite coefficients s_k.
    """
    coefficients = s.hermite_coefficients[: degree + 1]
    feature = sum((a * hermite(k) / sp.sqrt(sp.factorial(k)) for k, a in enumerate(coefficients)), sp.S.Zero)
    correlation = s.correlation
    other = feature.subs(s.z, correlation * s.z + sp.sqrt(1 - correlation**2) * _t)
    product = sp.expand(expand_expectations(Expectation(sp.expand(feature * other), s.z, _t)))
    mean, linear = moment(feature), moment(s.z * feature)
    residual = sp.expand(moment(feature**2) - mean**2 - linear**2)
    pair = sp.expand(product - mean**2)
    return Derivation(
        "features in Hermite polynomials",
        "Appendix B, equations (63) and (66)",
        Step(
            "A feature given kappa, as a function of the normal variable that its neuron receives.",
            eq(sigma(s.z), feature),
        ),
        Step(
            "Mean and linear coefficient are the first two coefficients.",
            eq(s.mu0, mean),
            Vanishing("the linear one", linear - coefficients[1]),
        ),
        Step(
            "What they leave is the sum of the other squares.",
            eq(s.mu2_square, residual),
            Vanishing("Parseval", residual - sum(a**2 for a in coefficients[2:])),
        ),
        Step(
            "Two neurons of correlation varrho: the k-th square counts varrho^k times. The first power is the linear "
            "term of the equivalent map, the others are of order 1/d and smaller.",
            eq(s.pair_covariance, pair),
            Vanishing("at correlation one it is the variance", pair.subs(correlation, 1) - residual - linear**2),
        ),
        results={s.mu2_square: residual, s.pair_covariance: pair},
        hypotheses=(
            f"polynomials of degree {degree}; by Parseval's identity the sums extend to every feature of "
            f"finite variance",
        ),
    )
