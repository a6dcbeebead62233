"""LaTeX as a line of plain Unicode text, for a terminal: \\frac{a}{n_{0} \\sqrt{p}} as a/(n₀ √p)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_SIGNS = {
    r"\cdot": "·", r"\leq": "≤", r"\geq": "≥", r"\neq": "≠", r"\to": "→", r"\in": "∈", r"\infty": "∞", r"\sum": "Σ",
    r"\int": "∫", r"\partial": "∂", r"\perp": "⊥", r"\star": "⋆", r"\top": "ᵀ", r"\prime": "′", r"\ell": "ℓ",
    r"\langle": "⟨", r"\rangle": "⟩", r"\lceil": "⌈", r"\rceil": "⌉", r"\lfloor": "⌊", r"\rfloor": "⌋", r"\wedge": "∧",
    r"\uparrow": "↑", r"\downarrow": "↓", r"\circ": "∘", r"\approx": "≈", r"\sim": "∼", r"\propto": "∝", r"\pm": "±",
    r"\times": "×", r"\ldots": "...", r"\dots": "...", r"\quad": "  ", r"\varrho": "ϱ", r"\varphi": "φ",
    r"\varpi": "ϖ", r"\varsigma": "ς", r"\varepsilon": "ε", r"\epsilon": "ϵ", r"\phi": "ϕ", r"\vartheta": "ϑ",
    r"\,": " ", r"\:": " ", r"\;": " ", r"\!": "", "\\ ": " ", "\\\\": "; ", "&": " ", "{": "", "}": "", "~": " ",
    r"\prod": "∏",
}  # fmt: skip
_ACCENTS = {r"\hat": "\u0302", r"\tilde": "\u0303", r"\check": "\u030c", r"\bar": "\u0304", r"\overline": "\u0304"}
_STYLES = {r"\mathbb": "DOUBLE-STRUCK", r"\mathsf": "SANS-SERIF", r"\mathcal": "SCRIPT", r"\mathbf": "BOLD"}
_UPRIGHT = (r"\mathrm", r"\operatorname", r"\text", r"\mathit", r"\mathbin")
_DROPPED = (r"\left", r"\right", r"\displaystyle", r"\textstyle", r"\limits", r"\big", r"\Big", r"\bigl", r"\bigr")
_RAISED = dict(zip("0123456789+-=()niᵀ⋆′*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀ⋆′*", strict=True))
_LOWERED = dict(zip("0123456789+-=()aehijklmnoprstuvxβγρχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵪ", strict=True))
# What may follow a fraction without being taken for a part of its denominator.
_AFTER_FRACTION = frozenset("+-=,;:.)]}|&<>") | {
    r"\right", r"\leq", r"\geq", r"\neq", r"\to", r"\in", r"\approx", r"\sim", r"\rangle", "\\\\", r"\end", r"\quad",
}  # fmt: skip


@lru_cache(maxsize=4096)
def plain(latex: str) -> str:
    """One formula as a line of text: fractions with a slash and the parentheses they need, scripts as Unicode has them.

    What it does not know stays as the source has it.
    """
    reader = _Reader(_TOKEN.findall(latex))
    return unicodedata.normalize("NFC", _tidy(reader.row("")))


def readable(text: str) -> str:
    """Prose whose formulas, between dollars or words with a backslash, are lines of plain text."""
    if "\\" not in text and "$" not in text:
        return text
    shown = re.sub(r"\$([^$]+)\$", lambda found: plain(found[1]), text)
    return re.sub(r"[^\s,;()=]*\\[^\s,;=]*", lambda found: plain(found[0]), shown)


class _Reader:
    """Reads tokens from left to right; groups, fractions and roots by recursion."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """The next token, which is done with."""
        token = self.next()
        self.at += 1
        return token

    def row(self, end: str) -> str:
        """The text up to a closing token, which is taken too."""
        text = ""
        while self.at < len(self.tokens):
            if self.next() == end:
                self.take()
                break
            text += self.element()
        return text

    def argument(self) -> str:
        """A group in braces, or one element."""
        while self.next().isspace():
            self.take()
        if self.next() == "{":
            self.take()
            return _tidy(self.row("}"))
        return self.element()

    def element(self) -> str:
        """One token with what belongs to it."""
        token = self.take()
        if token == "{":
            return self.row("}")
        if token in ("^", "_"):
            return _script(self.argument(), token)
        if token in (r"\frac", r"\tfrac", r"\dfrac"):
            return self._fraction()
        if token == r"\sqrt":
            index = self._index() if self.next() == "[" else ""
            return f"{index}√{_enclosed(self.argument(), _is_letter)}"
        if token in (r"\begin", r"\end"):
            self.argument()
            return ""
        if token in _DROPPED:
            if self.next() == ".":
                self.take()
            return ""
        if token in _ACCENTS:
            base = self.argument()
            return base[:1] + _ACCENTS[token] + base[1:]
        if token in _STYLES:
            return "".join(_styled(letter, _STYLES[token]) for letter in self.argument())
        if token in _UPRIGHT:
            return self.argument()
        if token.isspace():
            return " "
        if token in _SIGNS:
            return _SIGNS[token]
        return self._function(_named(token)) if token.startswith("\\") else token

    def _function(self, name: str) -> str:
        """The name of a function with the script under it, and the space that LaTeX puts behind both."""
        if len(name) == 1:
            return name
        if self.next() == "_":
            name += self.element()
        return name if self.next() in ("{", "(", "[", "^", r"\left", r"\right", "") else f"{name} "

    def _index(self) -> str:
        self.take()
        return "".join(_RAISED.get(c, c) for c in self.row("]"))

    def _fraction(self) -> str:
        above, below = self.argument(), self.argument()
        text = f"{_enclosed(above, _is_product)}/{_enclosed(below, _is_atom)}"
        rest = next((token for token in self.tokens[self.at :] if not token.isspace()), "")
        return text if not rest or rest in _AFTER_FRACTION else f"({text})"


def _named(token: str) -> str:
    """What a command without a sign of its own names: a Greek letter, or a function."""
    name = token[1:]
    greek = {"lambda": "lamda"}.get(name.lower(), name.lower())
    try:
        return unicodedata.lookup(f"GREEK {'CAPITAL' if name[:1].isupper() else 'SMALL'} LETTER {greek}")
    except KeyError:
        return name


def _styled(letter: str, style: str) -> str:
    """A letter in a style of mathematics; as it is where Unicode has none."""
    kind = "CAPITAL" if letter.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {style} {kind} {letter}", f"{style} {kind} {letter}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter


def _script(text: str, place: str) -> str:
    known = _RAISED if place == "^" else _LOWERED
    if text and all(c in known for c in text) and (len(text) < 3 or not any(c.isalpha() for c in text)):
        return "".join(known[c] for c in text)
    if len(text) == 1:
        return place + text
    return f"^({text})" if place == "^" else f"_{{{text}}}"


def _enclosed(text: str, alone: re.Pattern[str]) -> str:
    return text if alone.fullmatch(_without_brackets(text)) else f"({text})"


def _without_brackets(text: str) -> str:
    """The text with every balanced bracket replaced by one sign, so that only the outermost operations are left."""
    before = ""
    while before != text:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|⟨[^⟨⟩]*⟩|\|[^|]*\|", "■", text)
    return text


# No sum, but a product, perhaps with a sign in front; one factor.
_is_product = re.compile(r"-?[^+\-=,]*")
_is_atom = re.compile(r"[^\s+\-=,/·]*")
# A number or a letter with its index, so that it is plain how far a root goes.
_is_letter = re.compile(r"[0-9]+|[^\W\d_][\u0300-\u036f]?[₀-₉ₐ-ₜᵢ-ᵪ]*")


def _tidy(text: str) -> str:
    """Spaces as in print: none inside brackets, none behind a sign, one around the rest."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"([(\[{⟨]) | ([)\]}⟩,;])", lambda found: found[1] or found[2], text)
    text = re.sub(r"(^|[(\[{,=<>≤≥≠→/∧] ?)- ", r"\1-", text)
    text = re.sub(r",(?=\S)", ", ", text)
    return re.sub(r"_\{[^{}]*\}", lambda script: script[0].replace(" ", ""), text)
