"""Derivatives of functions of several variables, and the signs that functions are declared with."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.kernel.terms import derivative, nonnegative, positive
from giantsteps.derivations.language.named_functions import PARTIALS, directions_action


def test_the_chain_rule_in_several_variables() -> None:
    x, y = sp.symbols("x y", real=True)
    count = len(PARTIALS[directions_action])
    point = (x**2, sp.sin(y), *[y] * (count - 2))
    found = derivative(directions_action(*point), x)
    assert found == 2 * x * PARTIALS[directions_action][0](*point)
    with pytest.raises(Refused):  # of another number of variables nothing is known
        derivative(directions_action(x, y), x)
    with pytest.raises(Refused):
        derivative(sp.Function("f", real=True)(x, y), x)


def test_only_a_declared_sign_of_a_function_counts() -> None:
    u = sp.Symbol("u", real=True)
    assert nonnegative(sp.Function("f", nonnegative=True)(u))
    assert not positive(sp.Function("f", nonnegative=True)(u))
    assert not nonnegative(sp.Function("f", real=True)(u))
    assert not positive(sp.Function("f", real=True)(u))
    assert not nonnegative(-sp.Function("f", nonnegative=True)(u))
