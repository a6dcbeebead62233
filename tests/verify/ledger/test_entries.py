"""What a ledger makes of a claim, on checks that say what they are told: every field, key and count differs from its
neighbours, so that one taken for another shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger import errata, run
from giantsteps.verify.ledger.coverage import coverage
from giantsteps.verify.ledger.document import alone, claim_json, entry_json, evidence_json, power_json
from giantsteps.verify.ledger.family import probability, simulations
from giantsteps.verify.ledger.leaves import ground_json, grounds
from giantsteps.verify.ledger.run import Beside, Entry, Ledger
from giantsteps.verify.protocol import order
from giantsteps.verify.protocol.claim import Claim, Kind, Mutant, Profile, Role, Source
from giantsteps.verify.protocol.evidence import (
    OF_A_THEOREM,
    Agreement,
    Certificate,
    Evidence,
    FiniteSize,
    Leaf,
    Made,
    Outcome,
    Proof,
    Settled,
)
from giantsteps.verify.protocol.paper import Erratum
from giantsteps.verify.protocol.power import MutantResult, Power
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import claim, norm

SUPPORTS, REFUTES, UNDECIDED = Outcome
RIGHT, *WRONG = (sp.Eq(norm, k) for k in range(1, 8))


def simulated(check: str, outcome: Outcome) -> FiniteSize:
    return FiniteSize(check, 9, -2.5, 3.29, 0.05, outcome, f"{check} {outcome}")


def proved(check: str, outcome: Outcome = SUPPORTS, *hypotheses: str, leaves: tuple[Leaf, ...] = ()) -> Proof:
    theorem = Made(leaves, (), ()) if leaves or outcome is SUPPORTS else None
    return Proof(check, (Settled("said", outcome, "so"),), True, hypotheses, theorem)


def agreeing(check: str, outcome: Outcome) -> Agreement:
    """A second formula, which is no measurement at finite size."""
    worst = {SUPPORTS: 0.0, REFUTES: 1.0, UNDECIDED: float("nan")}[outcome]
    return Agreement(check, 5, worst, 1e-3, "x", "so", 5)


@dataclass(frozen=True)
class Says:
    """A check that answers by statement, and remembers what it was asked."""

    name: str
    answers: Mapping[sp.Basic, Outcome]
    of: Callable[..., Evidence] = simulated
    asked: list[Any] = field(default_factory=list, compare=False)

    def run(self, asked: Claim, profile: Profile, paper: Any) -> Evidence:
        self.asked.append((asked.statement, profile.seed, profile.name))
        return self.of(self.name, self.answers.get(asked.statement, REFUTES))


def stating(id_: str, *checks: Any, **more: Any) -> Claim:
    return claim(**({"id": id_, "statement": RIGHT, "checks": checks} | more))


# ---- the exit code ----

SURVIVOR = MutantResult("a sign", RIGHT, Verdict.CONFIRMED, ())
CAUGHT = MutantResult("a square", RIGHT, Verdict.REFUTED, ("numbers",))


def entry(verdict: Verdict, role: Role = Role.OURS, kind: Kind = Kind.LIMIT, *mutants: MutantResult) -> Entry:
    evidence = () if verdict is Verdict.UNTESTED else (simulated("a", SUPPORTS),)
    return Entry(stating("toy.one", role=role, kind=kind), verdict, evidence, mutants, verdict, ())


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("verdict", Verdict)
def test_only_our_claims_fail_and_only_by_what_is_refuted_or_not_decided(role: Role, verdict: Verdict) -> None:
    codes = {Verdict.REFUTED: 1, Verdict.INCONCLUSIVE: 3, Verdict.UNTESTED: 3}
    expected = codes.get(verdict, 0) if role is Role.OURS else 0
    good = entry(Verdict.PROVED, Role.OURS, Kind.LIMIT, CAUGHT)
    assert Ledger("quick", (good, entry(verdict, role))).exit_code() == expected
    # A mutant that lives is a defect of the checks, whoever's claim it is.
    survived = entry(verdict, role, Kind.LIMIT, CAUGHT, SURVIVOR)
    assert survived.surviving_mutants == (SURVIVOR,)
    assert Ledger("quick", (good, survived)).exit_code() == 1


def test_a_definition_is_by_fiat_only_where_nothing_was_asked() -> None:
    untested = entry(Verdict.UNTESTED, Role.OURS, Kind.DEFINITION)
    asked = entry(Verdict.INCONCLUSIVE, Role.OURS, Kind.DEFINITION)
    assert [one.by_fiat for one in (untested, asked, entry(Verdict.UNTESTED))] == [True, False, False]
    assert [Ledger("quick", (one,)).exit_code() for one in (untested, asked)] == [0, 3]


# ---- one claim examined ----


@pytest.fixture
def neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements 1 and 2 are the claim's own mutants, the first one written for it; 2, 3 and 4 are generic ones."""
    names = ("written", "a slip", "five per cent", "dropped")
    made = [Mutant(name, statement) for name, statement in zip(names, WRONG[:4], strict=True)]
    monkeypatch.setattr(run, "mutants_of", lambda one, siblings: (*one.mutants, made[1]))
    monkeypatch.setattr(run, "generic_mutants", lambda one, places, paper: made[1:])


WRITTEN = Mutant("written", WRONG[0])


def test_each_check_meets_the_own_mutants_and_what_earns_the_verdict_the_generic_ones(neighbours: None) -> None:
    # For a limit a simulation earns the verdict, and a second formula beside it does not.
    earns = Says("simulation", {RIGHT: SUPPORTS, WRONG[2]: UNDECIDED})
    beside = Says("formula", {RIGHT: SUPPORTS, WRONG[0]: SUPPORTS, WRONG[1]: UNDECIDED}, agreeing)
    found = run.examine(stating("toy.one", earns, beside, mutants=(WRITTEN,)), "ci", PAPER, 7)
    assert earns.asked == [(statement, 7, "ci") for statement in (RIGHT, *WRONG[:4])]
    assert beside.asked == [(statement, 7, "ci") for statement in (RIGHT, *WRONG[:2])]
    written, slip = found.mutants
    assert (written.name, written.statement, written.written) == ("written", WRONG[0], True)
    assert (slip.name, slip.statement, slip.written) == ("a slip", WRONG[1], False)
    # What could not decide catches nothing.
    assert (written.caught_by, slip.caught_by) == (("simulation",), ("simulation",))
    assert (written.verdict, slip.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert found.power is not None
    assert (found.power.earned_by, found.power.caught_alone, found.power.missed) == (
        "simulation",
        3,
        ("five per cent",),
    )
    # It misses one of two generic ones: the verdict of the evidence does not stand.
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_claim_that_a_theorem_decides_meets_no_generic_mutant_and_one_without_checks_none(neighbours: None) -> None:
    proof = Says("theorem", {RIGHT: SUPPORTS}, proved)
    found = run.examine(stating("toy.one", proof, mutants=(WRITTEN,)), "quick", PAPER)
    assert found.verdict is Verdict.PROVED
    assert proof.asked == [(statement, 0, "quick") for statement in (RIGHT, *WRONG[:2])]
    assert run.examine(stating("toy.one", mutants=(WRITTEN,)), "quick", PAPER) == (Verdict.UNTESTED, (), (), None)


# ---- all of them ----


class Here(Executor):
    """Does at once what it is asked, in this process."""

    def submit(self, work: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*arguments, **more))
        return done


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Claim]]:
    """Modules by name, with the claims that they state."""
    stated: dict[str, list[Claim]] = {"one": [], "two": []}
    for module in (order, run, errata):
        monkeypatch.setattr(module, "claims_of", lambda name: tuple(stated[name]))
    monkeypatch.setattr(run, "mutants_of", lambda one, siblings: ())
    monkeypatch.setattr(run, "generic_mutants", lambda one, places, paper: ())
    return stated


TOYS = replace(PAPER, modules=("one", "two"))
LEAVES = tuple(Leaf(f"leaf {k}", "hypothesis", "x = 1", f"toy.{k}") for k in ("ground", "other"))


def told(*hypotheses: str, leaves: tuple[Leaf, ...] = ()) -> Says:
    return Says("a proof", {RIGHT: SUPPORTS}, lambda name, outcome: proved(name, outcome, *hypotheses, leaves=leaves))


@pytest.mark.parametrize("executor", [None, Here()])
def test_hypotheses_and_the_weakest_link_travel_through_all_that_is_beneath(
    modules: dict[str, list[Claim]], executor: Executor | None
) -> None:
    domain = replace(claim().domain, hypotheses=("said of the domain",))
    condition = f"$x > 0$ {OF_A_THEOREM}"
    modules["one"] = [
        stating("toy.top", told("its own", "shared", condition), uses=("toy.middle",), domain=domain),
        stating("toy.other", told("of the other")),
    ]
    modules["two"] = [
        stating("toy.middle", told("shared", "of the middle", f"$y > 0$ {OF_A_THEOREM}"), uses=("toy.ground",)),
        stating("toy.ground", Says("formula", {RIGHT: UNDECIDED}), domain=replace(domain, hypotheses=("of it",))),
    ]
    heard: list[str] = []
    found = run.run(TOYS, "ci", ["toy.top"], executor, heard.append, seed=3)
    entries = {one.claim.id: one for one in found.entries}
    assert list(entries) == ["toy.ground", "toy.middle", "toy.top"]
    top = ("said of the domain", "its own", "shared", condition, "of the middle", "of it")
    assert entries["toy.top"].hypotheses == top
    assert entries["toy.middle"].hypotheses == ("shared", "of the middle", f"$y > 0$ {OF_A_THEOREM}", "of it")
    assert [(one.verdict, one.weakest) for one in entries.values()] == [
        (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
        (Verdict.PROVED, Verdict.INCONCLUSIVE),
        (Verdict.PROVED, Verdict.INCONCLUSIVE),
    ]
    assert (found.profile, found.seed) == ("ci", 3)
    assert sorted(heard) == ["one", "two"]
    for one in entries.values():
        (check,) = one.claim.checks
        assert check.asked == [(RIGHT, 3, "ci")]  # type: ignore[attr-defined]
    assert found.summary == dict.fromkeys((v.value for v in Verdict), 0) | {"PROVED": 2, "INCONCLUSIVE": 1}


def test_a_claim_rests_on_the_leaves_of_each_of_its_theorems(modules: dict[str, list[Claim]]) -> None:
    checks = [told(leaves=(leaf, Leaf("a sentence", "hypothesis", "y = 1", "toy.unknown"))) for leaf in LEAVES]
    modules["one"] = [stating("toy.top", *checks), stating("toy.ground", told()), stating("toy.other", told())]
    top = run.run(TOYS, "quick", ["toy.top"]).entries[-1]
    assert top.claim.uses == ("toy.ground", "toy.other")


def test_a_kept_unit_of_work_is_named_by_all_that_it_depends_on(modules: dict[str, list[Claim]]) -> None:
    modules["one"], modules["two"] = [stating("toy.a", told()), stating("toy.b", told())], [stating("toy.c", told())]
    named: dict[str, list[tuple[Any, ...]]] = {}

    def unit(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        named.setdefault(name, []).append((arguments[0], arguments[1], sorted(arguments[2]), arguments[5]))
        return function(*arguments)

    answers = []
    for profile, seed, ids in product(("quick", "ci"), (0, 1), (None, ["toy.a"], ["toy.a", "toy.c"], ["toy.b"])):
        beside = Beside(lambda module, found: (module, sorted(found)), unit=unit)
        run.run(TOYS, profile, ids, beside=beside, seed=seed)
        answers.append(beside.answers)
    assert [len(set(map(repr, asked))) for asked in named.values()] == [1] * len(named)
    assert len(named) == 2 * 2 * (2 + 1 + 2 + 1)
    assert answers[:4] == [
        {"one": ("one", ["toy.a", "toy.b"]), "two": ("two", ["toy.c"])},
        {"one": ("one", ["toy.a"])},
        {"one": ("one", ["toy.a"]), "two": ("two", ["toy.c"])},
        {"one": ("one", ["toy.b"])},
    ]


# ---- errata ----


def reported(name: str, verdict: Verdict, weakest: Verdict, *evidence: Evidence, role: Role = Role.OURS) -> Entry:
    source = Source(f"document of {name}", f"section of {name}")
    stated = replace(
        stating(name, role=role), title=f"title of {name}", source=source, statement=sp.Eq(norm, len(name))
    )
    return Entry(stated, verdict, evidence, (), weakest, ())


def test_a_report_of_an_erratum_takes_each_field_where_it_stands() -> None:
    against = (simulated("first", REFUTES), simulated("second", SUPPORTS), simulated("third", REFUTES))
    printed = reported("printed", Verdict.REFUTED, Verdict.INCONCLUSIVE, *against, role=Role.PRINTED)
    corrected = reported("ours", Verdict.DERIVED, Verdict.UNTESTED, simulated("fourth", REFUTES))
    (found,) = errata._reported(
        Ledger("quick", (printed, corrected)),
        (Erratum("slug", "printed", "ours", "longer"), Erratum("absent", "printed", "nothing", "shorter")),
        lambda one: one is printed,
    )
    assert found == errata.ErratumReport(
        id="slug", title="title of printed", source="document of printed, section of printed",
        printed_claim="printed", printed_verdict=Verdict.REFUTED, printed="N = 7",
        corrected_claim="ours", corrected="N = 4", corrected_verdict=Verdict.DERIVED,
        witness="first refutes; third refutes", consequence="longer", conversion="",
    )  # fmt: skip


@pytest.mark.parametrize(("role", "verdict"), list(product(Role, Verdict)))
def test_what_is_a_misprint_and_what_another_convention(role: Role, verdict: Verdict) -> None:
    one = reported("one", verdict, Verdict.REFUTED, role=role)
    assert errata._misprinted(one) == ((role, verdict) == (Role.PRINTED, Verdict.REFUTED))
    assert errata._differs(one) == ((role, verdict) == (Role.READING, Verdict.REFUTED) or verdict.value == "CONVENTION")


def test_errata_are_examined_under_the_profile_and_by_the_workers_that_are_given(
    modules: dict[str, list[Claim]],
) -> None:
    asked: list[Any] = []
    workers = SimpleNamespace(map=lambda work, given: [asked.append(one) or work(one) for one in given])
    domain = replace(claim().domain, hypotheses=("small",))
    modules["one"], modules["two"] = [stating("a", told(), domain=domain), stating("b", told())], [stating("c", told())]
    chosen = (Erratum("slug", "a", "c", "longer"),)
    found = errata.examine_errata(TOYS, "ci", workers, chosen)  # type: ignore[arg-type]
    assert asked == ["one", "two"]
    assert [(one.claim.id, one.verdict, one.weakest, one.hypotheses) for one in found.entries] == [
        ("a", Verdict.PROVED, Verdict.PROVED, ("small",)),
        ("c", Verdict.PROVED, Verdict.PROVED, ()),
    ]
    assert found.profile == "ci"
    assert [one.asked for name in ["one", "two"] for c in modules[name] for one in c.checks] == [  # type: ignore[attr-defined]
        [(RIGHT, 0, "ci")], [], [(RIGHT, 0, "ci")],
    ]  # fmt: skip


# ---- as JSON ----

OF_EACH: tuple[tuple[Evidence, dict[str, Any]], ...] = (
    (
        Proof("p", (Settled("a", SUPPORTS, "m"), Settled("b", UNDECIDED, "n")), unmade=("a step",)),
        {"check": "p", "type": "Proof", "outcome": "undecided", "without_rule": ["a step"],
         "obligations": [{"says": "a", "outcome": "supports"}, {"says": "b", "outcome": "undecided"}]},
    ),
    (
        Agreement("g", 7, 0.1, 0.2, "there", "why", 8, 0.3, True),
        {"check": "g", "type": "Agreement", "outcome": "supports", "points": 7, "tolerance": 0.2, "reason": "why",
         "finite_size": True},
    ),
    (
        Certificate("c", 4, 1e-9, 1e-7),
        {"check": "c", "type": "Certificate", "outcome": "supports", "points": 4, "width_at_most": 1e-7},
    ),
    (
        FiniteSize("s", 9, -2.517, 3.29053, 0.05173, REFUTES, "said"),
        {"check": "s", "type": "FiniteSize", "outcome": "refutes", "experiments": 9, "z": -2.52, "threshold": 3.291,
         "smallest_detectable": 0.052},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("evidence", "expected"), OF_EACH)
def test_evidence_is_written_field_by_field(evidence: Evidence, expected: dict[str, Any]) -> None:
    assert evidence_json(evidence) == expected


def test_an_entry_is_written_field_by_field() -> None:
    first, second = (Leaf(k, kind, "x", f"toy.{k}") for k, kind in (("a", "hypothesis"), ("b", "lemma")))
    without, made = Proof("open", (Settled("s", SUPPORTS, "m"),)), proved("made", leaves=(first, second))
    missed = MutantResult("a sign", RIGHT, Verdict.CONFIRMED, ("open", "made"), True)
    generic = MutantResult("more", RIGHT, Verdict.REFUTED, ("other",))
    stated = replace(
        stating("toy.one", role=Role.PRINTED, kind=Kind.INEQUALITY, uses=("toy.two",), note="noted"), title="titled",
        source=Source("document", "section", (3, 4)),
    )  # fmt: skip
    power = Power("made", 1, ("x", "y"), (generic,), ("y",))
    one = Entry(stated, Verdict.DERIVED, (without, made), (missed,), Verdict.UNTESTED, ("small",), power)
    told_of = {"id": "toy.one", "title": "titled", "source": "document, section, (3), (4)", "equations": [3, 4],
               "kind": "INEQUALITY", "role": "printed", "statement": "N = 1", "uses": ["toy.two"]}  # fmt: skip
    assert claim_json(stated) == told_of
    assert entry_json(one) == told_of | {
        "hypotheses": ["small"],
        "note": "noted",
        "verdict": "DERIVED",
        "weakest": "UNTESTED", "given": None,
        "evidence": [evidence_json(without), evidence_json(made)],
        "theorem": {
            "assumptions": [
                {"name": "a", "kind": "hypothesis", "claim": "toy.a"},
                {"name": "b", "kind": "lemma", "claim": None},
            ],
            "rules": {},
            "replayed": ["own"],
        },
        "mutants": [{"name": "a sign", "caught_by": ["open", "made"], "verdict": "CONFIRMED"}],
        "power": {"earned_by": "made", "caught_alone": 1, "of": 3, "missed": ["x", "y"], "missed_written": ["y"],
                  "generic": [{"name": "more", "caught_by": ["other"]}]},
    }  # fmt: skip
    assert power_json(None) is None
    assert "missed_written" not in (power_json(replace(power, written=())) or {})


def test_each_kind_of_evidence_counts_what_its_own_checks_caught_of_what_they_met() -> None:
    numbers, others = simulated("first", SUPPORTS), simulated("second", SUPPORTS)
    caught = (("first",), ("second", "made"), ("made",), (), ("first", "second"))
    mutants = tuple(MutantResult("m", RIGHT, Verdict.REFUTED, by) for by in caught)
    entries = (
        Entry(stating("toy.one"), Verdict.PROVED, (numbers, proved("made"), others), mutants, Verdict.PROVED, ()),
        Entry(stating("toy.two"), Verdict.PROVED, (proved("made"),), mutants[:3], Verdict.PROVED, ()),
    )
    assert alone(Ledger("quick", entries)) == {
        "FiniteSize": {"tried": 5, "caught": 3},
        "Proof": {"tried": 8, "caught": 4},
    }


# ---- leaves, families and coverage ----


def test_of_a_kind_the_leaf_of_most_claims_comes_first_however_many_its_statements() -> None:
    often, various = Leaf("often", "hypothesis", "x = 1", "toy.often"), ("a", "b", "c")
    said = tuple(Leaf(k, "hypothesis", f"{k} = 1", "toy.various") for k in various)
    entries = tuple(
        Entry(stating(name), Verdict.PROVED, (proved("p", leaves=leaves),), (), Verdict.PROVED, ())
        for name, leaves in (("one", (often,)), ("two", (often,)), ("three", said))
    )
    first, second = grounds(Ledger("quick", entries))
    assert ground_json(first) == {
        "kind": "hypothesis", "names": ["often"], "statements": ["x = 1"], "references": ["toy.often"],
        "claim": "toy.often", "test": None, "claims": ["one", "two"],
    }  # fmt: skip
    assert ground_json(second) == {
        "kind": "hypothesis", "names": list(various), "statements": ["a = 1", "b = 1", "c = 1"],
        "references": ["toy.various"], "claim": "toy.various", "test": None, "claims": ["three"],
    }  # fmt: skip


def test_the_family_is_of_each_simulation_that_decided_something() -> None:
    def one(type_: str, z: float, threshold: float) -> dict[str, Any]:
        return {"type": type_, "z": z, "threshold": threshold}

    claims = [
        {"id": "a", "verdict": "CONFIRMED", "evidence": [one("FiniteSize", 3.0, 3.5), one("Agreement", 1.0, 3.0)]},
        {"id": "b", "verdict": "REFUTED", "evidence": [one("FiniteSize", 0.0, 0.0), one("FiniteSize", -2.0, 3.0)]},
    ]
    assert simulations({"claims": claims}) == [
        ("a", "CONFIRMED", probability(3.0, 3.5)),
        ("b", "REFUTED", probability(-2.0, 3.0)),
    ]


@pytest.mark.parametrize("role", Role)
def test_only_a_claim_of_ours_covers_a_number(role: Role) -> None:
    number = PAPER.equations[0]
    one = stating("one", role=role, source=Source(PAPER.name, "a section", (number,)))
    row = coverage([one], PAPER)[0]
    assert (row.ours, row.printed) == ((("one",), ()) if role is Role.OURS else ((), ("one",)))
