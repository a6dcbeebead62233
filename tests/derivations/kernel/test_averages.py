"""What the rules of averages make, and where they refuse to split one."""

from __future__ import annotations

import pytest
import sympy as sp

from onestep.derivations.kernel.averages import linear, moment
from onestep.derivations.kernel.statements import Equation, Refused
from onestep.derivations.kernel.theorem import replay
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.symbols import z


def test_moments_are_double_factorials() -> None:
    values = [moment((), z, k).statement for k in range(1, 7)]
    assert values == [Equation(Expectation(z**k, z), sp.Integer(v)) for k, v in enumerate((0, 1, 0, 3, 0, 15), 1)]


def test_an_average_is_split_only_where_its_own_integrand_is_defined() -> None:
    x = sp.Symbol("x", real=True)
    f, h = (sp.Function(name, real=True)(x) for name in ("f", "h"))
    one, whole = sp.Integer(1), Expectation((1 + f) / (1 + h), x)
    split = linear((), whole, ((one, 1 / (1 + h)), (one, f / (1 + h))))
    assert replay(split).statement == Equation(whole, sum(Expectation(k / (1 + h), x) for k in (one, f)))
    with pytest.raises(Refused):  # 1/f may not exist where the whole does
        linear((), whole, ((one, 1 / f), (one, (1 + f) / (1 + h) - 1 / f)))
    with pytest.raises(Refused):
        linear((), Expectation(f, x), ((one, f / (1 + h)), (one, f * h / (1 + h))))


def test_a_constant_leaves_an_average_of_a_root_that_is_real_where_the_whole_is() -> None:
    x = sp.Symbol("x", real=True)
    f, h = (sp.Function(name, real=True)(x) for name in ("f", "h"))
    one = sp.Integer(1)
    split = linear((), Expectation(-f * sp.sqrt(h), x), ((-one, f * sp.sqrt(h)),))
    assert replay(split).statement == Equation(Expectation(-f * sp.sqrt(h), x), -Expectation(f * sp.sqrt(h), x))
    with pytest.raises(Refused):  # the root of f may not be real where the whole is
        linear((), Expectation(f * sp.sqrt(h), x), ((one, f * sp.sqrt(h) - sp.sqrt(f)), (one, sp.sqrt(f))))
