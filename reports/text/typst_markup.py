"""What a page shows, as typst: running text and the MathML of formulas, whose lines are cut for both by the same code.

A formula reaches typst by the MathML that the pages show: LaTeX is read once, long formulas are cut into lines once
(`reports.text.formula_lines`), and a formula that no page can show is no formula of the document either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from giantsteps.reports.text.formula_lines import LIMITS, NAMES, PRIMES


class MarkupError(ValueError):
    """Something on a page that has no counterpart in typst here."""


# The sizes in which typst sets a formula: in tables it would take one smaller, where the pages keep the size.
DISPLAY, TEXT, SCRIPT = 0, 1, 2
_SIZES = ("display", "inline", "script", "sscript")
_OPENING, _CLOSING = "([{⌈⌊⟨|", ")]}⌉⌋⟩|"
# Signs that typst reads as its own syntax, by their names there.
_SYNTAX = {
    "(": "paren.l", ")": "paren.r", "[": "bracket.l", "]": "bracket.r", "{": "brace.l", "}": "brace.r",
    "|": "bar.v", ",": "comma", ";": "semi", "/": "slash", "*": "ast.op", "~": "tilde.op", "!": "excl", ":": "colon",
    ".": "dot.basic", "^": "hat", "'": "prime", "−": "minus", "-": "minus", "⟂": "perp", "⊤": "top", "ℓ": "ell",
}  # fmt: skip
_ESCAPED = frozenset('#$&_"@\\`')
_ACCENTS = {"^": "hat", "~": "tilde", "¯": "overline", "‾": "overline", "ˇ": "caron", "˙": "dot", "→": "arrow"}


def markup(html: str) -> str:
    """A piece of a page, text with inline formulas, as typst markup. Raises MarkupError."""
    return _content(_read(html))


@lru_cache(maxsize=8192)
def displayed(mathml: str) -> str:
    """A formula on lines of its own, as a call of `formula(alt, body)`. Raises MarkupError."""
    root = _read(mathml)
    formula = root[0] if len(root) == 1 and root[0].tag == "math" else None
    if formula is None or (root.text or "").strip():
        raise MarkupError(f"one formula was expected, not {mathml[:80]}")
    return f"#formula({string(_read_aloud(formula))}, ${_row(formula, DISPLAY)}$)"


def string(text: str) -> str:
    """Text as a string of typst."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _read(html: str) -> Element:
    try:
        return ElementTree.fromstring(f"<p>{html}</p>")
    except ElementTree.ParseError as error:
        raise MarkupError(f"a piece of a page that cannot be read ({error}): {html[:80]}") from None


# Running text

_TAGS = {"code": "raw", "sub": "sub", "sup": "super", "em": "emph", "cite": "emph", "strong": "strong"}


def _content(element: Element) -> str:
    pieces = [_text(element.text)]
    for child in element:
        if child.tag == "math":
            pieces.append(f"#math.equation(alt: {string(_read_aloud(child))}, ${_row(child, TEXT)}$);")
        elif child.tag == "code":
            pieces.append(f"#raw({string(''.join(child.itertext()))});")
        elif child.tag in _TAGS:
            pieces.append(f"#{_TAGS[child.tag]}[{_content(child)}];")
        elif child.tag in ("span", "a"):
            pieces.append(_content(child))
        else:
            raise MarkupError(f"<{child.tag}> has no counterpart in a document")
        pieces.append(_text(child.tail))
    return "".join(pieces)


def _text(text: str | None) -> str:
    return f"#{string(text)};" if text else ""


def _read_aloud(formula: Element) -> str:
    """The signs of a formula in their order: what is read where it is not seen."""
    return " ".join(text for part in formula.iter() if (text := (part.text or "").strip()))


# Formulas


def _row(element: Element, size: int) -> str:
    """The children of a row, its outer brackets as tall as what they hold."""
    children = list(element)
    if len(children) > 1 and all(child.tag == "mi" and child.get("mathvariant") == "normal" for child in children):
        return f"op({string(''.join(child.text or '' for child in children))})"  # Var, letter by letter
    pieces: list[str] = []
    for child in children:
        if pieces and child.tag == "mi" and child.text in PRIMES:
            pieces[-1] = f"attach({pieces[-1]}, t: {_math(child, SCRIPT)})"
        else:
            pieces.append(_math(child, size))
    inner = " ".join(pieces)
    closed = len(children) > 1 and (children[-1].tag == "mtable" or _stretches(children[-1], _CLOSING))
    if closed and _stretches(children[0], _OPENING):
        return f"lr({inner})"
    return inner


def _stretches(element: Element, signs: str) -> bool:
    text = element.text or ""
    return element.tag == "mo" and bool(text) and text in signs and element.get("stretchy") != "false"


def _math(element: Element, size: int) -> str:
    """One element of MathML in one of the sizes. Raises MarkupError."""
    if element.tag not in _ELEMENTS:
        raise MarkupError(f"<{element.tag}> of a formula has no counterpart in typst here")
    return _ELEMENTS[element.tag](element, size)


def _letter(element: Element, size: int) -> str:
    text = element.text or ""
    if text in NAMES and text:
        return f"#named({NAMES.index(text) + 1})"
    if len(text) != 1:
        return f"op({string(text)})"
    sign = _named(text)
    return f"upright({sign})" if element.get("mathvariant") == "normal" else sign


def _named(sign: str) -> str:
    """A sign, by its name where typst would read it as syntax."""
    return _SYNTAX.get(sign, f"\\{sign}" if sign in _ESCAPED else sign)


def _sign(element: Element, size: int) -> str:
    text = (element.text or "").strip("\u2061\u2062\u200b")
    if len(text) > 1:
        limits = ", limits: #true" if element.get("movablelimits") == "true" or text in LIMITS else ""
        return f"op({string(text)}{limits})"
    return _named(text)


def _number(element: Element, size: int) -> str:
    return f"bold({element.text})" if element.get("mathvariant") == "bold" else element.text or ""


def _space(element: Element, size: int) -> str:
    return f"#h({element.get('width', '0em')})"


def _fraction(element: Element, size: int) -> str:
    above, below = (_math(part, min(size + 1, len(_SIZES) - 1)) for part in element)
    return f"frac({above}, {below})"


def _root(element: Element, size: int) -> str:
    return f"sqrt({_row(element, size)})"


def _attached(*places: str) -> Callable[[Element, int], str]:
    """A base with scripts at these places, in the order of the children; those of a sum stand over and under it."""

    def attached(element: Element, size: int) -> str:
        base, *scripts = element
        smaller = SCRIPT if size < SCRIPT else SCRIPT + 1
        shown = ", ".join(
            f"{place}: {_math(script, smaller) or '#none'}" for place, script in zip(places, scripts, strict=True)
        )
        return f"attach({_math(base, size) or '#none'}, {shown})"

    return attached


def _over(element: Element, size: int) -> str:
    """A letter with an accent, or a sign with something over it."""
    base, sign = element
    accent = _ACCENTS.get((sign.text or "").strip()) if sign.tag == "mo" else None
    return f"{accent}({_math(base, size)})" if accent else _attached("t")(element, size)


def _table(element: Element, size: int) -> str:
    rows = (", ".join(f"{_SIZES[size]}({_row(cell, size)})" for cell in row) for row in element)
    return f"mat(delim: #none, align: #left, row-gap: #0.6em, column-gap: #1.2em, {'; '.join(rows)})"


_ELEMENTS: Mapping[str, Callable[[Element, int], str]] = {
    "math": _row,
    "mrow": _row,
    "mstyle": lambda element, size: _row(element, max(size, TEXT) if element.get("displaystyle") == "false" else size),
    "mi": _letter,
    "mo": _sign,
    "mn": _number,
    "mtext": lambda element, size: string(element.text or ""),
    "mspace": _space,
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": lambda element, size: f"root({_math(element[1], SCRIPT)}, {_math(element[0], size)})",
    "msub": _attached("b"),
    "msup": _attached("t"),
    "msubsup": _attached("b", "t"),
    "munder": _attached("b"),
    "mover": _over,
    "munderover": _attached("b", "t"),
    "mtable": _table,
}
