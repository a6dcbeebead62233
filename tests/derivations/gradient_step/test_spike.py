"""The gradient step: what its derivations establish, against values found by other routes."""

from __future__ import annotations

import math

import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import bulk as gradient_bulk
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import g
from giantsteps.verify.second_route.grids import hermite_numbers


def result_3_1(activation: str, target: str, alpha0: float, eta: float, beta: float, noise: float = 0.0) -> list[float]:
    values = {
        sp.Symbol(name): value
        for name, value in (hermite_numbers(activation, target) | {"alpha_0": alpha0, "eta": eta, "beta": beta}).items()
    }
    values[sp.Symbol("Delta")] = noise
    derived = (
        gradient_step.spike(s.noise).results[s.r],
        gradient_bulk.bulk(s.noise).results[s.c],
        gradient_step.spike(s.noise).results[s.gamma],
    )
    plain = {symbol: sp.Symbol(symbol.name) for e in derived for symbol in e.free_symbols}
    return [float(e.xreplace(plain).subs(values)) for e in derived]


def test_result_3_1_at_a_worked_point() -> None:
    # tanh student, sine target, alpha0 = 20, eta = 3, beta = 1: h1* = exp(-1/2), h2* = (1 - exp(-2))/2 by hand,
    # h1 and
    # h1_check of tanh by mpmath at 30 digits: the values below.
    assert result_3_1("tanh", "sin", 20.0, 3.0, 1.0) == pytest.approx(
        [1.134055509283, 1.018973200458, 0.971854444487], abs=1e-12
    )


def test_label_noise_adds_to_the_second_moment_of_the_target() -> None:
    numbers = hermite_numbers("erf", "tanh")
    h1, first, second = (numbers[x.name] for x in (s.h1, s.h1_star, s.h2_star))
    expected = 2.0 / 1.5 * h1 * math.sqrt(first**2 + (second + 0.4) / 3.0)
    # the same formula in floating point: a few roundings
    assert result_3_1("erf", "tanh", 3.0, 2.0, 1.5, 0.4)[0] == pytest.approx(expected, rel=1e-13)


def test_an_infinite_batch_aligns_the_spike_and_leaves_the_bulk_alone() -> None:
    gamma, c = gradient_step.spike().results[s.gamma], gradient_bulk.bulk().results[s.c]
    assert sp.limit(c, s.alpha0, sp.oo) == 1
    assert sp.simplify(sp.limit(gamma**2, s.alpha0, sp.oo)) == 1


def test_exact_moments_for_a_linear_target() -> None:
    # g(u) = u: v~ = (1/n0) sum u x. By Wick, E[u^2 |x|^2] = d + 2, so E|v~|^2 = 1 + (d + 1)/n0.
    square = gradient_step.moments_of_v().results[s.v_square_mean]
    linear = square.subs({s.h1_star: 1, s.h2_star: 1, Expectation(g(s.z) ** 2 * s.z**2, s.z): 3})
    assert sp.expand(linear - 1 - (s.d + 1) / s.n0) == 0


def test_concentration_for_constant_labels() -> None:
    # g = 1: n0 |v~_perp|^2 is chi-square of d - 1 degrees of freedom, of variance 2 (d - 1).
    variance = gradient_step.concentration_of_v().results[s.v_perp_variance]
    constant = variance.subs({s.h2_star: 1, Expectation(g(s.z) ** 4, s.z): 1})
    assert sp.expand(constant - 2 * (s.d - 1) / s.n0**2) == 0


def test_hermite_polynomials() -> None:
    # He_3 = z^3 - 3 z, He_4 = z^4 - 6 z^2 + 3; E He_3^2 = 3!
    assert hermite(3, s.z) == s.z**3 - 3 * s.z
    assert hermite(4, s.z) == s.z**4 - 6 * s.z**2 + 3
    assert expand_expectations(Expectation(sp.expand(hermite(3, s.z) ** 2), s.z)) == 6
