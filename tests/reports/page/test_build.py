"""The report: pages that need nothing else, in which every claim, misprint and measurement is shown once."""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import b64decode

import numpy as np
import pytest
from html5lib import HTMLParser
from markupsafe import Markup, escape

import giantsteps
import giantsteps.reports.measurements.network_trial as network_trial_module
from giantsteps.reports.commands.verify import ledger_summary, ledger_table, troubles
from giantsteps.reports.measurements import measured_networks
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.build import unique
from giantsteps.reports.page.claims import Said, address, folded, said_once, surroundings
from giantsteps.reports.page.described import DescribedDerivation, describe
from giantsteps.reports.page.misprints import CORRECTED, DIFFERS, STANDS, coverage
from giantsteps.reports.page.results import RESULTS
from giantsteps.reports.page.site import PAGE_BYTES, SiteError, packed
from giantsteps.reports.page.sources import DOCUMENTS, by_source
from giantsteps.reports.page.views import derivation_views, source_table, summary_table
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.prose import prose
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import statement_latex
from giantsteps.verify.ledger.errata import conventions
from giantsteps.verify.ledger.leaves import grounds
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Kind, Role
from giantsteps.verify.protocol.evidence import Agreement, Outcome
from giantsteps.verify.protocol.paper import part_of
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared import toy
from tests.shared.committed_ledger import committed_ledger
from tests.shared.report_page import (
    broken,
    chained_ledger,
    entry,
    outline,
    pages_of,
    site_of,
    toy_figures,
    toy_ledger,
    toy_site,
    whole_site,
)


def test_the_pages_are_whole_and_every_link_leads_somewhere() -> None:
    assert broken(toy_site()) == []
    for html in pages_of(toy_site()).values():
        assert html.startswith("<!DOCTYPE html>")
    # What is wrong is seen.
    files = dict(toy_site())
    files["index.html"] = files["index.html"].replace('href="misprints.html"', 'href="misprint.html"')
    files["symbols.html"] = files["symbols.html"].replace("</main>", "")
    assert any("misprint.html leads nowhere" in problem for problem in broken(files))
    assert any(problem.startswith("symbols.html") for problem in broken(files))


def test_the_pages_need_nothing_from_elsewhere() -> None:
    files = toy_site()
    text = "".join(files.values())
    loads = {load.removeprefix("../") for html in pages_of(files).values() for load in outline(html).loads}
    assert loads == {"style.css", "math.css", "open.js", "find.js"}
    assert "@import" not in text
    # The only addresses are the names of XML vocabularies, which are never fetched.
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text.replace(files["math.css"], "")))
    assert addresses <= {"http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\((?!#)[^,]*", text)) == {"url(data:font/woff2;base64"}


def test_the_pages_are_valid() -> None:
    def errors(html: str) -> list[object]:
        parser = HTMLParser(strict=False)
        parser.parse(html)
        return list(parser.errors)

    pages = pages_of(toy_site())
    assert {name: errors(html) for name, html in pages.items() if errors(html)} == {}
    wrong = pages["index.html"].replace("</p>", "</p></b>", 1)
    assert len(errors(wrong)) == 1


def test_the_pages_leave_no_latex() -> None:
    for html in pages_of(toy_site()).values():
        # But where it is asked for: the TeX of a claim.
        shown = re.sub(r'<pre class="tex">.*?</pre>', "", html, flags=re.DOTALL)
        assert "\\" not in shown
        assert "$" not in shown


def test_the_pages_say_what_was_found() -> None:
    html = "".join(pages_of(toy_site()).values())
    first = toy_ledger().entries[0]
    assert first.verdict is Verdict.PROVED
    assert first.claim.id in html
    assert 'class="badge PROVED"' in html
    for mutant in first.mutants:
        assert str(prose(mutant.name)) in html
    for step in toy.derivation().steps:
        assert str(prose(step.reason)) in html
    assert 'class="supports"' in html
    first, second = toy_figures()
    assert first.call.split("(")[0] in toy_site()["index.html"]
    assert second.call.split("(")[0] in toy_site()["figures.html"]


def test_a_link_to_a_name_that_stands_nowhere_is_an_error() -> None:
    lost = dataclasses.replace(toy_ledger().entries[0], claim=dataclasses.replace(toy.claim(), uses=("no.such-claim",)))
    with pytest.raises(SiteError, match="claim-no-such-claim"):
        site_of(Ledger("quick", (lost,)))


def test_a_chapter_that_is_too_large_is_cut_into_pages_of_equal_size() -> None:
    items = [Markup("x" * size) for size in (30, 30, 30, 5, 25, 40)]
    assert packed(items, 200) == [items]
    parts = packed(items, 60)
    assert [one for part in parts for one in part] == items
    assert [len("".join(part)) for part in parts] == [60, 60, 40]
    assert packed([], 10) == [[]]
    # A page that cannot be cut small enough is refused, not written.
    huge = Study("huge", "A study", ("words " * (PAGE_BYTES // 5),))
    with pytest.raises(SiteError, match=r"study-huge\.html"):
        site_of(chained_ledger(), studies=(huge,))


def test_every_part_of_the_ledger_is_in_one_chapter() -> None:
    parts = [part for chapter in PAPER.chapters for part in chapter.parts]
    assert sorted(parts) == sorted({part_of(claim.id) for claim in all_claims()})


def test_the_results_of_the_first_page_are_claims_of_ours() -> None:
    ours = {claim.id for claim in all_claims() if claim.role is Role.OURS}
    assert {id_ for result in RESULTS for _, ids in result.formulas for id_ in ids} <= ours
    assert [result.title[:10] for result in RESULTS] == ["Result 3.1", "Result 3.2", "Result 3.3"]


def test_every_source_is_known_by_its_title_and_counted_once() -> None:
    entries = committed_ledger().entries
    counted = source_table(committed_ledger())
    assert {document.title for document, _, _ in counted} == {document.title for document in DOCUMENTS.values()}
    assert sum(total for _, _, total in counted) == len(entries)
    assert [sum(column) for column in zip(*(numbers for _, numbers, _ in counted), strict=True)] == list(
        committed_ledger().summary.values()
    )


def as_written(text: object) -> str:
    """Text as pages have it: an apostrophe is itself."""
    return str(text).replace("&#39;", "'")


def test_every_claim_stands_once_with_its_evidence_on_pages_of_bounded_size() -> None:
    files = whole_site()
    assert broken(files) == []
    read = {name: outline(html) for name, html in pages_of(files).items()}
    anchors = [one for page in read.values() for one in page.ids if one.startswith("claim-")]
    assert sorted(anchors) == sorted(anchor("claim " + e.claim.id) for e in committed_ledger().entries)
    for one in committed_ledger().entries:
        page = files[address(one.claim.id)]
        assert f'id="{anchor("claim " + one.claim.id)}"' in page
        for evidence in one.evidence:
            assert as_written(prose(evidence.check)) in page
        assert as_written(escape(statement_latex(one.claim))) in page
        for mutant in one.mutants:
            assert as_written(prose(mutant.name)) in page
    assert max(len(html.encode()) for html in pages_of(files).values()) <= PAGE_BYTES
    for result in RESULTS:
        for _, ids in result.formulas:
            for id_ in ids:
                assert f'href="{address(id_)}"' in files["index.html"]


def test_a_claim_says_who_uses_it_and_what_makes_it_weak() -> None:
    entries = chained_ledger().entries
    around = surroundings(entries, ())
    assert around["ground.one"].used_by == ("ground.two", "bounds.one", "top.test-error", "bounds.as-printed")
    given = {one.claim.id: one.given.claims for one in entries}
    assert given["top.test-error"] == ("ground.two",)
    assert given["ground.two"] == ()  # its own verdict is as weak
    page = site_of(chained_ledger())[address("top.test-error")]
    weak = page.split("<dt>verdict</dt>")[1].split("</dd>")[0]
    assert 'href="ground.two.html"' in weak
    assert "CONFIRMED" in weak
    assert 'href="top.test-error.html"' in site_of(chained_ledger())[address("bounds.one")]


def test_the_search_finds_titles_formulas_symbols_and_verdicts() -> None:
    text = whole_site()["search.js"]
    rows = json.loads(text.removeprefix("const CLAIMS = ").removesuffix(";\n"))
    assert [row["id"] for row in rows] == [e.claim.id for e in committed_ledger().entries]
    words = {row["id"]: row["words"] for row in rows}
    for asked in ("result-3-1.spike-strength", "spike strength", "proved", r"\alpha_0", "(43)", "learning rate", "α"):
        assert folded(asked) in words["result-3-1.spike-strength"], asked
    assert folded("the sample covariance of the labels") not in words["result-3-1.spike-strength"]
    # Without the script every claim stands there all the same.
    assert whole_site()["claims.html"].count("<li data-claim=") == len(rows)


def test_the_library_has_a_page_with_links_to_the_claims_that_it_computes() -> None:
    files = whole_site()
    page, listed = files["library.html"], files["claims.html"]
    for name in giantsteps.__all__:
        assert f'id="library-{name}"' in page
        found = re.search(rf'<li data-words="([^"]*)"><a href="library.html#library-{name}"', listed)
        assert found  # in the search
        assert folded(name) in found[1]
    solve = page.split('id="library-solve"')[1].split("</article>")[0]
    assert 'href="claim/result-3-3.test-error-as-printed.html"' in solve  # its docstring cites equation (25)
    assert 'href="#library-ModelError"' in solve
    assert "The library</a>" in files["index.html"]


def test_symbols_are_looked_up_by_the_signs_that_formulas_show() -> None:
    text = whole_site()["symbols.js"]
    known = json.loads(text.removeprefix("const SYMBOLS = ").removesuffix(";\n"))
    statement = whole_site()[address("result-3-1.spike-strength")].split('class="formula"')[1].split("</math>")[0]
    for glyph, meaning in (("<mi>r</mi>", "spike strength"), ("<msub><mi>α</mi><mn>0</mn></msub>", "samples")):
        assert glyph in statement
        assert any(meaning in said for said in known[glyph])
    # Letters that several chapters use have all their meanings.
    assert any(len(said) > 1 for said in known.values())


def test_the_font_comes_with_its_licence() -> None:
    css = whole_site()["math.css"]
    assert "SIL OPEN FONT LICENSE" in css
    data = re.search(r"base64,([^)]*)\)", css)
    assert data
    assert b64decode(data[1])[:4] == b"wOF2"


def test_an_address_without_its_page_is_led_to_it() -> None:
    text = whole_site()["places.js"]
    places = json.loads(text.removeprefix("const PLACES = ").removesuffix(";\n"))
    found = {name: page for page, names in places.items() for name in names}
    for one in committed_ledger().entries:
        name = anchor("claim " + one.claim.id)
        assert f'id="{name}"' in whole_site()[found[name]]


def test_misprints_stand_by_source_after_the_figures() -> None:
    files = whole_site()
    index, page = files["index.html"], files["misprints.html"]
    assert index.index('id="figures"') < index.index('id="findings"')
    refuted = [e for e in committed_ledger().entries if e.claim.role is Role.PRINTED and e.verdict is Verdict.REFUTED]
    for document, entries in by_source(refuted):
        assert f"<h2><cite>{document.title}</cite></h2>" in page
        assert f"<summary>{len(entries)} in <cite>{document.title}</cite>" in index
    others = len(conventions(committed_ledger(), PAPER))
    assert page.count('class="misprint"') == len(refuted) + others


def test_a_step_is_shown_once_and_referred_to_afterwards() -> None:
    first = describe(toy.derivation())
    second = DescribedDerivation("another", first.source, first.steps, first.results, (), "derivation: another")
    views = derivation_views(toy_ledger(), [first, second])
    assert views[0].steps[0].elsewhere == ""
    assert views[1].steps[0].elsewhere == views[0].anchor
    assert unique([first, second, first]) == [first, second]


def test_a_theorem_names_what_no_step_above_it_assumes() -> None:
    said = ("theorem by the rule ring; lemma: a, b, c, model: d", "theorem by the rule sum; hypothesis: e, model: d")
    first = describe(toy.derivation())
    steps = tuple(
        dataclasses.replace(first.steps[0], reason=f"step {k}", obligations=((one, "made by the kernel"),))
        for k, one in enumerate((*said, said[0], "an obligation; of another kind"))
    )
    view = derivation_views(toy_ledger(), [dataclasses.replace(first, steps=steps, check="not run")])[0]
    assert [step.obligations[0][0] for step in view.steps] == [
        said[0], "theorem by the rule sum; hypothesis: e", "theorem by the rule ring", "an obligation; of another kind",
    ]  # fmt: skip


def test_what_claims_share_is_said_once_unless_a_reference_is_longer() -> None:
    long, short = "a condition " * 10, "a step"
    found = said_once({"one": [long, short], "two": [short, long], "three": [long, "its own"]})
    assert found["one"] == Said((long, short), ())
    assert found["two"] == Said((), (("one", 2),))
    assert found["three"] == Said(("its own",), (("one", 1),))
    assert said_once({"one": [short], "two": [short]})["two"] == Said((short,), ())
    assert said_once({"one": [long], "two": [long]}, lambda _: False)["two"] == Said((long,), ())


def test_the_summary_counts_every_claim_once() -> None:
    *_, (name, counts, total) = summary_table(toy_ledger())
    assert (name, sum(counts), total) == ("all", 1, 1)


def test_troubles_are_named() -> None:
    first = toy_ledger().entries[0]
    assert troubles(first) == []
    worse = Entry(first.claim, Verdict.INCONCLUSIVE, (), first.mutants, Verdict.INCONCLUSIVE, ())
    assert "INCONCLUSIVE" in troubles(worse)[0]


def test_a_definition_is_no_trouble() -> None:
    first = toy_ledger().entries[0]
    definition = dataclasses.replace(first.claim, kind=Kind.DEFINITION, checks=(), mutants=())
    by_fiat = Entry(definition, Verdict.UNTESTED, (), (), Verdict.UNTESTED, ())
    assert troubles(by_fiat) == []
    assert "1 of the UNTESTED are definitions" in ledger_summary(Ledger("quick", (by_fiat,)))
    assert "UNTESTED (by definition)" in ledger_table(Ledger("quick", (by_fiat,)))
    # A claim without checks that is no definition is one.
    unchecked = Entry(
        dataclasses.replace(definition, kind=Kind.IDENTITY), Verdict.UNTESTED, (), (), Verdict.UNTESTED, ()
    )
    assert "UNTESTED" in troubles(unchecked)[0]


def test_misprints_are_shown_with_both_formulas_witness_and_consequence() -> None:
    printed = entry("slides.step-over-n", Verdict.REFUTED, role=Role.PRINTED)
    witness = Agreement("numbers: toy", 3, worst=0.5, tolerance=1e-9, worst_at="x = 1", reason="rounding", asked=3)
    assert witness.outcome is Outcome.REFUTES
    printed = dataclasses.replace(printed, evidence=(witness,))
    ledger = Ledger("quick", (entry("section-2.gradient-step", Verdict.PROVED), printed))
    files = site_of(ledger)
    assert broken(files) == []
    shown = files["misprints.html"]
    assert "Conventions and readings" not in shown
    assert shown.count("<math") >= 2
    for text in ("erratum.step-over-n", "x = 1", "The batch average is over", "PROVED"):
        assert text in shown
    assert "1 formula" in shown


def test_conventions_stand_apart_from_misprints() -> None:
    theirs = entry("slides.input-scale", Verdict.CONVENTION, role=Role.PRINTED)
    files = site_of(Ledger("quick", (entry("section-2.input-scale", Verdict.PROVED), theirs)))
    assert broken(files) == []
    shown = files["misprints.html"]
    for text in ("0 formula", "Conventions and readings", "convention.input-scale", "CONVENTION", "ours"):
        assert text in shown
    assert 'id="findings"' not in files["index.html"]


def test_what_theorems_stand_on_has_a_page() -> None:
    files = toy_site()
    page = files["leaves.html"] + files["definitions.html"]
    for ground in grounds(toy_ledger()):
        assert all(str(prose(reference)) in page for reference in ground.references)
    assert page.count("<math") >= len(grounds(toy_ledger())) >= 1
    assert "What theorems stand on" in files["index.html"]  # in the navigation
    # There are as many definitions as of all the rest: they have a page of their own.
    assert 'id="leaves-definition"' in files["definitions.html"]
    assert 'id="leaves-definition"' not in files["leaves.html"]
    assert broken(files) == []


def test_the_trial_of_the_networks_is_computed_from_the_measurements() -> None:
    trial, figure = network_trial_module.network_trial() or pytest.fail("the measurements come with the sources")
    data = measured_networks.stored()
    assert [row.name for row in trial.rows] == list(data)
    for row in trial.rows:
        largest = max(data[row.name], key=int)
        # The measurement at infinite d is near the mean at the largest d: within a quarter, for a d of 1200 or more.
        assert abs(np.mean(data[row.name][largest]["test_error"]) / row.measured - 1) < 0.25
        assert abs(row.network) <= trial.largest_of_test_errors <= trial.largest
    # Of some 80 standard normal deviates none is beyond 4 with probability 0.995.
    assert trial.largest < 4
    assert 0 < len(trial.refuted) <= trial.refuted_by_any <= len(trial.rows)
    files = site_of(chained_ledger(), trial=(trial, figure))
    assert broken(files) == []
    html = files["network.html"]
    assert f"at {len(trial.refuted)} of the" in html
    assert network_trial_module.COMMAND in html
    assert "come with the sources" not in html


def test_the_slides_are_listed_formula_by_formula_with_what_became_of_each() -> None:
    ids = ("slides.kernel", "slides.input-scale", "section-2.input-scale")
    # What a source says in another convention is no misprint of it.
    kernel, printed, corrected = (next(c for c in all_claims() if c.id == id_) for id_ in ids)
    entries = tuple(
        Entry(claim, verdict, (), (), verdict, ())
        for claim, verdict in (
            (kernel, Verdict.PROVED), (printed, Verdict.CONVENTION), (corrected, Verdict.PROVED)
        )
    )  # fmt: skip
    found = coverage(Ledger("quick", entries))
    assert dict(found.counts) == {STANDS: 1, DIFFERS: 1}
    assert found.formulas == 2
    assert [frame for frame, _ in found.frames] == ["Setting", "Initialisation"]
    setting = found.frames[0][1][0]
    assert setting.outcome == DIFFERS
    refuted = (entries[0], dataclasses.replace(entries[1], verdict=Verdict.REFUTED), entries[2])
    assert dict(coverage(Ledger("quick", refuted)).counts) == {STANDS: 1, CORRECTED: 1}
    assert setting.claims == (("slides.input-scale", "CONVENTION", True), ("section-2.input-scale", "PROVED", False))
    # Without the refutation it stands; without its claims it is not listed.
    assert dict(coverage(Ledger("quick", (entries[2],))).counts) == {STANDS: 1}
    assert coverage(Ledger("quick", ())).formulas == 0
    alone = tuple(dataclasses.replace(e, claim=dataclasses.replace(e.claim, uses=())) for e in entries)
    files = site_of(Ledger("quick", alone))
    assert "The slides, formula by formula" in files["slides.html"]
    assert "slides.html" not in site_of(toy_ledger())
