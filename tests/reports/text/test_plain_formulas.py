"""Formulas as lines of plain text: they mean what their LaTeX means, and no LaTeX is left in them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp

from giantsteps.reports.commands.claims import claim_text
from giantsteps.reports.text.ledger_files import committed
from giantsteps.reports.text.plain_formulas import plain, readable

LETTERS = sp.symbols("a b c x", positive=True)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _drawn(rng: np.random.Generator, depth: int) -> sp.Expr:
    if depth == 0:
        return sp.Integer(rng.integers(1, 9)) if rng.random() < 0.3 else LETTERS[rng.integers(4)]
    one, two = (_drawn(rng, depth - 1 - int(rng.integers(0, 2)) * (depth > 1)) for _ in range(2))
    made = (one + two, one - two, one * two, one / two, -one / two, sp.sqrt(one), one ** int(rng.integers(2, 4)), two)
    return made[rng.integers(len(made))]


def _value(text: str, at: dict[str, float]) -> complex:
    """The value of a line as a reader computes it: neighbours are multiplied, a root reaches one letter or bracket."""
    python = re.sub(r"(?<![\w)])([⁰¹²³⁴⁵⁶⁷⁸⁹]*)√(\w+|(?=\())", _root, text)
    python = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"**({found[0].translate(RAISED)})", python).replace("^", "**")
    python = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", python)
    return complex(eval(python, {"root": _Root}, at | {"i": 1j}))


class _Root:
    """root(n)(x) and root(n) are written for the n-th root of what follows."""

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __call__(self, x: complex) -> complex:
        return complex(x) ** (1 / self.degree)


def _root(found: re.Match[str]) -> str:
    return f"root({found[1].translate(RAISED) or 2})" + (f"({found[2]})" if found[2] else "")


@pytest.mark.parametrize("seed", range(60))
def test_a_line_has_the_value_of_its_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        expr = _drawn(rng, 4)
        at = {str(letter): float(rng.uniform(0.5, 2.0)) for letter in LETTERS}
        expected = complex(sp.N(expr.subs({letter: at[str(letter)] for letter in LETTERS})))
        if not np.isfinite(expected):
            continue
        found = _value(plain(sp.latex(expr)), at)
        # rounding of some dozen operations, some of them differences
        assert abs(found - expected) <= 1e-9 * (1 + abs(expected)), (expr, plain(sp.latex(expr)))


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"\Delta w_{k} = \frac{a d \eta \left(- f + y\right)}{n_{0} \sqrt{p}}", "Δ wₖ = a d η (-f + y)/(n₀ √p)"),
        (r"\gamma = \frac{h^\star_1}{\sqrt{\left(h^\star_1\right)^{2} + 1}}", "γ = h⋆₁/√((h⋆₁)² + 1)"),
        (r"\left\langle|\tilde{v}|^{2}\right\rangle \geq \frac{1}{2} x", "⟨|ṽ|²⟩ ≥ (1/2) x"),
        (r"\inf_{\lambda}\varepsilon_g \leq \mathbb{E}_{z}\left[z^{10} g^{2}(z)\right]", "inf_λ ε_g ≤ 𝔼_z[z¹⁰ g²(z)]"),
        (r"e^{- \frac{x^{2}}{2}}", "e^(-x²/2)"),
        (r"\hat{V}_1 \mu_{1,2}(\kappa) \mathsf{g}", "V̂₁ μ_{1,2}(κ) 𝗀"),
        (r"a \geq - b \wedge - c < - d", "a ≥ -b ∧ -c < -d"),
        (r"\prod_{i=1}^{n} x", "∏_{i=1}ⁿ x"),
    ],
)
def test_a_formula_as_a_reader_writes_it(latex: str, line: str) -> None:
    assert plain(latex) == line


def test_formulas_within_prose() -> None:
    said = r"h^\star_2 for h^\star_1, and $\frac{a}{b} \neq 0$ (see \lambda=2); costs of 3 x"
    assert readable(said) == "h⋆₂ for h⋆₁, and a/b ≠ 0 (see λ=2); costs of 3 x"
    assert readable("no formula at all") == "no formula at all"


def test_no_claim_of_the_ledger_shows_latex_in_a_terminal() -> None:
    ledger = committed()
    assert ledger is not None
    for document in ledger["claims"]:
        shown = claim_text(document)
        assert not re.findall(r"\\[A-Za-z]+|\$", shown), document["id"]
        line = plain(document["statement"])
        for opening, closing in ("()", "[]", "{}", "⟨⟩"):
            assert line.count(opening) == line.count(closing), line
