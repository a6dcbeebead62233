r"""Plain Gaussian equivalence: what it matches to second order, and what it misses after a giant step.

sigma(w.x) ~ mu0 + mu1 w.x + mu* xi has the mean and variance of a feature, its covariance with the input, and the
covariance of two features up to the square of their overlap. It is the conditional map at r = 0. After a step
eta = Theta(d) the rows are w + r v: their overlaps are of order one, the map stays linear in the input, and a readout
on it learns gamma h1* of the target along the spike and nothing beyond the best linear fit.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.equivalence.spike_coefficients import at_spike, mean_square, mu0_of, received
from onestep.derivations.free_energy.along_spike import V_of_kappa, mu0, mu1, mu2, squared_residual, y0
from onestep.derivations.gradient_step.hermite_tensors import average, hermite, z1, z2
from onestep.derivations.gradient_step.leap_scaling import root_d
from onestep.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing, eq, ge
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import sigma
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.equations import equation, isotropic
from onestep.derivations.saddle_point.random_features.no_spike import target_moment_rules

SOURCE = "arXiv 2402.04980, Section 3.2 without spike"
DEGREE = 3
ODD = "the activation is odd and the target centred"
k1, k2 = s.mu1_constant, s.mu2_constant


def second_input(overlap: sp.Expr) -> sp.Expr:
    """What a direction of overlap epsilon with a neuron receives, given what the neuron receives."""
    return overlap * s.z + sp.sqrt(1 - overlap**2) * s.xi


@functools.cache
def input_covariance() -> Derivation:
    """Cov[phi_k, theta.x] = h1 epsilon, exactly: the covariance of the linear part alone."""
    exact = expand_expectations(Expectation(sp.expand(sigma(s.z) * second_input(s.overlap)), s.z, s.xi))
    names = {Expectation(s.z * sigma(s.z), s.z): s.h1}
    found = exact.xreplace(names)
    linear = expand_expectations(Expectation(sp.expand(s.h1 * s.z * second_input(s.overlap)), s.z, s.xi))
    return Derivation(
        "a feature and a direction of the input",
        SOURCE,
        Step(
            "theta.x is epsilon z plus an independent part, which averages to zero.",
            eq(s.input_covariance, found),
            Vanishing("the linear part has the same covariance", found - linear),
        ),
        results={s.input_covariance: found},
    )


@functools.cache
def covariance_gap() -> Derivation:
    """d (Cov[phi_k, phi_l] - mu1^2 epsilon) at overlap epsilon = tau/sqrt(d): what the equivalent map leaves out."""
    series = s.hermite_coefficients[1 : DEGREE + 1]
    eps = s.overlap

    def feature(argument: sp.Expr) -> sp.Expr:
        terms = (c * hermite(k, argument) / sp.sqrt(sp.factorial(k)) for k, c in enumerate(series, start=1))
        return sp.expand(sum(terms, sp.S.Zero))

    other = eps * z1 + sp.sqrt(1 - eps**2) * z2
    covariance = average(sp.expand(feature(z1) * feature(other)), (z1, z2))
    powers = sum((c**2 * eps**k for k, c in enumerate(series, start=1)), sp.S.Zero)
    slope = sp.diff(covariance, eps).subs(eps, 0)
    scaled = sp.expand((root_d**2 * (covariance - slope * eps)).subs(eps, s.scaled_overlap / root_d))
    limit = series[1] ** 2 * s.scaled_overlap**2
    return Derivation(
        "two features of a plain random-feature map",
        SOURCE,
        Step(
            "The covariance is a power series in the overlap with the squared Hermite coefficients.",
            eq(s.pair_covariance, powers),
            Vanishing("moment by moment", covariance - powers),
            Vanishing("its slope is mu1^2, that of the equivalent map", slope - series[0] ** 2),
        ),
        Step(
            "Overlaps are of order d^(-1/2): what is left out is of order 1/d.",
            eq(s.covariance_gap, limit),
            RationalLimit("d times the difference", scaled, root_d, limit),
        ),
        results={s.covariance_gap: limit},
        hypotheses=(f"the activation is a polynomial of degree {DEGREE}",),
    )


@functools.cache
def without_spike() -> Derivation:
    """The conditional map at r = 0, c = 1: its residual variance is mu*^2 = E sigma^2 - mu0^2 - mu1^2."""
    plain = {s.r: sp.S.Zero, s.c: sp.S.One}

    def at_zero(expression: sp.Expr) -> sp.Expr:
        return at_spike(expression).xreplace(plain)

    mean = at_zero(mu0_of())
    linear = at_zero(Expectation(s.z * sigma(received(s.z)), s.z) / sp.sqrt(s.c))
    square = at_zero(mean_square())
    best = Expectation((sigma(s.z) - mean - linear * s.z) ** 2, s.z)
    residual = square - mean**2 - linear**2
    return Derivation(
        "the conditional map without spike",
        SOURCE,
        *(
            Step(
                f"At r = 0, c = 1 a neuron receives z alone: ${sp.latex(name)}$ is that of Section 3.1.",
                eq(name, found),
                Vanishing("a neuron receives z", at_zero(received(s.z)) - s.z),
                Vanishing("its average", found - Expectation(plain_one, s.z)),
            )
            for name, found, plain_one in (
                (s.h2, square, sigma(s.z) ** 2),
                (s.mu0_constant, mean, sigma(s.z)),
                (s.h1, linear, s.z * sigma(s.z)),
            )
        ),
        Step(
            "At r = 0, c = 1 the coefficients do not depend on kappa; the residual is that of the best linear fit.",
            eq(s.mu2_square, residual),
            Vanishing("mean square of the residual", expand_expectations(best) - residual),
            Vanishing("mu0 does not depend on kappa", sp.diff(mean, s.kappa)),
        ),
        results={s.mu2_square: residual, s.h2: square, s.mu0_constant: mean, s.h1: linear},
    )


# ---- after a giant step ----


def linear_map(expression: sp.Expr) -> sp.Expr:
    """The conditional system with the functions of the plain map: mu0 = mu1 r kappa, mu1 and mu2 constant."""
    constant = expression.xreplace({mu0: k1 * s.r * s.kappa, mu1: k1, mu2: k2})
    return expand_expectations(sp.expand(constant)).subs(target_moment_rules())


@functools.cache
def after_step() -> Derivation:
    """Ridge on mu1 (w + r v).x + mu* xi: the spike's linear part is learned at no cost, nothing else along it."""
    force = linear_map(Expectation(mu0 * (y0 - mu0 * s.m - s.kappa * mu1 * s.zeta) / (1 + V_of_kappa), s.kappa))
    (learned,) = sp.solve(force, s.m)
    zeta_force = linear_map(equation(s.zeta).results[s.zeta_hat]).subs(s.m, learned)
    zeta = isotropic(s.zeta_hat).results[s.zeta].subs(s.zeta_hat, sp.cancel(zeta_force))
    total = sp.cancel((k1 * (s.r * s.m + s.zeta)).subs(s.m, learned))
    at_solution = {s.m: learned.subs(s.zeta, 0), s.zeta: sp.S.Zero}
    error = sp.expand(linear_map(Expectation(sp.expand(squared_residual), s.kappa)).subs(at_solution) - s.noise)
    return Derivation(
        "plain Gaussian equivalence after a giant step",
        SOURCE,
        Step(
            "m is not penalised at leading order: its equation fixes the coefficient of kappa in the output.",
            eq(s.gaussian_mean, total),
            Vanishing("the equation for m", sp.cancel(force.subs(s.m, learned))),
        ),
        Step(
            "No force is left for zeta.",
            eq(s.zeta, zeta),
            Vanishing("zeta", zeta),
            Vanishing("its conjugate", sp.cancel(zeta_force)),
        ),
        Step(
            "What remains is plain random features for the target without its linear part along the spike.",
            eq(s.gaussian_error, error),
            Vanishing("the output's coefficient of kappa is gamma h1*", total - s.gamma * s.h1_star),
        ),
        results={s.gaussian_mean: total, s.gaussian_error: error},
        hypotheses=(ODD, *equation(s.zeta).hypotheses),
    )


@functools.cache
def floor() -> Derivation:
    """The error of the plain map after a step is never below that of the best linear fit, h2* - h1*^2."""
    excess = s.excess
    error = after_step().results[s.gaussian_error].subs(s.q1, excess + s.psi**2)
    gap = error - s.h2_star + s.h1_star**2
    unit = {s.gamma: sp.sqrt(1 - s.rho)}
    squares = ((sp.S.One, sp.sqrt(s.rho) * s.h1_star - k1 * s.psi), (excess, k1), (s.q2, k2))
    return Derivation(
        "floor of plain Gaussian equivalence after a giant step",
        SOURCE,
        *after_step().steps,
        Step(
            "q1 >= psi^2 by Cauchy-Schwarz; error less floor is a sum of squares.",
            ge(s.gaussian_error, s.h2_star - s.h1_star**2),
            NonNegative("error less floor", sp.expand(gap.subs(unit)), squares),
        ),
        results={s.gaussian_error: error},
        hypotheses=after_step().hypotheses,
    )
