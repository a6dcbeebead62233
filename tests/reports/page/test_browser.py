"""The pages of the report as a browser lays them out: painted in a second, readable on a phone, links that open.

Run by `make browser`. Times depend on the machine and its load, and Chromium is not everywhere: no part of `make test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onestep.reports.text.ledger_files import write_together
from tests.shared.browser import Browser, chromium
from tests.shared.report_page import whole_site

BUILT = Path(__file__).resolve().parent.parent.parent.parent / "build" / "report"
pytestmark = pytest.mark.browser

SECOND, WIDEST = 1000.0, 5000.0

PAINTED = """new Promise(done => requestAnimationFrame(() => setTimeout(() => done(
  performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null), 50)))"""
# Closed parts have no layout: everything is opened first.
LAYOUT = """(() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("article")) one.style.contentVisibility = "visible";
  const boxes = [...document.querySelectorAll("math")].map(one => one.getBoundingClientRect().width);
  return {widest: Math.max(0, ...boxes), page: document.documentElement.scrollWidth, window: innerWidth};
})()"""


# What a page looks up is loaded when it is asked for.
SEARCHABLE, EXPLAINED = (
    f"new Promise(done => {{ const look = () => {ready} ? done() : setTimeout(look, 20); look(); }})"
    for ready in ("document.querySelector('[role=status]').textContent", "known && Object.keys(known).length")
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built report; where there is none, the pages of the committed ledger without derivations."""
    if (BUILT / "index.html").is_file():
        return BUILT
    folder = tmp_path_factory.mktemp("report")
    write_together((folder / name, text) for name, text in whole_site().items())
    return folder


@pytest.fixture(params=[(390, False), (1280, True)], ids=["390 light", "1280 dark"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: install the system's package chromium")
    width, dark = request.param
    with Browser(program, width, 900, dark=dark) as found:
        yield found


def test_the_first_page_is_painted_within_a_second(browser: Browser, built: Path) -> None:
    times = []
    for _ in range(5):
        browser.open((built / "index.html").as_uri())
        times.append(browser.evaluate(PAINTED))
    print("first contentful paint in ms:", times)
    assert min(times) < SECOND


def test_no_page_is_wider_than_the_window_and_no_formula_than_the_bar(browser: Browser, built: Path) -> None:
    # All pages but those of claims, and every tenth of these.
    pages = [*sorted(built.glob("*.html")), *sorted(built.glob("claim/*.html"))[::10]]
    assert pages
    for page in pages:
        browser.open(page.as_uri())
        found = browser.evaluate(LAYOUT)
        assert found["widest"] <= WIDEST, (page.name, found)
        assert found["page"] <= found["window"], (page.name, found)


def test_the_search_filters_the_claims(browser: Browser, built: Path) -> None:
    browser.open((built / "claims.html").as_uri() + "?q=spike-strength")
    browser.evaluate(SEARCHABLE)
    shown = browser.evaluate("[...document.querySelectorAll('li[data-claim]')].filter(one => !one.hidden).length")
    every = browser.evaluate("document.querySelectorAll('li[data-claim]').length")
    assert 0 < shown < every / 10
    named = "[...document.querySelectorAll('li[data-words]')].filter(one => !one.hidden).length"
    assert browser.evaluate(named) == 0
    browser.evaluate("document.querySelector('input[value=PROVED]').click()")
    assert browser.evaluate("document.querySelector('[data-claim=\"result-3-1.spike-strength\"]').hidden")


def test_the_search_finds_the_library(browser: Browser, built: Path) -> None:
    browser.open((built / "claims.html").as_uri() + "?q=solve_batch")
    browser.evaluate(SEARCHABLE)
    shown = browser.evaluate("[...document.querySelectorAll('li[data-words]')].filter(one => !one.hidden).length")
    assert 0 < shown < browser.evaluate("document.querySelectorAll('li[data-words]').length")


def test_a_symbol_says_what_it_means(browser: Browser, built: Path) -> None:
    browser.open((built / "claims-gradient-step.html").as_uri())
    point = """document.querySelector("#row-claim-result-3-1-spike-strength mi")
      .dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))"""
    browser.evaluate(point)
    browser.evaluate(EXPLAINED)
    browser.evaluate(point)
    assert "spike strength" in browser.evaluate("document.querySelector('.card').textContent")


def test_the_formulas_are_set_in_the_font_that_comes_along(browser: Browser, built: Path) -> None:
    browser.open((built / "index.html").as_uri())
    assert browser.evaluate("document.fonts.ready.then(all => [...all].map(one => one.status).join())") == "loaded"


def test_an_address_of_the_former_single_page_leads_to_the_claim(browser: Browser, built: Path) -> None:
    browser.open((built / "index.html").as_uri() + "#claim-result-3-1-spike-strength")
    arrived = """new Promise(done => { const look = () =>
      document.querySelector("#claim-result-3-1-spike-strength") ? done(location.pathname) :
      setTimeout(look, 20); look(); })"""
    for _ in range(100):
        if browser.evaluate("location.pathname").endswith("claim/result-3-1.spike-strength.html"):
            break
    assert browser.evaluate(arrived).endswith("claim/result-3-1.spike-strength.html")
