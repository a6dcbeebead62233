"""Parity, breakpoints, growth, strip and refusals of activations."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, seed, settings

from giantsteps.derivations.activations.activation import Activation, activation, integrable_square
from giantsteps.derivations.expressions.budget import at_most
from giantsteps.derivations.expressions.tree import Expression, ExpressionError
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from tests.derivations.expressions.test_expressions import trees
from tests.shared.refusals import refusal

# text: parity, breakpoints (place, j for jump, k for kink, s for smooth to first order), strip; all by inspection
FACTS: dict[str, tuple[str, list[tuple[float, str]], float | None]] = {
    "tanh": ("odd", [], math.pi / 2),
    "erf": ("odd", [], math.inf),
    "sign": ("odd", [(0, "j")], None),
    "relu": ("neither", [(0, "k")], None),
    "leaky_relu(z, 1/10)": ("neither", [(0, "k")], None),
    "elu(z, 2)": ("neither", [(0, "k")], None),
    "elu": ("neither", [(0, "s")], None),
    "gelu": ("neither", [], math.inf),
    "silu": ("neither", [], math.pi),
    "swish(z, 3)": ("neither", [], math.pi / 3),
    "softplus": ("neither", [], math.pi),
    # 1 - tanh(softplus) has its poles where exp(z) = -1 +- i
    "mish": ("neither", [], 3 * math.pi / 4),
    "softsign": ("odd", [(0, "s")], None),
    "hardtanh": ("odd", [(-1, "k"), (1, "k")], None),
    "Piecewise((-1, z < -1), (z, z < 1), (1, True))": ("odd", [(-1, "k"), (1, "k")], None),
    "arctan": ("odd", [], 1.0),
    "asinh": ("odd", [], 1.0),
    "sin": ("odd", [], math.inf),
    "cos": ("even", [], math.inf),
    "he5": ("odd", [], math.inf),
    "he4": ("even", [], math.inf),
    "sigmoid": ("neither", [], math.pi),
    "sigmoid(z) - 1/2": ("odd", [], math.pi),
    "softplus(z) - z/2": ("even", [], math.pi),
    "exp(-z**2)": ("even", [], math.inf),
    "exp(z) - exp(-z)": ("odd", [], math.inf),
    "step": ("neither", [(0, "j")], None),
    "Heaviside(z) - 1/2": ("odd", [(0, "j")], None),
    "Abs(z)": ("even", [(0, "k")], None),
    # two at one place, whichever comes first
    "Abs(z) + sign(z)": ("neither", [(0, "j")], None),
    "sign(z) + Abs(z)": ("neither", [(0, "j")], None),
    "Abs(Abs(z) - 1)": ("even", [(-1, "k"), (0, "k"), (1, "k")], None),
    "Abs(1+z**2)": ("even", [], math.inf),
    "relu(relu(z))": ("neither", [(0, "k")], None),
    "Max(z, z)": ("odd", [], math.inf),
    "sqrt(z**2)": ("even", [(0, "k")], None),
    "sign(z - sqrt(2))": ("neither", [(math.sqrt(2), "j")], None),
    "Max(z, 1/10**9)": ("neither", [(1e-9, "k")], None),
    "Max(z**2, 2)": ("even", [(-math.sqrt(2), "k"), (math.sqrt(2), "k")], None),
    # one place, found once as a polynomial root and once as an exact constant
    "Max(z**2-2, 0) + Abs(z-sqrt(2))": ("neither", [(-math.sqrt(2), "k"), (math.sqrt(2), "k")], None),
    "Max(exp(z), 2)": ("neither", [(math.log(2), "k")], None),
    "Max(sin(z), 2*z)": ("neither", [(0, "k")], None),
    "Piecewise((z, 0 < z < 1), (0, True))": ("neither", [(0, "k"), (1, "j")], None),
    "Piecewise((z, exp(-z**2) < z), (exp(-z**2), True))": ("neither", [(0.6529186404192048, "k")], None),
    "1/(1+z**2)": ("even", [], 1.0),
    "sqrt(1+z**2)": ("even", [], 1.0),
    # roots of z^2 + z + 1 are (-1 +- i sqrt 3)/2
    "1/(1+z+z**2)": ("neither", [], math.sqrt(3) / 2),
    "1/cosh(z)": ("even", [], math.pi / 2),
    "log(1+exp(z))": ("neither", [], math.pi),
}


@pytest.mark.parametrize("text", FACTS)
def test_facts_read_off_the_tree(text: str) -> None:
    function = activation(text)
    parity, breakpoints, strip = FACTS[text]
    assert function.parity == parity
    assert len(function.breakpoints) == len(breakpoints)
    for found, (place, kind) in zip(function.breakpoints, breakpoints, strict=True):
        # the place is computed to 80 bits; the table is in double precision
        assert found.value == pytest.approx(place, rel=1e-14, abs=1e-300)
        assert found.jump == (kind == "j")
        assert kind == "j" or found.kink == (kind == "k")
        low, high = found.enclosure(200)
        assert high - low <= Fraction(1, 2**200)
    if strip is None:
        assert function.strip is None
    elif math.isinf(strip):
        assert function.strip == math.inf
    else:
        assert function.strip is not None
        # a lower bound, and within a millionth of the truth: 20 bisections where polynomials are involved
        assert strip * (1 - 2e-6) < float(function.strip) < strip * (1 + 1e-12)


@pytest.mark.parametrize("power", ["sqrt({})", "({})**(1/3)", "({})**(3/2)", "2*sqrt({}) + exp(z) - 1"])
@pytest.mark.parametrize("node", ["{}", "{} + 1", "1/2 + exp(z)*({})", "tanh({})", "Abs(z) + {}", "sin(z) - ({})"])
def test_a_root_that_ends_is_one_from_either_side(power: str, node: str) -> None:
    for side in ("z", "-z"):
        for text in (f"Piecewise(({power.format(side)}, {side} > 0), (z**2, True))", power.format(f"relu({side})")):
            (found,) = activation(node.format(text)).breakpoints
            assert (float(found.value), found.jump, found.root, found.kink) == (0.0, False, True, True)


@pytest.mark.parametrize(
    "text",
    [
        *("sign(relu({}))", "Heaviside(Max({}, 0))", "sign(Max({0}, ({0})**3 + {0}/2))", "sign(sqrt(relu({})))"),
        *("Piecewise((1, relu({}) > 0), (0, True))", "Piecewise((1, Abs(z) + {} > 0), (0, True))"),
    ],
)
@pytest.mark.parametrize("side", ["z", "-z"])
@pytest.mark.parametrize("node", ["{}", "1 - {}", "tanh({})*cos(z)", "{} + Abs(z)"])
def test_a_jump_where_the_argument_has_its_corner_is_one(text: str, side: str, node: str) -> None:
    found = {float(point.value): point.jump for point in activation(node.format(text.format(side))).breakpoints}
    assert found[0.0]
    assert not any(jump for place, jump in found.items() if place)


@pytest.mark.parametrize("text", ["1/(2+sin(z))", "log(2+sin(z))", "atan(sin(z))", "tanh(tanh(z))", "sqrt(2+tanh(z))"])
def test_strips_by_the_drift_bound_hold_no_singularity(text: str) -> None:
    # poles: 2 + sin z = 0 at Im z = log(2+sqrt 3) = 1.317; sin z = +-i at Im z = asinh 1 = 0.881; tanh z = i pi/2 at
    # z = atanh(i pi/2), Im z = atan(pi/2) = 1.004; tanh z = -2 at Im z = pi/2
    first = {"1/(2+sin(z))": 1.317, "log(2+sin(z))": 1.317, "atan(sin(z))": 0.881, "tanh(tanh(z))": 1.004}
    strip = activation(text).strip
    assert strip is not None
    assert 0 < strip < first.get(text, math.pi / 2)


@pytest.mark.parametrize(
    "text",
    [
        *FACTS,
        *("exp(z)", "exp(z**2/5)", "z*exp(z**2/5)", "exp(-z**4+z)", "sin(200*z)", "log(1+z**2)"),
        # Narrow strips, where a slope is bounded by its function over a circle much smaller than one.
        *("1/cosh(8*z)", "1/cosh(3*z)", "exp(z/4)/cosh(10*z)"),
        # The root of a bound below one is above it.
        *("sqrt(z**2/10000 + 1/10000)", "(z**2/100000 + 1/100000)**(1/3)"),
    ],
)
def test_growth_bounds_hold_on_a_grid(text: str) -> None:
    function = activation(text)
    points = np.concatenate([np.linspace(-20, 20, 4000), [-1e-9, 1e-9, 1e-3]])
    for bound, values in (
        (function.growth, compile_numpy(function.expression)(points)),
        *[(function.derivative_growth, _slopes(function, points))],
    ):
        exponent = float(bound.rate) * np.abs(points) + float(bound.quadratic) * points**2
        with np.errstate(divide="ignore"):
            claimed = np.log(float(bound.constant)) + float(bound.degree) * np.log1p(np.abs(points)) + exponent
            # 1e-9: rounding of the two logarithms
            assert (np.log(np.abs(values)) <= claimed + 1e-9).all()


def _slopes(function: Activation, points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    from giantsteps.derivations.expressions.calculus import derivative

    return compile_numpy(derivative(function.expression))(points)


@pytest.mark.parametrize(
    "text",
    [
        "1/z",
        "z/z",
        "log(z)",
        "tan(z)",
        "sqrt(z)",
        "1/sin(z)",
        "Abs(1/z)",
        "log(z**2)",
        "(z**2-1)**(1/3)",
        "z**z",
        "exp(z**2)",
        "exp(z**2/2)",
        "exp(exp(z))",
        "exp(z**3)",
        "cosh(z**2)",
        "Abs(sin(z**2))",
        "sign(cos(z**2))",
        "Piecewise((1/z, z > 0), (0, True))",
        "log(-1-z**2)",
        "z**-1",
        "z**(1/2)",
        "1/(z-z)",
        "1/(1-tanh(z)**2-1/2)",
    ],
)
def test_functions_that_are_not_real_finite_and_integrable_are_refused(text: str) -> None:
    refusal(ExpressionError, activation, text, longest=500)


@pytest.mark.parametrize(
    "text",
    [
        "1/(2+sin(z))",
        "tan(tanh(z))",
        "log(2+sin(z))",
        "1/(1+exp(-z))",
        "log(1+exp(z))",
        "sqrt(1+z**2)",
        "sqrt(Abs(z))",
        "Piecewise((log(z), z > 1), (0, True))",
        "1/(1+z*tanh(z))",
        "tanh(z)/cosh(z)",
        "log(exp(z))",
        "exp(-z)/(1+exp(-z))**2",
    ],
)
def test_functions_that_are_real_and_finite_are_accepted(text: str) -> None:
    activation(text)


def test_square_integrability_follows_the_variance() -> None:
    # E exp(2 x^2/5) is finite for variance v iff 4 v/5 < 1
    function = activation("exp(z**2/5)")
    assert integrable_square(function, 0, 1)
    assert not integrable_square(function, 0.5, 1)  # r^2 + c = 5/4 exactly
    assert not integrable_square(function, 1, 1)
    assert not integrable_square(activation("exp(z**2/3)"), 0, 1)
    assert integrable_square(activation("exp(z**2/3)"), 0, 0.7)
    assert integrable_square(activation("exp(z)"), 30, 50)
    assert integrable_square(activation("tanh"), 1e6, 1)


def test_unprovable_divergence_is_not_called_divergence() -> None:
    with pytest.raises(ExpressionError, match="could not be decided"):
        integrable_square(activation("exp(z**2/5)*sin(z)"), 1, 1)


def test_growth_kinds() -> None:
    kinds = {
        "tanh": "bounded",
        "relu": "polynomial",
        "exp(z)": "exponential",
        "exp(z**2/5)": "gaussian",
        "elu": "polynomial",
    }
    assert {text: activation(text).growth.kind for text in kinds} == kinds
    assert activation("exp(-z**2)").growth.quadratic == -1


@seed(20263)
@settings(max_examples=50, deadline=None)
@given(trees(7))
def test_random_expressions_have_no_false_facts(tree: Expression) -> None:
    no_false_facts(tree)


def no_false_facts(tree: Expression) -> None:
    """Parity and breakpoints against values: no traceback, no wrong claim (a refusal is allowed)."""
    try:
        function = Activation.checked(tree)
        breakpoints, parity = function.breakpoints, function.parity
    except ExpressionError:
        return
    points = np.linspace(0.0137, 6.0, 97)
    f = compile_numpy(tree)
    right, left = f(points), f(-points)
    scale = 1 + np.max(np.abs(right)) + np.max(np.abs(left))
    if parity == "odd":
        assert np.max(np.abs(right + left)) < 1e-9 * scale  # rounding only
    if parity == "even":
        assert np.max(np.abs(right - left)) < 1e-9 * scale
    places = [b.value for b in breakpoints]
    assert places == sorted(places)
    for point in breakpoints:
        if not point.jump and abs(point.value) < 50:
            step = 1e-7 * (1 + abs(point.value))
            sides = f(np.array([point.value - step, point.value + step]))
            slope = np.abs(np.gradient(f(point.value + step * np.array([2.0, 3.0, 4.0])))).max()
            assert abs(sides[1] - sides[0]) < 1e-3 * (1 + np.abs(sides).max()) + 10 * slope


def test_enclosures_hold_the_breakpoint() -> None:
    # the real root of z^5 - z - 1, by mpmath's root finder, an independent route
    found = activation("Abs(z**5 - z - 1)").breakpoints[0]
    with mpmath.workdps(60):
        root = mpmath.findroot(lambda z: z**5 - z - 1, 1.17)
        low, high = found.enclosure(150)
        assert mpmath.mpf(low.numerator) / low.denominator <= root <= mpmath.mpf(high.numerator) / high.denominator


def test_an_analysis_that_takes_too_long_is_refused() -> None:
    with at_most(-1), pytest.raises(ExpressionError, match="takes too long"):
        activation("Abs(z**5 - z - 7)")
    # the refusal is not remembered: without the limit the same text is accepted
    assert len(activation("Abs(z**5 - z - 7)").breakpoints) == 1


def test_square_root_of_a_function_that_vanishes() -> None:
    function = activation("sqrt(Abs(z))")
    assert [b.root for b in function.breakpoints] == [True]
    assert function.parity == "even"


@pytest.mark.parametrize("text", ["abs(z**6-4*z**3+4)**(1/3)", "abs((z**3-2)*(z**6-4*z**3+4))**(1/7)"])
def test_a_multiple_root_is_where_it_is(text: str) -> None:
    (root,) = activation(text).breakpoints
    assert root.root
    low, high = root.enclosure(100)
    assert high - low <= Fraction(1, 2**100)
    assert low**3 <= 2 <= high**3


@pytest.mark.parametrize("text", ["sqrt(tanh(z)**2)", "(z**4)**(1/4)", "sqrt(4*z**2)", "(sin(z)**2*1)**(3/6)"])
def test_a_root_of_a_square_is_an_absolute_value(text: str) -> None:
    assert "kink at z = 0" in [str(point) for point in activation(text).breakpoints]
