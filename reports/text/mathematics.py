"""LaTeX to MathML, for a page that needs no script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import unescape
from xml.etree import ElementTree

from giantsteps.reports.text.formula_lines import LIMITS, LINE, PRIMES, ROWS, in_lines, scanned, width


class MathError(ValueError):
    """A formula that cannot be shown: the converter left LaTeX in its output."""


# Blocks that other processes have made.
_MADE: dict[str, str] = {}


def blocks(formulas: Iterable[str]) -> dict[str, str]:
    """Formulas as blocks, a unit of parallel work. Raises MathError."""
    return {formula: mathml(formula, block=True) for formula in formulas}


def remember(made: Mapping[str, str]) -> None:
    """Blocks that need not be made here."""
    _MADE.update(made)


def mathml(latex: str, *, block: bool = False) -> str:
    """One formula as a MathML element, a long block cut into lines. Raises MathError where anything is unconverted."""
    made = _MADE.get(latex) if block else None
    return _converted(latex, block) if made is None else made


@lru_cache(maxsize=8192)
def _converted(latex: str, block: bool) -> str:
    from latex2mathml import exceptions
    from latex2mathml.converter import convert_to_element

    refusals = tuple(e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        converted = convert_to_element(_prepared(latex), display="block" if block else "inline")
    except refusals as error:
        raise MathError(f"the formula {latex} cannot be converted: {type(error).__name__}") from None
    if left := re.findall(r"\\[A-Za-z]*", "".join(converted.itertext())):
        raise MathError(f"the commands {', '.join(sorted(set(left)))} of the formula {latex} have no MathML")
    root = _short(converted)
    return ElementTree.tostring(in_lines(root) if block else root, encoding="unicode")


def says_nothing(latex: str) -> bool:
    r"""Whether both sides of an equation are written alike: a name that is read as its meaning, q_1-\psi^2 say."""
    left, *others = re.sub(r"\\left|\\right|[{}\s]", "", latex).split("=")
    return others == [left]


def said_of(statements: Iterable[str]) -> tuple[str, ...]:
    """The statements that say something."""
    return tuple(one for one in statements if not says_nothing(one))


def within_text(latex: str) -> str:
    """A formula within prose: inline where it fits a line, else a block cut into lines. Raises MathError."""
    inline = mathml(latex)
    return mathml(latex, block=True) if width(ElementTree.fromstring(inline)) > LINE else inline


# Brackets that are fences and stretch by themselves where they open and close a row (MathML Core, operator dictionary).
_FENCES = {("prefix", sign) for sign in "([{\u2308\u230a"} | {("postfix", sign) for sign in ")]}\u2309\u230b"}


# What brackets grow with.
_TALL = frozenset({"mfrac", "munder", "munderover", "mtable"})
_LARGE = frozenset("\u2211\u220f\u222b")
_SIGNS = frozenset("\u2212+")


def _short(converted: ElementTree.Element) -> ElementTree.Element:
    """The same element in fewer bytes: no row of one element, no attribute that says what holds anyway."""
    for element in converted.iter("*"):
        if element.text and "&" in element.text:
            element.text = unescape(element.text)  # the converter writes signs by their numbers
    # What a page does not need: the name space and the default display.
    del converted.attrib["xmlns"]
    if converted.get("display") == "inline":
        del converted.attrib["display"]
    root = _shortened(converted)
    if len(root) == 1 and root[0].tag == "mrow":
        root[:] = list(root[0])  # what stands in <math> is a row by itself
    return root


def _shortened(element: ElementTree.Element) -> ElementTree.Element:
    element[:] = [part for child in element for part in _with_primes(_shortened(child), element)]
    if element.tag == "mrow" and len(element) == 1 and not element.attrib and not element[0].get("fence"):
        return element[0]
    if element.tag == "mrow" and len(element) > 1:
        tall = any(part.tag in _TALL or (part.text or "") in _LARGE for part in element.iter())
        for sign, form in ((element[0], "prefix"), (element[-1], "postfix")):
            if (form, sign.text) in _FENCES and sign.get("form") == form and sign.get("stretchy") == "true":
                sign.attrib.clear()
                if not tall:
                    sign.set("stretchy", "false")  # one that may grow takes the room of its largest form
    if element.tag in ROWS:
        for number, (sign, _, operand_before) in enumerate(scanned(list(element))):
            if number and sign.tag == "mo" and sign.text in _SIGNS and not operand_before:
                sign.set("form", "prefix")  # without it a sign behind another one has the gaps of a difference
    if element.tag == "mo" and len(name := element.text or "") > 1 and name.isalpha() and name not in LIMITS:
        element.tag = "mi"  # the name of a function: no gap before its bracket
        element.attrib.clear()
    return element


def _with_primes(element: ElementTree.Element, parent: ElementTree.Element) -> list[ElementTree.Element]:
    """An element without primes among its scripts: fonts have them raised and small, and as scripts they are dots."""
    script = element[-1] if element.tag in ("msup", "msubsup") else element
    first = script[0] if script.tag == "mrow" and len(script) else script
    if script is element or first.text is None or first.text not in PRIMES:
        return [element]
    element.remove(script)
    primed = element[0] if element.tag == "msup" else element
    element.tag = "msub"
    row = ElementTree.Element("mrow")
    row[:] = [primed, first]
    if first is not script:  # a power of a function with a prime
        script.remove(first)
        power = ElementTree.Element("msup")
        power[:] = [row, script[0] if len(script) == 1 else script]
        return [power]
    return list(row) if parent.tag in ROWS else [row]


def _prepared(latex: str) -> str:
    """The same formula without what the converter takes literally, and with bars that open and close."""
    # Thin spaces around operators come from the printer, not from the formula.
    plain = latex.replace(r"\;", " ").replace(r"\,", " ").replace(r"\!", "")
    pieces = re.split(r"(?<!\\)(?<!left)(?<!right)\|", plain)
    if len(pieces) % 2 == 0:
        return plain  # an odd number of bars: "evaluated at", not absolute values
    bars = (r"\left|", r"\right|")
    return pieces[0] + "".join(bars[k % 2] + piece for k, piece in enumerate(pieces[1:]))
