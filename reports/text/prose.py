"""Running text of the suite, written in plain ASCII, as a page shows it: signs, Greek letters, indices, formulas."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup, escape

from giantsteps.reports.text.mathematics import within_text

# What a subscript or superscript can be in LaTeX, and a letter that carries at least one.
_SCRIPT = r"[_^](?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+(?:\{[^{}]*\})*|\w)"
# Code between backticks, a formula between dollar signs, or a bare glyph such as \hat{V}_1, h^{\star}_1 or \psi_\rho.
_SPECIAL = re.compile(
    rf"`([^`]+)`|\$([^$]+)\$|\\[A-Za-z]+(?:\{{[^{{}}]*\}})*(?:{_SCRIPT})*"
    rf"|(?<![\w\\])[A-Za-z](?=(?:{_SCRIPT})*[_^]\{{?\\)(?:{_SCRIPT})+|(?<![\w\\])[A-Za-z](?:[_^]\{{[^{{}}]*\}})+"
)
# Names of symbols in running text: a Greek letter, or one of the letters that carry an index, then the index.
_GREEK = dict(
    zip(
        [
            *("alpha", "beta", "gamma", "Delta", "epsilon", "zeta", "eta", "theta", "Theta", "kappa", "lambda"),
            *("mu", "xi", "rho", "varrho", "sigma", "tau", "phi", "psi", "omega", "Pi", "Phi"),
        ],
        "αβγΔεζηθΘκλμξρϱστφψωΠΦ",
        strict=True,
    )
)
# No part of a word with a hyphen and no option, but what a minus stands before.
_ALONE = rf"{'|'.join(_GREEK)}|nu|pi|delta(?! functions?\b)|[hnqVy]"
_NAME = re.compile(rf"(?<!\w)(?<!\w-)(?<!--)({_ALONE})(?<!\b[hnqVy](?!\d))(\d?)(?![\w-]|\.py\b)")
# A letter or a Greek name with a number and a short index (theta_perp, V_1, mu2_u), not a word such as fixed_point.
_SHORT = rf"perp|{'|'.join(_GREEK)}|[A-Za-z0-9]{{1,2}}|[ijk]{{3}}"
_INDEXED = re.compile(rf"(?<![\w.])({'|'.join(_GREEK)}|He|nu|pi|delta|sum|[A-Za-z])(\d?)_({_SHORT})(?![A-Za-z0-9_])")
# A letter with a check, h1_check; an integral over a law, int dnu.
_CHECKED = re.compile(r"(?<!\w)([A-Za-z])(\d?)_check(?!\w)")
_INTEGRAL = re.compile(r"(?<!\w)int d(nu|rho|mu|[a-z])(\^?)(?!\w)")
# A power: of one sign or number, or in brackets; and a hat, written behind its letter.
_POWER = re.compile(r"(?<=[\w)\]|>])\^(?:\(((?:[^()]|\([^()]*\))*)\)|\{([^{}]*)\}|(-?(?:\d+|[A-Za-zα-ω]))(?!\w))")
_HAT = re.compile(r"(?<!\w)([A-Za-zζψ])([₀-₉]?)\^(?:_([a-z]{1,2})(?!\w))?(?![A-Za-zα-ω0-9({*-])")
# The same behind the index.
_HAT_BEHIND = re.compile(r"(?<!\w)([A-Za-z])_([a-z]{1,2})\^(?![\w({*-])")
_SIGNS = (
    *(("&lt;=", "≤"), ("&gt;=", "≥"), ("!=", "≠"), ("-&gt;", "→"), ("+-", "±"), ("v~", "ṽ"), ("u~", "ũ")),
    *(("^2", "²"), ("^3", "³"), ("^4", "⁴")),
)
# Those of powers end what they are a power of, so that ^20 keeps both digits.
_SIGN = [(re.compile(re.escape(plain) + r"(?!\w)" * (plain[0] == "^")), sign) for plain, sign in _SIGNS]
# An inner product of vectors, which is no end of a sentence and no attribute.
_OF_A_VECTOR = r"(?:_(?:perp|mu|[a-z0-9]))?"
_INNER = re.compile(
    rf"(?<![\w.])((?:[abefsuvwxy]|a0|theta|xi){_OF_A_VECTOR})\."
    rf"(?=(?:[befsuvwx]|[A-Z]\d?[a-z]?|xi|phi|theta|delta|noise){_OF_A_VECTOR}(?!\w|\.\w))"
)
_ROOT = re.compile(r"(?<!\w)sqrt(?:\((\w)\)|(?=\()| (?=\w))")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


# What a mutant is called stands on many pages, and titles on those of all that rest on them.
@lru_cache(maxsize=16384)
def prose(text: str) -> Markup:
    """Plain text for the page: escaped, signs and indices set, code marked, LaTeX as MathML. Raises MathError."""
    pieces, position = [], 0
    for found in _SPECIAL.finditer(text):
        code, formula = found.groups()
        shown = Markup("<code>{}</code>").format(code) if code else Markup(within_text(formula or found.group()))
        pieces += [_plain(text[position : found.start()]), shown]
        position = found.end()
    return Markup("").join([*pieces, _plain(text[position:])])


def _plain(text: str) -> Markup:
    shown = _HAT_BEHIND.sub(r"\1^_\2", str(escape(text)))
    shown = _CHECKED.sub(_with_check, _INNER.sub(r"\1·", shown))
    shown = _INDEXED.sub(_with_index, _INTEGRAL.sub(_with_law, shown))
    shown = _NAME.sub(lambda found: _WITH_INDEX.get(found[1], found[1]) + found[2].translate(_SUBSCRIPTS), shown)
    shown = _ROOT.sub(lambda found: f"√{found[1] or ''}", shown)
    for plain, sign in _SIGN:
        shown = plain.sub(sign, shown)
    return Markup(_POWER.sub(_with_power, _HAT.sub(_with_hat, shown)))


def _with_hat(found: re.Match[str]) -> str:
    return f"{found[1]}\u0302{found[2]}" + (f"<sub>{found[3]}</sub>" if found[3] else "")


def _with_check(found: re.Match[str]) -> str:
    return f"{found[1]}\u030c{found[2].translate(_SUBSCRIPTS)}"


def _with_power(found: re.Match[str]) -> str:
    power = found[1] or found[2] or found[3]
    # A single letter in brackets counts derivatives: it keeps them.
    return f"<sup>{'(' + power + ')' if found[1] and len(power) == 1 else power.replace('-', '−')}</sup>"


# Names that are words elsewhere: of these a sum is one only where an index says so.
_WITH_INDEX = _GREEK | {"sum": "Σ", "nu": "ν", "pi": "π", "delta": "δ"}


def _with_index(found: re.Match[str]) -> str:
    letter, number, index = _WITH_INDEX.get(found[1], found[1]), found[2], found[3]
    if not number and index.isdigit():
        return letter + index.translate(_SUBSCRIPTS)
    within = "⊥" if index == "perp" else _GREEK.get(index, index)
    return f"{letter}<sub>{number + ',' if number else ''}{within}</sub>"


def _with_law(found: re.Match[str]) -> str:
    return f"∫ d{_WITH_INDEX.get(found[1], found[1])}" + ("\u0302" if found[2] else "")


def heading(text: str) -> Markup:
    """Prose that begins with a capital, unless it begins with a formula or the name of a symbol."""
    word = re.match(r"[a-z]{2,}(?![\w^]|_)", text)
    return prose(text[:1].upper() + text[1:] if word and word.group() not in _GREEK else text)
