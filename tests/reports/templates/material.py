"""A small report in which no two things look alike: whatever a page puts in the wrong place is seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from xml.etree.ElementTree import Element

import sympy as sp

from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.study import Study, Table
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.site import site
from giantsteps.verify.claims.paper import CHAPTERS
from giantsteps.verify.ledger.run import Entry, Given, Ledger
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Mutant, Role, Source
from giantsteps.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof, Settled
from giantsteps.verify.protocol.paper import given_words
from giantsteps.verify.protocol.power import MutantResult, Power
from giantsteps.verify.protocol.verdict import Verdict
from tests.reports.templates.reading import read
from tests.shared.report_page import with_symbols

PAPER, SLIDES, OTHERS = "arXiv 2402.04980", "slides", "this suite"


@dataclass(frozen=True)
class Row:
    """A claim of the report, typed: ``culprits`` are the claims that make its weakest link."""

    id: str
    chapter: str
    verdict: str
    weakest: str
    kind: str
    document: str
    uses: tuple[str, ...] = ()
    role: str = "ours"
    culprits: tuple[str, ...] = ()


# Beneath a confirmed claim everything is at most as strong; what a source misprints and definitions weaken nothing.
ROWS = (
    Row("section-2.gradient-step", "gradient-step", "PROVED", "PROVED", "IDENTITY", PAPER),
    Row("section-2.input-scale", "gradient-step", "CONFIRMED", "CONFIRMED", "LIMIT", PAPER,
        ("section-2.gradient-step",)),
    Row("result-3-1.spike-strength", "gradient-step", "PROVED", "CONFIRMED", "FIXED_POINT", PAPER,
        ("section-2.input-scale", "section-2.gradient-step"), culprits=("section-2.input-scale",)),
    Row("definitions.mu0", "free-energy", "UNTESTED", "UNTESTED", "DEFINITION", PAPER),
    Row("bounds.lower", "bounds", "CERTIFIED", "CERTIFIED", "INEQUALITY", OTHERS, ("definitions.mu0",)),
    Row("beyond.any-test", "network-bulk", "INCONCLUSIVE", "INCONCLUSIVE", "CONCENTRATION", OTHERS,
        ("result-3-1.spike-strength",)),
    Row("result-3-3.test-error", "saddle-point", "DERIVED", "INCONCLUSIVE", "IDENTITY", PAPER,
        ("beyond.any-test", "bounds.lower"), culprits=("beyond.any-test",)),
    # What is weak stands two claims below.
    Row("headline.tanh-sin", "network-bulk", "PROVED", "INCONCLUSIVE", "LIMIT", OTHERS, ("result-3-3.test-error",),
        culprits=("beyond.any-test",)),
    Row("slides.step-over-n", "slides", "REFUTED", "REFUTED", "IDENTITY", SLIDES,
        ("section-2.gradient-step",), "printed"),
    Row("slides.input-scale", "slides", "CONVENTION", "CONVENTION", "CONVENTION", SLIDES, role="printed"),
    Row("slides.kernel", "slides", "PROVED", "PROVED", "IDENTITY", SLIDES),
)  # fmt: skip
NUMBER = {row.id: number for number, row in enumerate(ROWS, 1)}


def given_of(row: Row) -> str:
    """What the claim is given, in words."""
    return given_words(row.culprits, CHAPTERS)


def letter(number: int) -> sp.Symbol:
    """The symbol of a claim."""
    return sp.Symbol(f"A_{number}", real=True)


def evidence(number: int, row: Row) -> tuple[Evidence, ...]:
    """Two pieces for each claim but definitions, those of a claim that a source prints refute it."""
    if row.kind == "DEFINITION":
        return ()
    refutes, undecided = row.verdict in ("REFUTED", "CONVENTION"), row.verdict == "INCONCLUSIVE"
    outcome = Outcome.REFUTES if refutes else Outcome.UNDECIDED if undecided else Outcome.SUPPORTS
    settled = Settled(f"obligation {number}", outcome, f"method {number}", f"witness {number}")
    count, worst = 10 + number, 0.5 * refutes
    numbers = Agreement(f"numbers: way {number}", count, worst, 0.01, f"place {number}", "", count, 1e-3)
    measured = FiniteSize(f"simulation: way {number}", 3, 0.5, 3.29, 0.01 * number, outcome, f"sentence {number}")
    enclosed = Certificate(f"balls: way {number}", 20 + number, 0.0, 10.0**-number)
    second: Evidence = enclosed if row.verdict == "CERTIFIED" else measured if row.kind != "IDENTITY" else numbers
    return Proof(f"derivation: way {number}", (settled,), unmade=(f"step {number} by hand",)), second


def entry(number: int, row: Row) -> Entry:
    """One claim, all of whose words hold its number."""
    found, name = evidence(number, row), letter(number)
    neighbours = tuple((f"neighbour {number}{k}", sp.Eq(name, 900 + 10 * number + i)) for i, k in enumerate("abc"))
    caught = {e.check for e in found}
    mutants = tuple(
        MutantResult(
            words, statement, Verdict.INCONCLUSIVE if (row.verdict, k) == ("INCONCLUSIVE", 1) else Verdict.REFUTED,
            (found[0].check,) if k == 0 else tuple(sorted(caught)),
        )
        for k, (words, statement) in enumerate(neighbours if found else ())
    )  # fmt: skip
    claim = Claim(
        row.id, f"title {number}", Source(row.document, f"Section {number}", (100 + number, 200 + number)),
        Kind(row.kind), sp.Eq(name, 10 + number), Domain(), (), row.uses, tuple(Mutant(*pair) for pair in neighbours),
        Role(row.role), f"note {number}",
    )  # fmt: skip
    weighed = row.verdict in ("CONFIRMED", "INCONCLUSIVE")
    score = Power(found[-1].check, 2, (f"neighbour {number}a",)) if weighed else None
    assumed = (f"hypothesis {number}", "hypothesis of all") if row.role == "ours" else ()
    given = Given(given_of(row), row.culprits)
    return Entry(claim, Verdict(row.verdict), found, mutants, Verdict(row.weakest), assumed, score, given)


def figure(name: str) -> Figure:
    """A figure whose drawing, words and data hold its name."""
    svg = f'<svg role="img" aria-label="drawing of {name}" viewBox="0 0 4 4"><path d="M0 0"/></svg>'
    return Figure(name, f"title of {name}", f"caption of {name}", svg, f"panel,series\n1,{name}\n")


STUDIES = tuple(
    Study(
        f"study_{k}", f"study title {k}", (f"first words {k}", f"second words {k}"),
        tuple(
            Table(f"table {k}{m}", (f"head {k}{m}x", f"head {k}{m}y"), ((f"cell {k}{m}xx", f"cell {k}{m}xy"),) * rows)
            for m, rows in (("a", 14), ("b", 15))  # short ones are shown open
        ),
        (figure(f"drawn_{k}a"), figure(f"drawn_{k}b")),
        f"command {k}",
    )
    for k in (1, 2)
)  # fmt: skip


@cache
def material() -> Material:
    """What the pages are made from."""
    entries = tuple(entry(number, row) for number, row in enumerate(ROWS, 1))
    glossary = tuple(Symbol(letter(n), f"meaning {n}", f"O({n})") for n in range(1, len(ROWS) + 1))
    # Of another profile than the committed ledger.
    return Material(Ledger("ci", entries), (), with_symbols(*glossary), STUDIES)


@cache
def files() -> dict[str, str]:
    """The files of the report."""
    return site(material())


@cache
def page(name: str) -> Element:
    """What stands in <main> of a page of the report."""
    return read(files()[name])


def claim_page(id_: str) -> str:
    """The address of a claim."""
    return f"claim/{id_}.html"
