"""Hermite series at symbolic order: the inductions hold, wrong formulas and wrong rules fall."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.equivalence import hermite_orders
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.equivalence.hermite_orders import coefficient, index
from giantsteps.derivations.language.derivation import Vanishing
from giantsteps.verify.checks.checker import settle
from giantsteps.verify.claims.equivalence import hermite_orders as claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Domain
from giantsteps.verify.protocol.evidence import Outcome


def refuted(obligations: tuple[Vanishing, ...], domain: Domain) -> list[str]:
    return [o.says for o in obligations if settle(o, domain, PAPER.growing).outcome is Outcome.REFUTES]


def test_an_induction_says_where_a_formula_fails() -> None:
    right = sp.factorial(s.level) * s.overlap**s.level
    assert refuted(hermite_orders.power_induction(right, s.overlap), Domain()) == []
    assert refuted(hermite_orders.power_induction(right + 1, s.overlap), Domain()) == [
        "order zero",
        "from order k to k + 1",
    ]


def test_sums_are_unrolled_by_their_last_term() -> None:
    total = sp.Sum(index * coefficient(index) ** 2, (index, 2, s.series_degree))
    gained = hermite_orders.unrolled(3 * total + s.series_degree) - (3 * total + s.series_degree + 1)
    last = s.series_degree + 1
    assert sp.expand(gained - 3 * last * coefficient(last) ** 2) == 0


def test_a_sum_with_one_term_too_few_is_refuted_by_its_first_value() -> None:
    formula = s.h2 - sp.Sum(coefficient(index) ** 2, (index, 1, s.series_degree))
    domain = claims.PARSEVAL.domain
    base = s.h2 - coefficient(0) ** 2
    gained = -(coefficient(s.series_degree + 1) ** 2)
    assert refuted(hermite_orders.degree_induction(formula, 0, base, gained), domain) == ["at N = 0"]
