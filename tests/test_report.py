"""The report: a self-contained page in which every claim, misprint and measurement is shown once."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import reports.network_trial as network_trial_module
from derivations.symbols import glossary
from reports import measured_networks
from reports.commands.verify import ledger_summary, ledger_table, troubles
from reports.described import DescribedDerivation, describe
from reports.prose import prose
from reports.render import derivation_views, page, summary_table
from reports.report import unique
from reports.slides_section import CORRECTED, STANDS, coverage
from tests import toy
from tests.report_page import chained_ledger, entry, outline, toy_figures, toy_ledger, toy_page
from verify.claim import Kind, Role
from verify.evidence import Agreement, Outcome
from verify.ledger import Entry, Ledger, all_claims
from verify.verdict import Verdict


def test_the_page_is_whole_and_valid() -> None:
    html = toy_page()
    assert html.startswith("<!DOCTYPE html>")
    read = outline(html)
    assert read.problems == []
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    inside = {link[1:] for link in read.links if link.startswith("#")}
    assert inside <= set(read.ids)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    html = toy_page()
    read = outline(html)
    assert read.loads == []
    assert [link for link in read.links if not link.startswith("#")] == []
    assert "@import" not in html
    # The only addresses are the names of XML vocabularies, which are never fetched.
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", html))
    assert addresses <= {"http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg"}
    assert re.findall(r"url\((?!#)", html) == []


def test_the_page_leaves_no_latex() -> None:
    text = re.sub(r"<style>.*?</style>", "", toy_page(), flags=re.DOTALL)
    assert "\\" not in text
    assert "$" not in text


def test_the_page_says_what_was_found() -> None:
    html = toy_page()
    entry = toy_ledger().entries[0]
    assert entry.verdict is Verdict.PROVED
    assert entry.claim.id in html
    assert 'class="badge PROVED"' in html
    for mutant in entry.mutants:
        assert str(prose(mutant.name)) in html
    for step in toy.derivation().steps:
        assert str(prose(step.reason)) in html
    assert 'class="supports"' in html
    for figure in toy_figures():
        assert figure.call.split("(")[0] in html


def test_a_step_is_shown_once_and_referred_to_afterwards() -> None:
    first = describe(toy.derivation())
    second = DescribedDerivation("another", first.source, first.steps, first.results, (), "derivation: another")
    views = derivation_views(toy_ledger(), [first, second])
    assert views[0].steps[0].elsewhere == ""
    assert views[1].steps[0].elsewhere == views[0].anchor
    assert unique([first, second, first]) == [first, second]


def test_the_summary_counts_every_claim_once() -> None:
    *_, (name, counts, total) = summary_table(toy_ledger())
    assert (name, sum(counts), total) == ("all", 1, 1)


def test_troubles_are_named() -> None:
    entry = toy_ledger().entries[0]
    assert troubles(entry) == []
    worse = Entry(entry.claim, Verdict.INCONCLUSIVE, (), entry.mutants, Verdict.INCONCLUSIVE, ())
    assert "INCONCLUSIVE" in troubles(worse)[0]


def test_a_definition_is_no_trouble() -> None:
    entry = toy_ledger().entries[0]
    definition = dataclasses.replace(entry.claim, kind=Kind.DEFINITION, checks=(), mutants=())
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
    printed = entry("slides.input-scale", Verdict.REFUTED, role=Role.PRINTED)
    witness = Agreement("numbers: toy", 3, worst=0.5, tolerance=1e-9, worst_at="x = 1", reason="rounding", asked=3)
    assert witness.outcome is Outcome.REFUTES
    printed = dataclasses.replace(printed, evidence=(witness,))
    ledger = Ledger("quick", (entry("section-2.input-scale", Verdict.PROVED), printed))
    html = page(ledger, [], (), glossary)
    assert outline(html).problems == []
    shown = html[html.index('<section id="misprints">') : html.index('<section id="dependencies">')]
    assert shown.count("<math") >= 2
    for text in ("erratum.input-scale", "x = 1", "Inputs have coordinates of variance one", "PROVED"):
        assert text in shown
    assert "1 formula" in shown


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
    html = page(chained_ledger(), [], (), glossary, (trial, figure))
    read = outline(html)
    assert read.problems == []
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert f"at {len(trial.refuted)} of the" in html
    assert network_trial_module.COMMAND in html
    assert "come with the sources" not in html


def test_the_slides_are_listed_formula_by_formula_with_what_became_of_each() -> None:
    ids = ("slides.kernel", "slides.input-scale", "section-2.input-scale")
    kernel, printed, corrected = (next(c for c in all_claims() if c.id == id_) for id_ in ids)
    entries = tuple(
        Entry(claim, verdict, (), (), verdict, ())
        for claim, verdict in (
            (kernel, Verdict.PROVED), (printed, Verdict.REFUTED), (corrected, Verdict.PROVED)
        )
    )  # fmt: skip
    found = coverage(Ledger("quick", entries))
    assert dict(found.counts) == {STANDS: 1, CORRECTED: 1}
    assert found.formulas == 2
    assert [frame for frame, _ in found.frames] == ["Setting", "Initialisation"]
    setting = found.frames[0][1][0]
    assert setting.outcome == CORRECTED
    assert setting.claims == (("slides.input-scale", "REFUTED", True), ("section-2.input-scale", "PROVED", False))
    # Without the refutation it stands; without its claims it is not listed.
    assert dict(coverage(Ledger("quick", (entries[2],))).counts) == {STANDS: 1}
    assert coverage(Ledger("quick", ())).formulas == 0
    html = page(Ledger("quick", entries), [], [], glossary)
    assert "The slides, formula by formula" in html
