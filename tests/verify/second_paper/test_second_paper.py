"""The core runs another paper as it is: ledger, mutants, checker, coverage, errata, Markdown, with its own symbols."""

from __future__ import annotations

import ast
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from giantsteps.derivations.language.derivation import RationalLimit
from giantsteps.derivations.language.symbols import d as other_dimension
from giantsteps.reports.text.ledger_markdown import markdown
from giantsteps.verify.checks.checker import settle
from giantsteps.verify.checks.mutants import mutants_of
from giantsteps.verify.ledger.coverage import summary
from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.ledger.errata import errata, examine_errata
from giantsteps.verify.ledger.run import Ledger, run
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.paper import chapter_of
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.listed import missing_formulas, strays, unlisted, unlisted_claims
from tests.verify.second_paper import claims, derivations
from tests.verify.second_paper import symbols as s
from tests.verify.second_paper.paper import SECOND

VERIFY = Path(__file__).resolve().parent.parent.parent.parent / "verify"


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return run(SECOND, "quick")


def test_claims_pass_and_the_misprint_is_refuted(ledger: Ledger) -> None:
    verdicts = {entry.claim.id: entry.verdict for entry in ledger.entries}
    assert verdicts.pop("lecture.variance") is Verdict.REFUTED
    # One limit is made by the kernel; the others are lists of obligations beside numbers.
    assert verdicts.pop("double-descent.ridgeless") is Verdict.PROVED
    assert len(verdicts) == 6
    assert set(verdicts.values()) == {Verdict.DERIVED}
    assert ledger.exit_code() == 0


def test_every_mutant_is_refuted(ledger: Ledger) -> None:
    assert [m.name for entry in ledger.entries for m in entry.surviving_mutants] == []
    assert all(len(entry.mutants) >= 2 for entry in ledger.entries)


def test_siblings_are_those_of_the_paper() -> None:
    assert "S for N" in {mutant.name for mutant in mutants_of(claims.PEAK, SECOND.siblings)}
    assert not any(" for N" in mutant.name for mutant in mutants_of(claims.PEAK, ()))


def test_a_limit_holds_no_growing_symbol_of_the_paper_fixed() -> None:
    one_fixed = RationalLimit("D/(D + T) at fixed T", s.dimension / (s.dimension + s.samples), s.dimension, sp.S.One)
    assert settle(one_fixed, claims.ANYWHERE, SECOND.growing).outcome is Outcome.UNDECIDED
    assert settle(one_fixed, claims.ANYWHERE, frozenset({s.dimension, other_dimension})).outcome is Outcome.SUPPORTS
    # the derivation says how many samples there are, and passes
    obligations = derivations.fixed_point().obligations
    assert {settle(o, claims.ANYWHERE, SECOND.growing).outcome for o in obligations} == {Outcome.SUPPORTS}


def test_its_own_equations_are_covered() -> None:
    found = summary(claims.CLAIMS, SECOND)
    assert found.sentence == "7 of 7 numbered equations, each in exactly one claim of ours"
    assert strays(claims.CLAIMS, SECOND) == ()
    without = [claim for claim in claims.CLAIMS if claim.id != "double-descent.peak"]
    assert summary(without, SECOND).missing == (6,)
    assert missing_formulas(without, SECOND) == unlisted_claims(without, SECOND) == ()
    assert strays(claims.CLAIMS, replace(SECOND, equations=range(1, 7))) == ("ridge.best lists (7)",)


def test_its_erratum_is_found_by_the_checks(ledger: Ledger) -> None:
    (report,) = errata(ledger, SECOND)
    assert (report.id, report.source) == ("erratum.variance", "Lecture, Bias and variance, (3)")
    assert report.corrected_verdict is Verdict.DERIVED
    assert report.witness
    assert unlisted(ledger, SECOND) == ()
    assert unlisted(ledger, replace(SECOND, errata=())) == ("lecture.variance",)
    assert errata(examine_errata(SECOND), SECOND) == (report,)


def test_its_ledger_is_written_down(ledger: Ledger) -> None:
    files = markdown(as_json(ledger), SECOND.chapters)
    assert len(files) == 2 + len({chapter_of(claim.id, SECOND.chapters) for claim in claims.CLAIMS})
    for claim in claims.CLAIMS:
        assert f"## {claim.id}\n" in files[f"ledger/claims/{chapter_of(claim.id, SECOND.chapters).slug}.md"]
    for text in files.values():
        assert "slides" not in text
        assert "2402.04980" not in text


def test_a_paper_travels_to_another_process() -> None:
    again = pickle.loads(pickle.dumps(SECOND))
    assert (again.symbols, again.growing, again.siblings) == (SECOND.symbols, SECOND.growing, SECOND.siblings)


def test_the_core_knows_no_symbol_of_any_paper() -> None:
    """Protocol, checks and ledger import no table of symbols and none of the floors that state a theory; the kernel
    states none.
    """
    of_a_paper = (
        "giantsteps.verify.claims",
        "giantsteps.verify.second_route",
        "giantsteps.derivations.language.symbols",
    )
    language = ("derivation", "expectation", "glossary", "rendering", "points", "normal_probabilities")
    wrong = []
    for path in (path for floor in ("protocol", "checks", "ledger") for path in (VERIFY / floor).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            if node.module.startswith("giantsteps.derivations.kernel."):
                continue
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            of_no_theory = node.module.endswith(language) or node.module.startswith("giantsteps.derivations.kernel.")
            stated = node.module.startswith("giantsteps.derivations") and not of_no_theory
            if stated or any(name.startswith(of_a_paper) for name in [node.module, *named]):
                wrong.append(f"{path.name} imports from {node.module}")
    assert wrong == []


@pytest.mark.parametrize("word", ["191", "slides", "2402.04980", "section-", "result-3"])
def test_the_core_holds_no_word_of_the_first_paper(word: str) -> None:
    texts = {
        path: path.read_text("utf-8") for f in ("protocol", "checks", "ledger") for path in (VERIFY / f).glob("*.py")
    }
    assert [path.name for path, text in texts.items() if word in text] == []
