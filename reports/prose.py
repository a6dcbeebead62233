"""Running text of the suite, written in plain ASCII, as a page shows it: signs, Greek letters, indices, formulas."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from reports.mathematics import mathml

# A formula between dollar signs in running text, or a bare glyph such as \hat{V}_1 or \psi_\rho.
_GLYPH = re.compile(
    r"\$([^$]+)\$|\\[A-Za-z]+(?:\{[^{}]*\})*(?:[_^](?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+(?:\{[^{}]*\})*|\w))*"
)
# Names of symbols in running text: a Greek letter, or one of the letters that carry an index, then the index.
_GREEK = dict(
    zip(
        [
            *("alpha", "beta", "gamma", "Delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda"),
            *("mu", "xi", "rho", "sigma", "tau", "psi", "omega"),
        ],
        "αβγΔεζηθκλμξρστψω",
        strict=True,
    )
)
_NAME = re.compile(rf"(?<![\w-])({'|'.join(_GREEK)}|[hnqVy])(?<!\b[hnqVy](?!\d))(\d?)(?![\w-])")
_SIGNS = (("&lt;=", "≤"), ("&gt;=", "≥"), ("-&gt;", "→"), ("+-", "±"), ("^2", "²"), ("^3", "³"), ("^4", "⁴"))
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def prose(text: str) -> Markup:
    """Plain text for the page: escaped, arrows and inequality signs as such, LaTeX as MathML. Raises MathError."""
    pieces, position = [], 0
    for found in _GLYPH.finditer(text):
        pieces += [_plain(text[position : found.start()]), Markup(mathml(found.group(1) or found.group()))]
        position = found.end()
    return Markup("").join([*pieces, _plain(text[position:])])


def _plain(text: str) -> Markup:
    shown = _NAME.sub(lambda found: _GREEK.get(found[1], found[1]) + found[2].translate(_SUBSCRIPTS), str(escape(text)))
    for plain, sign in _SIGNS:
        shown = shown.replace(plain, sign)
    return Markup(shown)


def heading(text: str) -> Markup:
    """Prose that begins with a capital, unless it begins with a formula."""
    return prose(text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}", text) else text)
