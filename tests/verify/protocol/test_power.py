"""What a check would have caught alone: the score of what earned a verdict, and what too low a one means."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Mapping

import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import alpha0, h1_star
from giantsteps.reports.commands.claims import claim_text
from giantsteps.reports.commands.verify import ledger_summary, troubles
from giantsteps.reports.text.ledger_markdown import markdown
from giantsteps.reports.text.words import caught_lines, caught_words
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.simulation import BySimulation, Measured, column
from giantsteps.verify.claims.index import examine
from giantsteps.verify.ledger.document import alone, dumps, entry_json, power_json
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Claim, Mutant, Profile
from giantsteps.verify.protocol.evidence import Agreement
from giantsteps.verify.protocol.power import MutantResult, Power, power, weighed
from giantsteps.verify.protocol.tolerances import Tolerance
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared import toy


def mutant(name: str, *caught_by: str) -> MutantResult:
    verdict = Verdict.REFUTED if caught_by else Verdict.CONFIRMED
    return MutantResult(name, sp.Eq(toy.norm, 1), verdict, caught_by)


def entry(claim: Claim) -> Entry:
    verdict, evidence, mutants, found = examine(claim, "quick")
    return Entry(claim, verdict, evidence, mutants, verdict, (), found)


BLUNT = ByNumbers("blunt", toy.measure, Tolerance(0.07, "blunt on purpose: five per cent pass"), finite_size=True)


def test_what_a_proof_refutes_counts_for_the_proof_alone() -> None:
    tried = [mutant("a", "proof", "numbers"), mutant("b", "proof"), mutant("c", "proof", "simulation")]
    found = power(["numbers"], tried)
    assert found == Power("numbers", 1, ("b", "c"))
    assert power(["proof"], tried) == Power("proof", 3, ())
    # Of two that earn the verdict the one that catches more; of none there is no score.
    assert power(["simulation", "numbers"], [*tried, mutant("d", "numbers")]) == Power("numbers", 2, ("b", "c"))
    assert power([], tried) is None


def test_generic_mutants_count_beside_the_own() -> None:
    generic = (mutant("five per cent more"), mutant("the smallest term dropped", "numbers"))
    found = power(["numbers"], [mutant("own", "numbers")], generic)
    assert found == Power("numbers", 2, ("five per cent more",), generic)
    assert found.of == 3


@pytest.mark.parametrize(("caught", "missed", "stays"), [(4, 1, True), (3, 1, False), (8, 2, True), (7, 2, False)])
def test_a_confirmed_claim_needs_four_in_five(caught: int, missed: int, stays: bool) -> None:
    found = Power("numbers", caught, ("missed",) * missed)
    assert weighed(Verdict.CONFIRMED, found) is (Verdict.CONFIRMED if stays else Verdict.INCONCLUSIVE)
    # A derivation with steps that no rule made counts beside numbers alone; no other verdict rests on what they catch.
    assert weighed(Verdict.DERIVED, found) is (Verdict.DERIVED if stays else Verdict.INCONCLUSIVE)
    for verdict in set(Verdict) - {Verdict.CONFIRMED, Verdict.DERIVED}:
        assert weighed(verdict, found) is verdict


def test_many_generic_neighbours_do_not_make_up_for_the_claims_own() -> None:
    generic = tuple(mutant(f"generic {k}", "numbers") for k in range(5))
    for caught, stays in ((4, True), (3, False)):
        own = [mutant(f"own {k}", *["numbers"] * (k < caught)) for k in range(5)]
        found = power(["numbers"], own, generic)
        assert found is not None
        assert found.own == (caught, 5)
        assert found.caught_alone >= 0.8 * found.of
        assert found.enough is stays
    # Nor the own ones for the generic: nine of eleven are more than four in five.
    own = [mutant(f"own {k}", "numbers") for k in range(8)]
    blunt = power(["numbers"], own, [mutant("a"), mutant("b"), generic[0]])
    assert blunt is not None
    assert (blunt.own, blunt.of_generic) == ((8, 8), (1, 3))
    assert blunt.caught_alone >= 0.8 * blunt.of
    assert not blunt.enough


def test_what_was_written_for_the_claim_has_to_be_caught() -> None:
    slips = [mutant(f"slip {k}", "numbers") for k in range(8)]
    name = "without the third function"
    one = dataclasses.replace(mutant(name), written=True)
    found = power(["numbers"], [one, *slips])
    assert found is not None
    assert found.caught_alone >= 0.8 * found.of
    assert (found.written, found.enough) == ((name,), False)
    assert weighed(Verdict.CONFIRMED, found) is Verdict.INCONCLUSIVE
    said = caught_words(power_json(found) or {})
    assert said.endswith(f"missed: {name}; of these written for the claim: {name}")
    caught = power(["numbers"], [dataclasses.replace(one, caught_by=("numbers",)), *slips])
    assert caught is not None
    assert (caught.written, caught.enough) == ((), True)
    # What the rule of a slip made is held to the share alone.
    other = power(["numbers"], [dataclasses.replace(one, written=False), *slips])
    assert other is not None
    assert (other.written, other.enough) == ((), True)


def test_a_claims_own_neighbours_are_known_from_slips() -> None:
    found = entry(toy.claim(checks=(BLUNT,)))
    written = {one.name for one in toy.claim().mutants}
    assert {m.name for m in found.mutants if m.written} == written
    assert not any(m.written for m in found.power.generic) if found.power else False


def test_of_two_checks_the_one_that_suffices_is_shown() -> None:
    generic = tuple(mutant(f"generic {k}", "many") for k in range(6))
    own = [mutant("a", "few"), mutant("b", "few"), mutant("c", "few", "many"), mutant("d", "few")]
    more = (*generic, mutant("generic", "few", "many"))
    found = power(["many", "few"], own, more)
    assert found is not None
    assert not found.enough  # 8 of 11, one of them its own; and 5 of 11
    assert found.earned_by == "many"
    found = power(["many", "few"], own, more[-1:])
    assert found is not None
    assert (found.earned_by, found.enough) == ("few", True)


def test_evidence_that_was_never_tried_is_not_taken_for_sharp() -> None:
    assert weighed(Verdict.CONFIRMED, None) is weighed(Verdict.DERIVED, None) is Verdict.INCONCLUSIVE
    assert weighed(Verdict.PROVED, None) is Verdict.PROVED

    class Renamed(ByNumbers):
        def run(self, *arguments: object) -> Agreement:
            return dataclasses.replace(super().run(*arguments), check="another name")

    # What bears another name than its check is no check's: none of its neighbours was tried on it.
    renamed = entry(toy.claim(checks=(Renamed("named", toy.measure, toy.TOLERANCE, finite_size=True),)))
    assert renamed.power is None
    assert renamed.verdict is Verdict.INCONCLUSIVE


def test_of_nothing_to_catch_nothing_is_known() -> None:
    found = Power("numbers", 0, ())
    assert found.of == 0
    assert weighed(Verdict.CONFIRMED, found) is Verdict.INCONCLUSIVE
    assert weighed(Verdict.PROVED, found) is Verdict.PROVED
    assert "no wrong neighbour" in caught_words(power_json(found) or {})


def test_the_numbers_beside_a_derivation_are_weighed() -> None:
    from giantsteps.verify.checks.proofs import ByDerivation

    beside = ByDerivation(toy.by_obligations)
    sharp, blunt = (entry(toy.claim(checks=(beside, numbers))) for numbers in (toy.claim().checks[1], BLUNT))
    assert sharp.verdict is Verdict.DERIVED
    assert sharp.power is not None
    assert sharp.power.earned_by == toy.claim().checks[1].name
    assert sharp.power.missed == ()
    assert {m.name for m in sharp.power.generic} >= {"five per cent more", "the smallest term dropped"}
    # The derivation refutes five per cent more; what stands beside it passes that.
    blunter = entry(toy.claim(checks=(beside, dataclasses.replace(BLUNT, tolerance=Tolerance(0.3, "blunter still")))))
    assert blunt.power is not None
    assert "five per cent more" in blunt.power.missed
    assert blunter.surviving_mutants == ()
    assert blunter.verdict is Verdict.INCONCLUSIVE
    assert Ledger("quick", (blunter,)).exit_code() == 3


def test_what_confirms_too_bluntly_does_not_confirm() -> None:
    sharp, blunt = (entry(toy.claim(checks=checks)) for checks in (toy.claim().checks[1:], (BLUNT,)))
    assert sharp.verdict is Verdict.CONFIRMED
    assert sharp.power is not None
    assert sharp.power.missed == ()
    assert {m.name for m in sharp.power.generic} >= {"five per cent more", "the smallest term dropped"}
    assert blunt.power is not None
    assert "five per cent more" in blunt.power.missed
    # The claim's own mutants are all refuted, and generic ones are no defect of their own: only the score says it.
    assert blunt.surviving_mutants == ()
    assert (blunt.verdict is Verdict.INCONCLUSIVE) is not blunt.power.enough
    assert Ledger("quick", (sharp,)).exit_code() == 0


def test_a_proof_does_not_lend_its_kills_to_what_confirms() -> None:
    # The proof of an identity takes no limit: the claim rests on the numbers, which would have passed what it refutes.
    from giantsteps.verify.checks.proofs import ByDerivation

    blunter = dataclasses.replace(BLUNT, tolerance=Tolerance(0.3, "blunter still"))
    found = entry(toy.claim(checks=(ByDerivation(toy.derivation, conjecture=True), blunter)))
    assert found.surviving_mutants == ()
    assert found.power is not None
    assert found.power.earned_by == blunter.name
    assert "eight per cent more" in found.power.missed
    assert found.verdict is Verdict.INCONCLUSIVE
    assert Ledger("quick", (found,)).exit_code() == 3
    (line,) = troubles(found)
    assert f"{blunter.name}: caught {found.power.caught_alone} of {found.power.of} alone, " in line


def test_each_check_meets_each_mutant() -> None:
    found = entry(toy.claim())
    proof, numbers = (e.check for e in found.evidence)
    assert [m.caught_by for m in found.mutants] == [(proof, numbers)] * len(found.mutants)
    counts = {"tried": len(found.mutants), "caught": len(found.mutants)}
    assert alone(Ledger("quick", (found,))) == {"Agreement": counts, "Proof": counts}
    assert f"numbers {len(found.mutants)} of {len(found.mutants)}, proof" in ledger_summary(Ledger("quick", (found,)))


def test_a_mutant_changes_the_prediction_and_not_the_measurement() -> None:
    measured: list[Point] = []

    def measure(point: Point) -> Mapping[str, float]:
        measured.append(point)
        return toy.measure(point)

    def experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
        measured.append({})
        values = {alpha0.name: 2.0, h1_star.name: 0.5, "h^\\star_2": 1.0}
        # Two seeds, by 0.01 around the truth.
        return {"model": tuple(Measured(d, (0.74, 0.76), values) for d in profile.dimensions)}

    numbers = ByNumbers("counted", measure, toy.TOLERANCE)
    entry(toy.claim(checks=(numbers,)))
    assert len(measured) == 12
    measured.clear()
    entry(toy.claim(checks=(BySimulation("counted", experiment),)))
    assert len(measured) == 1


def test_a_check_that_cannot_be_asked_about_a_mutant_does_not_catch_it() -> None:
    def experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
        column(quantity, toy.norm)
        return {}

    other = Mutant("about another quantity", sp.Eq(h1_star, toy.LIMIT))
    found = entry(toy.claim(checks=(*toy.claim().checks, BySimulation("asked", experiment)), mutants=(other,)))
    assert found.mutants[0].name == other.name
    assert found.mutants[0].verdict is Verdict.REFUTED
    assert "simulation: asked" not in found.mutants[0].caught_by


def test_the_score_is_said_wherever_the_claim_is_shown() -> None:
    found = entry(toy.claim(checks=(BLUNT,)))
    assert found.power is not None
    document = json.loads(dumps(Ledger("quick", (found,))))
    (claim,) = document["claims"]
    assert claim == json.loads(json.dumps(entry_json(found)))
    assert claim["power"] == {
        "earned_by": BLUNT.name,
        "caught_alone": found.power.caught_alone,
        "of": len(found.mutants) + len(found.power.generic),
        "missed": list(found.power.missed),
        "generic": [{"name": m.name, "caught_by": list(m.caught_by)} for m in found.power.generic],
    }
    assert {tuple(m["caught_by"]) for m in claim["mutants"]} == {(BLUNT.name,)}
    caught, own = found.power.own
    said = (
        f"caught {found.power.caught_alone} of {found.power.of} alone, {caught} of {own} of its own; "
        f"missed: {', '.join(found.power.missed)}"
    )
    assert caught_lines(claim) == [f"{BLUNT.name}: {said}"]
    assert said.split(";")[0] in " ".join(claim_text(claim).split())
    assert said.removeprefix("caught ") in markdown(document, ())["ledger/claims/other.md"]


def test_a_ledger_without_scores_is_still_shown() -> None:
    claim = entry_json(entry(toy.claim())) | {"power": None}
    assert caught_lines(claim) == []
    assert claim_text(claim).startswith("toy.limit")


def test_a_mutant_crosses_between_processes_as_it_is_written() -> None:
    x, y = sp.symbols("x y", real=True)
    of_itself = sp.Eq(x, x, evaluate=False)
    assert pickle.loads(pickle.dumps(of_itself)) is sp.true  # what SymPy makes of it on its way
    both = sp.And(sp.Ge(x, y), sp.Le(y, x**2), evaluate=False)
    plain = (sp.Eq(y, x**2), sp.Ge(x, y), sp.Lt(y, 3), sp.false, x)
    for statement in (*plain, of_itself, sp.Ge(2, 3, evaluate=False), both):
        result = MutantResult("a name", statement, Verdict.REFUTED, ("one check",), True)
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert type(again.statement) is type(statement)
        assert again.statement.args == statement.args
