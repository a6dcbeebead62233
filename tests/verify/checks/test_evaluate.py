"""The verifier's own evaluator of statements."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import alpha, c, kappa, z
from giantsteps.verify.checks.evaluate import Place, evaluate, evaluate_all, relation_violation


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        (sp.Eq, (False, True, False)),
        (sp.Le, (True, True, False)),
        (sp.Lt, (True, False, False)),
        (sp.Ge, (False, True, True)),
        (sp.Gt, (False, False, True)),
    ],
)
def test_a_relation_is_violated_where_it_does_not_hold(relation: type[sp.Rel], holds: tuple[bool, ...]) -> None:
    # A left side below, at and above the right one; in the last row both are below the size of what is relative.
    for right in (3.0, -3.0, 1e-6):
        for left, held in zip((right - abs(right), right, right + abs(right)), holds, strict=True):
            found = relation_violation(relation(alpha, c), Place({"alpha": left, "c": right}))
            assert (found.error == 0.0) == held
            assert (found.margin <= 0.0) == held


def test_symbols_and_special_functions() -> None:
    value = evaluate(sp.erf(c) * sp.sqrt(alpha), {"c": 0.5, "alpha": 4.0})
    assert value == pytest.approx(2 * math.erf(0.5), rel=1e-15)  # one multiplication


def test_expectations_against_closed_forms() -> None:
    # E cos(a z) = exp(-a^2/2); E over two variables of a function of their sum, variance 2.
    assert evaluate(Expectation(sp.cos(alpha * z), z), {"alpha": 1.3}) == pytest.approx(
        math.exp(-(1.3**2) / 2), rel=1e-13
    )
    double = Expectation(sp.cos(z + kappa), kappa, z)
    assert evaluate(double, {}) == pytest.approx(math.exp(-1), rel=1e-13)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_both_grids_hold_averages_over_up_to_three_variables(dimension: int) -> None:
    # E cos(sum) = e^{-n/2}, and products of squares and fourth powers: 3^n by Stein. In three dimensions the grid ends
    # at 8, beyond which a fourth power leaves 1e-11.
    variables = (z, kappa, c)[:dimension]
    wave, powers = Expectation(sp.cos(sp.Add(*variables)), *variables), Expectation(sp.Mul(*variables) ** 4, *variables)
    for shifted in (False, True):
        assert evaluate(wave, {}, shifted=shifted) == pytest.approx(math.exp(-dimension / 2), rel=1e-12)
        assert evaluate(powers, {}, shifted=shifted) == pytest.approx(3.0**dimension, rel=1e-10)


def test_undefined_functions_take_implementations() -> None:
    mu0 = sp.Function("mu0")(kappa)
    assert evaluate(Expectation(mu0**2, kappa), {}, {"mu0": lambda k: k}) == pytest.approx(1, rel=1e-13)
    assert evaluate(Expectation(mu0, kappa) ** 2, {}, {"mu0": np.tanh}) == pytest.approx(0, abs=1e-15)


def test_an_expectation_inside_another_is_a_number_of_its_own() -> None:
    inner, f = Expectation(sp.Function("f")(z), z), {"f": lambda x: (x > 0.01).astype(float)}
    outer = Expectation(kappa**2 * inner, kappa)
    # On the shifted grid a jump shows what the sum over it is worth, at any depth.
    plain, moved = (evaluate(inner, {}, f, shifted=shifted) for shifted in (False, True))
    assert abs(plain - moved) > 1e-3
    assert evaluate(outer, {}, f, shifted=True) == pytest.approx(moved, rel=1e-13)
    assert evaluate(outer, {}, f) == pytest.approx(plain, rel=1e-13)
    with pytest.raises(ValueError, match="may not depend on the variable of an outer one"):
        evaluate(Expectation(Expectation(kappa * z, z) * kappa, kappa), {})


def test_several_expressions_have_the_values_that_each_has_alone() -> None:
    calls = []

    def mu(k: np.ndarray) -> np.ndarray:
        calls.append(k)
        return np.tanh(k) + 0.3

    shared = Expectation(sp.Function("mu")(kappa) ** 2, kappa)
    terms = (alpha * shared, c * shared**2, alpha - c / 7, sp.S.Half, sp.Symbol(r"\hat{V}_1") * sp.erf(alpha))
    values = {"alpha": 1.3, "c": 0.4, r"\hat{V}_1": 0.7}
    together = evaluate_all(terms, values, {"mu": mu})
    assert len(calls) == 1  # an expectation of several terms is summed once
    assert together == [evaluate(term, values, {"mu": mu}) for term in terms]
    assert together[4] == pytest.approx(0.7 * math.erf(1.3), rel=1e-15)


def test_an_average_is_summed_again_where_anything_under_it_changes() -> None:
    average = Expectation(alpha * sp.Function("mu")(kappa) ** 2, kappa)
    cube, line = (lambda k: k**3), (lambda k: k)
    for shifted in (False, True):
        for values, mu, expected in (
            ({"alpha": 2.0}, cube, 30.0),
            ({"alpha": 2.0, "c": 0.5}, cube, 30.0),
            ({"alpha": 3.0}, cube, 45.0),
            ({"alpha": 2.0}, line, 2.0),
        ):
            assert evaluate(average, values, {"mu": mu}, shifted=shifted) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="alpha"):
        evaluate(average, {"c": 1.0}, {"mu": cube})


def test_one_value_that_is_not_real_is_named() -> None:
    with pytest.raises(ValueError, match=r"log\(alpha\) is not real"):
        evaluate_all((alpha, sp.I * sp.log(alpha)), {"alpha": 2.0})


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ValueError, match="alpha"):
        evaluate(alpha * c, {"c": 1.0})


def test_symbols_may_have_any_name() -> None:
    # What a symbol is called says nothing of what Python calls it: a keyword, LaTeX, a name of another's own.
    names = ("lambda", r"\hat{q}_1", "x y", "_0", "_1")
    values = dict(zip(names, (1.0, 20.0, 300.0, 4000.0, 50000.0), strict=True))
    assert evaluate(sp.Add(*map(sp.Symbol, names)), values) == 54321.0
    for name in names:
        assert evaluate(2 * sp.Dummy(name), values) == 2.0 * values[name]
    assert evaluate(sp.Dummy("x") + 10 * sp.Symbol("_x") + 100 * sp.Symbol("math"), {"x": 1, "_x": 2, "math": 3}) == 321
    assert evaluate(sp.erf(sp.Symbol("erf")) * sp.Symbol("numpy"), {"erf": 0.5, "numpy": 2}) == 2 * math.erf(0.5)
