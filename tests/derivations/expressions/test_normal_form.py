"""The normal form is the same function almost everywhere: against values, also where something is zero on intervals."""

from __future__ import annotations

import mpmath
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from giantsteps.derivations.expressions.algebra import add, call, maximum, multiply, piecewise, power, subtract
from giantsteps.derivations.expressions.normal_form import TooComplex, normal, vanishes, zero_on_null_set
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import ALWAYS, Comparison, Expression, ExpressionError, Z, number
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath

# No zero of a tree of a few small numbers: only what is zero on an interval is zero there.
POINTS = [mpmath.mpf(k) + mpmath.mpf("0.0137") for k in (-5, -3, -2, -1, 0, 1, 2, 4)]


def steps(most: int = 7) -> st.SearchStrategy[Expression]:
    """Trees of what has corners and jumps, and is zero on intervals often."""
    leaves = st.one_of(st.just(Z), st.integers(-2, 2).map(number))
    name = st.sampled_from(["Abs", "sign", "Heaviside", "sign", "relu"])

    def called(which: str, u: Expression) -> Expression:
        return maximum(u, number(0)) if which == "relu" else call(which, u)

    def chosen(first: Expression, op: str, bound: Expression, second: Expression, other: Expression) -> Expression:
        return piecewise((second, (Comparison(first, op, bound),)), (other, ALWAYS))

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(add, inner, inner),
            st.builds(multiply, inner, inner),
            st.builds(called, name, inner),
            st.builds(lambda u, k: power(u, number(k)), inner, st.integers(2, 4)),
            st.builds(chosen, inner, st.sampled_from(["<", "<=", ">", ">="]), inner, inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=most)


@seed(20271)
@settings(max_examples=400, deadline=None)
@given(steps())
def test_it_has_the_values_of_the_tree(tree: Expression) -> None:
    try:
        form = normal(tree).expression()
    except (TooComplex, ExpressionError):
        return
    for x in POINTS:
        assert evaluate_mpmath(form, x) == pytest.approx(evaluate_mpmath(tree, x), rel=1e-12, abs=1e-12), (tree, x)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("sign(z)**2", "1", True),
        ("sign(sin(z))**2", "1", True),
        ("sign((z-1)*(z+2))**4", "1", True),
        ("sign(exp(z)*z+z)**2", "1", False),  # it is, but not plainly
        ("sign(1/(2-cos(z)))**2", "1", True),
        ("sign(relu(z))**2", "1", False),
        ("sign(relu(z))**4", "sign(relu(z))**2", True),
        ("sign(relu(z))**5", "sign(relu(z))", True),
        ("sign(z+abs(z))**2", "1", False),
        ("sign(sqrt(z**2)+z)**2", "1", False),
        ("sign(z*relu(z))**2", "1", False),
        ("Heaviside(relu(z))", "Piecewise((1, relu(z)>0),(0,True))", False),
        ("Piecewise((1, relu(z)>0),(0,True))", "Piecewise((1, relu(z)>=0),(0,True))", False),
        ("Piecewise((1, z>0),(0,True))", "Piecewise((1, z>=0),(0,True))", True),
        ("Piecewise((1, z>0),(0,True))", "Heaviside(z)", True),
        ("Piecewise((z, z<=z),(5,True))", "z", True),
        ("Piecewise((z, z<z),(5,True))", "5", True),
        ("Piecewise((z, (z+1)**2-z**2-2*z>=1),(5,True))", "z", True),
        ("Piecewise((z, (z+1)**2-z**2-2*z>1),(5,True))", "5", True),
    ],
)
def test_what_is_the_same_almost_everywhere(left: str, right: str, same: bool) -> None:
    assert vanishes(subtract(parse(left, limited=False), parse(right, limited=False))) is same


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("z", True), ("z**2-2", True), ("0*z", False), ("3", True), ("0", False), ("pi*z", True), ("sqrt(2)*z", True),
        ("tanh(z)", True), ("1+sin(z)", True), ("abs(z)-1", True), ("abs(z-1)**(1/3)", True), ("1/(1+z**2)", True),
        ("sin(z)*exp(z)", True), ("sign(z)", False), ("1+sign(z)", False), ("relu(z)", False), ("z*relu(z)", False),
        ("abs(z)-z", False), ("sin(z)**2+cos(z)**2-1", False), ("0*pi", False), ("tanh(sign(z))", False),
        ("(1+z**2)/tanh(2)", True), ("relu(z)/tanh(2)", False), ("sinh(z)/pi", True), ("1+2/cosh(z)", True),
        ("z**2/tanh(z)", True),
    ],
)  # fmt: skip
def test_what_is_plainly_zero_on_a_null_set(text: str, plain: bool) -> None:
    assert zero_on_null_set(parse(text, limited=False)) is plain


def test_sines_at_quarter_turns_are_whole_numbers() -> None:
    for quarters in range(-5, 6):
        for name in ("sin", "cos"):
            tree = parse(f"{name}({quarters}*pi/2)", limited=False)
            value = normal(tree).polynomial()
            assert value == [round(float(evaluate_mpmath(tree, mpmath.mpf(0))))]
    for text in ("sin(pi/3)", "cos(z*pi)", "sin(pi**2)", "tan(pi/4)", "sin(pi+1)", "cos(pi*sqrt(2))"):
        assert normal(parse(text, limited=False)).polynomial() is None
