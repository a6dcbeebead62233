"""How steep branches are beside a place: against the size of their slope at two distances, in many digits."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.activations.intervals import Undecided
from giantsteps.derivations.activations.local_exponents import Local, beside, local, slope_obstacles
from giantsteps.derivations.activations.locations import Location, rational_location
from giantsteps.derivations.expressions.algebra import add, call, divide, multiply, power
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import Expression, Number, Z, number
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath

ZERO = rational_location(Fraction(0))


def size_of(expr: Expression) -> tuple[float, float]:
    """The power of the distance that an expression is like, right of 0, from two pairs of distances; infinite for 0."""
    with mpmath.workdps(400):
        near = [abs(evaluate_mpmath(expr, mpmath.mpf(10) ** -k)) for k in (50, 51, 60, 61)]
        if min(near) < mpmath.mpf(10) ** -350:
            return float("inf"), float("inf")
        powers = [mpmath.log10(a / b) for a, b in ((near[0], near[1]), (near[2], near[3]))]
    return float(powers[0]), float(powers[1])


def branches(most: int = 5) -> st.SearchStrategy[Expression]:
    """What a panel right of 0 may hold: roots and analytic functions of what is positive there."""
    leaves = st.one_of(st.just(Z), st.just(Z), st.integers(1, 3).map(number))
    exponents = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(3, 2), Fraction(2)])
    names = st.sampled_from(["exp", "sinh", "tanh", "atan", "softplus", "sin", "cosh"])

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(add, inner, inner),
            st.builds(lambda u, q: power(u, Number(q)), inner, exponents),
            st.builds(multiply, inner, inner),
            st.builds(call, names, inner),
            st.builds(lambda u, v: divide(u, add(v, number(1))), inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=most)


def compare(branch: Expression, found: Local) -> None:
    """Size and slope against those of the values, where these are a power at the distances looked at."""
    (first, size), (_, slope) = size_of(branch), size_of(derivative(branch))
    if abs(first - size) > 1e-6 or slope != slope:
        return  # no power yet at such distances
    assert size >= float(found.size) - 1e-6
    assert slope + 1 >= float(found.slope) - 1e-6
    if found.sized:
        assert size == pytest.approx(float(found.size), abs=1e-6)
    if found.sloped:
        assert slope + 1 == pytest.approx(float(found.slope), abs=1e-6)


@seed(20272)
@settings(max_examples=150, deadline=None)
@given(branches())
def test_size_and_slope_are_those_of_the_values(branch: Expression) -> None:
    with suppress(Undecided):
        compare(branch, local(branch, ZERO))


@pytest.mark.parametrize(
    ("branch", "integrable"),
    [
        ("sqrt(z)", False), ("z**(31/60)", True), ("z**(29/60)", False), ("sqrt(sqrt(z))", False),
        ("30*z+sqrt(z)", False), ("sqrt(z)/10**9+z", False), ("(z**(7/10))**(2/5)", False), ("z*sqrt(z)", True),
        ("(z**(31/63))**(62/61)", True), ("(z**(30/63))**(62/61)", False), ("sqrt(1+sqrt(z))", False),
        ("cos(sqrt(z))", True), ("cosh(z**(1/3))", True), ("sin(z**(2/5))", False), ("tanh(sqrt(z))", False),
        ("sqrt(z**3)", True), ("z**(3/4)+z**(2/5)", False), ("sqrt(z)*exp(z)", False),
        ("sqrt(z)*sin(z)", True), ("sqrt(z)-sqrt(z)*cos(z)", None), ("sqrt(z+z**2)-sqrt(z)", None),
        ("sqrt(z*(1-z))", False), ("exp(z)", True), ("(1+sqrt(z))/(2-sqrt(z))", None), ("1/(1+sqrt(z))", False),
        ("cosh(z**(1/5))", None), ("(z**(1/3)-z**(1/3)*exp(z))*exp(z)", None),
        ("(sqrt(z)+z)**2", True), ("(sqrt(1+sqrt(z))-1)**2", True), ("(sqrt(1+sqrt(z))-1)**(3/2)", True),
    ],
)  # fmt: skip
def test_where_the_square_of_the_slope_can_be_integrated(branch: str, integrable: bool | None) -> None:
    tree = parse(branch, limited=False)
    assert beside(tree, ZERO).integrable is integrable
    (_, slope) = size_of(derivative(tree))
    assert integrable is None or (slope > -0.5) is integrable


def test_a_place_that_is_no_rational_number_is_one_as_well() -> None:
    (root,) = activation("sqrt(abs(z**3-2))").breakpoints
    assert isinstance(root.location, Location)
    assert root.location.exact is None
    steep, flat = (beside(branch, root.location) for branch in (root.right, multiply(root.right, parse("z**3-2"))))
    assert (steep.integrable, flat.integrable) == (False, True)


@pytest.mark.parametrize(
    ("text", "jumps", "steep", "far"),
    [
        ("tanh(z)", 0, 0, False), ("relu(z)", 0, 0, False), ("sign(z-1)", 1, 0, False),
        ("sqrt(abs(z))", 0, 1, False), ("sqrt(relu(z-1))+sqrt(relu(-z))", 0, 2, False), ("abs(z)**(3/4)", 0, 0, False),
        ("abs(sin(z))", 0, 0, False), ("sqrt(2+abs(sin(z)))", 0, 0, False), ("sqrt(abs(sin(z)))", 0, 41, True),
        ("sign(cos(z/1000))", 0, 0, True), ("Max(sqrt(abs(z)),1)", 0, 0, False),
        ("sign(cos(z-1/3))**2*relu(z)", 0, 0, False), ("z*Heaviside(sin(z))**2-z*Heaviside(sin(z))", 0, 0, False),
        ("Piecewise((z,z<65),(sign(sin(z)),True))", 1, 0, True),
        ("Piecewise((z,z<65),(abs(sin(z)),True))", 1, 0, True),
        ("sqrt(abs(cos(z)))", 0, 40, True), ("Piecewise((0,z<20*pi+2*pi),(abs(sin(z)),True))", 0, 0, False),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_of_a_square_integrable_slope(text: str, jumps: int, steep: int, far: bool) -> None:
    found = slope_obstacles(activation(text))
    assert (len(found.jumps), len(found.steep), found.undecided, found.far) == (jumps, steep, (), far)
    assert len(found.unbounded) == (text == "abs(z)**(3/4)")
