"""The ledger: order, dependencies, weakest links, exit codes, determinism and drift, on toy claims."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
import sympy as sp

from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.symbols import h1_star
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point, _measured
from giantsteps.verify.claims import index
from giantsteps.verify.claims.index import all_claims, run_ledger
from giantsteps.verify.ledger import run
from giantsteps.verify.ledger.document import dumps
from giantsteps.verify.ledger.drift import drift
from giantsteps.verify.ledger.run import Beside
from giantsteps.verify.protocol import order
from giantsteps.verify.protocol.claim import PROFILES, Claim, Kind, Role
from giantsteps.verify.protocol.evidence import Leaf, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.order import LedgerError
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import LIMIT, TOLERANCE, claim, measure, norm


def test_a_ledger_is_of_the_committed_draws_unless_it_says_so() -> None:
    assert run.Ledger("quick", ()).seed == 0


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> list[Claim]:
    """A ledger whose only module states the claims of this list."""
    claims: list[Claim] = [claim()]
    monkeypatch.setattr(index, "PAPER", replace(index.PAPER, modules=("toy",)))
    monkeypatch.setattr(order, "claims_of", lambda module: tuple(claims))
    monkeypatch.setattr(run, "claims_of", lambda module: tuple(claims))
    all_claims.cache_clear()
    yield claims
    all_claims.cache_clear()


def wrong(id_: str = "toy.wrong", **changes: object) -> Claim:
    return claim(id=id_, statement=sp.Eq(norm, LIMIT - 2 * h1_star**2), **changes)


def test_a_good_ledger_exits_with_zero(planted: list[Claim]) -> None:
    result = run_ledger("quick")
    assert result.exit_code() == 0
    assert result.summary["PROVED"] == 1


def test_with_a_seed_points_are_drawn_afresh_and_the_ledger_says_so(planted: list[Claim]) -> None:
    seen: list[Point] = []

    def measured(point: Point) -> Mapping[str, float]:
        seen.append(dict(point))
        return measure(point)

    drawn = []
    for check in (ByNumbers("drawn", measured, TOLERANCE), BySearch("searched", measured, TOLERANCE)):
        for seed in (0, 7, 7, 8):
            _measured.cache_clear()
            seen.clear()
            check.run(planted[0], replace(PROFILES["quick"], seed=seed), index.PAPER)
            drawn.append(list(seen))
        assert drawn[-3] == drawn[-2]
        assert all(a != b for a, b in itertools.combinations((drawn[-4], drawn[-3], drawn[-1]), 2))
    committed, fresh = run_ledger("quick"), run_ledger("quick", seed=7)
    assert "seed" not in json.loads(dumps(committed))["provenance"]
    assert json.loads(dumps(fresh))["provenance"]["seed"] == 7
    assert drift(json.loads(dumps(committed)), json.loads(dumps(fresh))) != []


def test_what_is_asked_beside_is_asked_where_the_claims_of_a_module_were_examined(planted: list[Claim]) -> None:
    happened: list[str] = []
    right = planted[0].checks[0].build

    def build() -> Derivation:
        happened.append("built")
        return right()

    planted[0] = replace(planted[0], checks=(replace(planted[0].checks[0], build=build),))
    beside = Beside(lambda module, found: happened.append(f"asked of {module}, {len(found)} claims"))
    run_ledger("quick", beside=beside)
    assert happened[0] == "built"
    assert happened[-1] == f"asked of toy, {len(planted)} claims"
    assert sum(one.startswith("asked of toy") for one in happened) == 1
    assert beside.answers == {"toy": None}


def test_a_refuted_claim_of_ours_exits_with_one(planted: list[Claim]) -> None:
    planted.append(wrong())
    result = run_ledger("quick")
    assert result.entries[-1].verdict is Verdict.REFUTED
    assert result.exit_code() == 1


def test_a_refuted_printed_claim_is_a_finding_not_a_failure(planted: list[Claim]) -> None:
    planted.append(wrong(role=Role.PRINTED))
    result = run_ledger("quick")
    assert result.entries[-1].verdict is Verdict.REFUTED
    assert all(m.verdict is Verdict.REFUTED for m in result.entries[-1].mutants)
    assert result.exit_code() == 0


def test_no_checks_is_untested_and_exits_with_three(planted: list[Claim]) -> None:
    planted[0] = claim(checks=(), statement=sp.Le(norm, LIMIT))
    assert run_ledger("quick").exit_code() == 3


def test_a_definition_without_checks_neither_passes_nor_weakens(planted: list[Claim]) -> None:
    definition = claim(id="toy.definition", kind=Kind.DEFINITION, checks=())
    planted[:] = [definition, claim(uses=("toy.definition",))]
    result = run_ledger("quick")
    entries = {e.claim.id: e for e in result.entries}
    assert result.exit_code() == 0
    assert entries["toy.definition"].verdict is Verdict.UNTESTED
    assert entries["toy.limit"].weakest is Verdict.PROVED


def test_the_weakest_link_travels(planted: list[Claim]) -> None:
    numbers_only = claim(id="toy.numbers", checks=claim().checks[1:])
    planted[:] = [claim(id="toy.top", uses=("toy.numbers",)), numbers_only]
    entries = {e.claim.id: e for e in run_ledger("quick").entries}
    assert list(entries) == ["toy.numbers", "toy.top"]
    assert entries["toy.top"].verdict is Verdict.PROVED
    assert entries["toy.top"].weakest is Verdict.CONFIRMED


def test_a_claim_asked_for_brings_all_that_it_rests_on_and_nothing_else(planted: list[Claim]) -> None:
    planted[:] = [
        claim(id="toy.top", uses=("toy.middle",)),
        claim(id="toy.beside"),
        claim(id="toy.middle", uses=("toy.ground",)),
        claim(id="toy.ground"),
    ]
    found = run_ledger("quick", ["toy.top"])
    assert [entry.claim.id for entry in found.entries] == ["toy.ground", "toy.middle", "toy.top"]
    assert [entry.claim.id for entry in run_ledger("quick", ["toy.ground"]).entries] == ["toy.ground"]


@dataclass(frozen=True)
class Resting:
    """A check whose theorem has the claim ``on`` for a hypothesis."""

    on: str
    name: str = "a theorem"

    def run(self, *_: object) -> Proof:
        made = Made((Leaf("a leaf", "hypothesis", "x = 1", self.on),), ())
        return Proof(self.name, (Settled("said", Outcome.SUPPORTS, ""),), takes_limit=True, theorem=made)


def test_a_claim_asked_for_brings_what_its_theorem_rests_on_and_what_that_rests_on(planted: list[Claim]) -> None:
    planted[:] = [
        claim(id="toy.top", checks=(Resting("toy.middle"),), mutants=()),
        claim(id="toy.middle", checks=(Resting("toy.ground"),), mutants=()),
        claim(id="toy.ground", checks=claim().checks[1:]),
        claim(id="toy.beside"),
    ]
    found = {entry.claim.id: entry for entry in run_ledger("quick", ["toy.top"]).entries}
    assert list(found) == ["toy.ground", "toy.middle", "toy.top"]
    assert found["toy.top"].claim.uses == ("toy.middle",)
    assert {found[id_].weakest for id_ in found} == {Verdict.CONFIRMED}


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([claim(), claim()], "share an id"),
        ([claim(uses=("toy.nothing",))], r"toy\.nothing"),
        ([claim(id="a", uses=("b",)), claim(id="b", uses=("a",))], "rest on each other: a -> b -> a"),
    ],
)
def test_malformed_ledgers_are_refused(planted: list[Claim], claims: list[Claim], message: str) -> None:
    planted[:] = claims
    with pytest.raises(LedgerError, match=message):
        run_ledger("quick")


def test_an_unknown_claim_is_named(planted: list[Claim]) -> None:
    with pytest.raises(LedgerError, match=r"toy\.other"):
        run_ledger("quick", ["toy.other"])


def test_the_same_run_gives_the_same_bytes(planted: list[Claim]) -> None:
    planted.append(wrong(role=Role.PRINTED))
    assert dumps(run_ledger("quick")) == dumps(run_ledger("quick"))


def test_drift_sees_verdicts_and_statements_and_tolerates_rounding(planted: list[Claim]) -> None:
    old = json.loads(dumps(run_ledger("quick")))
    old["claims"][0]["evidence"].append({"check": "s", "z": 1.23, "smallest_detectable": 0.02})
    assert drift(old, old) == []

    moved = copy.deepcopy(old)
    moved["claims"][0]["evidence"][-1]["z"] = 1.24
    assert drift(old, moved) == []
    moved["claims"][0]["evidence"][-1]["z"] = 1.43
    assert len(drift(old, moved)) == 1

    for key, value in {"verdict": "CONFIRMED", "statement": "x", "weakest": "REFUTED"}.items():
        changed = copy.deepcopy(old)
        changed["claims"][0][key] = value
        assert len(drift(old, changed)) == 1

    assert drift(old, {**old, "claims": []}) == ["toy.limit: in the committed ledger only"]
