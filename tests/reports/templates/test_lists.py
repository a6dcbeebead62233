"""The pages that list and count: first page, results, misprints, slides, what rests on what, studies, activations."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from posixpath import dirname, join, normpath
from xml.etree.ElementTree import Element

import pytest

from giantsteps.reports.activation.gallery import Card, Goal
from giantsteps.reports.page.site import site
from giantsteps.verify.claims.paper import PAPER
from tests.reports.templates.material import NUMBER, ROWS, STUDIES, Row, claim_page, files, given_of, material, page
from tests.reports.templates.reading import badges, cells, facts, links, of_class, read, words
from tests.shared.report_page import pages_of

BY_ID = {row.id: row for row in ROWS}
MENU = {
    f"{name}.html" for name in ("index", "results", "claims", "derivations", "studies", "misprints", "trust", "symbols")
}
# Three for each claim but definitions, of which one is not refuted.
TRIED = 3 * sum(row.kind != "DEFINITION" for row in ROWS)
TITLES = {source.name: source.title for source in PAPER.sources}


def table(element: Element) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table, cell by cell."""
    head, *rows = [cells(row) for row in element.iter("tr")]
    return head, rows


def counted(element: Element, kinds: dict[str, str]) -> dict[str, Counter[str]]:
    """A table of counts read back: what each row counts under each verdict, and that its total is theirs."""
    head, rows = table(element)
    assert head[-1] == "claims"
    found = {}
    for name, *numbers, total in rows:
        assert len(numbers) == len(head) - 2
        count = Counter({verdict: int(n) for verdict, n in zip(head[1:-1], numbers, strict=True) if n})
        assert count.total() == int(total)
        found[next((key for key, begins in kinds.items() if name.startswith(begins)), name)] = count
    return found


def of(key: str) -> dict[str, Counter[str]]:
    """The verdicts of the claims by one of their properties."""
    found: dict[str, Counter[str]] = {}
    for row in ROWS:
        found.setdefault(getattr(row, key), Counter())[row.verdict] += 1
    return found


def test_the_results_count_the_claims_by_source_and_by_kind() -> None:
    main = page("results.html")
    by_source, by_kind, *_ = main.iter("table")
    assert counted(by_source, TITLES) == of("document")
    kinds = {row.kind: row.kind.replace("_", " ").lower() for row in ROWS}
    found = counted(by_kind, kinds)
    assert found.pop("all") == Counter(row.verdict for row in ROWS)
    assert found == of("kind")
    assert f"Mutants: {TRIED - 1} of {TRIED} refuted." in words(main)


def test_the_first_page_has_one_number_and_a_key_that_parts_the_theorems_by_what_they_rest_on() -> None:
    main = page("index.html")
    proved = [row for row in ROWS if row.verdict == "PROVED"]
    weaker = [row for row in proved if row.culprits]
    assert words(main.find(".//strong")) == f"{len(proved)} of {len(ROWS)}"
    (key,) = of_class(main, "table", "meanings")
    _, rows = table(key)
    assert [row[0] for row in rows][:2] == ["PROVED", "PROVED given …"]
    counts = Counter(row.verdict for row in ROWS)
    apart = {"PROVED": len(proved) - len(weaker), "PROVED given …": len(weaker)}
    assert {row[0]: int(row[2]) for row in rows} == counts | apart
    assert all(f"{given_of(row)} (1)" in rows[1][1] for row in weaker)
    assert f"run on {TRIED} mutants of the formulas and refuted {TRIED - 1} of them" in words(main)
    assert not of_class(main, "div", "result")  # no badge stands before the key
    assert {"results.html", "trust.html"} <= set(links(main, "index.html"))


def test_the_navigation_marks_the_page_that_is_shown_and_leads_everywhere() -> None:
    for at, html in pages_of(files()).items():
        whole = read(html, ".//nav")
        marked = [one for one in whole.iter("a") if one.get("aria-current")]
        led = [link.partition("#")[0] for link in links(whole, at)]
        assert set(led) >= MENU  # the same on all pages
        assert [normpath(join(dirname(at), one.get("href") or "")) for one in marked] == [at] * (at in led)
        assert set(led) <= set(files())
        assert at in led or "/" in at  # a page in a folder is listed by the one that leads to it
    listed = [words(one) for one in read(files()["study-study-1.html"], ".//nav").iter("a")]
    assert [one for one in listed if one.startswith("Study title")] == ["Study title 1", "Study title 2"]


def test_the_results_are_stated_with_their_verdicts() -> None:
    shown = of_class(page("results.html"), "div", "result")
    stated = ("result-3-1.spike-strength", "definitions.mu0", "result-3-3.test-error")
    assert len(shown) == len(stated)
    for one, id_ in zip(shown, stated, strict=True):
        n, row = NUMBER[id_], BY_ID[id_]
        assert words(of_class(one, "div", "formula")[0]) == f"A{n}={10 + n}"
        assert (badges(one), links(one, "results.html")) == ([row.verdict], [claim_page(id_)])
        assert [link.get("title") for link in one.iter("a")] == [f"title {n}"]
        assert words(one).endswith("by definition") == (row.kind == "DEFINITION")


def test_all_figures_have_their_points() -> None:
    for at, figures in ((f"study-study-{k}.html", study.figures) for k, study in enumerate(STUDIES, 1)):
        found = list(page(at).iter("figure"))
        for one, figure in zip(found, figures, strict=True):
            assert one.get("id") == "figure-" + figure.name.replace("_", "-")
            assert f"title of {figure.name}" in words(one)
            assert f"caption of {figure.name}" in words(one)
            assert [svg.get("aria-label") for svg in one.iter("svg")] == [f"drawing of {figure.name}"]
            (points,) = links(one, at)
            assert files()[points] == figure.data


def errata(row_ids: tuple[str, str], words_of: tuple[str, str], article: Element, at: str) -> None:
    """An article of the misprints: what is printed and what is right, each with its formula and verdict."""
    pairs = [one for one in article.iter("p") if badges(one)]
    formulas = of_class(article, "div", "formula")
    for one, formula, id_, which in zip(pairs, formulas, row_ids, words_of, strict=True):
        n, row = NUMBER[id_], BY_ID[id_]
        assert words(one) == f"{which} {id_} {row.verdict}"
        assert links(one, at) == [claim_page(id_)]
        assert words(formula) == f"A{n}={10 + n}"


def test_misprints_and_conventions_stand_apart_with_both_sides() -> None:
    main, at = page("misprints.html"), "misprints.html"
    misprint, convention = of_class(main, "article", "misprint")
    first, _ = main.findall("section")
    assert list(of_class(first, "article", "misprint")) == [misprint]
    assert "1 formula that the checks refuted" in words(first)
    assert "No author is accused" in words(first)
    assert "Could an error of conversion explain it? A lost subscript would" in words(misprint)
    errata(("slides.step-over-n", "section-2.gradient-step"), ("as we have it", "what holds"), misprint, at)
    errata(("slides.input-scale", "section-2.input-scale"), ("theirs", "ours"), convention, at)
    for article, id_ in ((misprint, "slides.step-over-n"), (convention, "slides.input-scale")):
        n = NUMBER[id_]
        listed = next(one for one in (*PAPER.errata, *PAPER.conventions) if one.printed == id_)
        assert article.get("id") == listed.id.replace(".", "-")
        assert words(article.find("h4")) == f"Title {n}"
        assert f"fails: obligation {n}; witness witness {n}" in words(article)
        assert f"({100 + n}), ({200 + n})" in words(article)
    first = words(page("results.html"))
    assert "reconstructed from the text of the paper; the printed formula was not available" in first
    proved = [row for row in ROWS if row.verdict == "PROVED"]
    weaker = [row for row in proved if row.culprits]
    assert f"{len(proved) - len(weaker)} of the {len(proved)} PROVED claims rest on nothing weaker" in first
    assert all(f"{given_of(row)} (1)" in first for row in weaker)
    (section,) = (one for one in page("results.html").iter("section") if one.get("id") == "findings")
    assert [words(one) for one in section.iter("li")] == [f"Title {NUMBER['slides.step-over-n']} slides.step-over-n"]
    assert words(section.find(".//summary")).startswith(f"1 in {TITLES['slides']}")


def test_each_formula_of_the_slides_stands_with_its_claims_and_their_verdicts() -> None:
    main, at, seen = page("slides.html"), "slides.html", []
    outcomes = {"slides.kernel": "stands", "slides.step-over-n": "corrected", "slides.input-scale": "convention"}
    assert [words(one) for one in next(main.iter("tr"))] == ["formula", "outcome", "claims"]
    for row in main.iter("tr"):
        ids = [re.sub(r"claim/|\.html", "", link) for link in links(row, at)]
        if not ids:
            continue
        own = [id_ for id_ in ids if id_ in outcomes]
        seen += own
        assert badges(row) == [BY_ID[id_].verdict for id_ in ids]
        assert [outcomes[id_] for id_ in own] == [cells(row)[1]] * len(own)
        assert words(row).count("as printed") == sum(BY_ID[id_].role == "printed" for id_ in ids)
        assert len(set(ids)) == len(ids)
        assert any(set(ids) == set(one.claims) & set(NUMBER) for one in PAPER.sources[1].formulas)
    assert set(seen) == set(outcomes)


def beneath(row: Row) -> set[str]:
    """All that a claim rests on."""
    return set(row.uses) | {deep for used in row.uses for deep in beneath(BY_ID[used])}


def test_the_graph_has_each_part_with_its_weakest_link_and_each_line_with_its_count() -> None:
    main, at = page("dependencies.html"), "dependencies.html"
    (graph,) = of_class(main, "svg", "graph")
    strength = ["PROVED", "CERTIFIED", "DERIVED", "CONFIRMED", "INCONCLUSIVE"]
    parts: dict[str, list[Row]] = {}
    for row in ROWS:
        parts.setdefault(row.id.split(".")[0], []).append(row)
    boxes = {words(box.find("text")): box for box in graph.iter("a")}
    assert set(boxes) == set(parts)
    for name, rows in parts.items():
        ours = [row.weakest for row in rows if row.role == "ours" and row.kind != "DEFINITION"]
        assert links(boxes[name], at) == [claim_page(rows[0].id)]
        assert boxes[name].get("class") == (max(ours, key=strength.index) if ours else "none")
        assert words(boxes[name].findall("text")[1]) == f"{len(rows)} claim{'s' * (len(rows) > 1)}"
        assert words(boxes[name].find("title")).startswith(f"{name}: ")
        counts = dict(part.split()[::-1] for part in words(boxes[name].find("title")).split(": ")[1].split(", "))
        assert counts == {verdict: str(n) for verdict, n in Counter(row.verdict for row in rows).items()}
    lines = Counter(
        (row.id.split(".")[0], used.split(".")[0])
        for row in ROWS for used in row.uses if row.id.split(".")[0] != used.split(".")[0]
    )  # fmt: skip
    told = [words(path.find("title")) for path in graph.iter("path")]
    assert sorted(told) == sorted(f"{a} rests on {b}: {n} link{'s' * (n > 1)}" for (a, b), n in lines.items())


def test_a_result_stands_over_all_that_it_rests_on() -> None:
    main, at = page("dependencies.html"), "dependencies.html"
    shown = {words(one.find("summary/span")): one for one in main.findall("section/details")}
    assert list(shown) == ["result-3-1.spike-strength", "bounds.lower", "result-3-3.test-error"]
    for id_, one in shown.items():
        row = BY_ID[id_]
        count = len(beneath(row))
        summary, first = words(one.find("summary")), one.find("div/p")
        told = f"{count} claim{'s' * (count != 1)} beneath"
        assert summary == f"{id_} Title {NUMBER[id_]} {row.weakest} {told}"
        assert first is not None
        culprits = [other for other in (*sorted(beneath(row) | {id_}, key=list(BY_ID).index),)
                    if BY_ID[other].verdict == row.weakest and BY_ID[other].kind != "DEFINITION"]  # fmt: skip
        assert (badges(first), links(first, at)) == (
            [row.verdict, row.weakest], [claim_page(id_), *(claim_page(other) for other in culprits)]
        )  # fmt: skip


def test_hypotheses_and_symbols_are_listed_with_their_numbers() -> None:
    listed = [words(one) for one in page("assumptions.html").iter("li")]
    ours = [NUMBER[row.id] for row in ROWS if row.role == "ours"]
    assert set(listed) == {f"hypothesis {n} (1 claim)" for n in ours} | {f"hypothesis of all ({len(ours)} claims)"}
    head, rows = table(page("symbols.html"))
    assert head == ["symbol", "meaning", "scaling in d"]
    assert rows == [[f"A{n}", f"meaning {n}", f"O({n})"] for n in NUMBER.values()]


def test_a_study_shows_its_words_tables_and_command_and_is_listed() -> None:
    overview = dict(facts(page("studies.html")))
    for k, study in enumerate(STUDIES, 1):
        at = f"study-study-{k}.html"
        main = page(at)
        assert words(main.find(".//h1")) == f"Study title {k}"
        assert [words(one) for one in main.findall("section/p")][:2] == [f"first words {k}", f"second words {k}"]
        assert words(overview[f"Study title {k}"]) == f"first words {k}"
        for one, given in zip(main.iter("table"), study.tables, strict=True):
            assert table(one) == ([*given.columns], [list(row) for row in given.rows])
        assert words(main.find(".//caption")) == f"Table {k}a"
        assert len(list(main.iter("table"))) == len(study.tables)
        assert words(main.find(".//summary")) == f"Table {k}b (15 rows)"
        assert f"Measure again: command {k}" in words(main)
    linked = [one for one in links(page("studies.html"), "studies.html") if one.startswith("study-")]
    assert linked == ["study-study-1.html", "study-study-2.html"]


def card(k: int) -> Card:
    """A card all of whose numbers hold its own; the second gives no spike."""
    coefficients: dict[str, object] = {name: {"ball": f"[{k}.{m} +/- 1e-9]"} for m, name in ((1, "h1"), (2, "h2"))}
    document = {
        "parity": f"parity {k}", "breakpoints": [f"jump {k}"], "growth": f"growth {k}", "information_exponent": 30 + k,
        "spike_emerges": k != 2, "spike": 0.5 + k, "bulk": 0.25 + k, "warnings": [f"warning {k}"],
        "coefficients": coefficients | {"hermite": [{"order": k, "closed_form": f"form {k}", "proof": f"state {k}"}]},
        "closed_forms": {"holds_for": f"domain {k}"}, "proof": {"status": f"status {k}", "obligations": [1] * k},
    }  # fmt: skip
    shares = [(0.11, 0.22, 0.33), (0.44, 0.55, 0.66)]
    goals = tuple(Goal(f"g{k}{m}", k + 0.5, *s[:2], 1.25 * k, s[2] + k / 100, 6.0) for m, s in enumerate(shares))
    formulas = ((f"n_{{{k}}}", f"7{k}"),)
    svg = f'<svg aria-label="{{}} {k}"></svg>'
    drawn = svg.format("curves"), svg.format("graph")
    return Card(f"act{k}", f"f{k}(z)", document, f"f_{{{k}}}", formulas, goals, *drawn)


@pytest.fixture(scope="module")
def gallery() -> dict[str, str]:
    """The report with three cards."""
    return site(replace(material(), gallery=tuple(map(card, (1, 2, 3)))))


def test_the_page_of_an_activation_is_its_own(gallery: dict[str, str]) -> None:
    for k in (1, 2, 3):
        main = read(gallery[f"activations/act{k}.html"])
        said = {term: words(one) for term, one in facts(main)}
        spike = "gives no spike: h1=0" if k == 2 else "gives the weights a spike: h1 is not zero"
        assert said == {
            "parity": f"parity {k}", "breakpoints": f"jump {k}", "growth": f"growth {k}",
            "a step": f"{spike}; information exponent {30 + k}", "exactly": f"s{k} = form {k} (state {k})",
            "closed forms": f"status {k} by {k} obligations (heat equation, limit c → 0, growth, analyticity), for "
            f"domain {k}", "note": f"warning {k}",
        }  # fmt: skip
        assert [words(one) for one in of_class(main, "div", "formula")] == [f"σ(z)=f{k}", f"n{k}=7{k}"]
        assert f"at r = {k + 0.5:g}, c = {k + 0.25:g}." in words(main.find(".//figcaption"))
        head, rows = table(next(main.iter("table")))
        assert head == ["target", "E[g2]", "lower bound", "upper bound", "best spike", "upper bound there"]
        assert rows == [
            [f"g{k}{m}", f"{k}.50000", low, high, f"{1.25 * k:.4g}", f"{there + k} %"]
            for m, low, high, there in ((0, "11 %", "22 %", 33), (1, "44 %", "55 %", 66))
        ]
        beside = {one.get("rel"): one.get("href") for one in main.iter("a") if one.get("rel")}
        assert beside == {
            word: f"act{k + step}.html#activation-act{k + step}"
            for word, step in (("prev", -1), ("next", 1))
            if 1 <= k + step <= 3
        }
        assert f'giantsteps activation "f{k}(z)" --target sin' in words(main)
