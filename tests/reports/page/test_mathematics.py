"""Formulas and prose of the report: every statement, step and symbol becomes MathML, no LaTeX is left."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

from giantsteps.reports.page.described import least_length
from giantsteps.reports.text.formula_lines import NAMES
from giantsteps.reports.text.mathematics import MathError, mathml, says_nothing
from giantsteps.reports.text.prose import heading, prose
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.ledger.document import statement_latex


def letters(mathml_: str) -> list[str]:
    """Every letter, digit and sign of a formula; those that only tell where a line goes on left out."""
    text = "".join(ElementTree.fromstring(mathml_).itertext())
    return sorted(sign for sign in unescape(text) if not sign.isspace() and sign not in "()×")


def test_every_statement_of_the_ledger_becomes_mathml_and_loses_no_sign() -> None:
    for claim in all_claims():
        stated = statement_latex(claim)
        shown, plain = mathml(stated, block=True), mathml(stated)
        assert "\\" not in shown, claim.id
        assert least_length(stated) <= len(plain), claim.id
        assert letters(plain) == letters(convert(re.sub(r"\\[;,!]", " ", stated)).replace(' xmlns="', ' name="')), (
            claim.id
        )
        # A part that gets a name is stated once.
        assert any(name in shown for name in NAMES) or letters(shown) == letters(plain), claim.id


def test_every_title_and_note_can_be_shown() -> None:
    for claim in all_claims():
        for text in (claim.title, claim.note, *claim.domain.hypotheses, *(m.name for m in claim.mutants)):
            assert "\\" not in str(prose(text)), text


def test_a_formula_that_cannot_be_shown_is_an_error_not_a_blank() -> None:
    with pytest.raises(MathError, match="unknowncommand"):
        mathml(r"\unknowncommand + 1")
    with pytest.raises(MathError, match="converted"):
        mathml(r"\left( x")


def test_bars_are_fences() -> None:
    assert mathml("|x|").count('fence="true"') == 2
    # One bar alone is "evaluated at".
    assert "fence" not in mathml(r"f|_{x=0}")


def test_prose_shows_plain_names_as_symbols() -> None:
    assert str(prose("alpha0 -> infinity, mu0 and h1 <= h2, f^2")) == "α₀ → infinity, μ₀ and h₁ ≤ h₂, f²"
    assert str(prose("the n samples, beta-free, q_1")) == "the n samples, beta-free, q₁"
    assert "<math" in str(prose(r"linear in $\hat{V}_1$"))
    assert "<math" in str(prose(r"stationarity in \hat{q}_1"))
    assert str(prose("<script>")) == "&lt;script&gt;"
    assert str(heading("the spike")) == "The spike"
    assert str(heading("h1 is a mean")) == "h₁ is a mean"
    assert str(heading("mu0 of tanh, in closed form")) == "μ₀ of tanh, in closed form"


SET = {
    "`giantsteps solve --alpha 1` at x_perp": "<code>giantsteps solve --alpha 1</code> at x<sub>⊥</sub>",
    "`a < b_1^2`": "<code>a &lt; b_1^2</code>",
    "r = v.theta/sqrt(p), f.theta_perp, w_k.x, e.g. it": "r = v·θ/√p, f·θ<sub>⊥</sub>, w<sub>k</sub>·x, e.g. it",
    "a.Wv, a.W theta, Phi^T Phi/p": "a·Wv, a·W θ, Φ<sup>T</sup> Φ/p",
    "sqrt(2c) of a file a.x.y or model.x": "√(2c) of a file a.x.y or model.x",
    "He_k, theta_perp, alpha_0": "He<sub>k</sub>, θ<sub>⊥</sub>, α₀",
    "d^(-1/2), W^T": "d<sup>−1/2</sup>, W<sup>T</sup>",
    "10^-8, x^20, x^2": "10<sup>−8</sup>, x<sup>20</sup>, x²",
    # The k-th derivative is no power.
    "sigma^(k)(z)": "σ<sup>(k)</sup>(z)",
    "V1^ and zeta^": "V\u0302₁ and ζ\u0302",
    "fixed_point, z**2": "fixed_point, z**2",
    "h1_check != h_omega": "h\u030c₁ ≠ h<sub>ω</sub>",
    "int dnu varrho^2 psi_rho": "∫ dν ϱ² ψ<sub>ρ</sub>",
    "mu2_u a.xi_u, He_ijk": "μ<sub>2,u</sub> a·ξ<sub>u</sub>, He<sub>ijk</sub>",
    "w.w_1* + w.x_perp. Then W_c^T": "w·w₁* + w·x<sub>⊥</sub>. Then W<sub>c</sub><sup>T</sup>",
}


@pytest.mark.parametrize("text", SET)
def test_prose_sets_indices_powers_and_code(text: str) -> None:
    assert str(prose(text)) == SET[text]


def test_prose_leaves_an_equation_behind_a_formula() -> None:
    assert str(prose(r"at h^{\star}_1=0.5")).startswith("at <math>")
    assert str(prose(r"at h^{\star}_1=0.5")).endswith("</math>=0.5")


def test_prose_sets_what_a_minus_a_product_or_an_integral_stands_before() -> None:
    assert str(prose("at -lambda, beta-free, --alpha 1, p^-omega")) == "at -λ, beta-free, --alpha 1, p<sup>−ω</sup>"
    assert str(prose("a.delta, w.P^2 w, theta_perp.H u, b_i.f, e.g. s.G0 s")) == (
        "a·δ, w·P² w, θ<sub>⊥</sub>·H u, b<sub>i</sub>·f, e.g. s·G0 s"
    )
    assert str(prose("the law nu, 2 pi, u delta, d^delta, a delta function")) == (
        "the law ν, 2 π, u δ, d<sup>δ</sup>, a delta function"
    )
    assert str(prose("int dq^ exp(-p q^), (lambda + V_w^)/V_s^")) == (
        "∫ dq\u0302 exp(-p q\u0302), (λ + V\u0302<sub>w</sub>)/V\u0302<sub>s</sub>"
    )
    assert str(prose("v~ <= u~ >= a != b -> c +- d^3, e^4")) == "ṽ ≤ ũ ≥ a ≠ b → c ± d³, e⁴"
    assert str(prose("the sum_k, see nu.py and pip install")) == "the Σ<sub>k</sub>, see nu.py and pip install"


def test_brackets_that_fence_anyway_carry_no_attributes() -> None:
    shown = mathml(r"\left(\frac{a}{b}\right)^{2} + {{q}_{1}}")
    assert shown == (
        "<math><msup><mrow><mo>(</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>)</mo></mrow><mn>2</mn></msup>"
        "<mo>+</mo><msub><mi>q</mi><mn>1</mn></msub></math>"
    )
    # A bracket that may grow takes the room of its largest form: around what is low it may not.
    assert mathml(r"\left(d - 1\right) c").count('stretchy="false"') == 2
    assert mathml(r"\left(\sum_{i=1}^{n} x\right)").count("stretchy") == 0
    # Brackets of their own size, and signs that need not be fences, say so.
    assert mathml("f(x) < 1").count('stretchy="false"') == 2
    assert "&lt;" in mathml("f(x) < 1")
    assert mathml(r"\left. x\right|").count("stretchy") == 2


def test_a_sign_is_unary_behind_a_relation_or_a_bracket() -> None:
    unary, binary = '<mo form="prefix">\u2212</mo>', "<mo>\u2212</mo>"
    assert unary in mathml("x = - y")
    assert unary in mathml(r"\left(- \frac{a}{2} + b\right)")
    assert binary in mathml("x - y")
    assert binary in mathml("J! - 1")
    assert binary in mathml(r"\left(x\right) - 1")


def test_primes_stand_beside_what_they_mark_and_are_no_scripts() -> None:
    assert mathml(r"\mu_0'(x)").startswith("<math><msub><mi>μ</mi><mn>0</mn></msub><mi>′</mi><mo")
    assert mathml(r"\sigma'^{2}") == "<math><msup><mrow><mi>σ</mi><mi>′</mi></mrow><mn>2</mn></msup></math>"
    assert mathml(r"\frac{g'}{h}") == "<math><mfrac><mrow><mi>g</mi><mi>′</mi></mrow><mi>h</mi></mfrac></math>"


def test_the_name_of_a_function_leaves_no_gap_before_its_bracket() -> None:
    assert "<mi>erf</mi>" in mathml(r"\operatorname{erf}{\left(x \right)}")
    assert "<mo>lim</mo>" in mathml(r"\lim_{x \to 0} y")


@pytest.mark.parametrize(
    ("equation", "nothing"),
    [
        (r"q_1-\psi^2 = q_{1} - \psi^{2}", True),
        (r"\left(r^{+}\right)^{2} = (r^{+})^{2}", True),
        (r"V_{1}' = V_{1}", False),
        (r"a \leq a", False),
        ("a = b = a", False),
    ],
)
def test_an_equation_of_two_sides_written_alike_says_nothing(equation: str, nothing: bool) -> None:
    assert says_nothing(equation) is nothing
