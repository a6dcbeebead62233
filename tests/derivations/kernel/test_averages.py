"""What the rules of averages make, and where they refuse to split one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import assume, instantiate, rewrite, vanishing
from giantsteps.derivations.kernel.averages import dilate, linear, moment
from giantsteps.derivations.kernel.calculus import average_limit
from giantsteps.derivations.kernel.limits import limit_average, limit_compose, limit_rational
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Ground, Refused, Tends
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import asked_by, established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import z
from tests.shared.assumptions import taken


def test_moments_are_double_factorials() -> None:
    values = [moment((), z, k).statement for k in range(1, 7)]
    assert values == [Equation(Expectation(z**k, z), sp.Integer(v)) for k, v in enumerate((0, 1, 0, 3, 0, 15), 1)]


@pytest.mark.parametrize("power", [0, -1, -2, sp.Rational(1, 2)])
def test_moments_are_of_positive_whole_powers(power: Any) -> None:
    with pytest.raises(Refused, match="is no power"):
        moment((), z, power)


def test_a_denominator_that_is_zero_is_none() -> None:
    c, x = sp.Symbol("c", positive=True), sp.Symbol("x", real=True)
    root = sp.sqrt(c + 1)
    for zero in ((x + 1) ** 2 - x**2 - 2 * x - 1, (root + 1) ** 2 - c - 2 - 2 * root):
        with pytest.raises(Refused, match="a denominator is zero"):
            vanishing(sp.Integer(0), (1 / zero,))


@pytest.mark.parametrize(
    "integrand", [z**2, sp.exp(-(z**2)), z * sp.exp(z / 3), sp.exp(z) * sp.exp(-(z**2)) * (1 + z), 1 + z]
)
@pytest.mark.parametrize("factor", [sp.Integer(2), sp.Rational(1, 3)])
def test_an_average_is_the_same_at_a_stretched_variable(integrand: sp.Expr, factor: sp.Expr) -> None:
    found = replay(dilate((), Expectation(integrand, z), z, factor)).statement
    assert isinstance(found, Equation)
    assert found.left == Expectation(integrand, z)
    (average,) = found.right.atoms(Expectation)
    for place in (sp.Rational(-4, 5), sp.Rational(3, 7)):
        right = (found.right.xreplace({average: average.integrand})).xreplace({z: place})
        # f(s z) s phi(s z) is what is integrated over z, phi the density.
        wanted = integrand.xreplace({z: factor * place}) * factor * sp.exp((1 - factor**2) * place**2 / 2)
        assert float(right) == pytest.approx(float(wanted), rel=1e-14)


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


def test_a_denominator_in_another_form_is_zero_where_the_first_is() -> None:
    x = sp.Symbol("x", real=True)
    f, h = (sp.Function(name, real=True)(x) for name in ("f", "h"))
    one = sp.Integer(1)
    for integrand, factor, other in (
        (1 / (2 + 2 * f), one / 2, 1 / (1 + f)),
        (1 / (-1 - f), -one, 1 / (1 + f)),
        (h / (1 + f / 3), 3 * one, h / (3 + f)),
        (1 / (1 + 1 / f), one, f / (1 + f)),
        (1 / (f + 1 / h), one, h / (h * f + 1)),
    ):
        found = replay(linear((), Expectation(integrand, x), ((factor, other),)))
        assert found.statement == Equation(Expectation(integrand, x), factor * Expectation(other, x))
        assert {condition.demand for condition in found.conditions} == {Demand.EXISTS}
    with pytest.raises(Refused):  # f = 0 is no pole of the first
        linear((), Expectation(f / (1 + f), x), ((one, 1 / (1 + 1 / f)),))


def test_a_constant_leaves_an_average_of_a_root_that_is_real_where_the_whole_is() -> None:
    x = sp.Symbol("x", real=True)
    f, h = (sp.Function(name, real=True)(x) for name in ("f", "h"))
    one = sp.Integer(1)
    split = linear((), Expectation(-f * sp.sqrt(h), x), ((-one, f * sp.sqrt(h)),))
    assert replay(split).statement == Equation(Expectation(-f * sp.sqrt(h), x), -Expectation(f * sp.sqrt(h), x))
    with pytest.raises(Refused):  # the root of f may not be real where the whole is
        linear((), Expectation(f * sp.sqrt(h), x), ((one, f * sp.sqrt(h) - sp.sqrt(f)), (one, sp.sqrt(f))))


WIDENING = {
    "an exponential": lambda first, second: first * sp.exp(second * z**2),
    "a square that widens beside one that does not": lambda first, second: first * sp.exp(2 * second * z**2 - z**2 / 2),
}  # fmt: skip


@pytest.mark.parametrize("integrand", WIDENING.values(), ids=WIDENING)
def test_what_widens_on_the_way_is_not_dominated(integrand: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> None:
    """d^(-1/4) E[exp((1/2 - 1/d) z^2)] = d^(1/4)/sqrt(2), of an integrand that tends to zero for all z."""
    d, holes = sp.Symbol("d", positive=True), sp.symbols("first second", real=True)
    half, root = sp.Rational(1, 2), d ** sp.Rational(1, 4)
    known = limit_rational((), 1 / root, sp.Integer(0), d), limit_rational((), half - 1 / d, half, d)
    with pytest.raises(Refused):
        established(limit_average(known, Expectation(integrand(*holes), z), holes))
    with pytest.raises(Refused):
        established(average_limit((limit_compose(known, integrand(*holes), holes),), (z,)))


def test_an_average_that_a_hypothesis_makes_infinite_is_refused() -> None:
    """1/F = exp(3 z^2/4) is at least exp((1 - s^2) z^2/2), of average 1/s, for all s."""
    F, x = sp.Function("F", positive=True), sp.Symbol("x", real=True)
    formula = instantiate((taken(F(x), sp.exp(-3 * x**2 / 4), x),), {x: z})
    split = linear((), Expectation(2 / F(z), z), ((sp.Integer(2), 1 / F(z)),))
    with pytest.raises(Refused, match="grows too fast"):
        established(linear((formula, split), Expectation(2 / F(z), z), ((sp.Integer(2), 1 / F(z)),)))


def test_a_power_grows_by_its_size() -> None:
    """(1 + exp(z^2/4))^a is averaged for |a| < 2, and not for a = 3."""
    a, base = sp.Symbol("a", real=True), 1 + sp.exp(z**2 / 4)
    split = linear((), Expectation(2 * base**a, z), ((sp.Integer(2), base**a),))
    assert Condition(sp.Rational(1, 2) - sp.Abs(a) / 4) in asked_by(split)
    with pytest.raises(Refused):
        established(rewrite((split, define(a, sp.Integer(3), "a name"))))
    small = (sp.exp(-(z**2)) + sp.exp(-2 * z**2)) ** a
    one = define(a, -sp.Integer(1), "a name")
    with pytest.raises(Refused, match="grow too fast"):
        established(linear((one,), Expectation(2 * small, z), ((sp.Integer(2), small),)))


def test_a_free_name_is_none_that_an_average_within_binds() -> None:
    """E[exp(k z^2)] for k >= 1 is infinite, beside an average over a variable called as one that k speaks of too: by
    Stein's lemma (1 - 2 k) E[z^2 exp(k z^2)] would be positive, and -1 >= 0 follow without a condition.
    """
    y, t = sp.symbols("y t", real=True)
    rate = sp.sqrt(1 + sp.Function("k", real=True)(y) ** 2)

    def split(bound: sp.Symbol) -> Theorem:
        whole = sp.exp(rate * z**2) * Expectation(sp.exp(sp.tanh(bound)), bound)
        return linear((), Expectation(whole + 1, z), ((sp.Integer(1), whole), (sp.Integer(1), sp.Integer(1))))

    assert Condition(sp.Rational(1, 2) - rate, Demand.NONNEGATIVE) in asked_by(split(t))
    with pytest.raises(Refused, match="grows too fast"):
        established(split(y))


def test_a_free_name_moves_whatever_an_average_within_binds() -> None:
    """E[exp(h z - h^2/2)] = 1 where h grows, which takes the integrand to zero for all z."""
    y, t = sp.symbols("y t", real=True)
    d, h = sp.Symbol("d", positive=True), sp.Function("h", real=True)
    for bound, of in product((t, y), ((y, d), (d,))):
        term = sp.exp(h(*of) * z - h(*of) ** 2 / 2) * Expectation(sp.exp(sp.tanh(bound)), bound)
        told = Assumption(Ground.HYPOTHESIS, "h grows", Tends(term, sp.Integer(0), d), "", frozenset({z}))
        with pytest.raises(Refused, match="may not stay bounded"):
            established(average_limit((assume((), told),), (z,)))


@pytest.mark.parametrize("slope", [z, z**2, z**3], ids=str)
def test_what_a_function_makes_of_an_inner_variable_is_a_number(slope: sp.Expr) -> None:
    """exp(z E[z r(t)]) = exp(z^2 E[r]) has no average for r >= 1, though r is a function without a formula: by Stein's
    lemma -1 >= 0 would follow, as above.
    """
    t = sp.Symbol("t", real=True)
    rate = sp.sqrt(1 + sp.Function("g", real=True)(t) ** 2)
    integrand = sp.exp(z * Expectation(slope * rate, t))
    one = sp.Integer(1)
    with pytest.raises(Refused, match="grows too fast"):
        established(linear((), Expectation(integrand + 1, z), ((one, integrand), (one, one))))
    moved = sp.exp(z**2 * Expectation(rate, t))
    split = linear((), Expectation(moved + 1, z), ((sp.Integer(1), moved), (sp.Integer(1), sp.Integer(1))))
    assert Condition(sp.Rational(1, 2) - Expectation(rate, t), Demand.NONNEGATIVE) in asked_by(split)


@pytest.mark.parametrize(
    "rate",
    [
        sp.sqrt(1 + sp.Function("g", real=True)(sp.Symbol("t", real=True)) ** 2),
        sp.sqrt(1 + sp.Function("g", real=True)(z) ** 2),
        sp.Max(1, sp.Function("g", real=True)(sp.Symbol("t", real=True))),
        sp.Max(1, sp.Function("g", real=True)(z)) * sp.sqrt(1 + sp.Function("g", real=True)(z) ** 4),
    ],
)
def test_no_function_makes_an_average_exist_that_is_infinite_at_the_least(rate: sp.Expr) -> None:
    """exp(z^2 r) with r >= 1 whatever a function is; exp(z^2 r/3) has an average for some functions, exp(z r) too."""
    t, one = sp.Symbol("t", real=True), sp.Integer(1)
    whole = sp.exp(z**2 * rate)
    with pytest.raises(Refused, match="may not exist"):
        established(linear((), Expectation(whole + 1, z, t), ((one, whole), (one, one))))
    other = sp.Function("f", real=True)(t)
    for fine in (sp.exp(z**2 * rate / 3), sp.exp(-(z**2) * rate), sp.exp(z * rate), sp.exp(z**2 * rate * other)):
        split = linear((), Expectation(fine + 1, z, t), ((one, fine), (one, one)))
        assert asked_by(split) == frozenset()
    size = sp.Symbol("size", real=True)
    sized = sp.exp(size * z**2 * rate)
    split = linear((), Expectation(sized + 1, z, t), ((one, sized), (one, one)))
    assert Condition(sp.Rational(1, 2) - size, Demand.NONNEGATIVE) in asked_by(split)


@pytest.mark.parametrize(
    "rate",
    [
        lambda g: sp.Max(1, g) ** 2,
        lambda g: sp.sqrt(1 + z**4 + g**2) / 3,
        lambda g: sp.sqrt(1 + sp.sqrt(576 + g**2)) / 3,
        lambda g: sp.sqrt(1 + sp.Max(24, g)) / 3,
        lambda g: sp.exp(g**2),
        lambda g: sp.Max(sp.sqrt(1 + g**2), g),
        lambda g: sp.sqrt(sp.exp(g) * sp.Max(1, g) + 1),
    ],
)
def test_the_least_is_found_by_shape_however_deep(rate: Callable[[sp.Expr], sp.Expr]) -> None:
    """Of the first two -1 >= 0 was proved by Stein's lemma: 2 Max(1, g)^2 >= 1, and 1 + 2 z^4/3 - z^2 > 0."""
    t, one = sp.Symbol("t", real=True), sp.Integer(1)
    whole = sp.exp(z**2 * rate(sp.Function("g", real=True)(t)))
    with pytest.raises(Refused, match=r"may not exist|grows too fast"):
        established(linear((), Expectation(whole + 1, z, t), ((one, whole), (one, one))))
