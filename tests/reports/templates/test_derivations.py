"""A derivation on its page: each step with its own reason, formula and obligations; what was shown before is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.reports.page.described import DescribedDerivation, DescribedStep
from giantsteps.reports.page.site import CUT, site
from tests.reports.templates.material import NUMBER, ROWS, claim_page, material
from tests.reports.templates.reading import links, of_class, read, words

# The proofs of two claims of one chapter, which share a step, and of one of another.
FIRST, SECOND, OTHER = "section-2.gradient-step", "result-3-1.spike-strength", "bounds.lower"
SHARED = DescribedStep("reason shared", "S = 1", ())


def derivation(id_: str, *steps: DescribedStep) -> DescribedDerivation:
    """The derivation that the proof of a claim is of; its last step states its result, and there is another."""
    n = NUMBER[id_]
    own = DescribedStep(f"reason {n}", f"B_{{{n}}} = {n}", ((f"says {n}", f"form {n}"),))
    results = (own.formula, f"C_{{{n}}} = {n}")
    symbols = ((f"B_{{{n}}}", f"letter {n}"),)
    about = (f"way {n}", f"place {n}", (*steps, own), results, (f"given {n}",))
    return DescribedDerivation(*about, f"derivation: way {n}", symbols)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The report with three derivations."""
    found = [derivation(FIRST, SHARED), derivation(SECOND, SHARED), derivation(OTHER)]
    return site(replace(material(), derivations=found))


def test_a_derivation_says_what_it_shows_under_which_hypotheses_and_for_whom(pages: dict[str, str]) -> None:
    for at, ids in (("derivations-gradient-step.html", (FIRST, SECOND)), ("derivations-bounds.html", (OTHER,))):
        main = read(pages[at])
        articles = of_class(main, "article", "derivation")
        assert len(articles) == len(ids)
        listed = main.find("details/div/ul")
        assert listed is not None
        assert [words(one) for one in listed] == [f"B{NUMBER[id_]}: letter {NUMBER[id_]}" for id_ in ids]
        for id_, article in zip(ids, articles, strict=True):
            n = NUMBER[id_]
            assert article.get("id") == f"derivation-way-{n}"
            assert [words(one) for one in article.findall("h2")] == [f"Way {n}"]
            first, _, last = article.findall("p")
            assert (words(first), words(last)) == (f"place {n}", f"Used by {id_}")
            assert links(last, at) == [claim_page(id_)]
            given = article.find("ul")
            assert given is not None
            assert [words(one) for one in given] == [f"given {n}"]
            own = of_class(article, "div", "step")[-1]
            assert words(own.find("div/p")) == f"reason {n} result"
            assert words(of_class(own, "div", "formula")[0]) == f"B{n}={n}"
            (owed,) = of_class(own, "ul", "obligations")
            assert [(words(one), one.get("class")) for one in owed] == [(f"says {n} (method {n})", "supports")]
            elsewhere = article.find("details")
            assert elsewhere is not None
            assert words(elsewhere) == f"Results stated elsewhere (1) C{n}={n}"


def test_a_step_that_was_shown_is_named_by_where(pages: dict[str, str]) -> None:
    main = read(pages["derivations-gradient-step.html"])
    first, second = of_class(main, "article", "derivation")
    assert words(of_class(first, "div", "step")[0]) == "1 reason shared S=1"
    step = of_class(second, "div", "step")[0]
    assert words(step) == f"1 as in way {NUMBER[FIRST]}"
    assert links(step, "derivations-gradient-step.html") == [f"#derivation-way-{NUMBER[FIRST]}"]


def test_derivations_are_listed_by_chapter_and_lead_to_their_claims_and_back(pages: dict[str, str]) -> None:
    main, at = read(pages["derivations.html"]), "derivations.html"
    heads = [one for one in main.iter("h2") if (one.get("id") or "").startswith("derivations-of-")]
    assert [links(one, at) for one in heads] == [["derivations-gradient-step.html"], ["derivations-bounds.html"]]
    listed = [[(words(one), *links(one, at)) for one in part.iter("li")] for part in main.iter("ul")]
    chapters = ("gradient-step", (FIRST, SECOND)), ("bounds", (OTHER,))
    assert listed == [
        [(f"Way {NUMBER[id_]}", f"derivations-{chapter}.html#derivation-way-{NUMBER[id_]}") for id_ in ids]
        for chapter, ids in chapters
    ]
    for chapter, ids in chapters:
        for id_ in ids:
            page = read(pages[claim_page(id_)])
            n = NUMBER[id_]
            led = [one for one in links(page, claim_page(id_)) if "derivation-way" in one]
            assert led == [f"derivations-{chapter}.html#derivation-way-{n}"]
            assert f"way {n}" in words(page)


def test_a_chapter_that_goes_on_says_where_and_under_which_title() -> None:
    long = "words " * (CUT // 9)  # two of them do not fit a page
    found = [replace(derivation(id_), hypotheses=(long,)) for id_ in (FIRST, SECOND)]
    pages = site(replace(material(), derivations=found))
    main = read(pages["derivations-gradient-step.html"])
    (on,) = of_class(main, "p", "next")
    assert words(on) == "Continued: The gradient step (2 of 2)"
    assert links(on, "") == ["derivations-gradient-step-2.html"]
    assert words(main.find("h1")) == "Derivations The gradient step (1 of 2)"
    assert of_class(read(pages["derivations-gradient-step-2.html"]), "p", "next") == []
    assert [row.chapter for row in ROWS if row.id == SECOND] == ["gradient-step"]
    for file, id_ in (("derivations-gradient-step.html", FIRST), ("derivations-gradient-step-2.html", SECOND)):
        symbols = read(pages[file]).find("details/div/ul")
        assert symbols is not None
        assert [words(one) for one in symbols] == [f"B{NUMBER[id_]}: letter {NUMBER[id_]}"]
