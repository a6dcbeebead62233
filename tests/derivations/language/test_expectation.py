"""Gaussian expectations as symbols: linearity, moments, binding, Stein."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation, expand_expectations, gaussian_moment
from giantsteps.derivations.language.symbols import V1, alpha, kappa, z

f = sp.Function("f")


def test_linearity_and_moments() -> None:
    expression = Expectation(alpha * f(z) + 3 * z**4 + 2, z)
    assert expand_expectations(expression) == alpha * Expectation(f(z), z) + 11


def test_independent_factors_average_alone() -> None:
    assert expand_expectations(Expectation(z**2 * f(kappa), kappa, z)) == Expectation(f(kappa), kappa)
    assert expand_expectations(Expectation(z * f(kappa), kappa, z)) == 0
    # No independence: both factors depend on kappa.
    assert expand_expectations(Expectation(kappa**2 * f(kappa), kappa)) == Expectation(kappa**2 * f(kappa), kappa)


@pytest.mark.parametrize(("order", "moment"), [(0, 1), (1, 0), (2, 1), (3, 0), (4, 3), (6, 15), (8, 105)])
def test_moments(order: int, moment: int) -> None:
    assert gaussian_moment(order) == moment


def test_the_averaged_variable_is_bound() -> None:
    average = Expectation(V1 * f(kappa), kappa)
    assert average.free_symbols == {V1}
    assert average.subs(kappa, 3) == average
    assert sp.diff(average, kappa) == 0
    assert average.subs(V1, alpha) == Expectation(alpha * f(kappa), kappa)


def test_substitution_does_not_capture() -> None:
    average = Expectation(alpha * f(z), z).subs(alpha, z)
    assert average.free_symbols == {z}
    assert expand_expectations(average) == z * Expectation(f(average.args[1]), average.args[1])
    # Replacing one function of the averaged variable by another is meant.
    assert Expectation(f(z), z).subs(f(z), z * alpha) == Expectation(alpha * z, z)


def test_differentiation_under_the_expectation() -> None:
    derivative = sp.diff(Expectation(1 / (1 + V1 * f(kappa)), kappa), V1)
    assert derivative == Expectation(-f(kappa) / (1 + V1 * f(kappa)) ** 2, kappa)
