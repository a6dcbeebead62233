"""Records of the protocol whose fields all differ: what each sentence, outcome, score and refusal is made of."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
import sympy as sp

from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol import order
from giantsteps.verify.protocol.claim import PROFILES, Claim, Kind, Mutant, Profile, Role
from giantsteps.verify.protocol.evidence import (
    Agreement,
    Certificate,
    Evidence,
    FiniteSize,
    Made,
    Outcome,
    Proof,
    Settled,
)
from giantsteps.verify.protocol.order import LedgerError, collected, ordered
from giantsteps.verify.protocol.paper import PaperError
from giantsteps.verify.protocol.power import MutantResult, Power, power, weighed
from giantsteps.verify.protocol.statement import claim as stated
from giantsteps.verify.protocol.statement import eq, ge, slips
from giantsteps.verify.protocol.verdict import Verdict, weakest
from tests.shared.toy import claim, norm

SUPPORTS, REFUTES, UNDECIDED = Outcome
INF, NAN = float("inf"), float("nan")


def settled(says: str, outcome: Outcome) -> Settled:
    return Settled(says, outcome, f"how {says}", f"where {says}")


def agreement(points: int, worst: float, asked: int) -> Agreement:
    return Agreement("numbers", points, worst, 1e-3, "there", "why", asked, 0.2)


# ---- sentences and outcomes ----

A, B, C, D = settled("a", SUPPORTS), settled("b", UNDECIDED), settled("c", REFUTES), settled("d", SUPPORTS)


@pytest.mark.parametrize(
    ("evidence", "outcome", "summary"),
    [
        (Proof("p", ()), UNDECIDED, "no obligations, hence no proof"),
        (Proof("p", (A,)), SUPPORTS, "1 obligation discharged"),
        (Proof("p", (A, D)), SUPPORTS, "2 obligations discharged"),
        (Proof("p", (A, B, D)), UNDECIDED, "open: b (how b)"),
        (Proof("p", (A, B, C)), REFUTES, "fails: c; witness where c"),
        (agreement(9, 2e-4, 10), SUPPORTS, "holds at 9 points to 1e-03"),
        # Four in five of the points have to be usable, and so many are enough.
        (agreement(8, 1e-3, 10), SUPPORTS, "holds at 8 points to 1e-03"),
        (agreement(7, 2e-4, 10), UNDECIDED, "7 of 10 points could be used, the last there"),
        (agreement(0, 0.0, 0), UNDECIDED, "0 of 0 points could be used, the last there"),
        (agreement(12, INF, 10), UNDECIDED, "12 of 12 points could be used, the last there"),
        (agreement(9, NAN, 10), UNDECIDED, "9 of 10 points could be used, the last there"),
        (agreement(2, 2e-3, 10), REFUTES, "violated by 0.002 (allowed 1e-03) at there"),
        (Certificate("c", 3, 2e-8, 1e-7), SUPPORTS, "3 points, none wider than 1e-07"),
        (Certificate("c", 3, 1e-7, 1e-7), SUPPORTS, "3 points, none wider than 1e-07"),
        (Certificate("c", 3, 2e-7, 1e-7), UNDECIDED, ""),
        (Certificate("c", 0, 0.0, 1e-7), UNDECIDED, ""),
        (Certificate("c", 3, 2e-8, 1e-7, "there"), REFUTES, "there"),
        (FiniteSize("s", 9, -2.5, 3.29, 0.05, UNDECIDED, "a sentence"), UNDECIDED, "a sentence"),
    ],
)
def test_each_piece_decides_and_says_why_by_its_own_numbers(evidence: Evidence, outcome: Outcome, summary: str) -> None:
    assert evidence.outcome is outcome
    assert summary in evidence.summary


def test_the_steps_that_no_rule_made_are_those_that_are_named_or_all() -> None:
    assert Proof("p", (A, D, A)).without_rule == ("a", "d")
    assert Proof("p", (A, D), unmade=("d",)).without_rule == ("d",)
    assert Proof("p", (A, D), theorem=Made((), ()), unmade=("d",)).without_rule == ()


@pytest.mark.parametrize(("one", "other"), list(permutations(Verdict, 2)))
def test_a_chain_is_as_strong_as_its_weakest_link(one: Verdict, other: Verdict) -> None:
    strength = list(Verdict)
    assert weakest([one, other, Verdict.PROVED]) is max(one, other, key=strength.index)


# ---- scores ----


def tried(number: int, *caught_by: str, written: bool = False) -> MutantResult:
    return MutantResult(f"m{number}", sp.Eq(norm, number), Verdict.REFUTED, caught_by, written)


def test_a_check_that_suffices_is_taken_before_one_that_catches_more() -> None:
    # "most" catches nine of ten and not the one that was written; "enough" eight, and that one.
    mutants = [tried(0, "enough", written=True), tried(1, "most"), tried(2, "most")]
    mutants += [tried(k, "most", "enough") for k in range(3, 10)]
    for names in (["most", "enough"], ["enough", "most"]):
        found = power(names, mutants)
        assert found is not None
        assert (found.earned_by, found.caught_alone, found.missed, found.written) == ("enough", 8, ("m1", "m2"), ())
    alone = power(["most"], mutants)
    assert alone is not None
    assert (alone.caught_alone, alone.missed, alone.written, alone.enough) == (9, ("m0",), ("m0",), False)
    assert power([], mutants) is None


def test_own_and_generic_are_counted_by_what_the_check_itself_caught() -> None:
    own = [tried(0, "a"), tried(1, "b"), tried(2, "a", "b")]
    generic = [tried(3, "b"), tried(4, "a"), tried(5), tried(6, "a")]
    found = power(["a"], own, generic)
    assert found is not None
    assert (found.of, found.own, found.of_generic) == (7, (2, 3), (2, 4))
    assert (found.missed, found.generic) == (("m1", "m3", "m5"), tuple(generic))


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize(
    ("found", "holds"),
    [(None, False), (Power("a", 4, ("m",)), True), (Power("a", 3, ("m",)), False), (Power("a", 0, ()), False),
     (Power("a", 9, ("m",), (), ("m",)), False), (Power("a", 8, ("g",), (tried(1),)), False)],
)  # fmt: skip
def test_only_what_numbers_earn_is_weighed(verdict: Verdict, found: Power | None, holds: bool) -> None:
    by_numbers = verdict in (Verdict.CONFIRMED, Verdict.DERIVED)
    assert weighed(verdict, found) is (Verdict.INCONCLUSIVE if by_numbers and not holds else verdict)


# ---- claims, papers and their order ----


@pytest.mark.parametrize("kind", Kind)
def test_a_mutant_is_the_same_claim_of_another_statement(kind: Kind) -> None:
    one = claim(kind=kind, role=Role.PRINTED, uses=("a",), mutants=(Mutant("m", sp.Eq(norm, 1)),), note="noted")
    found = one.mutated(Mutant("a sign", sp.Eq(norm, 2)))
    assert (found.id, found.statement, found.mutants) == ("toy.limit~a sign", sp.Eq(norm, 2), ())
    # That a source has another convention is no excuse for a slip of the pen.
    assert found.kind is (Kind.IDENTITY if kind is Kind.CONVENTION else kind)
    kept = ("title", "source", "domain", "checks", "uses", "role", "note", "correction")
    assert all(getattr(found, name) is getattr(one, name) for name in kept)


@pytest.mark.parametrize("name", PROFILES)
def test_draws_are_as_many_as_seeds_ask_for_and_apart_from_those_of_another_seed(name: str) -> None:
    profile: Profile = PROFILES[name]
    committed, fresh = profile.draws(7), replace(profile, seed=1).draws(7)
    assert list(committed) == list(range(7 * profile.seeds))
    assert len(fresh) == len(committed)
    assert not set(fresh) & set(profile.draws(10**4))


def test_a_slip_keeps_the_relation_and_its_left_side_and_is_not_worked_out() -> None:
    x = sp.Symbol("x", positive=True)
    inequality, whole = slips(ge(x, 1), {"a": x, "b": eq(x, 2)})
    assert (type(inequality.statement), inequality.statement.args) == (sp.GreaterThan, (x, x))
    assert whole.statement == eq(x, 2)
    with pytest.raises(ValueError, match="'c' says what the claim says"):
        slips(eq(x, 1), {"b": 2, "c": 1})
    with pytest.raises(TypeError, match="no right-hand side"):
        slips(sp.And(eq(x, 1), eq(x, 2), evaluate=False), {"a": sp.S(2)})
    one = claim()
    for statement, kind in ((eq(x, 1), Kind.IDENTITY), (ge(x, 1), Kind.INEQUALITY), (sp.Ne(x, 1), Kind.IDENTITY)):
        assert stated("i", "t", one.source, statement, one.domain).kind is kind
    assert stated("i", "t", one.source, ge(x, 1), one.domain, kind=Kind.LIMIT).kind is Kind.LIMIT


def test_a_printed_claim_is_on_one_list_once() -> None:
    for twice in (PAPER.errata[0], PAPER.conventions[0]):
        with pytest.raises(PaperError, match=f"errata on printed claims of one name: {twice.printed}"):
            replace(PAPER, conventions=(*PAPER.conventions, replace(twice, id="another")))


def resting(id_: str, *uses: str) -> Claim:
    return claim(id=id_, uses=uses)


def modules_of(monkeypatch: pytest.MonkeyPatch, **stated_by: Any) -> list[str]:
    monkeypatch.setattr(order, "claims_of", lambda module: stated_by[module])
    return list(stated_by)


def test_each_claim_comes_after_all_that_it_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [resting("d", "b", "c"), resting("a"), resting("c", "a"), resting("b", "a", "c")]
    assert [one.id for one in ordered(claims)] == ["a", "c", "b", "d"]
    names = modules_of(monkeypatch, one=claims[:2], two=claims[2:])
    assert list(collected(names)) == claims
    # What is rested on and not among them is left out of account there, and refused where all are collected.
    assert [one.id for one in ordered(claims[:1])] == ["d"]
    with pytest.raises(LedgerError, match="d rests on b, which is no claim"):
        collected(names[:1])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whatever_a_claim_rests_on_has_to_be_there(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uses = ["b", "b", "b"]
    uses[place] = "gone"
    names = modules_of(monkeypatch, one=[resting("a"), resting("b"), resting("c", *uses)])
    with pytest.raises(LedgerError, match="c rests on gone, which is no claim"):
        collected(names)


def test_all_ids_that_are_shared_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    names = modules_of(monkeypatch, one=[resting("b"), resting("a"), resting("c")], two=[resting("b"), resting("a")])
    with pytest.raises(LedgerError, match=r"share an id: a, b$"):
        collected(names)
