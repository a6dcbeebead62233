"""The page of a claim says of it what the ledger says, and of no other; so do the lists that lead to it."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from giantsteps.verify.claims.paper import PAPER
from tests.reports.templates.material import (
    NUMBER,
    ROWS,
    SLIDES,
    Row,
    claim_page,
    files,
    given_of,
    material,
    page,
)
from tests.reports.templates.reading import badges, facts, links, of_class, words

MARKS = {"printed": " as printed", "reading": " a reading"}
# The slides are called by their title.
TITLES = {SLIDES: "Learning features with two-layer neural networks, one step at a time"}


def head_of(row: Row) -> str:
    """What stands behind the name of a claim: verdict, what a source prints, what makes it weaker."""
    weaker = f" given {given_of(row)}" if row.culprits else ""
    return row.verdict + MARKS.get(row.role, "") + (" by definition" if row.kind == "DEFINITION" else weaker)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_page_of_a_claim_is_its_own(row: Row) -> None:
    n, at = NUMBER[row.id], claim_page(row.id)
    main = page(at)
    first, second = list(main.iter("p"))[:2]
    assert links(first, at) == [f"claims-{row.chapter}.html#row-claim-{row.id.replace('.', '-')}"]
    assert (words(main.find(".//h1")), words(second)) == (f"Title {n}", f"{row.id} {head_of(row)}")
    assert words(of_class(main, "div", "formula")[0]) == f"A{n}={10 + n}"
    assert words(main.find(".//pre")) == f"A_{{{n}}} = {10 + n}"
    said = dict(facts(main))
    assert words(said[f"A{n}"]) == f"meaning {n}" + (f" O({n})" if n > 1 else "")
    assert badges(said["verdict"]) == [row.verdict, *([row.weakest] if row.culprits else [])]
    assert links(said["verdict"], at) == [claim_page(one) for one in row.culprits]
    document = TITLES.get(row.document, row.document)
    had = next(one.had for one in PAPER.sources if one.name == row.document)
    assert words(said["source"]) == f"{document}, Section {n}, ({100 + n}), ({200 + n}){had}"
    assert ("not available" in had) == (row.document == PAPER.name)
    printed = ", as printed in the source" if row.role == "printed" else ""
    assert words(said["kind"]) == row.kind.replace("_", " ").lower() + printed
    assumed = ("hypothesis", "hypothesis of all") if row.role == "ours" else ()
    listed = said["assumes"].iter("li") if assumed else ()
    assert [words(one) for one in listed] == [f"hypothesis {n}", "hypothesis of all"][: len(assumed)]
    assert words(said["note"]) == f"note {n}"
    users = [other.id for other in ROWS if row.id in other.uses]
    for term, ids in (("rests on", row.uses), ("used by", users)):
        assert (links(said[term], at) if term in said else []) == [claim_page(one) for one in ids]
    unmade = [words(said["no rule made"])] if "no rule made" in said else []
    assert unmade == ([f"step {n} by hand"] if row.kind != "DEFINITION" else [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_evidence_of_a_claim_stands_with_what_each_piece_found(row: Row) -> None:
    n, main = NUMBER[row.id], page(claim_page(row.id))
    entry, said = material().ledger.entries[n - 1], dict(facts(main))
    shown = [words(one) for one in said["evidence"].iter("li")]
    if row.kind == "DEFINITION":
        assert (shown, list(main.iter("h2"))[-1].text) == (["none"], "How it is known")
        return
    for line, found in zip(shown, entry.evidence, strict=True):
        assert line.startswith(f"{found.check}: {found.outcome.value}; {found.summary}")
    assert [line.rsplit(" ", 1)[-1] for line in shown[1:]] in (["1e-03"], [f"{n}.0%"], [f"1e-{n:02d}"])
    names = of_class(main, "div", "body")[-1]
    lines = [words(one) for one in names if one.get("class") != "formula"]
    open_ = " INCONCLUSIVE" if row.verdict == "INCONCLUSIVE" else ""
    first = f"neighbour {n}a refuted by derivation: way {n}"
    assert lines == [first, f"neighbour {n}b{open_}", f"neighbour {n}c"]
    formulas = [words(one) for one in of_class(names, "div", "formula")]
    assert formulas == [f"={900 + 10 * n + k}" for k in range(3)]
    assert words(main.findall(".//summary")[-1]) == "3 mutants"


def test_the_list_of_claims_has_each_once_under_its_chapter_with_its_verdict() -> None:
    main = page("claims.html")
    found = []
    for one in main.iter():
        if one.tag == "h2" and (one.get("id") or "").startswith("claims-of-"):
            chapter = (one.get("id") or "").removeprefix("claims-of-")
            assert links(one, "claims.html") == [f"claims-{chapter}.html"]
        if one.tag == "li":
            found.append((chapter, words(one), links(one, "claims.html")))
    expected = [(row.chapter, f"Title {NUMBER[row.id]} {head_of(row)}{row.id}", [claim_page(row.id)]) for row in ROWS]
    assert sorted(found) == sorted(expected)
    assert [one[2] for one in found if one[0] == "slides"] == [
        [claim_page(row.id)] for row in ROWS if row.chapter == "slides"
    ]
    boxes = [words(one) for one in main.iter("label")]
    counts = Counter(row.verdict for row in ROWS)
    assert sorted(boxes) == sorted(f"{verdict} {count}" for verdict, count in counts.items())
    for box, label in zip(boxes, main.iter("label"), strict=True):
        assert [one.get("class") for one in label.iter("input")] == [box.split()[0]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_chapter_shows_the_formula_of_a_claim_and_what_its_checks_refuted(row: Row) -> None:
    n, at = NUMBER[row.id], f"claims-{row.chapter}.html"
    (article,) = (one for one in page(at).iter("article") if one.get("id") == f"row-claim-{row.id.replace('.', '-')}")
    assert set(links(article, at)) == {claim_page(row.id)}
    title, name, rest = (words(article.find(tag)) for tag in ("h2", "p", "p[2]"))
    assert (title, name) == (f"Title {n}", f"{row.id} {head_of(row)}")
    assert words(of_class(article, "div", "formula")[0]) == f"A{n}={10 + n}"
    refuted = 2 if row.verdict == "INCONCLUSIVE" else 3
    assert rest.endswith("none" if row.kind == "DEFINITION" else f"; {refuted} of 3 mutants refuted")


def test_the_search_and_the_cards_know_each_claim_and_symbol_as_it_is() -> None:
    rows = json.loads(files()["entries.js"].removeprefix("const ENTRIES = ").removesuffix(";\n"))
    claims = [one for one in rows if one[2].startswith("claim/")]
    assert [one[::2][:2] for one in claims] == [[f"Title {NUMBER[row.id]}", claim_page(row.id)] for row in ROWS]
    for one, row in zip(claims, ROWS, strict=True):
        n = NUMBER[row.id]
        asked = (*re.findall(r"\w+", row.id), str(n), str(100 + n), row.verdict.lower(), f"a{n}", "meaning")
        assert [word for word in asked if word not in one[3].split()] == []
    kinds = {one[1] for one in rows}
    assert kinds >= {"result", "claim", "formula as printed", "study", "figure", "symbol"}
    known = json.loads(files()["symbols.js"].removeprefix("const SYMBOLS = ").removesuffix(";\n"))
    assert known == {
        f"<msub><mi>A</mi><mn>{n}</mn></msub>": [f"meaning {n}" + (f" (O({n}))" if n > 1 else "")]
        for n in NUMBER.values()
    }
