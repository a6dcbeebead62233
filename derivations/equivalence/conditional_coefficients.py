r"""The coefficients mu0, mu1, mu2 along the spike (Section 3.2, equation (15) of arXiv 2402.04980).

Given kappa a neuron receives b + sqrt(c) z with b = r kappa. mu0 = E sigma is the heat semigroup applied to the
activation, mu1 = E[z sigma]/sqrt(c) its derivative in b, and mu2^2 what the best linear function of z leaves.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, by_stein, slope_at
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, named_slope, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, with_slopes

_t = sp.Symbol("t", real=True)
bias = sp.Symbol("b", real=True)  # r kappa, before it is put in

REGULAR = (
    "the activation is twice differentiable, or smooth enough after averaging for derivatives to pass under the average"
)

_in_kappa, _in_kappa_slope, _ = with_slopes("m_kappa")
_in_bulk, _in_bulk_slope, _ = with_slopes("m_c")
_linear, _linear_slope, _ = with_slopes("m_1")
_rest, _rest_slope, _ = with_slopes("m_2")
_feature = sp.Function("varphi", real=True)  # a feature, as a function of the normal variable that its neuron receives


def received(variable: sp.Symbol) -> sp.Expr:
    """b + sqrt(c) z, what a neuron without overlap with v receives."""
    return bias + sp.sqrt(s.c) * variable


def mu0_of(function: sp.FunctionClass = sigma) -> Expectation:
    """E f(b + sqrt(c) z): the heat semigroup on ``function``; mu0 for sigma, mu1 for sigma'."""
    return Expectation(function(received(s.z)), s.z)


def linear_of() -> sp.Expr:
    """E[z sigma(b + sqrt(c) z)]/sqrt(c)."""
    return Expectation(s.z * sigma(received(s.z)), s.z) / sp.sqrt(s.c)


def at_spike(expression: sp.Expr) -> sp.Expr:
    """Put b = r kappa."""
    return expression.subs(bias, s.r * s.kappa)


def mean_square() -> Expectation:
    """E sigma(b + sqrt(c) z)^2."""
    return Expectation(sigma(received(s.z)) ** 2, s.z)


MU0 = define(s.mu0, at_spike(mu0_of()), "equation (15): the mean feature given kappa")
MU1 = define(s.mu1, at_spike(linear_of()), "equation (15): the linear coefficient given kappa")
MU2 = define(
    s.mu2_square,
    at_spike(mean_square()) - s.mu0**2 - s.c * s.mu1**2,
    "equation (15): what mean and linear coefficient leave of the second moment",
)


@functools.cache
def linear_coefficient() -> Theorem:
    """mu1 = E sigma', by Stein's lemma."""
    return by_stein(MU1)


@functools.cache
def coefficients() -> Derivation:
    """mu1 = E sigma', mu0' = r mu1, and the heat equation d mu0/dc = (1/2) d^2 mu0/db^2; equation (15)."""
    mean = at_spike(mu0_of())
    along = define(_in_kappa(s.kappa), mean, "mu0 as a function of kappa", s.kappa)
    widened = define(_in_bulk(s.c), mean, "mu0 as a function of the bulk variance", s.c)
    mu0_slope = named_slope(s.mu0_slope, "the derivative of mu0 in kappa", slope_at(along, s.kappa, s.kappa))
    bulk_slope = named_slope(s.mu0_bulk_slope, "the derivative of mu0 in c", slope_at(widened, s.c, s.c))
    residual = at_spike(mean_square() - mu0_of() ** 2 - s.c * linear_of() ** 2)
    left = equal(rewritten(MU2, MU0, MU1), residual)
    return Derivation(
        "the coefficients along the spike",
        "Section 3.2, equation (15)",
        proved("The mean of a feature at b = r kappa.", MU0),
        proved(
            "The linear coefficient E[z sigma]/sqrt(c) is an average of sigma', by Stein's lemma.", linear_coefficient()
        ),
        proved("Hence the derivative of mu0 in kappa is r mu1.", mu0_slope),
        proved(
            "The derivative in c brings down z/(2 sqrt c), which Stein's lemma turns into a second "
            "derivative: the heat equation.",
            bulk_slope,
        ),
        proved("What a linear function of z does not explain.", left),
        results={
            s.mu0: mean,
            s.mu1: value(linear_coefficient()),
            s.mu0_slope: value(mu0_slope),
            s.mu0_bulk_slope: value(bulk_slope),
            s.mu2_square: residual,
        },
        hypotheses=(REGULAR,),
    )


@functools.cache
def linear_fit() -> Derivation:
    """mu2^2 is the smallest error of a linear fit A + B z of a feature, reached at A = mu0, B = sqrt(c) mu1.

    Equation (15).
    """
    constant, slope_ = s.fit_constant, s.fit_slope
    feature = at_spike(sigma(received(s.z)))
    meaning = define(
        s.linear_fit_error, Expectation((feature - constant - slope_ * s.z) ** 2, s.z), "the error of a linear fit"
    )
    error = averages_expanded(meaning)
    result = s.mu2_square + (constant - s.mu0) ** 2 + (slope_ - sp.sqrt(s.c) * s.mu1) ** 2
    completed = concluded(Equation(s.linear_fit_error, result), error, MU2, MU1, MU0)
    return Derivation(
        "the residual of the best linear fit",
        "Section 3.2, equation (15)",
        proved("The error of a fit, expanded.", error),
        proved("No fit does better than mu2^2.", least_residual(completed, AtLeast(s.linear_fit_error, s.mu2_square))),
        proved("Completing the squares leaves mu2^2, which is therefore the least.", completed),
        results={s.linear_fit_error: result},
    )


def least_residual(completed: Theorem, goal: AtLeast) -> Theorem:
    """The error of a fit is at least mu2^2, as the excess is a sum of two squares."""
    bases = (s.fit_constant - s.mu0, s.fit_slope - sp.sqrt(s.c) * s.mu1)
    return order((completed,), goal, (sp.Integer(1),), tuple((sp.Integer(1), base) for base in bases))


def no_better_fit(statement: Relational) -> Theorem:
    """An inequality between the error of a linear fit and what the best one leaves, if it follows."""
    return least_residual(linear_fit().theorems[-1], AtLeast(statement.gts, statement.lts))


@functools.cache
def bias_slopes() -> Derivation:
    """Derivatives of mu1 and mu2^2 in a bias, the coefficients of kappa (Wv)_k in equations (69), (70)."""
    linear = define(_linear(bias), linear_of(), "mu1 as a function of a bias", bias)
    square = define(
        _rest(bias), mean_square() - mu0_of() ** 2 - s.c * linear_of() ** 2, "mu2^2 as a function of a bias", bias
    )
    there = s.r * s.kappa
    mu1_slope = named_slope(s.mu1_bias_slope, "the derivative of mu1 in a bias", slope_at(linear, bias, there))
    square_slope = named_slope(s.mu2_bias_slope, "the derivative of mu2^2 in a bias", slope_at(square, bias, there))
    return Derivation(
        "how the coefficients answer to a bias",
        "Appendix B, equations (68)-(70)",
        proved("The linear coefficient is the slope of mu0, so its own slope is the second one.", mu1_slope),
        proved("The residual variance: twice the average of sigma', less that of its linear part.", square_slope),
        results=(mu1_slope, square_slope),
        hypotheses=(REGULAR,),
    )


@functools.cache
def hermite_series(degree: int = 5) -> Derivation:
    """Mehler's formula for two features of correlation epsilon/c, and mu2^2 as the squares beyond the linear one.

    The function z -> sigma(r kappa + sqrt(c) z) is taken as a polynomial with Hermite coefficients s_k.
    """
    coefficients = s.hermite_coefficients[: degree + 1]
    series = sum((a * hermite(k, s.z) / sp.sqrt(sp.factorial(k)) for k, a in enumerate(coefficients)), sp.S.Zero)
    feature = define(_feature(s.z), series, "a polynomial feature by its Hermite coefficients", s.z)
    rho = s.correlation
    partner = rho * s.z + sp.sqrt(1 - rho**2) * _t
    mean, linear = Expectation(_feature(s.z), s.z), Expectation(s.z * _feature(s.z), s.z)
    left = define(
        s.mu2_square,
        Expectation(_feature(s.z) ** 2, s.z) - mean**2 - linear**2,
        "what mean and linear coefficient leave of the second moment",
    )
    pair = define(
        s.pair_covariance,
        Expectation(_feature(s.z) * _feature(partner), s.z, _t) - mean**2,
        "the covariance of the features of two neurons, which receive normal variables of correlation varrho",
    )
    residual = averages_expanded(rewrite((left, feature)))
    residual = equal(residual, sp.expand(value(residual)))
    covariance = rewrite((rewrite((pair, feature)), instantiate((feature,), {s.z: partner})))
    covariance = averages_expanded(covariance)
    covariance = equal(covariance, sp.expand(value(covariance)))
    return Derivation(
        "features in Hermite polynomials",
        "Appendix B, equations (63) and (66)",
        proved("A feature given kappa, as a function of the normal variable that its neuron receives.", feature),
        proved(
            "Mean and linear coefficient are the first two coefficients; what they leave is the sum of the other "
            "squares.",
            residual,
        ),
        proved(
            "Two neurons of correlation varrho: the k-th square counts varrho^k times. The first power is the "
            "linear term of the equivalent map, the others are of order 1/d and smaller.",
            covariance,
        ),
        results=(residual, covariance),
        hypotheses=(
            f"polynomials of degree {degree}; by Parseval's identity the sums extend to every feature of "
            f"finite variance",
        ),
    )
