"""Formulas read sign by sign, once as LaTeX and once as a page has them, by code that the pages know nothing of."""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree

from giantsteps.reports.text.formula_lines import NAMES

# What only sets a formula.
_LAYOUT = frozenset(
    ("left", "right", "mathbb", "mathsf", "mathrm", "mathcal", "mathbf", "operatorname", "text", "textstyle")
)
_STRUCTURES = {"frac": "mfrac", "tfrac": "mfrac", "dfrac": "mfrac", "sqrt": "msqrt"}
_SIGNS = {
    "star": "⋆", "top": "⊤", "cdot": "·", "wedge": "∧", "perp": "⟂", "geq": "≥", "leq": "≤", "langle": "⟨",
    "rangle": "⟩", "partial": "∂", "prime": "′", "infty": "∞", "circ": "∘", "int": "∫", "to": "→", "in": "∈",
    "neq": "≠", "lceil": "⌈", "rceil": "⌉", "uparrow": "↑", "downarrow": "↓", "sum": "∑", "hat": "^", "check": "ˇ",
    "tilde": "~", "bar": "¯", "varrho": "ϱ", "varpi": "ϖ", "varsigma": "ς", "varepsilon": "ε", "epsilon": "ϵ",
    "varphi": "φ", "phi": "ϕ", "ell": "ℓ", "lambda": "λ", "Lambda": "Λ",
}  # fmt: skip
# How a line may begin that goes on.
_GO_ON = frozenset("+-−±∓×=≤≥<>≠≈→∼≡∈")
_JOIN = frozenset("∧∨⇒⇔;,")
_LATEX = re.compile(r"\\((?:begin|end)\{\w+\})|\\([A-Za-z]+)|\\(.)|([^\s{}_^&$\\])")


def signs_of_latex(latex: str) -> list[str]:
    """Every letter, digit and sign of a formula, and a word for each fraction and root."""
    found: list[str] = []
    for ends, command, escaped, sign in _LATEX.findall(latex):
        if ends == "begin{cases}":
            found.append("{")
        elif ends or command in _LAYOUT or escaped in tuple(",;!:\\"):
            continue
        elif command in _STRUCTURES:
            found.append(_STRUCTURES[command])
        elif command in _SIGNS:
            found.append(_SIGNS[command])
        elif command:
            found += _greek(command) or command
        else:
            found.append(escaped or sign)
    return ["′" if sign == "'" else sign for sign in found]


def _greek(name: str) -> str:
    """A Greek letter by its name, empty where it is none."""
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
    except KeyError:
        return ""


def signs_of_mathml(mathml: str) -> list[str]:
    """The same of what a page has: letters of other alphabets as plain ones, a long minus as a short one."""
    found: list[str] = []
    for one in ElementTree.fromstring(mathml).iter():
        if one.tag in ("mfrac", "msqrt"):
            found.append(one.tag)
        for sign in one.text or "":
            plain = unicodedata.normalize("NFKC", sign) if ord(sign) > 0xFFFF or 0x2100 <= ord(sign) < 0x2150 else sign
            found += {"−": "-", "ℓ": "ℓ", "″": "′′", "‴": "′′′"}.get(sign, plain)
    return [sign for sign in found if not sign.isspace() and sign not in "\u2061\u2062\u2063\u200b"]


def in_full(block: str) -> list[str]:
    """The signs of a formula that is cut into lines, each name in a circle read as what it stands for.

    Round brackets and the sign of a product that is cut are left out: a name needs no bracket.
    """
    root = ElementTree.fromstring(block)
    whole, named = list(root), dict[str, list[ElementTree.Element]]()
    if len(root) == 1 and root[0].tag == "mtable" and root[0].get("class") == "lines":
        whole, here = [], []
        for row in root[0]:
            items = list(row[0])
            if len(items) > 1 and items[0].text in tuple(NAMES) and items[1].text == "=":
                here = named.setdefault(items[0].text or "", [])
                items = items[2:]
            (here if named else whole).extend(items)

    def read(items: list[ElementTree.Element]) -> list[str]:
        found: list[str] = []
        for item in items:
            for sign in signs_of_mathml(ElementTree.tostring(item, encoding="unicode")):
                found += read(named[sign]) if sign in named else [sign]
        return [sign for sign in found if sign not in "()×"]

    return read(whole)


def cut_wrongly(block: str) -> list[str]:
    """Lines that go on from the one above without a sign that says how, or with two; and equations behind their sign.

    What joins equations stands at the end of a line.
    """
    found = []
    for row in ElementTree.fromstring(block).iter("mtr"):
        items = list(row[0]) if len(row) == 1 else []
        signs = [*(one.text or "" if one.tag == "mo" else "" for one in items), "", ""]
        goes_on = bool(items) and items[0].tag == "mspace"
        double = signs[1] == "×" and signs[2] in _GO_ON
        if (signs[1] not in _GO_ON or double) if goes_on else signs[0] in _JOIN:
            found.append("".join("".join(one.itertext()) for one in items))
    return found
