"""Running text of the suite, written in plain ASCII, as a page shows it: signs, Greek letters, indices, formulas."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup, escape

from onestep.reports.text.mathematics import within_text

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
            *("alpha", "beta", "gamma", "Delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda"),
            *("mu", "xi", "rho", "sigma", "tau", "psi", "omega", "Pi", "Phi"),
        ],
        "αβγΔεζηθκλμξρστψωΠΦ",
        strict=True,
    )
)
_NAME = re.compile(rf"(?<![\w-])({'|'.join(_GREEK)}|[hnqVy])(?<!\b[hnqVy](?!\d))(\d?)(?![\w-])")
# A letter or a Greek name with a short index (theta_perp, V_1, He_k), not a word such as fixed_point.
_INDEXED = re.compile(
    rf"(?<![\w.])({'|'.join(_GREEK)}|He|nu|pi|delta|sum|[A-Za-z])_(perp|[A-Za-z0-9]{{1,2}})(?![A-Za-z0-9_])"
)
# A power: of one sign or number, or in brackets; and a hat, written behind its letter.
_POWER = re.compile(r"(?<=[\w)\]|])\^(?:\(((?:[^()]|\([^()]*\))*)\)|\{([^{}]*)\}|(-?(?:\d+|[A-Za-z]))(?!\w))")
_HAT = re.compile(r"(?<!\w)([A-Za-zζψ])([₀-₉]?)\^(?:_([a-z]{1,2})(?!\w))?(?![A-Za-z0-9({*-])")
_SIGNS = (
    *(("&lt;=", "≤"), ("&gt;=", "≥"), ("-&gt;", "→"), ("+-", "±"), ("v~", "ṽ"), ("u~", "ũ")),
    *(("^2", "²"), ("^3", "³"), ("^4", "⁴")),
)
# Those of powers end what they are a power of, so that ^20 keeps both digits.
_SIGN = [(re.compile(re.escape(plain) + r"(?!\w)" * (plain[0] == "^")), sign) for plain, sign in _SIGNS]
# An inner product of vectors, which is no end of a sentence and no attribute.
_INNER = re.compile(r"(?<![\w.])([afuvwx](?:_[a-z])?|theta)\.(?=(?:[uvwx]|W[a-z]?|theta(?:_perp)?)(?![\w.]))")
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
    shown = _INDEXED.sub(_with_index, _INNER.sub(r"\1·", str(escape(text))))
    shown = _NAME.sub(lambda found: _GREEK.get(found[1], found[1]) + found[2].translate(_SUBSCRIPTS), shown)
    shown = _ROOT.sub(lambda found: f"√{found[1] or ''}", shown)
    for plain, sign in _SIGN:
        shown = plain.sub(sign, shown)
    return Markup(_POWER.sub(_with_power, _HAT.sub(_with_hat, shown)))


def _with_hat(found: re.Match[str]) -> str:
    return f"{found[1]}\u0302{found[2]}" + (f"<sub>{found[3]}</sub>" if found[3] else "")


def _with_power(found: re.Match[str]) -> str:
    power = found[1] or found[2] or found[3]
    # A single letter in brackets counts derivatives: it keeps them.
    return f"<sup>{'(' + power + ')' if found[1] and len(power) == 1 else power.replace('-', '−')}</sup>"


def _with_index(found: re.Match[str]) -> str:
    letter, index = {"sum": "Σ", "nu": "ν", "pi": "π", "delta": "δ"}.get(found[1], found[1]), found[2]
    shown = index.translate(_SUBSCRIPTS) if index.isdigit() else f"<sub>{'⊥' if index == 'perp' else index}</sub>"
    return _GREEK.get(letter, letter) + shown


def heading(text: str) -> Markup:
    """Prose that begins with a capital, unless it begins with a formula."""
    return prose(text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}", text) else text)
