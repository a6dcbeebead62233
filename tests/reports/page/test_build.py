"""The report: pages that need nothing else, in which every claim, misprint and measurement is shown once."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from html5lib import HTMLParser
from markupsafe import Markup, escape

from giantsteps.reports.built_in.results import RESULTS
from giantsteps.reports.measurements import experiments, measured_networks, network_trial
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.claims import address
from giantsteps.reports.page.site import PAGE_BYTES, SiteError, packed
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.documents import Document, Section
from giantsteps.reports.text.prose import prose
from giantsteps.verify.ledger.document import statement_latex
from giantsteps.verify.ledger.run import Ledger
from tests.shared import toy
from tests.shared.committed_ledger import committed_ledger
from tests.shared.report_page import (
    broken,
    chained_ledger,
    outline,
    pages_of,
    site_of,
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
    assert loads == {"style.css", "math.css", "open.js", "search.js", "formulas.js"}
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


def test_a_link_to_a_name_that_stands_nowhere_is_an_error() -> None:
    lost = replace(toy_ledger().entries[0], claim=replace(toy.claim(), uses=("no.such-claim",)))
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


def test_a_document_that_names_a_claim_leads_to_it() -> None:
    body = Markup('<h1 id="bounds">Title</h1>\n<p><code>bounds.one</code> <code>bounds.none</code></p>')
    given = Document("docs/deep/one.html", body, (Section("Title", "", "First words."),), {})
    files = site_of(chained_ledger(), documents=(given,))
    assert broken(files) == []
    page = files["docs/deep/one.html"]
    assert '<a href="../../claim/bounds.one.html"><code>bounds.one</code></a> <code>bounds.none</code>' in page
    assert '<a href="docs/deep/one.html">Title</a></dt><dd>First words.</dd>' in files["documentation.html"]


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
        for ids in result.formulas.values():
            for id_ in ids:
                assert f'href="{address(id_)}"' in files["results.html"]


def test_the_trial_of_the_networks_is_computed_from_the_measurements() -> None:
    data = experiments.read(measured_networks.DATA)
    rows = network_trial.judged(data)
    assert [row.name for row in rows] == list(data)
    for row in rows:
        largest = max(data[row.name], key=int)
        # The measurement at infinite d is near the mean at the largest d: within a quarter, for a d of 1200 or more.
        measured = row.test("network").extrapolated or np.nan
        assert abs(np.mean(data[row.name][largest]["test_error"]) / measured - 1) < 0.25
        # Of some 80 standard normal deviates none is beyond 4 with probability 0.995.
        assert abs(row.z("network")) <= row.largest("network") < 4
    found = network_trial.page(rows)
    assert [row[2] for row in found.tables[0].rows] == ["seen", "not seen"]
    files = site_of(chained_ledger(), studies=(found,))
    assert broken(files) == []
    assert network_trial.COMMAND in files["study-network-trial.html"]
    assert 'href="study-network-trial.html#study-network-trial"' in files["network.html"]
    moved = [replace(row, reports=dict.fromkeys(row.reports, row.reports["isotropic"])) for row in rows]
    assert network_trial.page(moved).tables[0].rows[0][2] == "not seen"


def test_no_formula_of_a_page_has_a_name_of_the_kernel_or_says_nothing() -> None:
    names = {"repeated", "sumoverreplicas", "traceexponent", "priorexponent", "sampleexponent", "updatedform", "moved"}
    for name, html in pages_of(whole_site()).items():
        for formula in re.findall(r"<math.*?</math>", html, re.DOTALL):
            shown = re.sub(r"<[^>]*>|\s", "", formula)
            assert not [word for word in names if word in shown], (name, shown)
            left, *others = shown.split("=")
            assert others != [left], (name, shown)
