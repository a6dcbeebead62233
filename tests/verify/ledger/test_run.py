"""The ledger: order, dependencies, hypotheses, weakest links, exit codes, seeds and drift, on toy claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import h1_star
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import dumps
from giantsteps.verify.ledger.drift import drift
from giantsteps.verify.ledger.run import Beside, Entry, Ledger, run
from giantsteps.verify.protocol.claim import PROFILES, Claim, Kind, Role
from giantsteps.verify.protocol.evidence import OF_A_THEOREM, Assumed, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.order import LedgerError
from giantsteps.verify.protocol.power import MutantResult
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import LIMIT, TOLERANCE, claim, measure, norm, stating

NUMBERS = claim().checks[1:]


def wrong(id_: str = "toy.wrong", **changes: object) -> Claim:
    return claim(id=id_, statement=sp.Eq(norm, LIMIT - 2 * h1_star**2), **changes)


def found(monkeypatch: pytest.MonkeyPatch, *claims: Claim, ids: list[str] | None = None, **how: Any) -> Ledger:
    """The ledger of a paper of these claims."""
    return run(stating(monkeypatch, toy=claims), "quick", ids, **how)


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ([claim()], 0),
        ([claim(), wrong()], 1),
        ([claim(), wrong(role=Role.PRINTED)], 0),  # a finding
        ([claim(checks=(), statement=sp.Le(norm, LIMIT))], 3),
        ([claim(id="toy.definition", kind=Kind.DEFINITION, checks=())], 0),
    ],
)
def test_the_exit_code_is_of_our_claims_alone(claims: list[Claim], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, *claims).exit_code() == code


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("verdict", Verdict)
def test_a_mutant_that_lives_fails_and_what_was_undecided_before_does_not(role: Role, verdict: Verdict) -> None:
    survivor = MutantResult("a sign", sp.Eq(norm, 1), Verdict.CONFIRMED, ())
    entry = Entry(claim(role=role), verdict, (), (survivor,), verdict, ())
    assert Ledger("quick", (entry,)).exit_code() == 1
    committed = {"claims": [{"id": "toy.limit", "verdict": verdict.value}]}
    alone = Ledger("quick", (replace(entry, mutants=()),))
    assert alone.exit_code(committed) == (1 if (role, verdict) == (Role.OURS, Verdict.REFUTED) else 0)


def test_with_a_seed_points_are_drawn_afresh_and_the_ledger_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (ByNumbers, BySearch):
        drawn: list[list[Point]] = []
        for seed in (0, 7, 7, 8):
            seen: list[Point] = []

            def measured(point: Point, seen: list[Point] = seen) -> Mapping[str, float]:
                seen.append(dict(point))
                return measure(point)

            kind("drawn", measured, TOLERANCE).run(claim(), replace(PROFILES["quick"], seed=seed), PAPER)
            drawn.append(seen)
        committed, first, again, other = drawn
        assert first == again
        assert committed != first != other
    documents = [json.loads(dumps(found(monkeypatch, claim(), seed=seed))) for seed in (0, 7)]
    assert [document["provenance"].get("seed") for document in documents] == [None, 7]
    assert drift(*documents) != []


@dataclass(frozen=True)
class Resting:
    """A check whose theorem has hypotheses, and assumes the claim ``on``."""

    on: str
    hypotheses: tuple[str, ...] = ()
    name: str = "a theorem"

    def run(self, *_: object) -> Proof:
        made = Made((Assumed("a name", "hypothesis", "x = 1", self.on),), ())
        return Proof(self.name, (Settled("said", Outcome.SUPPORTS, ""),), True, self.hypotheses, theorem=made)


def resting(id_: str, on: str, *hypotheses: str, **changes: object) -> Claim:
    return claim(id=id_, checks=(Resting(on, hypotheses),), mutants=(), **changes)


@pytest.mark.parametrize("workers", [0, 2])
def test_hypotheses_and_the_weakest_link_travel_through_all_that_is_beneath(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = replace(claim().domain, hypotheses=("of the domain",))
    condition = f"$x > 0$ {OF_A_THEOREM}"
    paper = stating(
        monkeypatch,
        one=[resting("toy.top", "toy.middle", "its own", condition, domain=domain), claim(id="toy.beside")],
        two=[
            resting("toy.middle", "toy.ground", "of the middle", condition.replace("x", "y")),
            claim(id="toy.ground", checks=NUMBERS, uses=("toy.definition",)),
            claim(id="toy.definition", kind=Kind.DEFINITION, checks=()),
        ],
    )
    executor = ThreadPoolExecutor(workers) if workers else None
    beside = Beside(lambda module, examined, _: (module, sorted(examined)))
    entries = {e.claim.id: e for e in run(paper, "quick", ["toy.top"], executor, beside=beside).entries}
    assert list(entries) == ["toy.definition", "toy.ground", "toy.middle", "toy.top"]
    assert entries["toy.top"].claim.uses == ("toy.middle",)
    # A condition of a theorem is about the domain of its own claim; a definition weakens nothing.
    assert entries["toy.top"].hypotheses == ("of the domain", "its own", condition, "of the middle")
    assert [(e.verdict, e.weakest) for e in entries.values()][1:] == [
        (Verdict.CONFIRMED, Verdict.CONFIRMED),
        (Verdict.PROVED, Verdict.CONFIRMED),
        (Verdict.PROVED, Verdict.CONFIRMED),
    ]
    assert beside.answers == {"one": ("one", ["toy.top"]), "two": ("two", ["toy.definition", "toy.ground"])}


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([claim(id=id_) for id_ in "bacab"], r"share an id: a, b$"),
        ([claim(uses=("toy.nothing",))], r"toy.limit rests on toy\.nothing, which is no claim"),
        ([claim(id="a", uses=("b",)), claim(id="b", uses=("a",))], "rest on each other: a -> b -> a"),
    ],
)
def test_malformed_ledgers_are_refused(claims: list[Claim], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LedgerError, match=message):
        found(monkeypatch, *claims)


def test_an_unknown_claim_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LedgerError, match=r"toy\.other"):
        found(monkeypatch, claim(), ids=["toy.other"])


def test_the_same_run_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (dumps(found(monkeypatch, claim(), wrong(role=Role.PRINTED))) for _ in range(2))
    assert first == second
