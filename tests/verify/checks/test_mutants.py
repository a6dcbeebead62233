"""Mutants: generated deterministically, never equivalent to the claim, and refuted by the checks of the claim."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import V1, V2, alpha, alpha0, beta, c, h1_star, h2_star, kappa
from giantsteps.verify.checks.evaluate import Place
from giantsteps.verify.checks.mutants import equivalent, generate, generic_mutants, mutants_of
from giantsteps.verify.claims.index import examine
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Mutant
from giantsteps.verify.protocol.tolerances import Tolerance
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import LIMIT, claim, norm


def test_each_sort_of_slip_is_generated_once() -> None:
    names = [m.name for m in generate(sp.Eq(norm, LIMIT), PAPER.siblings)]
    assert names[:4] == ["eight per cent more", "sign of a term", "factor dropped", "square lost"]
    assert len(set(names)) == len(names)


def test_lost_roots_and_siblings() -> None:
    statement = sp.Eq(kappa, V1 * sp.sqrt(c))
    mutants = {m.name: m.statement.rhs for m in generate(statement, PAPER.siblings)}
    assert mutants["root lost"] == V1 * c
    assert mutants["V_2 for V_1"] == V2 * sp.sqrt(c)


def test_equivalent_mutants_are_dropped() -> None:
    same = Mutant("factored", sp.Eq(norm, (alpha0 * h1_star**2 + h2_star) / alpha0))
    assert equivalent(same.statement, sp.Eq(norm, LIMIT))
    assert same.name not in {m.name for m in mutants_of(claim(mutants=(same,)), PAPER.siblings)}


def test_all_mutants_of_the_toy_claim_are_refuted() -> None:
    verdict, _, mutants, _ = examine(claim(), "quick")
    assert verdict is Verdict.PROVED
    assert len(mutants) >= 4
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_a_check_that_cannot_fail_leaves_its_mutants_alive() -> None:
    # A tolerance of 100 % passes the claim and every mutant near it: the ledger must show the survivors.
    from giantsteps.verify.checks.points import ByNumbers
    from tests.shared.toy import measure

    blind = claim(checks=(ByNumbers("blind", measure, Tolerance(1.0, "blind on purpose")),))
    _, _, mutants, _ = examine(blind, "quick")
    assert any(m.verdict is not Verdict.REFUTED for m in mutants)


def test_the_sign_of_a_normal_variable_is_no_mutation() -> None:
    f, z = sp.Function("f"), sp.Symbol("z", real=True)
    right, left = Expectation(f(kappa + c * z), z), sp.Symbol("m", real=True)
    assert equivalent(sp.Eq(left, right), sp.Eq(left, Expectation(f(kappa - c * z), z)))
    assert not equivalent(sp.Eq(left, right), sp.Eq(left, Expectation(f(c * z - kappa), z)))


def generic(right: sp.Expr, *places: Place) -> dict[str, sp.Expr]:
    found = generic_mutants(claim(statement=sp.Eq(norm, right)), places, PAPER)
    assert {m.statement.lhs for m in found} <= {norm}
    return {m.name: m.statement.rhs for m in found}


def at(**values: float) -> Place:
    names = {"h1": h1_star.name, "h2": h2_star.name, "alpha0": alpha0.name}
    return Place({names.get(name, name): value for name, value in values.items()})


def test_which_term_is_smallest_is_judged_where_the_claim_is_tested() -> None:
    first, second = h1_star**2, h2_star / alpha0
    for place, small, large in (
        (at(h1=0.3, h2=1.0, alpha0=2.0), first, second),
        (at(h1=0.9, h2=1.0, alpha0=9.0), second, first),
    ):
        found = generic(LIMIT, place)
        assert found == {
            "five per cent more": sp.Rational(21, 20) * LIMIT,
            "the smallest term dropped": large,
            "sign of the smallest term": large - small,
        }


def test_a_term_that_vanishes_where_the_claim_is_tested_is_the_smallest() -> None:
    # h1* lies between 0.2 and 0.9 on the domain: numbers at h1* = 0 would pass the claim without it.
    found = generic(LIMIT, at(h1=0.0, h2=1.0, alpha0=2.0), at(h1=0.0, h2=1.0, alpha0=3.0))
    assert found["the smallest term dropped"] == h2_star / alpha0
    assert found["sign of the smallest term"] == h2_star / alpha0 - h1_star**2


def test_what_is_nowhere_wrong_is_no_mutant() -> None:
    nothing = sp.Integer(0)
    assert generic(nothing, at(h1=0.5)) == {}
    assert set(generic(h1_star**2, at(h1=0.1))) == {"five per cent more"}
    assert generic(LIMIT) == {}
    # What has no value where the claim is tested cannot be tried.
    assert generic(1 / (h1_star - h2_star), at(h1=0.0, h2=0.5))["the smallest term dropped"] == -1 / h2_star
    assert generic_mutants(claim(statement=sp.Le(norm, LIMIT)), [at(h1=0.5, h2=1.0, alpha0=2.0)], PAPER) == ()


def test_of_equations_stated_together_one_is_changed_at_a_time() -> None:
    other = sp.Eq(kappa, h2_star)
    both = claim(statement=sp.And(sp.Eq(norm, LIMIT), other, evaluate=False))
    found = generic_mutants(both, [at(h1=0.5, h2=1.0, alpha0=2.0)], PAPER)
    changed = [(set(m.statement.args) - set(both.statement.args)) for m in found]
    assert all(len(one) == 1 for one in changed)
    assert {one.lhs for (one,) in changed} == {norm, kappa}
    assert sorted(m.name.split(",")[0] for m in found) == sorted(
        ["five per cent more", "the smallest term dropped", "sign of the smallest term", "five per cent more"]
    )


def test_of_an_exponent_the_next_order_is_asked_for() -> None:
    where = [Place({h1_star.name: 0.5}, exponent=True)]
    found = generic_mutants(claim(statement=sp.Eq(norm, sp.Rational(1, 2) - h1_star)), where, PAPER)
    assert found[0].name == "a tenth more"
    assert found[0].statement.rhs == sp.Rational(3, 5) - h1_star
    assert "five per cent more" not in {m.name for m in found}


def test_the_bound_of_an_inequality_is_moved_past_the_nearest_value() -> None:
    places = [at(N=1.3, h1=0.5, h2=1.0, alpha0=1.0), at(N=0.76, h1=0.5, h2=1.0, alpha0=2.0)]  # bounds 1.25 and 0.75
    below = [at(N=1.2, h1=0.5, h2=1.0, alpha0=1.0), at(N=0.74, h1=0.5, h2=1.0, alpha0=2.0)]
    for statement, where, nearest in (
        (sp.Ge(norm, LIMIT), places, 0.01 + 0.05 * 0.76),
        (sp.Le(norm, LIMIT), below, -0.01 - 0.05 * 0.75),
    ):
        turned, moved = generic_mutants(claim(statement=statement), where, PAPER)
        assert turned.statement == (sp.Le if statement.func is sp.Ge else sp.Ge)(norm, LIMIT)
        assert moved.statement.func is statement.func
        assert float(moved.statement.rhs - LIMIT) == pytest.approx(nearest)
    # An equality at every place is not turned, and its bound moves by five per cent.
    (moved,) = generic_mutants(claim(statement=sp.Ge(norm, LIMIT)), [at(N=1.25, h1=0.5, h2=1.0, alpha0=1.0)], PAPER)
    assert float(moved.statement.rhs - LIMIT) == pytest.approx(0.0625)


def test_the_terms_of_an_average_are_those_of_what_is_averaged() -> None:
    z = sp.Symbol("z", real=True)
    averaged = 1 + 3 * Expectation(z**2 + h1_star * z**4, z)
    found = generic(averaged, at(h1=0.1))
    assert found["the smallest term dropped"] == 1 + 3 * Expectation(z**2, z)
    assert found["sign of the smallest term"] == 1 + 3 * Expectation(z**2 - h1_star * z**4, z)
    below = generic(1 / (h1_star + 1), at(h1=0.1))
    assert below["the smallest term dropped"] == 1


def test_one_ratio_is_written_for_another_where_both_occur() -> None:
    name = f"{alpha} for {beta}"
    assert generic(alpha * beta**2, at(alpha=2.0, beta=3.0))[name] == alpha**3
    # Tested at equal ratios alone it is a mutant still, which the test would pass.
    assert name in generic(alpha * beta**2, at(alpha=2.0, beta=2.0))
    assert name not in generic(beta**2, at(alpha=2.0, beta=3.0))


def test_a_function_along_the_spike_is_replaced_by_its_mean() -> None:
    name = "a function replaced by its mean"
    mu, nu = sp.Function("mu"), sp.Function("nu")
    product = Expectation(mu(kappa) * nu(kappa) ** 2, kappa)
    functions = {"mu": lambda x: 2.0 + 0 * x, "nu": lambda x: x}
    # The first that is not constant; where all are, or where the statement is linear in it, there is none.
    found = generic(product, Place({}, functions))
    assert found[name] == Expectation(mu(kappa) * Expectation(nu(kappa), kappa) ** 2, kappa)
    assert name not in generic(product, Place({}, functions | {"nu": lambda x: 1.0 + 0 * x}))
    assert name not in generic(Expectation(mu(kappa), kappa), Place({}, functions | {"mu": lambda x: x**2}))
