"""Long formulas are cut into lines by their structure, and nothing of them is lost."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from giantsteps.reports.text.formula_lines import LINE, NAMES, width
from giantsteps.reports.text.mathematics import mathml
from giantsteps.reports.text.prose import prose
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.ledger.document import statement_latex

# An em of a formula is 17 pixels on the page. Matrices and summands without a cut may be wider than a line, within
# this bar, far below the 5,000 pixels that a formula may have.
WIDEST = 2 * LINE

SUM = " + ".join(rf"a_{{{k}}} x^{{{k}}}" for k in range(80))


def element(latex: str) -> ElementTree.Element:
    """The block formula as an element."""
    return ElementTree.fromstring(mathml(latex, block=True))


def letters(root: ElementTree.Element) -> str:
    """What is written in a formula, in order, without signs of continuation."""
    return re.sub(r"[×\s]", "", "".join(root.itertext()))


@pytest.mark.parametrize(
    "latex",
    [
        rf"y = {SUM}",
        rf"y = \left({SUM}\right)^{{2}}",
        rf"y = \frac{{{SUM}}}{{b}}",
        rf"y = \sqrt{{{SUM}}}",
        rf"y = \mathbb{{E}}_{{z}}\left[\frac{{c}}{{{SUM}}}\right]",
        rf"y = e^{{{SUM}}}",
        r"y = " + " + ".join(rf"E[W_{{{k}}} t]^{{2}}" for k in range(30)),
        r"y = " + r" ".join(rf"\left(x_{{{k}}} + 1\right)" for k in range(40)),
        r" \wedge ".join(rf"x_{{{k}}} = \frac{{a}}{{b}}" for k in range(30)),
    ],
    ids=["sum", "power", "fraction", "root", "average", "exponent", "brackets", "product", "system"],
)
def test_a_long_formula_is_cut_into_lines_and_keeps_every_letter(latex: str) -> None:
    shown = element(latex)
    assert width(shown) <= 1.1 * LINE
    flat = ElementTree.fromstring(mathml(latex))
    assert width(flat) > 1.5 * LINE
    assert letters(shown) == letters(flat)


def test_a_part_that_is_repeated_gets_a_name_and_is_stated_once() -> None:
    long = " + ".join(f"V_{{{k}}}" for k in range(12))
    latex = "y = " + " + ".join(rf"\frac{{x_{{{k}}}}}{{{long}}}" for k in range(9))
    shown = element(latex)
    text = letters(shown)
    assert text.count(NAMES[0]) == 10
    assert text.count("V0") == 1
    assert text.endswith(NAMES[0] + "=" + letters(ElementTree.fromstring(mathml(long))))
    assert width(shown) <= LINE


def test_no_statement_is_wider_than_the_bar() -> None:
    for claim in all_claims():
        assert width(element(statement_latex(claim))) <= WIDEST, claim.id


def test_a_wide_formula_within_prose_is_cut_too() -> None:
    """Conditions of theorems stand in lists, as prose: one of them was 15,000 pixels wide."""
    shown = str(prose(f"${SUM} > 0$ (a condition of a theorem)"))
    formula, end = shown.split("</math>")
    assert width(ElementTree.fromstring(formula + "</math>")) <= LINE
    assert end == " (a condition of a theorem)"
    assert "display" not in str(prose("$x > 0$ (a condition of a theorem)"))
