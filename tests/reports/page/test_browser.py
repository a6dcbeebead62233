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
    pages = sorted(built.glob("*.html"))
    assert pages
    for page in pages:
        browser.open(page.as_uri())
        found = browser.evaluate(LAYOUT)
        assert found["widest"] <= WIDEST, (page.name, found)
        assert found["page"] <= found["window"], (page.name, found)


def test_a_link_to_a_claim_opens_it(browser: Browser, built: Path) -> None:
    opened = 'document.querySelector("#claim-result-3-1-spike-strength > details.evidence")?.open'
    page = (built / "claims-gradient-step.html").as_uri()
    browser.open(page)
    assert browser.evaluate(opened) is False
    browser.open("about:blank")
    browser.open(page + "#claim-result-3-1-spike-strength")
    assert browser.evaluate(opened) is True


def test_an_address_of_the_former_single_page_leads_to_the_claim(browser: Browser, built: Path) -> None:
    browser.open((built / "index.html").as_uri() + "#claim-result-3-1-spike-strength")
    arrived = """new Promise(done => { const look = () =>
      document.querySelector("#claim-result-3-1-spike-strength > details[open]") ? done(location.pathname) :
      setTimeout(look, 20); look(); })"""
    for _ in range(100):
        if browser.evaluate("location.pathname").endswith("claims-gradient-step.html"):
            break
    assert browser.evaluate(arrived).endswith("claims-gradient-step.html")
