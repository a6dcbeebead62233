"""Formulas as a person writes them: which term leads, which factor comes first, no word of the kernel."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
import sympy as sp
from sympy.core.function import UndefinedFunction

import giantsteps.derivations
from giantsteps.derivations.free_energy.along_spike import g, mu0, mu1, mu2, y0
from giantsteps.derivations.free_energy.assumptions import over_replicas, product_of
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import repeated, sigma, sigma_prime
from giantsteps.derivations.language.order import signed, terms
from giantsteps.derivations.language.rendering import latex

x, y = sp.symbols("x y")
projection = sp.Symbol(r"{w\cdot x}", real=True)

WRITTEN = {
    mu2 * s.xi + mu1 * projection + mu0: r"\mu_0(\kappa) + \mu_1(\kappa) {w\cdot x} + \mu_2(\kappa) \xi",
    -(s.h1**2) + Expectation(sigma_prime(s.z) ** 2, s.z): r"\mathbb{E}_{z}\left[\sigma'^{2}(z)\right] - h_{1}^{2}",
    -(s.psi**2) + s.q1: r"q_{1} - \psi^{2}",
    sp.sqrt(s.c) * s.z + s.kappa * s.r: r"r \kappa + \sqrt{c} z",
    y0 - s.kappa * s.zeta * mu1 - s.m * mu0: r"y_0(\kappa) - m \mu_0(\kappa) - \zeta \kappa \mu_1(\kappa)",
    s.V1 * mu1**2 + s.V2 * mu2**2 + 1: r"1 + V_{1} \mu_1^{2}(\kappa) + V_{2} \mu_2^{2}(\kappa)",
    s.kappa**2 - 1: r"\kappa^{2} - 1",
    3 - 6 * x**2 + x**4: r"x^{4} - 6 x^{2} + 3",
    s.q2 * (s.d - 1) * s.c**2: r"\left(d - 1\right) c^{2} q_{2}",
    -(x - y) * s.r: r"r \left(y - x\right)",
    -x - s.z**2: r"-x - z^{2}",
    s.alpha * Expectation(mu1 * y0, s.kappa) / s.beta: (
        r"\frac{\alpha}{\beta} \mathbb{E}_{\kappa}\left[y_0(\kappa) \mu_1(\kappa)\right]"
    ),
    -Expectation(-s.z * g(s.z), s.z) / sp.sqrt(s.c): r"\frac{1}{\sqrt{c}} \mathbb{E}_{z}\left[z g(z)\right]",
    sp.sqrt(2) * s.kappa * s.r / (2 * sp.sqrt(s.c)): r"\frac{r \kappa}{\sqrt{2 c}}",
    sp.sqrt(2) / sp.sqrt(sp.pi): r"\sqrt{\frac{2}{\pi}}",
    s.q1_hat * s.V1 - s.q1 * s.V1_hat: r"\hat{q}_1 V_{1} - \hat{V}_1 q_{1}",
}  # fmt: skip


@pytest.mark.parametrize("formula", WRITTEN, ids=lambda formula: WRITTEN[formula])
def test_a_formula_is_written_in_the_order_of_a_person(formula: sp.Expr) -> None:
    assert latex(formula) == WRITTEN[formula]


def test_no_sum_leads_with_a_minus_where_it_has_a_plus() -> None:
    for total in (x - y, y - x, -x * y + 1, sp.sqrt(x) - 1, -Expectation(sigma(s.z), s.z) + s.h1, x - x**2 - y):
        assert not latex(total).startswith("-"), total
    assert latex(-x) == "-x"
    assert latex(-sp.Rational(1, 2)) == r"-\frac{1}{2}"


def test_the_order_changes_no_value() -> None:
    total = (x - y) ** 3 * (-x - y) * sp.sqrt(2) * sp.sqrt(s.c) / 6 - 2 * x / (y - x) - s.ridge * x**2
    at = {x: sp.Rational(3, 7), y: sp.Rational(-5, 3), s.c: 2, s.ridge: sp.Rational(1, 9)}
    for leads in (True, False):
        found = sp.Integer(0)
        for term in terms(total):
            negative, number, factors = signed(term, leads)
            found += (-1 if negative else 1) * number * sp.Mul(*factors)
        assert sp.simplify((found - total).subs(at)) == 0


def test_operators_of_the_kernel_are_sums_and_products() -> None:
    n = sp.Symbol("n")
    assert latex(repeated(n, x) * n) == r"n \sum_{i=1}^{n} x"
    assert latex(repeated(n, x - repeated(n - 1, y))) == r"\sum_{j=1}^{n} \left(x - \sum_{i=1}^{n - 1} y\right)"
    assert latex(repeated(n * (n - 1), x + y)) == r"n \left(n - 1\right) \left(y + x\right)"
    assert latex(repeated(n, x) ** 2) == r"\left(\sum_{i=1}^{n} x\right)^{2}"
    assert latex(product_of(n, x)) == r"\prod_{i=1}^{n} x"
    assert latex(over_replicas(n, x, y)).startswith(r"\sum_{i,j=1}^{n} \begin{cases} x & \text{for}\: i = j")


# What is a name of mathematics: the words that no formula has to avoid.
_ARGUMENTS = {"repeated": 2, "product": 2, "of the network": 1, "naturals below": 1}
_MATHEMATICS = {"sgn", "Cov", "prox", "extr", "card", "net", "cases", "for"}


def kernel_functions() -> Iterator[UndefinedFunction]:
    """All functions without a formula that modules of derivations name, with their derivatives."""
    for found in pkgutil.walk_packages(giantsteps.derivations.__path__, "giantsteps.derivations."):
        for value in vars(importlib.import_module(found.name)).values():
            several = value if isinstance(value, tuple | list) else [value]
            yield from (one for one in several if isinstance(one, UndefinedFunction))


def test_no_function_of_the_kernel_is_written_by_its_name() -> None:
    seen = set()
    for function in kernel_functions():
        count = _ARGUMENTS.get(function.__name__, 3)
        shown = latex(function(*sp.symbols("x_1:4")[:count]))
        words = set(re.findall(r"[A-Za-z]{3,}", re.sub(r"\\[A-Za-z]+", " ", shown)))
        assert words <= _MATHEMATICS, (function.__name__, shown)
        seen.add(function.__name__)
    assert {"repeated", "sum over replicas", "trace exponent", "(trace exponent)'"} <= seen
