"""What pages show, as typst: every construction has its counterpart, text is never read as syntax, formulas fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
import typst

from giantsteps.reports.text.mathematics import mathml
from giantsteps.reports.text.prose import prose
from giantsteps.reports.text.typst_markup import MarkupError, displayed, markup, string

# What stands before a formula in a document: here it is only read back.
PREAMBLE = (
    "#let named(number) = circle(str(number))\n#let formula(alt, body) = math.equation(block: true, alt: alt, body)\n"
)


def read_back(source: str) -> list[dict[str, Any]]:
    """The equations of a document as typst understood them."""
    found: list[dict[str, Any]] = json.loads(typst.query((PREAMBLE + source).encode(), "math.equation"))
    return found


def parts(node: object) -> list[str]:
    """The names of the elements of a formula, from the outside in."""
    match node:
        case {"func": str(name), **fields}:
            return [name, *(part for field in fields.values() for part in parts(field))]
        case dict():
            return [part for field in node.values() for part in parts(field)]
        case list():
            return [part for field in node for part in parts(field)]
    return []


def letters(node: object) -> str:
    """The signs of a formula in their order."""
    match node:
        case {"func": "text" | "symbol" | "op", "text": str(text)}:
            return text
        case dict():
            return "".join(letters(field) for name, field in node.items() if name != "alt")
        case list():
            return "".join(map(letters, node))
    return ""


@pytest.mark.parametrize(
    ("latex", "element", "signs"),
    [
        (r"\frac{a}{b+1}", "frac", "ab+1"),
        (r"\sqrt{x}", "root", "x"),
        (r"\sqrt[4]{x}", "root", "4x"),
        (r"V_{1}^{2}", "attach", "V21"),
        (r"\mu_{0}'(x)", "attach", "μ0′(x)"),
        (r"\hat{\psi}", "accent", "ψ"),
        (r"\left(\frac{a}{b}\right)", "lr", "(ab)"),
        (r"\left|{x}\right|", "lr", "|x|"),
        (r"\mathrm{Var}[x|y]", "op", "Var[x|y]"),
        (r"\sum_{k=2}^{N} k", "attach", "∑Nk=2k"),
        (r"\ln x", "op", "lnx"),
        (r"\begin{cases} 1 & x \\ 2 & y \end{cases}", "mat", "{1x2y"),
        (r"\mathbf{9}", "text", "9"),
    ],
)
def test_a_construction_has_its_counterpart(latex: str, element: str, signs: str) -> None:
    (found,) = read_back(displayed(mathml(latex, block=True)))
    assert element in parts(found["body"])
    assert letters(found["body"]) == signs


def test_signs_of_typst_are_signs_of_the_formula() -> None:
    shown = mathml(r"f(a,b;c)/d * \{x\} [y]! \#", block=True)
    (found,) = read_back(displayed(shown))
    for sign in "fabc,;/d{x}[y]!#":
        assert sign in letters(found["body"]), sign


def test_text_is_never_read_as_syntax() -> None:
    hostile = 'a #panic("x") $y$ *b* _c_ `d` <e> @f "h" // i /* j */ = k - l + m [n] ]'
    source = f"#[{markup(str(prose(hostile)))}]"
    assert typst.compile(source.encode(), format="svg")
    assert string('say "x\\y"') == '"say \\"x\\\\y\\""'


def test_a_formula_in_text_stays_in_its_line() -> None:
    (found,) = read_back(markup(str(prose(r"the label $\frac{a}{b}$ of x_1"))))
    assert found["block"] is False
    assert found["alt"] == "a b"


def test_what_has_no_counterpart_is_refused() -> None:
    with pytest.raises(MarkupError, match="<mphantom>"):
        displayed("<math><mphantom><mi>x</mi></mphantom></math>")
    with pytest.raises(MarkupError, match="<table>"):
        markup("<table></table>")
    with pytest.raises(MarkupError, match="cannot be read"):
        markup("a < b")
    with pytest.raises(MarkupError, match="one formula"):
        displayed("words")
