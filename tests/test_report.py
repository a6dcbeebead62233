"""The report: a self-contained page in which every formula is shown, and a ledger that is the same file every time."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import reports.network_trial as network_trial_module
import reports.report
from derivations.symbols import glossary
from reports import dependencies, dependency_graph, figures, ledger_files, measured_networks
from reports.cli import run as run_command
from reports.commands.verify import ledger_summary, ledger_table, troubles
from reports.described import DescribedDerivation, derivations_of, describe
from reports.mathematics import MathError, mathml
from reports.prose import heading, prose
from reports.render import derivation_views, markdown, markdown_drift, page, summary_table
from reports.report import unique, write
from reports.slides_section import CORRECTED, STANDS, coverage
from tests import toy
from verify.claim import Claim, Kind, Role
from verify.evidence import Agreement, Outcome
from verify.ledger import MODULES, Entry, Ledger, all_claims, as_json, drift, dumps, examine, statement_latex
from verify.verdict import Verdict, weakest

VOID = {"meta", "br", "link", "img", "input", "hr", "path", "use", "area", "base", "col"}


@cache
def toy_ledger() -> Ledger:
    """A ledger of one claim, proved and confirmed, with its mutants."""
    claim: Claim = toy.claim()
    verdict, evidence, mutants = examine(claim, "quick")
    return Ledger("quick", (Entry(claim, verdict, evidence, mutants, verdict, claim.domain.hypotheses),))


@cache
def toy_figures() -> tuple[figures.Figure, ...]:
    """Two figures, one without and one with simulation, small."""
    return (
        figures.functions_along_the_spike(),
        figures.learning_curves_by_spike((0.5,), dimension=40, seeds=2),
    )


@cache
def toy_page() -> str:
    """The page of the toy ledger."""
    return page(toy_ledger(), [describe(toy.derivation())], toy_figures(), glossary)


class Outline(HTMLParser):
    """Reads a page strictly enough to see what is wrong with it: unbalanced tags, repeated ids, dangling links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag in ("a", "use") and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in ("script", "link", "img", "iframe", "object", "embed") or "src" in found:
            self.loads.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")


def outline(html: str) -> Outline:
    """The page, read."""
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


# --- formulas


def test_every_statement_of_the_ledger_becomes_mathml() -> None:
    for claim in all_claims():
        shown = mathml(statement_latex(claim), block=True)
        assert "\\" not in shown, claim.id
        ElementTree.fromstring(shown)  # well-formed


@pytest.mark.parametrize("module", MODULES)
def test_every_step_of_every_derivation_can_be_shown(module: str) -> None:
    for derivation in derivations_of(module):
        formulas = [*(step.formula for step in derivation.steps), *derivation.results]
        for formula in formulas:
            assert "\\" not in mathml(formula, block=True), formula
        texts = [
            derivation.title,
            derivation.source,
            *derivation.hypotheses,
            *(step.reason for step in derivation.steps),
        ]
        texts += [o.says for step in derivation.steps for o in step.obligations]
        for text in texts:
            assert "\\" not in str(prose(text)), text


def test_every_title_and_note_can_be_shown() -> None:
    for claim in all_claims():
        for text in (claim.title, claim.note, *claim.domain.hypotheses, *(m.name for m in claim.mutants)):
            assert "\\" not in str(prose(text)), text


def test_derivations_of_different_title_are_different() -> None:
    # The ledger names a proof by the title of its derivation: one title must not stand for two derivations.
    found: dict[str, DescribedDerivation] = {}
    for module in MODULES:
        for derivation in derivations_of(module):
            assert found.setdefault(derivation.check, derivation) == derivation, derivation.title


def test_symbols_of_the_glossary_can_be_shown() -> None:
    from derivations.rendering import latex

    for row in glossary:
        assert "\\" not in mathml(latex(row.symbol)), row.symbol


def test_a_formula_that_cannot_be_shown_is_an_error_not_a_blank() -> None:
    with pytest.raises(MathError, match="unknowncommand"):
        mathml(r"\unknowncommand + 1")
    with pytest.raises(MathError, match="converted"):
        mathml(r"\left( x")


def test_bars_are_fences() -> None:
    assert mathml("|x|").count('fence="true"') == 2
    # One bar alone is "evaluated at".
    assert "fence" not in mathml(r"f|_{x=0}")


def test_prose_shows_plain_names_as_symbols() -> None:
    assert str(prose("alpha0 -> infinity, mu0 and h1 <= h2, f^2")) == "α₀ → infinity, μ₀ and h₁ ≤ h₂, f²"
    assert str(prose("the n samples, beta-free, q_1")) == "the n samples, beta-free, q₁"
    assert "<math" in str(prose(r"linear in $\hat{V}_1$"))
    assert "<math" in str(prose(r"stationarity in \hat{q}_1"))
    assert str(prose("<script>")) == "&lt;script&gt;"
    assert str(heading("the spike")) == "The spike"
    assert str(heading("h1 is a mean")) == "h₁ is a mean"


def test_prose_sets_indices_powers_and_code() -> None:
    assert str(prose("`onestep solve --alpha 1` at x_perp")) == "<code>onestep solve --alpha 1</code> at x<sub>⊥</sub>"
    assert str(prose("`a < b_1^2`")) == "<code>a &lt; b_1^2</code>"
    assert str(prose("He_k, theta_perp, alpha_0")) == "He<sub>k</sub>, θ<sub>⊥</sub>, α₀"
    assert str(prose("d^(-1/2), W^T")) == "d<sup>−1/2</sup>, W<sup>T</sup>"
    assert str(prose("10^-8, x^20, x^2")) == "10<sup>−8</sup>, x<sup>20</sup>, x²"
    # The k-th derivative is no power.
    assert str(prose("sigma^(k)(z)")) == "σ<sup>(k)</sup>(z)"
    assert str(prose("V1^ and zeta^")) == "V\u0302₁ and ζ\u0302"
    assert str(prose("fixed_point, h1_check, z**2")) == "fixed_point, h1_check, z**2"
    assert str(prose(r"at h^{\star}_1=0.5")).startswith("at <math>")
    assert str(prose(r"at h^{\star}_1=0.5")).endswith("</math>=0.5")


# --- the page


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


# --- figures


def test_a_figure_is_the_same_bytes_every_time() -> None:
    first = figures.functions_along_the_spike()
    assert figures.functions_along_the_spike() == first
    assert "<metadata" not in first.svg
    assert "xlink" not in first.svg


def test_the_ids_of_two_figures_are_different() -> None:
    ids = [set(re.findall(r'id="([^"]+)"', figure.svg)) for figure in toy_figures()]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for figure in toy_figures():
        root = ElementTree.fromstring(figure.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")


def test_each_figure_can_be_redrawn_by_its_name() -> None:
    names = [drawing.__name__ for drawing in figures.all_figures()]
    assert len(names) == len(set(names))
    for name in names:
        assert callable(getattr(figures, name))
    assert reports.report.draw("functions_along_the_spike") == figures.functions_along_the_spike()


def test_the_best_combination_of_the_figure_is_the_projection() -> None:
    # Projecting a combination of the functions gives it back, whatever the weights.
    x = np.linspace(-2.0, 2.0, 50)
    functions = np.stack([np.tanh(x), x * np.exp(-x * x)])
    target = 0.3 * functions[0] - 1.2 * functions[1]
    best = figures._projection(functions, target, np.exp(-x * x))
    assert np.max(np.abs(best - target)) < 1e-13  # rounding of a 2-column least squares


# --- the files


def test_the_ledger_is_the_same_file_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports.report, "in_source_checkout", lambda: False)
    derivations = [describe(toy.derivation())]
    first = write(toy_ledger(), derivations, toy_figures(), tmp_path / "a")
    toy_ledger.cache_clear()
    second = write(toy_ledger(), derivations, toy_figures(), tmp_path / "b")
    assert [p.name for p in first.files] == ["index.html", "ledger.md", "ledger.json"]
    for one, other in zip(first.files, second.files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_the_quick_profile_refreshes_the_committed_ledger_from_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports.report, "COMMITTED_JSON", tmp_path / "committed.json")
    monkeypatch.setattr(reports.report, "COMMITTED_MARKDOWN", tmp_path / "committed.md")
    monkeypatch.setattr(reports.report, "in_source_checkout", lambda: True)
    write(toy_ledger(), [], [], tmp_path / "out")
    assert (tmp_path / "committed.json").read_text(encoding="utf-8") == dumps(toy_ledger())
    assert (tmp_path / "committed.md").read_bytes() == (tmp_path / "out" / "ledger.md").read_bytes()
    (tmp_path / "committed.json").unlink()
    write(Ledger("ci", toy_ledger().entries), [], [], tmp_path / "out")
    assert not (tmp_path / "committed.json").exists()


def test_markdown_follows_from_the_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = json.loads(dumps(toy_ledger()))
    text = markdown(document)
    assert text == markdown(as_json(toy_ledger()))
    assert toy_ledger().entries[0].claim.id in text
    assert "PROVED" in text
    assert "\t" not in text
    monkeypatch.setattr(ledger_files, "COMMITTED_MARKDOWN", tmp_path / "ledger.md")
    assert markdown_drift(document) == ["ledger.md is missing"]
    (tmp_path / "ledger.md").write_text(text, encoding="utf-8")
    assert markdown_drift(document) == []
    (tmp_path / "ledger.md").write_text(text + "typed by hand\n", encoding="utf-8")
    assert markdown_drift(document) == ["ledger.md does not follow from ledger.json"]


def test_drift_ends_with_exit_code_1_and_names_the_difference(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import reports.commands.verify
    import reports.render

    monkeypatch.setattr(reports.commands.verify, "run_ledger", lambda profile, ids, quiet: toy_ledger())
    monkeypatch.setattr(reports.render, "markdown_drift", lambda document: [])
    same = json.loads(dumps(toy_ledger()))
    monkeypatch.setattr(ledger_files, "committed", lambda: same)
    assert run_command(["report", "--check"]) == 0
    assert "no drift" in capfd.readouterr().out
    changed = json.loads(dumps(toy_ledger()))
    changed["claims"][0]["verdict"] = "CONFIRMED"
    monkeypatch.setattr(ledger_files, "committed", lambda: changed)
    assert run_command(["report", "--check"]) == 1
    assert "verdict was 'CONFIRMED', is 'PROVED'" in capfd.readouterr().err
    assert drift(changed, as_json(toy_ledger())) != []
    # Another profile measures something else: that is a wrong question, not a drift.
    assert run_command(["report", "--check", "--profile", "ci"]) == 2


def test_files_are_written_whole(tmp_path: Path) -> None:
    ledger_files.write_whole(tmp_path / "deep" / "file.txt", "a\nb\n")
    assert (tmp_path / "deep" / "file.txt").read_bytes() == b"a\nb\n"
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["file.txt"]


# --- misprints, dependencies, networks


def entry(name: str, verdict: Verdict, *uses: Entry, role: Role = Role.OURS) -> Entry:
    """An entry with this verdict that rests on others; nothing is run."""
    claim = dataclasses.replace(toy.claim(), id=name, role=role, uses=tuple(u.claim.id for u in uses))
    beneath = weakest([verdict, *(u.weakest for u in uses)])
    return Entry(claim, verdict, toy_ledger().entries[0].evidence, (), beneath, ())


@cache
def chained_ledger() -> Ledger:
    """Four parts: ground, over it a bound and an error that share what is beneath them, and one part alone."""
    ground = entry("ground.one", Verdict.PROVED)
    measured = entry("ground.two", Verdict.CONFIRMED, ground)
    bound = entry("bounds.one", Verdict.PROVED, ground)
    error = entry("top.test-error", Verdict.PROVED, bound, measured, ground)
    printed = entry("bounds.as-printed", Verdict.REFUTED, ground, role=Role.PRINTED)
    return Ledger("quick", (ground, measured, bound, error, printed, entry("alone.one", Verdict.PROVED)))


def test_parts_are_as_weak_as_their_own_formulas_and_links_are_counted() -> None:
    found = {group.name: (group.claims, group.weakest) for group in dependencies.groups(chained_ledger())}
    # The refuted form in "bounds" is one that a source prints: it does not make the part weak.
    assert found == {
        "ground": (2, "CONFIRMED"),
        "bounds": (2, "PROVED"),
        "top": (1, "CONFIRMED"),
        "alone": (1, "PROVED"),
    }
    counted = {(link.source, link.target): link.count for link in dependencies.links(chained_ledger())}
    assert counted == {("ground", "bounds"): 2, ("bounds", "top"): 1, ("ground", "top"): 2}


def test_beneath_a_result_everything_stands_once_and_the_weakest_link_is_named() -> None:
    bound, error = dependencies.headlines(chained_ledger())
    assert (bound.tree.id, bound.beneath, bound.weakest) == ("bounds.one", 1, "PROVED")
    assert (error.tree.id, error.beneath) == ("top.test-error", 3)
    assert (error.weakest, error.weakest_claims) == ("CONFIRMED", ("ground.two",))
    assert [child.id for child in error.tree.children] == ["bounds.one", "ground.two", "ground.one"]


def test_every_headline_of_the_ledger_reaches_all_it_rests_on() -> None:
    # Counted another way: the closure of `uses`, by repeated union instead of by walking down.
    closed = {claim.id: set(claim.uses) for claim in all_claims()}
    for _ in closed:
        wider = {id_: uses.union(*(closed[used] for used in uses)) for id_, uses in closed.items()}
        if wider == closed:
            break
        closed = wider
    ledger = Ledger("quick", tuple(Entry(c, Verdict.PROVED, (), (), Verdict.PROVED, ()) for c in all_claims()))
    found = dependencies.headlines(ledger)
    assert {"result-3-3.test-error", "result-3-3.training-error"} <= {headline.tree.id for headline in found}
    for headline in found:
        assert headline.beneath == len(closed[headline.tree.id])


def test_the_graph_has_every_part_once_and_links_run_to_the_right() -> None:
    groups, links = dependencies.groups(chained_ledger()), dependencies.links(chained_ledger())
    drawn = dependency_graph.layout([group.name for group in groups], links)
    assert {name: column for name, (column, _) in drawn.places.items()} == {"ground": 0, "bounds": 1, "top": 2}
    assert drawn.loose == ("alone",)
    for link, route in drawn.routes:
        assert [column for column, _ in route] == list(range(drawn.places[link.source][0], route[-1][0] + 1))
    root = ElementTree.fromstring(dependency_graph.svg(groups, links))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("ground") == texts.count("alone") == 1
    # A circle of parts, which claims without a circle can form, is drawn all the same.
    circle = [dependencies.Link("a", "b", 1), dependencies.Link("b", "a", 1)]
    assert sorted(dependency_graph.layers(["a", "b"], circle).values()) == [0, 1]
    assert dependency_graph.layout(["a", "b"], circle).places.keys() == {"a", "b"}


def test_boxes_of_the_graph_do_not_overlap() -> None:
    ledger = Ledger("quick", tuple(Entry(c, Verdict.PROVED, (), (), Verdict.PROVED, ()) for c in all_claims()))
    groups, links = dependencies.groups(ledger), dependencies.links(ledger)
    places = list(dependency_graph.layout([group.name for group in groups], links).places.values())
    for number, (column, y) in enumerate(places):
        for other_column, other_y in places[:number]:
            assert column != other_column or abs(y - other_y) > 1 - 1e-9  # a box has one row; rounding of sums


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
