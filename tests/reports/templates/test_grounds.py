"""Assumptions of theorems, the power of checks, the trial of the networks, and the ledger as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

from giantsteps.reports.page.site import site
from giantsteps.reports.text.ledger_markdown import markdown
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.evidence import Assumed, Made, Proof
from tests.reports.templates.material import NUMBER, ROWS, claim_page, files, given_of, material, page
from tests.reports.templates.reading import cells, facts, links, read, words

ASSUMPTIONS = {
    kind: tuple(Assumed(f"{kind} {k}", kind, f"L_{{{place}{k}}} = {k}", f"source of {kind} {k}") for k in (1, 2))
    for place, kind in enumerate(("hypothesis", "lemma", "model", "definition"), 1)
}
CARRIED = Assumed("carried", "hypothesis", "L_{9} = 9", "section-2.input-scale")
# The assumptions of two theorems, and how often rules were used.
THEOREMS = {
    "section-2.gradient-step": Made(tuple(first for first, _ in ASSUMPTIONS.values()), (("ring", 3), ("sum", 2))),
    "slides.kernel": Made((*(one for pair in ASSUMPTIONS.values() for one in pair), CARRIED), (("ring", 1),)),
}


def with_theorems() -> dict[str, str]:
    """The report in which two claims are theorems."""
    entries = []
    for entry in material().ledger.entries:
        made = THEOREMS.get(entry.claim.id)
        proofs = (replace(e, theorem=made) if isinstance(e, Proof) and made else e for e in entry.evidence)
        entries.append(replace(entry, evidence=tuple(proofs)))
    return site(replace(material(), ledger=Ledger("ci", tuple(entries))))


def test_each_assumption_has_its_statement_its_reference_and_its_number_of_claims() -> None:
    found = with_theorems()
    for name, kinds in (("assumptions.html", tuple(ASSUMPTIONS)[:3]), ("definitions.html", ("definition",))):
        main = read(found[name])
        tables = list(main.iter("table"))
        for kind, table in zip(kinds, tables, strict=True):
            head, *rows = [cells(row) for row in table.iter("tr")]
            third = {"hypothesis": "claim or reason", "definition": "meaning"}.get(kind, "reference")
            assert head == ["name", "statement", third, "claims on it"]
            expected = []
            for k, assumed in enumerate(ASSUMPTIONS[kind], 1):
                place = tuple(ASSUMPTIONS).index(kind) + 1
                tested = f"test tests/derivations/kernel/test_lemmas.py::test_a_lemma_holds[{assumed.name}]"
                said = assumed.reference + (tested if kind == "lemma" else "")
                name_of = "" if kind == "definition" else assumed.name
                expected.append([name_of, f"L{place}{k}={k}", said, "2" if k == 1 else "1"])
            if kind == "hypothesis":
                expected.insert(1, ["carried", "L9=9", CARRIED.reference, "1"])
                assert links(table, "assumptions.html") == [claim_page(CARRIED.reference)]
            assert rows == expected
    counts = words(read(found["assumptions.html"]).find("section/p"))
    assert "3 hypotheses, 2 lemmas, 2 parts of the model, 2 definitions." in counts


def test_a_theorem_says_how_many_rules_made_it_and_from_what() -> None:
    found = with_theorems()
    said = dict(facts(read(found[claim_page("section-2.gradient-step")])))
    assert words(said["theorem"]) == (
        "5 rules, from 1 definition; hypothesis: hypothesis 1; lemma: lemma 1; model: model 1; all assumptions"
    )
    assert "no rule made" not in said  # it is made of rules alone
    said = dict(facts(read(found[claim_page("slides.kernel")])))
    listed = "hypothesis: hypothesis 1, hypothesis 2, carried"
    assert words(said["theorem"]).startswith(f"1 rule, from 2 definitions; {listed}")


def test_what_a_check_caught_alone_stands_on_its_page_and_on_that_of_trust() -> None:
    main = page("trust.html")
    first = next(main.iter("table"))
    head, *rows = [cells(row) for row in first.iter("tr")]
    assert head == ["claim", "verdict", "check", "stated mutants refuted", "generic mutants refuted", "missed"]
    scored = [row for row in ROWS if row.verdict in ("CONFIRMED", "INCONCLUSIVE")]
    checks = {row.id: f"simulation: way {NUMBER[row.id]}" for row in scored}
    assert rows == [
        [row.id, row.verdict, checks[row.id], "2 of 3", "0 of 0", f"neighbour {NUMBER[row.id]}a"] for row in scored
    ]
    for row in scored:
        n = NUMBER[row.id]
        refuted = dict(facts(page(claim_page(row.id))))["mutants refuted by each check alone"]
        caught = [words(one) for one in refuted.iter("li")]
        assert caught == [
            f"{checks[row.id]}: caught 2 of 3 alone; missed: neighbour {n}a",
            f"derivation: way {n}: caught 3 of 3 alone",
        ]  # fmt: skip


def test_the_ledger_as_markdown_says_of_each_claim_what_its_page_says() -> None:
    found = markdown(as_json(material().ledger), PAPER.chapters)
    chapter = {row.id: row.chapter for row in ROWS}
    listed = re.findall(r"^\| \[(\S+)\]\((\S+?)#(\S+?)\) \| (.*) \|$", found["ledger/README.md"], flags=re.MULTILINE)
    assert [(id_, file) for id_, file, _, _ in listed] == [(row.id, f"claims/{row.chapter}.md") for row in ROWS]
    for row, (_, _, anchor, rest) in zip(ROWS, listed, strict=True):
        n = NUMBER[row.id]
        mark = " (as printed)" if row.role == "printed" else " (by definition)" if row.kind == "DEFINITION" else ""
        given = f" given {given_of(row)}" if row.culprits else ""
        refuted = "0/0" if row.kind == "DEFINITION" else "2/3" if row.verdict == "INCONCLUSIVE" else "3/3"
        kind = row.kind.lower()
        assert rest == f"{kind} | {row.verdict}{mark}{given} | {row.weakest} | {refuted} | ({100 + n}), ({200 + n})"
        text = found[f"ledger/claims/{row.chapter}.md"].split(f"## {row.id}\n")[1].split("\n## ")[0]
        assert anchor == row.id.replace(".", "")
        assert f"$$A_{{{n}}} = {10 + n}$$" in text
        assert f"- Verdict: **{row.verdict}{given}**, weakest link {row.weakest}\n" in text
        assert f"- Source: {row.document}, Section {n}, ({100 + n}), ({200 + n})\n" in text
        rests = re.findall(r"^- Rests on: (.*)$", text, flags=re.MULTILINE)
        led = [f"[{one}]({chapter[one]}.md#{one.replace('.', '')})" for one in row.uses]
        assert rests == ([", ".join(led)] if led else [])
        assert f"- Note: note {n}\n" in text
        refutes, open_ = row.verdict in ("REFUTED", "CONVENTION"), row.verdict == "INCONCLUSIVE"
        outcome = "refutes" if refutes else "undecided" if open_ else "supports"
        proved = f"{outcome}, {int(outcome == 'supports')} of 1 obligation discharged"
        number = f"{outcome}, {10 + n} points, would have caught a relative error of 1e-02"
        seen = f"{outcome}, z = 0.5 (limit 3.29), would have caught a relative error of {n}.0%"
        ball = f"{outcome}, enclosed at {20 + n} points, no ball wider than 1e-{n:02d}"
        second = {"CERTIFIED": f"balls: way {n}: {ball}"}.get(
            row.verdict, f"numbers: way {n}: {number}" if row.kind == "IDENTITY" else f"simulation: way {n}: {seen}"
        )
        told = re.findall(r"^- Evidence: (.*)$", text, flags=re.MULTILINE)
        assert told == ([f"derivation: way {n}: {proved}", second] if row.kind != "DEFINITION" else [])
        assert (f"; NOT refuted: neighbour {n}b" in text) == (row.verdict == "INCONCLUSIVE")


def test_the_data_beside_the_pages_are_those_of_their_figures() -> None:
    named = {name: text for name, text in files().items() if name.startswith("data/")}
    drawn = [one for study in material().studies for one in study.figures]
    assert named == {f"data/{one.name}.csv": one.data for one in drawn}
