"""What the pages of the report show of claims and derivations: formulas as MathML, evidence in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from giantsteps.reports.page.described import (
    BETWEEN_ASSUMPTIONS,
    LONG,
    THEOREM,
    DescribedDerivation,
    DescribedStep,
    mutated,
)
from giantsteps.reports.page.sources import by_source, document, document_of
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.mathematics import mathml, says_nothing
from giantsteps.reports.text.prose import prose
from giantsteps.reports.text.words import caught_lines, theorem_line
from giantsteps.verify.checks.evaluate import ABSOLUTE
from giantsteps.verify.checks.mutants import MORE_NAMED
from giantsteps.verify.checks.proofs import MADE_AGAIN
from giantsteps.verify.ledger.document import entry_json, statement_latex, theorem_json
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Claim, Kind
from giantsteps.verify.protocol.evidence import OF_A_THEOREM, Agreement, Certificate, Evidence, FiniteSize, Proof
from giantsteps.verify.protocol.paper import Document, Paper
from giantsteps.verify.protocol.power import MutantResult
from giantsteps.verify.protocol.verdict import Verdict


@dataclass(frozen=True)
class StepView:
    """One line of a derivation on the page: a step, or (``formula`` empty) a reference to steps shown elsewhere."""

    number: str
    reason: Markup
    formula: Markup
    obligations: tuple[tuple[str, str, str], ...] = ()
    elsewhere: str = ""
    elsewhere_title: str = ""
    result: bool = False


@dataclass(frozen=True)
class DerivationView:
    """One derivation on the page; ``results`` are those that no step shown here states."""

    described: DescribedDerivation
    anchor: str
    steps: tuple[StepView, ...]
    results: tuple[Markup, ...]
    claims: tuple[str, ...]
    symbols: tuple[tuple[Markup, str], ...]


@dataclass(frozen=True)
class ClaimView:
    """One claim on the page; ``source`` calls a document without numbered equations by its title, ``had`` is how this
    suite has its formulas.
    """

    entry: Entry
    anchor: str
    statement: Markup
    evidence: tuple[tuple[str, str, str], ...]
    mutants: tuple[tuple[str, Markup, str, str], ...]
    caught: tuple[str, ...]
    proofs: tuple[tuple[str, str], ...]
    theorem: str
    source: str
    had: str

    @property
    def unshown(self) -> int:
        """The number of mutants shown by name alone, because their formula is long."""
        return sum(not formula and name != MORE_NAMED for name, formula, _, _ in self.mutants)

    @property
    def short_evidence(self) -> str:
        """The evidence in a few words for the table."""
        return "; ".join(short_summary(e) for e in self.entry.evidence) or "none"


def summary_table(ledger: Ledger, verdicts: Sequence[Verdict] = tuple(Verdict)) -> list[tuple[str, list[int], int]]:
    """Rows (kind, claims by verdict, claims), then the row of totals."""
    rows = []
    for kind in Kind:
        of_kind = [e.verdict for e in ledger.entries if e.claim.kind is kind]
        if of_kind:
            rows.append((kind.value.replace("_", " ").lower(), [of_kind.count(v) for v in verdicts], len(of_kind)))
    totals = [sum(row[1][k] for row in rows) for k in range(len(verdicts))]
    return [*rows, ("all", totals, len(ledger.entries))]


def source_table(
    ledger: Ledger, paper: Paper, verdicts: Sequence[Verdict] = tuple(Verdict)
) -> list[tuple[Document, list[int], int]]:
    """Rows (document, claims by verdict, claims)."""
    return [
        (found, [[e.verdict for e in entries].count(v) for v in verdicts], len(entries))
        for found, entries in by_source(ledger.entries, paper)
    ]


def proved_given(ledger: Ledger) -> dict[str, Any]:
    """How many claims are PROVED, how many of them rest on nothing weaker, and what the others are given."""
    proved = [entry for entry in ledger.entries if entry.verdict is Verdict.PROVED]
    given = Counter(entry.given.words for entry in proved if entry.given.words)
    return {"all": len(proved), "alone": len(proved) - given.total(), "given": given.most_common()}


def assumptions(ledger: Ledger) -> list[tuple[str, list[str]]]:
    """Every hypothesis but the conditions of single theorems, with the claims that state it or rest on it."""
    found: dict[str, list[str]] = {}
    for entry in ledger.entries:
        for hypothesis in entry.hypotheses:
            if not hypothesis.endswith(OF_A_THEOREM):
                found.setdefault(hypothesis, []).append(entry.claim.id)
    return list(found.items())


def claim_view(entry: Entry, derivations: Sequence[DescribedDerivation], paper: Paper) -> ClaimView:
    """One claim with its formulas converted."""
    titles = {d.check: d.title for d in derivations}
    written = {mutant.name for mutant in entry.claim.mutants}
    source = entry.claim.source
    of = document(source.document, paper)
    return ClaimView(
        entry,
        anchor("claim " + entry.claim.id),
        Markup(mathml(statement_latex(entry.claim), block=True)),
        tuple((e.check, evidence_summary(e), e.outcome.value) for e in entry.evidence),
        tuple(
            (m.name, _mutated(m, entry.claim, m.name in written), m.verdict.value, _caught_by(m, entry.evidence))
            for m in entry.mutants
        ),
        tuple(caught_lines(entry_json(entry))),
        tuple((anchor("derivation " + titles[e.check]), titles[e.check]) for e in entry.evidence if e.check in titles),
        theorem_line(theorem) if (theorem := theorem_json(entry.evidence)) else "",
        str(source).replace(source.document, of.title, 1) if of.formulas else str(source),
        document(document_of(source.document, paper), paper).had,
    )


def _caught_by(mutant: MutantResult, evidence: Sequence[Evidence]) -> str:
    """The checks that refute a mutant, each alone; empty if every check does."""
    return "" if {e.check for e in evidence} == set(mutant.caught_by) else "; ".join(mutant.caught_by)


def _mutated(mutant: MutantResult, claim: Claim, written: bool) -> Markup:
    """The statement of a mutant, if it is shown. Raises MathError.

    A mechanical one is shown only where it is short.
    """
    if not (formula := mutated(mutant, claim)):
        return Markup("")
    shown = Markup(mathml(formula, block=True))
    return shown if written or len(shown) <= LONG else Markup("")


def evidence_summary(evidence: Evidence) -> str:
    """What was found, with the smallest relative error that would have been caught."""
    match evidence:
        case Agreement():
            return f"{evidence.summary}; would have caught {_caught(evidence)}"
        case FiniteSize(smallest_detectable=smallest):
            return f"{evidence.summary}; would have caught a relative error of {smallest:.1%}"
    return evidence.summary


def _caught(evidence: Agreement) -> str:
    """The smallest error that a comparison catches; where all sides are near zero it is absolute (`ABSOLUTE`)."""
    if evidence.smallest_detectable < 1.0:
        return f"a relative error of {evidence.smallest_detectable:.0e}"
    return f"an absolute error of {evidence.tolerance * ABSOLUTE:.0e} (all sides are near zero)"


def short_summary(evidence: Evidence) -> str:
    """One piece of evidence in a few words, with the smallest relative error that would have been caught."""
    if evidence.outcome.value != "supports":
        return f"{evidence.check}: {evidence.outcome.value}"
    match evidence:
        case Proof(obligations=obligations):
            return f"proof of {len(obligations)} obligation{'s' * (len(obligations) != 1)}"
        case Agreement(points=points):
            return f"{points} points, sees {_caught(evidence)}"
        case FiniteSize(smallest_detectable=smallest):
            return f"simulation, sees errors of {smallest:.1%}"
        case Certificate(points=points):
            return f"enclosed at {points} points"


def derivation_views(ledger: Ledger, derivations: Sequence[DescribedDerivation]) -> list[DerivationView]:
    """The derivations with the outcome of each obligation; a step shown already is referred to, not repeated."""
    proofs = {e.check: e for entry in ledger.entries for e in entry.evidence if isinstance(e, Proof)}
    shown: dict[DescribedStep, tuple[str, str]] = {}
    views = []
    for derivation in derivations:
        name = anchor("derivation " + derivation.title)
        proof = proofs.get(derivation.check)
        outcomes = [(o.outcome.value, o.method) for o in proof.obligations] if proof else []
        stated_here = {step.formula for step in derivation.steps if step not in shown}
        views.append(
            DerivationView(
                derivation,
                name,
                tuple(_step_views(derivation, outcomes, shown)),
                tuple(Markup(mathml(one, block=True)) for one in derivation.results if one not in stated_here),
                tuple(e.claim.id for e in ledger.entries if any(x.check == derivation.check for x in e.evidence)),
                tuple((Markup(mathml(glyph)), meaning) for glyph, meaning in derivation.symbols),
            )
        )
        for step in derivation.steps:
            shown.setdefault(step, (name, derivation.title))
    return views


def _step_views(
    derivation: DescribedDerivation, outcomes: Sequence[tuple[str, str]], shown: Mapping[DescribedStep, tuple[str, str]]
) -> Iterable[StepView]:
    position = 0
    assumed: set[str] = set()
    pending: list[int] = []  # numbers of steps shown elsewhere, waiting to be referred to together
    where = ("", "")

    def reference() -> StepView:
        first, last = pending[0], pending[-1]
        number = str(first) if first == last else f"{first}–{last}"
        return StepView(number, Markup(""), Markup(""), (), *where)

    number = 0
    for step in derivation.steps:
        settled = outcomes[position : position + len(step.obligations)]
        position += len(step.obligations)
        if says_nothing(step.formula):
            continue
        number += 1
        place = shown.get(step, ("", ""))
        if pending and place != where:
            yield reference()
            pending = []
        where = place
        if place[0]:
            pending.append(number)
            continue
        results = settled or [("not run", "")] * len(step.obligations)
        yield StepView(
            str(number),
            prose(step.reason),
            Markup(mathml(step.formula, block=True)),
            tuple(
                (_new_assumptions(says, assumed), "" if method == MADE_AGAIN else method or form, outcome)
                for (says, form), (outcome, method) in zip(step.obligations, results, strict=True)
            ),
            result=step.formula in derivation.results,
        )
    if pending:
        yield reference()


def _new_assumptions(says: str, known: set[str]) -> str:
    """The line of a theorem with the assumptions that no earlier step has; these are added to ``known``."""
    rule, semicolon, listed = says.partition("; ")
    if not (semicolon and says.startswith(THEOREM)):
        return says
    new = [assumed for assumed in dict.fromkeys(BETWEEN_ASSUMPTIONS.split(listed)) if assumed not in known]
    known |= set(new)
    return f"{rule}; {', '.join(new)}" if new else rule
