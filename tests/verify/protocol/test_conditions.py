"""Theorems that hold under conditions, and claims on domains where these hold, fail, or are not decided."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import assume, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Domain, Range
from giantsteps.verify.protocol.conditions import Holding, holding
from giantsteps.verify.protocol.evidence import Outcome, Proof
from tests.shared.toy import claim

x, y, z, a, q = sp.symbols("x y z a q", real=True)
t = sp.Symbol("t", real=True)
ONE = sp.Integer(1)


def over(low: float, high: float, *more: Range) -> Domain:
    return Domain((Range(x, low, high), *more))


def quotient() -> Theorem:
    """q = x + 1 for q := a/x and a := x^2 + x, which is so where x is not zero."""
    parts = define(q, a / x, "a quotient"), define(a, x**2 + x, "what is divided")
    return ring(parts, Equation(q, x + 1), (ONE, 1 / x))


def proof(theorem: Theorem, domain: Domain) -> Proof:
    """What a claim says that states the theorem on a domain, by a derivation."""
    statement = theorem.statement
    derivation = Derivation("a quotient", "toy", proved("by algebra", theorem), results={q: statement.right})
    stated = claim(statement=sp.Eq(q, statement.right), domain=domain)
    return ByDerivation(lambda: derivation).run(stated, PROFILES["quick"], PAPER)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (-0.3, 1.7)])
def test_a_theorem_for_all_but_zero_proves_nothing_of_a_domain_with_zero(low: float, high: float) -> None:
    found = proof(quotient(), over(low, high))
    assert found.outcome is Outcome.UNDECIDED
    assert found.theorem is None
    assert "its domain is not all $x \\neq 0$" in found.summary


def test_it_proves_it_of_one_without_zero() -> None:
    for domain in (over(0.1, 1.0), over(-2.0, -1.0)):
        found = proof(quotient(), domain)
        assert found.outcome is Outcome.SUPPORTS
        assert found.theorem is not None
        assert found.hypotheses == ()


def test_what_is_not_decided_is_assumed() -> None:
    found = proof(quotient(), Domain())
    assert found.outcome is Outcome.SUPPORTS
    assert found.hypotheses == ("$x \\neq 0$ (a condition of a theorem)",)


def test_a_theorem_of_an_inequality_is_compared_with_its_domain_as_well() -> None:
    def build(statement: object) -> Theorem:
        root = Equation(sp.sqrt(x) * (sp.sqrt(x) + 1), x + sp.sqrt(x))
        return ring((), root)

    stated = sp.Eq(sp.sqrt(x) * (sp.sqrt(x) + 1), x + sp.sqrt(x), evaluate=False)
    for domain, outcome in ((over(-1.0, 1.0), Outcome.UNDECIDED), (over(0.0, 1.0), Outcome.SUPPORTS)):
        found = ByTheorem("a root", build).run(claim(statement=stated, domain=domain), PROFILES["quick"], PAPER)
        assert found.outcome is outcome


def conditioned(*terms: sp.Expr) -> Theorem:
    """A theorem that holds where terms are not zero."""
    left = sp.Add(*(1 / term for term in terms))
    return assume((), Assumption(Ground.LEMMA, "for a test", Equation(left, a), "none"))


def test_conditions_are_read_by_ranges_and_by_meanings() -> None:
    box = over(0.2, 0.8, Range(y, -0.7, 0.7))
    assert holding((conditioned(1 - y**2),), box) == holding((conditioned(x - 1),), box) == holding((), box)
    # x y - 1/5 has a zero in the box, though at none of its corners, and 1 - x y has none
    assert holding((conditioned(x * y - sp.Rational(1, 5)),), box).failing
    assert not holding((conditioned(1 - x * y),), box).failing + holding((conditioned(1 - x * y),), box).open
    # a name is what it is defined to be
    named = ring((define(a, x + 1, ""), conditioned(a)), Equation(a + 1 / a, x + 1 + a), (ONE, ONE))
    assert holding((named,), over(-0.5, 1.0)) == holding((), box)
    assert holding((named,), over(-2.0, 1.0)).failing == ("$a \\neq 0$",)


def test_where_averages_exist_is_compared_with_the_domain() -> None:
    """2 E[exp(x z^2)] = E[2 exp(x z^2)] for x below a half."""
    weight = sp.exp(x * z**2)
    theorem = linear((), Expectation(2 * weight, z), ((sp.Integer(2), weight),))
    assert holding((theorem,), over(-1.0, 0.4)) == Holding()
    assert holding((theorem,), over(-1.0, 0.6)).failing == ("$\\frac{1}{2} - x > 0$",)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.1, 1.0), (-1.0, -0.1)])
def test_a_range_gives_its_symbol_a_sign(low: float, high: float) -> None:
    # No ball is known of averages of an unknown function: the range of x gives the sum its sign, or nothing does.
    term = sp.sign(low + high) * x * Expectation(g(t) ** 2, t) + Expectation(g(t) ** 4, t)
    theorem = assume((), Assumption(Ground.LEMMA, "for a test", AtLeast(sp.sqrt(term), a), "none"))
    assert holding((theorem,), over(low, high)) == holding((), over(low, high))
    assert holding((theorem,), over(-1.0, 1.0)).open


def test_what_numbers_do_not_say_is_left_open() -> None:
    average = Expectation(g(t) ** 2, t)
    assert holding((conditioned(average),), over(0.0, 1.0)).open == (
        "$\\mathbb{E}_{t}\\left[g^{2}(t)\\right] \\neq 0$ (a condition of a theorem)",
    )
    # a double zero inside the domain is seen neither as a change of sign nor at a corner
    assert holding((conditioned(x**2 - sp.sqrt(2) * x + ONE / 2),), over(0.0, 1.0)).open


def test_a_root_needs_what_is_under_it_to_be_nowhere_negative() -> None:
    assumed = Assumption(Ground.LEMMA, "for a test", AtLeast(sp.sqrt(1 - x**2), a), "none")
    theorem = assume((), assumed)
    assert holding((theorem,), over(-1.5, 0.0)).failing == ("$1 - x^{2} \\geq 0$",)
    for low, high in ((-0.5, 0.5), (-0.99, 0.9), (0.2, 0.99)):
        assert holding((theorem,), over(low, high)) == Holding()
    # It is zero at an end, which no ball around the values near it shows to be nowhere negative.
    assert holding((theorem,), over(0.0, 1.0)).open == ("$1 - x^{2} \\geq 0$ (a condition of a theorem)",)
