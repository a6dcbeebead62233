"""Mutants: generated deterministically, never equivalent to the claim, and refuted by the checks of the claim."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.symbols import V1, V2, alpha0, c, h1_star, h2_star, kappa
from onestep.verify.checks.mutants import equivalent, generate, mutants_of
from onestep.verify.claims.index import examine
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.claim import Mutant
from onestep.verify.protocol.verdict import Verdict
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
    verdict, _, mutants = examine(claim(), "quick")
    assert verdict is Verdict.PROVED
    assert len(mutants) >= 4
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_numbers_alone_refute_the_near_mutant_too() -> None:
    only_numbers = claim(checks=claim().checks[1:])
    verdict, _, mutants = examine(only_numbers, "quick")
    assert verdict is Verdict.CONFIRMED
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_a_check_that_cannot_fail_leaves_its_mutants_alive() -> None:
    # A tolerance of 100 % passes the claim and every mutant near it: the ledger must show the survivors.
    from onestep.verify.checks.kinds import ByNumbers
    from onestep.verify.protocol.tolerances import Tolerance
    from tests.shared.toy import measure

    blind = claim(checks=(ByNumbers("blind", measure, Tolerance(1.0, "blind on purpose")),))
    _, _, mutants = examine(blind, "quick")
    assert any(m.verdict is not Verdict.REFUTED for m in mutants)


def test_the_sign_of_a_normal_variable_is_no_mutation() -> None:
    f, z = sp.Function("f"), sp.Symbol("z", real=True)
    right, left = Expectation(f(kappa + c * z), z), sp.Symbol("m", real=True)
    assert equivalent(sp.Eq(left, right), sp.Eq(left, Expectation(f(kappa - c * z), z)))
    assert not equivalent(sp.Eq(left, right), sp.Eq(left, Expectation(f(c * z - kappa), z)))
