"""The pages of the report as a browser lays them out: painted in a second, readable on a phone, links that open.

Run by `make browser`. Times depend on the machine and its load, and Chromium is not everywhere: no part of `make test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from giantsteps.reports.text.ledger_files import write_together
from tests.shared.browser import Browser, chromium
from tests.shared.report_page import whole_site

BUILT = Path(__file__).resolve().parent.parent.parent.parent / "build" / "report"
pytestmark = pytest.mark.browser

SECOND, WIDEST = 1000.0, 5000.0
# The folders of the pages, those of claims and activations apart.
FOLDERS = ("", "docs/", "docs/*/", "examples/")

# Closed parts have no layout: everything is opened first.
LAYOUT = """(() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("article")) one.style.contentVisibility = "visible";
  const boxes = [...document.querySelectorAll("math")].map(one => one.getBoundingClientRect().width);
  return {widest: Math.max(0, ...boxes), page: document.documentElement.scrollWidth, window: innerWidth};
})()"""


# What a page looks up is loaded when it is asked for.
EXPLAINED = """new Promise(done => {
  const look = () => known && Object.keys(known).length ? done() : setTimeout(look, 20);
  look();
})"""
# What a reader types, the milliseconds until the results are there, and where the first one leads.
FIRST = """(async (typed) => {
  document.querySelector("form.find input").value = typed;
  const begun = performance.now();
  await look();
  const first = document.querySelector(".found a");
  return [performance.now() - begun, first && first.href.replace(HOME, "")];
})"""
# Words of a subject, words of a name, a name of the library, and a slip of the pen.
SEARCHES = {
    "double descent": "examples/double_descent.html",
    "softplus": "activations/softplus.html",
    "solve_batch": "docs/api/functions.html#solve_batch",
    "spike strength": "claim/result-3-1.spike-strength.html",
    "interpolation": "study-threshold.html",
    "interpolaton": "study-threshold.html",
}
# The rules of WCAG 2.1, levels A and AA.
AXE = """axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], preload: false}).then(found =>
  found.violations.map(one => one.id + ": " + one.nodes.slice(0, 3).map(({html}) => html.slice(0, 120)).join(" | ")))"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built report; where there is none, the pages of the committed ledger without derivations."""
    if (BUILT / "index.html").is_file():
        return BUILT
    folder = tmp_path_factory.mktemp("report")
    write_together((folder / name, text) for name, text in whole_site().items())
    return folder


@pytest.fixture(
    params=[(390, True), (1200, False)],  # both widths and both colours, in half the time of all four
    ids=lambda size: f"{size[0]} {'dark' if size[1] else 'light'}",
)
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: install the system's package chromium")
    width, dark = request.param
    with Browser(program, width, 900, dark=dark) as found:
        yield found


# Any page: text against what lies behind it, by the formula of WCAG 2; large text may have 3, other text has 4.5.
CONTRAST = """(() => {
  const part = one => (one /= 255) <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const read = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, below) => [0, 1, 2].map(k => (top[3] ?? 1) * top[k] + (1 - (top[3] ?? 1)) * below[k]);
  const behind = one => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.unshift(read(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, top) => over(top, below), matchMedia("(prefers-color-scheme: dark)").matches ?
      [18, 18, 18] : [255, 255, 255]);
  };
  const poor = new Map();
  for (const one of document.querySelectorAll("body *")) {
    const words = [...one.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
    if (!words || one.closest("svg, script, style, title") || !one.getClientRects().length) continue;
    const style = getComputedStyle(one), back = behind(one), front = over(read(style.color), back);
    const [low, high] = [light(back), light(front)].sort((a, b) => a - b), ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.set(one.tagName + "." + one.className, [ratio, one.textContent.slice(0, 40)]);
  }
  return [...poor];
})()"""
# All signs of the formulas of a page in one element, which is then asked for its fonts.
SIGNS = """(() => {
  const signs = new Set([...document.querySelectorAll("math")].map(one => one.textContent).join(""));
  const shown = document.createElement("span");
  shown.id = "signs-of-formulas";
  shown.style.fontFamily = getComputedStyle(document.querySelector("math")).fontFamily;
  shown.textContent = [...signs].filter(one => one.trim() && !/[\\u2061-\\u2064]/.test(one)).join("");
  document.body.append(shown);
  return document.fonts.ready.then(() => shown.textContent.length);
})()"""
MEGABYTES = 100.0


def heaviest(built: Path) -> list[Path]:
    """The five largest pages of each folder."""
    folders = [built, *(path for path in built.iterdir() if path.is_dir())]
    return [
        page
        for folder in folders
        for page in sorted(folder.glob("*.html"), key=lambda page: (-page.stat().st_size, page.name))[:5]
    ]


def test_the_largest_pages_are_ready_within_a_second_and_in_little_memory(browser: Browser, built: Path) -> None:
    found = {}
    for page in heaviest(built):
        times = []
        for _ in range(3):
            browser.open(page.as_uri())
            times.append(browser.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
        found[page.name] = (min(times), browser.page_memory())
    worst = [max(one) for one in zip(*found.values(), strict=True)]
    print(f"of the {len(found)} largest pages ready in at most {worst[0]:.0f} ms, in at most {worst[1]:.0f} MB")
    assert worst[0] < SECOND, found
    assert worst[1] < MEGABYTES, found


def test_no_page_has_troubles_with_its_scripts(browser: Browser, built: Path) -> None:
    for page in (*sorted(built.glob("*.html")), *heaviest(built)):
        browser.open(page.as_uri())
        browser.evaluate("new Promise(done => setTimeout(done, 5))")
        assert browser.troubles == [], page.name
    # A trouble is seen.
    browser.evaluate("console.error('planted')")
    browser.evaluate("1")
    assert len(browser.troubles) == 1


def test_text_stands_out_from_what_lies_behind_it(browser: Browser, built: Path) -> None:
    for page in (*sorted(built.glob("*.html")), *heaviest(built)):
        browser.open(page.as_uri())
        assert browser.evaluate(CONTRAST) == [], page.name
    grey = '<p style="color: #888; background: #777">grey</p>'
    browser.evaluate(f"document.body.insertAdjacentHTML('beforeend', '{grey}')")
    assert len(browser.evaluate(CONTRAST)) == 1


def test_every_sign_of_the_formulas_has_a_glyph_in_the_font_that_comes_along(browser: Browser, built: Path) -> None:
    pages = [page for page in (*sorted(built.glob("*.html")), *heaviest(built)) if b"<math" in page.read_bytes()]
    assert pages
    for page in pages:
        browser.open(page.as_uri())
        assert browser.evaluate(SIGNS) > 0
        fonts = browser.fonts("#signs-of-formulas")
        assert [name for name in fonts if not name.startswith("own ")] == [], (page.name, fonts)


def test_no_page_is_wider_than_the_window_and_no_formula_than_the_bar(browser: Browser, built: Path) -> None:
    # All pages but those of claims, and every tenth of these.
    pages = [page for folder in (*FOLDERS, "activations/") for page in sorted(built.glob(f"{folder}*.html"))]
    pages += sorted(built.glob("claim/*.html"))[::10]
    assert pages
    for page in pages:
        browser.open(page.as_uri())
        found = browser.evaluate(LAYOUT)
        assert found["widest"] <= WIDEST, (page.name, found)
        assert found["page"] <= found["window"], (page.name, found)


def test_the_search_finds_the_right_page_first_within_half_a_second(browser: Browser, built: Path) -> None:
    browser.open((built / "claim" / "bounds.lower.html").as_uri())
    browser.evaluate("prepared().then(() => true)")
    # Pages made of the committed ledger alone have no studies and no activations.
    wanted = {typed: place for typed, place in SEARCHES.items() if (built / place.partition("#")[0]).is_file()}
    found = {typed: browser.evaluate(f"{FIRST}({typed!r})") for typed in wanted}
    assert {typed: first for typed, (_, first) in found.items()} == wanted
    assert max(time for time, _ in found.values()) < SECOND / 2


def test_a_verdict_that_is_not_ticked_is_not_listed(browser: Browser, built: Path) -> None:
    browser.open((built / "claims.html").as_uri())
    count = """[...document.querySelectorAll("ul.claims li")].filter(
      one => one.querySelector(".badge.PROVED") && one.getClientRects().length).length"""
    assert browser.evaluate(count) > 0
    browser.evaluate("document.querySelector('input.PROVED').click()")
    assert browser.evaluate(count) == 0


def test_no_page_violates_the_rules_of_wcag_aa(browser: Browser, built: Path) -> None:
    rules = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    pages = [page for folder in FOLDERS for page in sorted(built.glob(f"{folder}*.html"))]
    pages += [*sorted(built.glob("claim/*.html"))[::40], *sorted(built.glob("activations/*.html"))[::7]]
    found = {}
    for page in pages:
        browser.open(page.as_uri())
        browser.evaluate(f"{rules}; true")
        if violations := browser.evaluate(AXE):
            found[page.relative_to(built).as_posix()] = violations
    assert found == {}


def test_a_symbol_says_what_it_means(browser: Browser, built: Path) -> None:
    browser.open((built / "claims-gradient-step.html").as_uri())
    point = """document.querySelector("#row-claim-result-3-1-spike-strength mi")
      .dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))"""
    browser.evaluate(point)
    browser.evaluate(EXPLAINED)
    browser.evaluate(point)
    assert "spike strength" in browser.evaluate("document.querySelector('.card').textContent")


def test_an_address_of_the_former_single_page_leads_to_the_claim(browser: Browser, built: Path) -> None:
    browser.open((built / "index.html").as_uri() + "#claim-result-3-1-spike-strength")
    arrived = """new Promise(done => { const look = () =>
      document.querySelector("#claim-result-3-1-spike-strength") ? done(location.pathname) :
      setTimeout(look, 20); look(); })"""
    for _ in range(100):
        if browser.evaluate("location.pathname").endswith("claim/result-3-1.spike-strength.html"):
            break
    assert browser.evaluate(arrived).endswith("claim/result-3-1.spike-strength.html")
