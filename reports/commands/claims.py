"""giantsteps claims: list claims with source, checks and verdict; nothing is run."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.claim_ids import beginning_with, find
from giantsteps.reports.command_line.console import Output, provenance, table, verdict_text
from giantsteps.reports.command_line.options import common_options
from giantsteps.reports.command_line.papers import paper_of, paper_option
from giantsteps.reports.command_line.problems import DONE, InputProblem
from giantsteps.reports.text.plain_formulas import plain, readable
from giantsteps.reports.text.words import (
    ASSUMPTIONS,
    by_fiat,
    caught_lines,
    evidence_line,
    given_of,
    steps_without_rule,
    theorem_line,
    verdict_mark,
)

if TYPE_CHECKING:
    from giantsteps.verify.protocol.claim import Claim

HELP = """\b
Examples:
  giantsteps claims
  giantsteps claims result-3-1.spike-strength
  giantsteps claims result-3-1
  giantsteps claims "(9)"
  giantsteps claims --leaves
  giantsteps claims --json

List the claims whose ids begin with CLAIM, or whose source has the equation of that number. A single claim is shown in
full: statement, source, assumptions, dependencies, evidence, mutants. All verdicts are those of the committed ledger,
and UNTESTED if the statement has changed since; `giantsteps verify` runs the checks. --leaves lists the assumptions of
all theorems of the committed ledger: each hypothesis, lemma, part of the model and definition, with its claim, its test
and the number of claims that rest on it.
"""


@click.command(help=HELP)
@click.argument("claim", required=False)
@click.option("--leaves", is_flag=True, help="List the assumptions of the theorems instead of the claims.")
@paper_option
@common_options
def claims(out: Output, claim: str | None, leaves: bool, paper: str | None) -> int:
    """List the claims, or one, or the assumptions of their theorems; the exit code."""
    from giantsteps.reports.text.ledger_files import committed
    from giantsteps.verify.protocol.order import collected

    named = {name: value for name, value in (("claim", claim), ("paper", paper)) if value is not None}
    with paper_of(paper) as of:
        ledger = committed(of.ledger) or {"claims": []}
    if leaves:
        listed = _assumptions(claim, ledger)
        document = {"leaves": listed, "provenance": provenance("claims", {"leaves": True} | named)}
        out.tell(document, lambda: assumptions_text(listed))
        return DONE
    documents = None if claim is None else on_record(claim, ledger)
    if documents is None:
        known = collected(of.modules)
        documents = with_verdicts(known if claim is None else find(known, claim, of.option), ledger)

    def text() -> str:
        if claim is not None:
            return claim_text(documents[0]) if len(documents) == 1 else claims_table(documents)
        from giantsteps.verify.ledger.coverage import summary as coverage_summary

        return f"{claims_table(documents)}\n{coverage_summary(known, of).sentence}"

    out.tell({"claims": documents, "summary": summary(documents), "provenance": provenance("claims", named)}, text)
    return DONE


def _assumptions(claim: str | None, ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The assumptions of the theorems of the claims whose ids begin so, or of all theorems."""
    if "leaves" not in ledger:
        raise InputProblem(
            "the committed ledger lists no assumptions; `giantsteps report` writes them, of another paper if its "
            "Paper(...) has a ledger="
        )
    ids = None if claim is None else beginning_with([entry["id"] for entry in ledger["claims"]], claim)
    if ids == []:
        raise InputProblem(
            f"no claim is called {str(claim)[:80]!a}; `giantsteps claims` lists those accepted, which may be cut "
            "short, for example giantsteps claims --leaves result-3-3"
        )
    return [assumed for assumed in ledger["leaves"] if ids is None or set(assumed["claims"]) & set(ids)]


def assumptions_text(listed: Sequence[Mapping[str, Any]]) -> str:
    """Assumptions by kind: names, statements, claim or reference, test, and the number of claims that rest on each."""
    lines = []
    for kind, plural in ASSUMPTIONS.items():
        of_kind = [assumed for assumed in listed if assumed["kind"] == kind]
        lines += [f"{len(of_kind)} {plural}", ""]
        for assumed in of_kind:
            count = len(assumed["claims"])
            lines.append(f"  {readable('; '.join(assumed['names']))}   ({count} claim{'s' * (count != 1)})")
            lines += [f"      {plain(statement)}" for statement in assumed["statements"]]
            lines += textwrap.wrap(assumed["claim"] or "; ".join(assumed["references"]), 110, **_INDENTED)
            lines += [f"      test {assumed['test']}"] if assumed["test"] else []
        lines += [""] if of_kind else []
    return "\n".join(lines).rstrip()


_INDENTED: dict[str, Any] = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}
# The keys of a claim's document, in their order.
KEYS = (
    *("id", "title", "source", "equations", "kind", "role", "statement", "uses", "hypotheses", "note"),
    *("verdict", "weakest", "evidence", "theorem", "mutants", "power", "given"),
)


def on_record(id_: str, ledger: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The claim of this id as the committed ledger has it; no claims are built. None where it has none."""
    found = [entry for entry in ledger["claims"] if entry["id"] == id_.strip()]
    return [{key: entry.get(key) for key in KEYS} for entry in found] or None


def with_verdicts(chosen: Sequence[Claim], ledger: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claims as documents, with what the committed ledger says of those whose statement is unchanged."""
    from giantsteps.verify.ledger.document import claim_json

    recorded = {entry["id"]: entry for entry in ledger["claims"]}
    documents = []
    for claim in chosen:
        stated = claim_json(claim)
        entry = recorded.get(claim.id)
        if entry is None or entry["statement"] != stated["statement"]:
            entry = {"verdict": "UNTESTED", "weakest": "UNTESTED", "evidence": [], "mutants": []}
        own = {"uses": entry.get("uses", stated["uses"]), "note": claim.note}
        whole = {"hypotheses": list(claim.domain.hypotheses)} | entry | stated | own
        documents.append({key: whole.get(key) for key in KEYS})
    return documents


def summary(documents: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many claims have each verdict."""
    from giantsteps.verify.protocol.verdict import Verdict

    return {verdict.value: sum(d["verdict"] == verdict.value for d in documents) for verdict in Verdict}


def claims_table(documents: Sequence[Mapping[str, Any]]) -> str:
    """One line per claim, and a line of totals."""
    return f"{verdict_table(documents)}\n\n{totals(summary(documents))}"


def verdict_table(documents: Sequence[Mapping[str, Any]], *, alone: bool = False) -> str:
    """One line per claim; with ``alone`` how many mutants the check refutes that earned the verdict."""
    rows = [
        [
            d["id"],
            verdict_text(d["verdict"]) + verdict_mark(d["role"], by_fiat(d), given_of(d)),
            verdict_text(d["weakest"]),
            f"{sum(m['verdict'] == 'REFUTED' for m in d['mutants'])}/{len(d['mutants'])}",
            *(["{caught_alone}/{of}".format_map(d["power"]) if d["power"] else ""] if alone else []),
            ", ".join(f"({n})" for n in d["equations"]),
        ]
        for d in documents
    ]
    return table(rows, ["claim", "verdict", "weakest link", "mutants", *(["alone"] if alone else []), "equations"])


def totals(counts: Mapping[str, int]) -> str:
    """The verdicts in one line: 31 PROVED, 9 CONFIRMED."""
    return ", ".join(f"{count} {verdict_text(verdict)}" for verdict, count in counts.items() if count) or "no claims"


def claim_text(document: Mapping[str, Any]) -> str:
    """One claim whole, for people: its formulas as lines of plain text; --json has them as LaTeX."""
    lines = [
        f"{document['id']}: {document['title']}",
        "",
        *textwrap.wrap(plain(document["statement"]), 118, initial_indent="  ", subsequent_indent="    "),
        "",
        f"verdict    {verdict_text(document['verdict'])}{verdict_mark('', False, given_of(document))}, weakest link "
        f"{verdict_text(document['weakest'])}",
        f"source     {document['source']}",
        f"kind       {document['kind']}, role {document['role']}",
        *_listed("rests on", document["uses"]),
        *_listed("assumes", document["hypotheses"]),
        *_listed("evidence", [evidence_line(e) for e in document["evidence"]]),
        *_listed("theorem", [theorem_line(document["theorem"])] if document["theorem"] else []),
        *_listed("no rule", steps_without_rule(document)),
        *_listed("alone", caught_lines(document)),
        *_listed("mutants", [f"{m['name']}: {verdict_text(m['verdict'])}" for m in document["mutants"]]),
        *_listed("note", [document["note"]] if document["note"] else []),
    ]
    return "\n".join(lines)


def _listed(label: str, items: Sequence[str]) -> list[str]:
    lines = []
    for position, item in enumerate(items):
        wrapped = textwrap.wrap(readable(item), 110) or [""]
        lines.append(f"{label if position == 0 else '':<9}  {wrapped[0]}")
        lines += [f"{'':<11}{rest}" for rest in wrapped[1:]]
    return lines
