"""Equations of one's own: closed forms, an estimate that is never below the error, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Rational, cos, erf, erfc, exp, log, pi, sqrt

from giantsteps import CompileError, EquationsSolution, Expectation, Law, SolveError, solve_equations
from giantsteps.verify.compiled.doubles import normal_rule

t, u = sp.symbols("t u", real=True)
x, y, z, a = sp.symbols("x y z a", real=True)
POSITIVE = sp.Symbol("p", positive=True)


def exact(number: float) -> sp.Rational:
    """What the double is."""
    return Rational(number)


def error(found: EquationsSolution, wanted: sp.Expr) -> float:
    """The error of x beside 1 + its size; 40 digits are enough for what cancels in the closed forms below."""
    right = wanted.evalf(40)
    return float(abs(exact(found[x]) - right) / (1 + abs(right)))


# By name: what is averaged, the law of t, and the closed form of the average, with two drawn numbers b > 0 and c > 0.
CLOSED: dict[str, Callable[[Any, Any], tuple[sp.Expr, Law, sp.Expr]]] = {
    "exp": lambda b, c: (exp(b * t), Law.normal(), exp(b**2 / 2)),
    "waves": lambda b, c: (cos((1000 + b) * t), Law.normal(), exp(-((1000 + b) ** 2) / 2)),
    "cos": lambda b, c: (cos(b * t + c), Law.normal(), cos(c) * exp(-(b**2) / 2)),
    "erf": lambda b, c: (erf(b * t + c), Law.normal(), erf(c / sqrt(1 + 2 * b**2))),
    "powers": lambda b, c: ((t + b) ** 6, Law.normal(), b**6 + 15 * b**4 + 45 * b**2 + 15),
    "pole": lambda b, c: (1 / (b + t**2), Law.normal(), sqrt(pi / 2 / b) * exp(b / 2) * erfc(sqrt(b / 2))),
    "near pole": lambda b, c: (
        1 / (b / 100 + t**2), Law.normal(), sqrt(50 * pi / b) * exp(b / 200) * erfc(sqrt(b / 200))
    ),
    "growth": lambda b, c: (exp(b * t**2 / 5), Law.normal(), 1 / sqrt(1 - 2 * b / 5)),
    "kink": lambda b, c: (
        abs(t - b), Law.normal(), sqrt(2 / pi) * exp(-(b**2) / 2) + b * erf(b / sqrt(2))
    ),
    "jump": lambda b, c: (sp.sign(t - b), Law.normal(), -erf(b / sqrt(2))),
    "cut kink": lambda b, c: (
        abs(t - b), Law.normal(float(b)), sqrt(2 / pi) * exp(-(b**2) / 2) + b * erf(b / sqrt(2))
    ),
    "two": lambda b, c: (cos(b * t * u), Law.normal(), 1 / sqrt(1 + b**2)),
    "reciprocal": lambda b, c: (1 / (t + c), Law.uniform(0, float(b)), log(1 + b / c) / b),
    "logarithm": lambda b, c: (log(t), Law.uniform(0, float(b)), log(b) - 1),
    "root": lambda b, c: (1 / sqrt(t), Law.uniform(0, float(b)), 2 / sqrt(b)),
    "trace": lambda b, c: (
        1 / (t + b), Law.marchenko_pastur(float(c)),
        (sqrt((1 - c + b) ** 2 + 4 * b * c) - (1 - c + b)) / (2 * b * c),
    ),
    "small ridge": lambda b, c: (
        1 / (t + b / 2**30), Law.marchenko_pastur(1.0), (sqrt((b / 2**30) ** 2 + 4 * b / 2**30) * 2**30 / b - 1) / 2
    ),
    "logarithmic determinant": lambda b, c: (
        log(t), Law.marchenko_pastur(float(c / 2)), (1 - 2 / c) * log(1 - c / 2) - 1
    ),
    "square": lambda b, c: (t**2, Law.marchenko_pastur(float(c)), 1 + c),
    "points": lambda b, c: (t**2, Law.points([float(b), 1.0, 2.0], [2, 1, 1]), (2 * b**2 + 5) / 4),
    "cancels": lambda b, c: (10**7 + exp(b * t) - 10**7, Law.normal(), exp(b**2 / 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_the_estimate_is_not_below_the_error(name: str) -> None:
    rng = np.random.default_rng([5, *name.encode()])
    for _ in range(3):
        b, c = map(exact, rng.uniform(0.2, 1.5, 2))
        averaged, law, wanted = CLOSED[name](b, c)
        found = solve_equations({x: Expectation(averaged, *(averaged.free_symbols & {t, u}))}, laws={t: law})
        assert error(found, wanted) <= found.error_estimate, (name, b, c)
        # Where an integrand has a kink, a jump, waves or no value at an end, thousands of nodes have these digits.
        loose = {"waves": 1e-3, "kink": 1e-4, "jump": 1e-2, "logarithm": 1e-3, "root": 1e-1, "cancels": 1e-7}
        assert found.error_estimate < loose.get(name, 1e-11)


# By name: equations of x with the number a, and x.
SYSTEMS: dict[str, tuple[Mapping[sp.Symbol, sp.Expr], float, Callable[[Any], sp.Expr]]] = {
    "explicit": ({x: y**3 / 7, y: a / 3}, 1.7, lambda a: a**3 / 189),
    "linear": ({x: y + a * x / 2, y: 1 - x}, 0.6, lambda a: 1 / (2 - a / 2)),
    "golden": ({x: 1 + 1 / x}, 0.0, lambda a: (1 + sqrt(5)) / 2),
    "any power": ({x: 1 + x ** Rational(1, 3) * a, y: x**a}, 0.0, lambda a: sp.Integer(1)),
    # Two solutions at a distance of 4e-4: what is rounded in the equation is magnified by its inverse.
    "almost double": ({x: x**2 / 4 + 1 - a}, 1e-8, lambda a: 2 - 2 * sqrt(a)),
    "average": ({x: a * Expectation(1 / (x + y * t**2), t), y: x}, 1.3, lambda a: sqrt(
        a * sqrt(pi / 2) * exp(Rational(1, 2)) * erfc(sqrt(Rational(1, 2))))),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_symbols_that_determine_each_other(name: str) -> None:
    equations, value, wanted = SYSTEMS[name]
    found = solve_equations(equations, {a: value})
    assert error(found, wanted(exact(value))) <= found.error_estimate < 1e-10
    assert found.residual <= found.error_estimate


def test_ridge_regression_on_the_law_of_marchenko_and_pastur() -> None:
    # k = l + k tr S/(S + k)/n for the identity is a quadratic equation; the eigenvalues of X^T X/n give the same trace.
    ridge, ratio = 0.3, 1.7
    k, s, c = sp.symbols("k s c", positive=True)
    of_rows = solve_equations({k: ridge + c * k * Expectation(s / (s + k), s)}, {c: ratio}, {s: Law.points([1.0])})
    of_eigenvalues = solve_equations(
        {x: Expectation(ridge / (t + ridge), t)}, laws={t: Law.marchenko_pastur(ratio)}
    )  # ridge tr (X^T X/n + ridge)^-1 = tr k (S + k)^-1
    # The slope of k/(1 + k) is below 1. Rules are refined until each estimate is below 1e-12.
    allowed = 4 * (of_rows.error_estimate + of_eigenvalues.error_estimate)
    assert of_eigenvalues["x"] == pytest.approx(of_rows[k] / (1 + of_rows[k]), abs=allowed)
    assert allowed < 8e-12


def test_functions_and_laws_of_ones_own() -> None:
    relu = sp.Function("relu")
    found = solve_equations(
        {x: Expectation(relu(t), t), y: relu(-x)}, laws={t: Law.normal(0.0)},
        functions={relu: lambda v: v * (np.real(v) > 0)},
    )  # fmt: skip
    assert found[x] == pytest.approx(1 / np.sqrt(2 * np.pi), rel=1e-14)  # 400 nodes, each rounded
    assert found[y] == 0.0
    coin = Law("a coin", lambda finer: (np.array([-1.0, 1.0]), np.array([0.5, 0.5])))
    assert solve_equations({x: Expectation(exp(t), t)}, laws={t: coin})[x] == pytest.approx(np.cosh(1.0), rel=1e-15)
    wide = Law("of variance 4", lambda finer: (2 * normal_rule(1 / 16 / finer).nodes, normal_rule(1 / 16 / finer)[1]))
    assert solve_equations({x: Expectation(t**2, t)}, laws={t: wide})[x] == pytest.approx(4.0, rel=1e-14)


def test_a_solution_is_read_by_symbol_and_by_name() -> None:
    found = solve_equations({x: a + 1, y: 2 * x}, {a: Rational(1, 2)})
    assert (found[x], found["y"]) == (1.5, 3.0)
    assert repr(found).startswith("EquationsSolution(x=1.5, y=3, error_estimate=")
    with pytest.raises(KeyError, match="no equation determines a: there are x, y"):
        found[a]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({},), "at least one entry"),
        (([sp.Eq(x, 1)],), "a mapping {symbol: expression}"),
        (({"x": a},), "'x' is not a symbol of SymPy"),
        (({x: "a + 1"},), r"'a \+ 1' is not an expression of SymPy for x"),
        (({x: sp.Eq(a, 1)},), "is not an expression of SymPy for x"),
        (({x: a + y},), "no value and no equation for a, y"),
        (({x: a, a: x / 2}, {a: 1}), "determined twice: a"),
        (({x: y, y: POSITIVE}, {sp.Symbol("p"): 1}), "two different symbols are called p"),
        (({x: t * Expectation(t**2, t)}, {t: 1}), "t is averaged over, and stands outside of an average too"),
        (({x: a}, {a: 1}, {t: Law.normal()}), "there is a law of t, but no average over it"),
        (({x: Expectation(t**4, t)}, {}, {t: "normal"}), r"'normal' is not a law of t: for example Law.normal\(\)"),
        (({x: Expectation(POSITIVE**4, POSITIVE)},), r"p is declared positive, and has the value -12"),
        (({x: POSITIVE}, {POSITIVE: -1}), "p is declared positive, and has the value -1"),
        (({x: a}, {a: float("nan")}), "a = nan is not accepted: it has to be one finite real number"),
        (({x: a}, {a: [1.0, 2.0]}), r"a = \[1.0, 2.0\] is not accepted"),
        (({x: a}, {a: 1j}), "a = 1j is not accepted"),
        (({x: sp.zeta(a)}, {a: 2}), "no values for the function zeta"),
        (({x: sp.besselj(0, a)}, {a: 2}), "besselj.* cannot be compiled"),
        (({x: sp.Function("f")(a)}, {a: 2}), "no values for the function f"),
        (({x: Expectation(cos(t * u * y * z), t, u, y, z)},), "too many nodes"),
        (({x: sp.Function("f")(a)}, {a: 2}, {}, {sp.Function("f"): None}), "None is not a function for f"),
        (({x: Expectation(t, t)}, {}, {t: Law("mine", lambda finer: 5)}), "the law mine has to give nodes"),
    ],
)
def test_what_is_no_such_equation_is_told_in_a_sentence(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(CompileError, match=words) as caught:
        solve_equations(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Law.uniform(1.0, 0.0), r"uniform on \[1, 0\] is not a law"),
        (lambda: Law.marchenko_pastur(0.0), "ratio = 0 is not accepted"),
        (lambda: Law.points([1.0, float("inf")]), "finite values"),
        (lambda: Law.points([1.0, 2.0], [1.0]), "as many finite weights"),
        (lambda: Law.points([1.0], [-1.0]), "at least 0"),
        (lambda: Law.points([]), "one above 0"),
        (lambda: Law.points("abc"), "finite values"),
        (lambda: Law.uniform("a", 1.0), "low = 'a' is not accepted"),
        (lambda: Law.normal(float("nan")), "a kink = nan is not accepted"),
    ],
)
def test_what_is_no_law_is_told_in_a_sentence(make: Callable[[], Law], words: str) -> None:
    with pytest.raises(CompileError, match=words):
        make()


@pytest.mark.parametrize(
    ("equations", "words"),
    [
        ({x: 2 * x**2 + 1}, "x: no solution"),
        ({x: log(-2 * a)}, "x: no finite value"),
        ({x: 1 / (a - 1)}, "x: no finite value"),
        ({x: Expectation(exp(t**2), t)}, None),
        ({POSITIVE: -a}, "p is declared positive, and has the value -1"),
    ],
)
def test_equations_without_a_solution(equations: Mapping[sp.Symbol, sp.Expr], words: str | None) -> None:
    if words is None:  # an average that does not exist: its sums grow with the rule, and so does the estimate
        assert solve_equations(equations, {a: 1}).error_estimate > 0.1
        return
    with pytest.raises(SolveError, match=words):
        solve_equations(equations, {a: 1})
