"""The parser, the canonical text and the derivative of expression trees."""

from __future__ import annotations

import re
import sys
from fractions import Fraction

import mpmath
import pytest
from hypothesis import strategies as st

from giantsteps.derivations.expressions.algebra import add, call, divide, maximum, minimum, multiply, power, substitute
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import (
    Call,
    Expression,
    ExpressionError,
    Maximum,
    Number,
    Variable,
    depends_on_z,
    number,
)
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath
from tests.shared.refusals import refusal

Z = Variable()

NAMES = [
    "tanh",
    "erf",
    "sign",
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "silu",
    "softplus",
    "softsign",
    "hardtanh",
    "arctan",
    "sin",
    "cos",
    "he5",
    "swish",
    "mish",
    "sigmoid",
    "step",
    "Heaviside",
    "Abs",
    "erfc",
    "asinh",
    "sinh",
    "cosh",
    "exp",
]

ACCEPTED = [
    *NAMES,
    "-z",
    "z - 1",
    "2*z/3 - 1/2",
    "-(z+1)*z",
    "z/(2*z**2+3)",
    "elu(z,2)",
    "leaky_relu(z, 1/10)",
    "he(3, 2*z)",
    "relu(2*z)",
    "Piecewise((z, 0 < z <= 1), (0, True))",
    "Piecewise((z, z > 0), (0, True))",
    "2**z",
    "e**z",
    "0.1*z",
    "1e-3*z",
    "z**(1/3)",
    "z**-2",
    "Max(z, 0, 1)",
    "Min(z, pi)",
    "-2/(1+z**2)",
    "-(z/(1+z*z))/3",
    "exp(-(z-8)**2*10**6)",
    "e*e*z",  # exp(2), as e**2 is
    "exp(2)*e*e*z",  # exp(2)**2: the new factor is one that is there already
    "e*exp(2)*e",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_canonical_text_parses_back_to_the_same_tree(text: str) -> None:
    tree = parse(text)
    assert parse(str(tree)) == tree
    slope = derivative(tree)
    assert parse(str(slope), limited=False) == slope


def test_name_alone_means_the_function_of_z() -> None:
    assert parse("tanh") == parse("tanh(z)") == Call("tanh", Z)
    assert parse(" relu ") == Maximum((Z, Number(Fraction(0))))


def test_decimals_are_exact_rationals() -> None:
    # 0.1 is one tenth, not the double nearest to it
    assert parse("0.1*z") == parse("z/10")
    assert parse("1.25e-2") == Number(Fraction(1, 80))
    assert parse(".5") == Number(Fraction(1, 2))


def test_hermite_polynomials_are_the_probabilists() -> None:
    # He_3 = z^3 - 3 z, He_4 = z^4 - 6 z^2 + 3 (table of Hermite polynomials)
    assert parse("he3") == parse("he(3, z)") == parse("z**3 - 3*z")
    assert parse("he4") == parse("z**4 - 6*z**2 + 3")
    assert parse("he0") == number(1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x",
        "z.real",
        '__import__("os").system("id")',
        "'a'",
        "nan",
        "inf",
        "1j",
        "True",
        "z > 0",
        "0 < z < 1",
        "lambda z: z",
        "(z := 1)",
        "1e400",
        "1e999999999",
        "10**400",
        "10**10**10",
        "((9**60)**60)**60",
        "z**65",
        "(z**64)**64",
        "1/0",
        "z/0",
        "0**-1",
        "z^2",
        "[1]",
        "f(z)",
        "tahn+1",
        "he(z, z)",
        "he(65, z)",
        "relu()",
        "relu(z, 1)",
        "relu(z=1)",
        "tanh(*z)",
        "Piecewise((z, z > 0))",
        "Piecewise(z)",
        "Piecewise((z, z == 0), (0, True))",
        "z if z else 1",
        "1if z",
        "z\\d",
        "é",
        "tanh(z",
        "z(1)",
        "z // 2",
        "z % 2",
        "z @ z",
        "~z",
        "not z",
        "None",
        "...",
        "z and z",
        "z\n+1",
        "\x00",
        "#",
        "print(z)",
        "().__class__",
        "z[0]",
        "{z}",
        "f'{z}'",
        "yield",
        "await z",
        "*z",
        "z; z",
        "-" * 999 + "z",
        "(" * 400 + "z" + ")" * 400,
        "LambertW(z)",
        "Max",
        "Piecewise",
    ],
)
def test_text_outside_the_language_is_refused_in_one_sentence(text: str) -> None:
    refusal(ExpressionError, parse, text)


def test_hostile_text_is_refused_after_little_work() -> None:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    for text in (
        "(" * 10_000 + "z" + ")" * 10_000,
        "z+" * 10_000 + "z",
        "mish(" * 49 + "z" + ")" * 49,
        "-" * 999 + "z",
    ):
        sys.setprofile(count)
        try:
            with pytest.raises(ExpressionError):
                parse(text)
        finally:
            sys.setprofile(None)
    # Calls and returns, whatever the machine: length is looked at first, and nested calls stop at the cap on nodes.
    assert calls < 1_000_000


def test_long_sums_and_products_are_not_deep() -> None:
    assert parse("+".join(["z"] * 490)) == parse("490*z")
    assert parse("*".join(["z"] * 60)) == parse("z**60")


def test_equal_text_of_derivatives_at_kinks() -> None:
    # d relu = H away from 0, d |z| = sign
    assert str(derivative(parse("relu"))) == "Piecewise((1, z > 0), (0, True))"
    assert derivative(parse("Abs(z)")) == parse("sign(z)")


@pytest.mark.parametrize(
    "text",
    [
        *(*NAMES, "z**3/(1+z**2)", "log(2+cos(z))*sqrt(1+z**2)", "(1+z**2)**(1/3)", "tan(tanh(z))"),
        # Where the largest or smallest of three is each of them.
        *("Max(-z-1, 0, z-1)", "Min(z+1, 1-z, 1/3)", "Max(exp(z), 1/2, 2-z)"),
    ],
)
def test_derivative_agrees_with_a_difference_quotient(text: str) -> None:
    tree = parse(text)
    slope = derivative(tree)
    with mpmath.workdps(40):
        for x in map(mpmath.mpf, ("-1.7", "-0.3", "0.45", "2.2")):
            h = mpmath.mpf(10) ** -12
            quotient = (evaluate_mpmath(tree, x + h) - evaluate_mpmath(tree, x - h)) / (2 * h)
            # central differences err by h^2 f'''/6; 40 digits leave 10^-28 of rounding after division by h
            assert abs(evaluate_mpmath(slope, x) - quotient) < 1e-18 * (1 + abs(quotient))


def trees(most: int = 8) -> st.SearchStrategy[Expression]:
    """Random canonical trees: rational constants, arithmetic, smooth and piecewise functions."""
    constants = st.fractions(-9, 9, max_denominator=9).map(Number)
    leaves = st.one_of(st.just(Z), st.just(Z), constants, st.just(parse("pi")))
    smooth = st.sampled_from(["exp", "sin", "cos", "tanh", "erf", "atan", "sigmoid", "softplus", "Abs", "sign"])

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(add, inner, inner),
            st.builds(multiply, inner, inner),
            st.builds(lambda a, b: divide(a, add(power(b, number(2)), number(1))), inner, inner),
            st.builds(call, smooth, inner),
            st.builds(maximum, inner, inner),
            st.builds(minimum, inner, inner),
            st.builds(lambda a, k: power(a, number(k)), inner, st.integers(1, 4)),
        )

    return st.recursive(leaves, grow, max_leaves=most)


def test_substitution_and_dependence() -> None:
    assert substitute(parse("z**2 + sin(z)"), parse("2*z")) == parse("(2*z)**2 + sin(2*z)")
    assert depends_on_z(parse("sin(z)"))
    assert not depends_on_z(parse("sin(2)"))


def test_trees_are_compared_by_value_and_hashable() -> None:
    assert len({parse("tanh(z)"), parse("tanh( z )"), parse("tanh")}) == 1


def test_sympy_reads_the_same_function() -> None:
    import sympy as sp

    from giantsteps.derivations.language.sympy_expression import to_sympy

    z = sp.Symbol("z", real=True)
    for text in ACCEPTED:
        tree = parse(text)
        for x in (Fraction(3, 4), Fraction(-5, 4)):
            if text in ("z**(1/3)",) and x < 0:
                continue  # real only for z > 0
            value = to_sympy(tree, z).subs(z, sp.Rational(x.numerator, x.denominator))
            with mpmath.workdps(30):
                ours = evaluate_mpmath(tree, mpmath.mpf(x.numerator) / x.denominator)
                # both are evaluated to 30 digits
                assert abs(mpmath.mpf(sp.N(value, 30)) - ours) < mpmath.mpf(10) ** -25 * (1 + abs(ours))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2z", "the product '2z' is written 2*z"),
        ("tanh(1e5z)", "the product '1e5z' is written 1e5*z"),
        ("1e-3z", "the product '1e-3z' is written 1e-3*z"),
        ("1.5E+2 pi", "the product '1.5E+2 pi' is written 1.5E+2*pi"),
        ("if z > 0 then z else 0", "a formula in z is accepted"),
        ("1 or z +", "a formula in z is accepted"),
        ("1 or 2z +", "the product '2z' is written 2*z"),
        ("1 + .5 exp(z)", "the product '.5 exp' is written .5*exp"),
        ("he2 z", "a formula in z is accepted"),
        ("tanh(z", "it lacks a closing parenthesis: write 'tanh(z)'"),
        ("relu(Max(z, 1", "it lacks 2 closing parentheses: write 'relu(Max(z, 1))'"),
        ("(z +", "it lacks a closing parenthesis"),
        ("tanh(z))", "it has a closing parenthesis too many"),
    ],
)
def test_a_text_that_is_not_well_formed_is_answered_by_its_repair(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError, match=rf"is not well formed; {re.escape(hint)}"):
        parse(text)


@pytest.mark.parametrize("text", ["2(z + 1)", "z(z + 1)", "(z + 1)(z + 2)", "pi(z)", "3 + e(z)*z"])
def test_a_product_before_a_parenthesis_is_told(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"called, not '.*'; a product is written with \*, as in 2\*\(z \+ 1\)"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tanh(x)", "the variable is z, write 'tanh(z)'"),
        ("T", "the variable is z, write 'z'"),
        ("tanh(inputs)", "the variable is z, write 'tanh(z)'"),
        ("tanh(x*z)", "the name 'x' is unknown; the variable is z"),
        ("tahn", "perhaps tan or tanh is meant"),
        ("hardswisch", "perhaps hardswish"),
        ("Where(z > 0, z, 0)", "perhaps where is meant"),
        ("jax.nn.sigmoyd(z)", "perhaps sigmoid or logsigmoid is meant"),
        ("my.pi*z", "attribute access is not part of the language: 'my.pi'"),
        ("celu(z, alpha=2)", "celu takes plain arguments without names, for example celu(z, 1)"),
        ("where", "for example where(z > 0, z, 0)"),
        ("where(z > 0, z)", "for example where(z > 0, z, 0)"),
        ("where(z > -1 and z < 1, z, 0)", "as in -1 < z < 1"),
        ("z*(z > 0)", "where(z > 0, z, 0)"),
        ("clip(z)", "write for example clip(z, -1, 1)"),
        ("threshold", "for example threshold(z, 1, 20)"),
        ("softshrink(z, -1)", "l >= 0, not -1; for example softshrink(z, 1/2)"),
    ],
)
def test_a_first_wrong_word_is_answered_by_the_right_one(text: str, hint: str) -> None:
    assert hint in refusal(ExpressionError, parse, text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("log(z + sqrt(z**2 + 1))", "asinh(z)"),
        ("log(sqrt(1 + z**2) - z)", "asinh(-z)"),
        ("log(squareplus(z))", "asinh(z/2)"),
        ("log(2*z + sqrt(4*z**2 + 9))", "asinh(2*z/3) + log(9)/2"),
        ("log(3*(z/2 + 2*sqrt(z**2/16 + 1)))", "asinh(z/4) + log(36)/2"),
        ("log(tanh(z) + sqrt(tanh(z)**2 + 1))", "asinh(tanh(z))"),
    ],
)
def test_the_logarithm_for_an_area_sine_is_one(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    "text", ["log(z**2 + 1)", "log(2 - z + sqrt(z**2 + 1))", "log(sqrt(z**2 + 1))", "log(z + sqrt(z**2 - 1))"]
)
def test_other_logarithms_stay_as_they_are(text: str) -> None:
    assert str(parse(text)).startswith("log(")
