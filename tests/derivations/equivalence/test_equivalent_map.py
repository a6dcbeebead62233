"""Conditional Gaussian equivalence: what its derivations establish, against values found by other routes."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.equivalence import conditional_coefficients
from giantsteps.derivations.equivalence import equivalent_map as equivalence
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.averages import by_stein
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import sigma, sigma_prime, sigma_second


def with_activation(expression: sp.Expr, activation: sp.Expr) -> sp.Expr:
    """Put a polynomial activation into the undefined functions and average it."""
    named = {sigma: activation, sigma_prime: sp.diff(activation, s.z), sigma_second: sp.diff(activation, s.z, 2)}

    def put(call: sp.Expr) -> sp.Expr:
        return named[call.func].subs(s.z, call.args[0])

    return sp.expand(expand_expectations(expression.replace(lambda e: getattr(e, "func", None) in named, put)))


def test_coefficients_of_a_cubic_by_hand() -> None:
    # sigma = z^3 at x = b + sqrt(c) z, b = r kappa: E x^3 = b^3 + 3 b c, E[z x^3]/sqrt(c) = 3 b^2 + 3 c (both by Wick)
    b = s.r * s.kappa
    results = conditional_coefficients.coefficients().results
    assert sp.expand(with_activation(results[s.mu0], s.z**3) - (b**3 + 3 * b * s.c)) == 0
    assert sp.expand(with_activation(results[s.mu1], s.z**3) - (3 * b**2 + 3 * s.c)) == 0
    # what is left of x^3 = ... + 3 b c (z^2 - 1) + c^(3/2) (z^3 - 3 z): 9 b^2 c^2 * 2 + 6 c^3
    assert sp.expand(with_activation(results[s.mu2_square], s.z**3) - (18 * b**2 * s.c**2 + 6 * s.c**3)) == 0


def test_conditional_mean_of_a_quadratic_is_exact_at_second_order() -> None:
    # sigma = z^2: E[phi|kappa] = kappa^2 (r + s)^2 + c - s^2, whose Taylor polynomial in s is itself
    results = equivalence.conditional_mean().results
    exact = s.kappa**2 * (s.r + s.spike_overlap) ** 2 + s.c - s.spike_overlap**2
    assert sp.expand(with_activation(results[s.feature_mean], s.z**2) - exact) == 0
    curvature = with_activation(results[s.feature_mean_curvature], s.z**2)
    assert sp.expand(curvature - sp.diff(exact, s.spike_overlap, 2)) == 0


def test_stein_removes_powers_of_z() -> None:
    # E[z^2 sigma] = E sigma + E sigma''
    reduced = by_stein(define(s.m, Expectation(s.z**2 * sigma(s.z), s.z), "an average"))
    assert value(reduced) == Expectation(sigma(s.z), s.z) + Expectation(sigma_second(s.z), s.z)


def test_mehler_ends_at_the_variance() -> None:
    results = conditional_coefficients.hermite_series().results
    linear = s.hermite_coefficients[1] ** 2
    assert sp.expand(results[s.pair_covariance].subs(s.correlation, 1) - linear - results[s.mu2_square]) == 0
