"""What a check would have caught alone: the score of what earned a verdict, and what too low a one means."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping

import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import h1_star
from giantsteps.reports.commands.verify import ledger_summary, troubles
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.simulation import BySimulation, Measured, column
from giantsteps.verify.claims.index import examine
from giantsteps.verify.ledger.document import alone
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


def test_a_check_that_cannot_be_asked_about_a_mutant_does_not_catch_it() -> None:
    def experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
        column(quantity, toy.norm)
        return {}

    other = Mutant("about another quantity", sp.Eq(h1_star, toy.LIMIT))
    found = entry(toy.claim(checks=(*toy.claim().checks, BySimulation("asked", experiment)), mutants=(other,)))
    assert found.mutants[0].name == other.name
    assert found.mutants[0].verdict is Verdict.REFUTED
    assert "simulation: asked" not in found.mutants[0].caught_by


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


def tried(number: int, *caught_by: str, written: bool = False) -> MutantResult:
    return MutantResult(f"m{number}", sp.Eq(toy.norm, number), Verdict.REFUTED, caught_by, written)


def test_a_check_that_suffices_is_taken_before_one_that_catches_more() -> None:
    # "most" catches nine of ten and not the one that was written; "enough" eight, and that one.
    mutants = [tried(0, "enough", written=True), tried(1, "most"), tried(2, "most")]
    mutants += [tried(k, "most", "enough") for k in range(3, 10)]
    for names in (["most", "enough"], ["enough", "most"]):
        found = power(names, mutants)
        assert found is not None
        assert (found.earned_by, found.caught_alone, found.missed, found.written) == ("enough", 8, ("m1", "m2"), ())
    single = power(["most"], mutants)
    assert single is not None
    assert (single.caught_alone, single.missed, single.written, single.enough) == (9, ("m0",), ("m0",), False)
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
