"""The NumPy and mpmath interpreters of the expression tree."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.evaluate import compile_numpy, evaluate_mpmath
from tests.derivations.expressions.test_expressions import NAMES

EXPRESSIONS = [
    *NAMES,
    "exp(-z**2)",
    "exp(-(z-8)**2*10**6)",
    "1/cosh(z)",
    "z**3",
    "exp(10*z)/(1+exp(10*z))",
    "pi",
    "Piecewise((z, 0 < z < 1), (0, True))",
    "Max(z, sqrt(2), z**2)",
    "Min(z, 1/3)",
    "(1+z**2)**(1/3)",
    "tan(tanh(z))",
    "log(1+exp(z))",
    "z*exp(-z)/(1+z**2)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_numpy_agrees_with_multiple_precision(text: str) -> None:
    tree = parse(text)
    points = np.linspace(-5.0, 5.0, 41)
    with mpmath.workdps(30):
        exact = np.array([float(evaluate_mpmath(tree, mpmath.mpf(float(x)))) for x in points])
    # a few operations of relative error 2^-53 each; he5 cancels terms of size 5^5
    assert np.max(np.abs(compile_numpy(tree)(points) - exact) / (1 + np.abs(exact))) < 3e-14


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_no_overflow_far_out(text: str) -> None:
    # warnings are errors in this suite: nothing may overflow or be invalid up to |z| = 200, derivative included
    points = np.linspace(-200.0, 200.0, 401)
    tree = parse(text)
    assert np.isfinite(compile_numpy(tree)(points)).all()
    assert np.isfinite(compile_numpy(derivative(tree))(points)).all()


def test_left_tails_keep_their_relative_accuracy() -> None:
    points = np.array([-30.0, -12.0])
    for text in ("gelu", "silu", "sigmoid", "softplus", "erfc(-z)"):
        tree = parse(text)
        with mpmath.workdps(60):
            exact = np.array([float(evaluate_mpmath(tree, mpmath.mpf(float(x)))) for x in points])
        # erfc of scipy is accurate to a few units in the last place times the condition x^2
        np.testing.assert_allclose(compile_numpy(tree)(points), exact, rtol=1e-12)


def test_points_where_doubles_fail_are_evaluated_again() -> None:
    # exp(1000) overflows, the quotient is 1 to double precision; exp(-1000) underflows and the quotient is exp(-1000)
    values = compile_numpy(parse("exp(100*z)/(1+exp(100*z))"))(np.array([10.0, -10.0, 0.0]))
    np.testing.assert_array_equal(values, [1.0, 0.0, 0.5])


def test_a_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ExpressionError):
        compile_numpy(parse("exp(z)"))(np.array([1000.0]))
    with pytest.raises(ExpressionError):
        compile_numpy(parse("z"))(np.array([np.nan]))
    # erfc of mpmath takes no argument of 1e200.
    with pytest.raises(ExpressionError):
        compile_numpy(parse("gelu(cosh(z)*cos(z))"))(np.array([720.0]))


def test_shapes_and_values_at_jumps() -> None:
    points = np.array([[-1.0, 0.0, 2.0]])
    assert compile_numpy(parse("3"))(points).shape == (1, 3)
    # sign(0) = 0 and Heaviside(0) = 1/2 by convention of the language
    np.testing.assert_array_equal(compile_numpy(parse("sign(z)"))(points), [[-1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(compile_numpy(parse("step(z)"))(points), [[0.0, 0.5, 1.0]])
    assert float(compile_numpy(parse("z**2"))(3.0)) == 9.0
