r"""Hermite expansions of features without a spike: the series, its covariances, its linear part, its second order.

He_k are the probabilists' polynomials, E[He_j He_k] = k! delta_jk. These are what the Gaussian equivalence of plain
random features (equation (14) at r = 0) is made of, and the expansion of a target of several variables.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.gradient_step.assumptions import H1_STAR, H2
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, by_stein, expansion, slope_at
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, with_slopes

DEGREE = 4
# The activation as a polynomial: these are its coefficients in powers of its argument.
powers = sp.symbols(f"p_0:{DEGREE + 1}", real=True)


def polynomial(argument: sp.Expr) -> sp.Expr:
    """The activation: any polynomial of degree DEGREE."""
    return sum((a * argument**k for k, a in enumerate(powers)), sp.S.Zero)


MU0 = define(s.mu0_constant, Expectation(sigma(s.z), s.z), "the mean of a feature")
MU1 = define(s.mu1_constant, Expectation(s.z * sigma(s.z), s.z), "the linear coefficient of a feature")
_value = sp.Function("P", real=True)  # a polynomial activation
_target = sp.Function("G", real=True)  # a target of two variables
_error, _error_slope, _ = with_slopes("e_b")


@functools.cache
def series() -> Derivation:
    """sigma(x) and its coefficients E[He_k sigma], for any polynomial of degree four."""
    activation = define(_value(s.x), polynomial(s.x), "the activation, any polynomial of degree four", s.x)
    under_average = instantiate((activation,), {s.x: s.z})
    moments = tuple(
        averages_expanded(
            rewrite((define(name, Expectation(hermite(k, s.z) * _value(s.z), s.z), "E[He_k sigma]"), under_average))
        )
        for k, name in enumerate(s.hermite_moments)
    )
    found = rewrite((define(s.feature_value, _value(s.x), "a feature"), activation))
    rebuilt = sum((name / sp.factorial(k) * hermite(k, s.x) for k, name in enumerate(s.hermite_moments)), sp.S.Zero)
    return Derivation(
        "Hermite series of a feature",
        f"{PAPER}, Section 3.2",
        *(proved(f"The projection on He_{k}, moment by moment.", moment) for k, moment in enumerate(moments)),
        proved(
            "The projections E[He_k sigma]/k! rebuild every polynomial; polynomials are dense in L2.",
            concluded(Equation(s.feature_value, rebuilt), found, *moments),
        ),
        proved("It is the polynomial.", found),
        results={
            **{name: value(m) for name, m in zip(s.hermite_moments, moments, strict=True)},
            s.feature_value: value(found),
        },
        hypotheses=("the activation is a polynomial of degree four; others are limits of polynomials in mean square",),
    )


@functools.cache
def residual() -> Derivation:
    """mu*^2: the mean square of sigma less its first two terms, with mu0 = E sigma and mu1 = E[z sigma]."""
    square = Expectation((sigma(s.z) - s.mu0_constant - s.mu1_constant * s.z) ** 2, s.z)
    noise = define(s.mu2_constant, sp.sqrt(square), "the root of what mean and linear coefficient leave")
    opened = expansion(square)
    for name in (MU0, MU1, H2):
        opened = rewrite((opened, name), True)
    left = equal(opened, s.h2 - s.mu0_constant**2 - s.mu1_constant**2)
    strength = rewrite((noise, left))
    return Derivation(
        "residual of a feature",
        f"{PAPER}, Section 3.2, (14) at r = 0",
        proved("The linear part leaves this variance, which is an average of a square.", left),
        proved("The noise of the equivalent features has the strength of its root.", strength),
        results={s.mu2_constant: sp.sqrt(value(left))},
    )


@functools.cache
def linear_part() -> Derivation:
    """The slope b of the best linear fit: E(g - b z)^2 is least where E[z (g - b z)] = 0."""
    b, any_slope = s.linear_coefficient, sp.Symbol("b", real=True)
    curve = define(
        _error(any_slope), Expectation((g(s.z) - any_slope * s.z) ** 2, s.z), "the error of a slope", any_slope
    )
    stationary = in_model("the best slope", Equation(_error_slope(b), sp.Integer(0)), "a minimum is stationary")
    slope, convex = slope_at(curve, any_slope, b), slope_at(curve, any_slope, any_slope, 2)
    first = by_stein(H1_STAR)
    best = ring(
        (stationary, slope, first),
        Equation(b, s.h1_star),
        (sp.Rational(1, 2), sp.Rational(-1, 2), sp.Integer(-1)),
    )
    return Derivation(
        "linear part of the target",
        f"{PAPER}, Section 3.1, (12)",
        proved("The derivative of the mean squared error in the slope, by Stein's lemma.", slope),
        proved("The error is convex in the slope.", convex),
        proved("The derivative is zero at the best slope: the rest is uncorrelated with z.", best),
        results={b: s.h1_star},
    )


@functools.cache
def second_order() -> Derivation:
    """A quadratic polynomial of two variables rebuilt from E[f], E[z_i f] and E[(z_i z_j - delta_ij) f]."""
    z1, z2 = s.z, s.xi
    x1, x2 = s.argument
    q = sp.symbols("q_0:6", real=True)
    quadratic = q[0] + q[1] * x1 + q[2] * x2 + q[3] * x1**2 + q[4] * x1 * x2 + q[5] * x2**2
    target = define(_target(x1, x2), quadratic, "any quadratic polynomial of two variables", x1, x2)
    under_average = instantiate((target,), {x1: z1, x2: z2})
    weights = {
        s.tensor_0: sp.S.One,
        s.tensor_1[0]: z1,
        s.tensor_1[1]: z2,
        s.tensor_2[0]: z1**2 - 1,
        s.tensor_2[1]: z1 * z2,
        s.tensor_2[2]: z2**2 - 1,
    }
    tensors = tuple(
        averages_expanded(
            rewrite((define(name, Expectation(w * _target(z1, z2), z1, z2), "a Hermite tensor"), under_average))
        )
        for name, w in weights.items()
    )
    found = rewrite((define(s.target_value, _target(x1, x2), "the target"), target))
    second = s.tensor_2[0] * (x1**2 - 1) + 2 * s.tensor_2[1] * x1 * x2 + s.tensor_2[2] * (x2**2 - 1)
    rebuilt = s.tensor_0 + s.tensor_1[0] * x1 + s.tensor_1[1] * x2 + second / 2
    return Derivation(
        "Hermite tensors up to second order",
        "slides, multi-index targets",
        *(
            proved(f"${sp.latex(name)}$, moment by moment.", tensor)
            for name, tensor in zip(weights, tensors, strict=True)
        ),
        proved(
            "The second-order Hermite tensor of two variables is z_i z_j - delta_ij, with weight 1/2!: every quadratic "
            "polynomial is rebuilt.",
            concluded(Equation(s.target_value, rebuilt), found, *tensors),
        ),
        proved("It is the polynomial.", found),
        results={
            **{name: value(tensor) for name, tensor in zip(weights, tensors, strict=True)},
            s.target_value: value(found),
        },
    )
