"""Functions that grow like exp(q z^2), up to where their second moment ends: averages against closed forms."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import giantsteps
from giantsteps.derivations.expressions.algebra import damped
from giantsteps.derivations.expressions.parser import parse
from giantsteps.numerics.gaussian.callables import activation
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath
from giantsteps.numerics.gaussian.quadrature import conditional_moments, integrand
from giantsteps.numerics.models.model import Model

SHIFTS = np.array([-1.5, -0.6, 0.1, 0.3, 1.0, 2.0])
EPS = float(np.finfo(float).eps)


def _exponential(q: float, s: np.ndarray, c: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E f, E[z f] and E f^2 of f = exp(q x^2) at x = s + sqrt(c) z: Gaussian integrals."""
    one, two = 1 - 2 * q * c, 1 - 4 * q * c
    mean = np.exp(q * s**2 / one) / np.sqrt(one)
    return mean, 2 * q * s * np.sqrt(c) / one * mean, np.exp(2 * q * s**2 / two) / np.sqrt(two)


@pytest.mark.parametrize("c", [0.5, 1.0])
@pytest.mark.parametrize("text", ["1/10", "1/5", "6/25", "249/1000", "2499/10000"])
def test_averages_are_the_closed_forms(text: str, c: float) -> None:
    q = float(Fraction(text))
    shifts = SHIFTS[2 * q * SHIFTS**2 / (1 - 4 * q * c) < 600]  # their squares are doubles
    with np.errstate(over="ignore", invalid="ignore"):  # of the whole shifts around, at which the rule is chosen
        found = conditional_moments(integrand(activation(f"exp({text}*z**2)")), shifts, np.sqrt(c))
    mean, slope, square = _exponential(q, shifts, c)
    # Rounding of the exponents, which are as large as 2 q s^2/(1 - 4 q c), and of 1 - 4 q c itself.
    bar = 100 * EPS * (1 + 2 * q * shifts**2 / (1 - 4 * q * c)) / (1 - 4 * q * c)
    for ours, exact in ((found.mean, mean), (found.slope, slope), (found.square, square)):
        assert np.all(np.abs(ours - exact) <= bar * np.abs(exact))
    rest = square - mean**2 - slope**2
    assert np.all(np.abs(found.rest - rest) <= 2 * bar * square)


@pytest.mark.parametrize(
    "text", ["exp(z**2/5)", "cosh(z**2/5)*z", "exp(z**2/10)**2 + z", "exp(z**2/5)/(1 + z**2)", "sin(z)"]
)
def test_a_damped_function_is_the_product(text: str) -> None:
    expr, rate = parse(text), Fraction(1, 5)
    for x in (-7.5, -0.3, 2.0, 9.0):
        at = mpmath.mpf(x)
        product = evaluate_mpmath(expr, at) * mpmath.exp(-at * at / 5)
        assert float(evaluate_mpmath(damped(expr, rate), at)) == pytest.approx(float(product), rel=1e-13)


def _model(**changes: object) -> Model:
    given: dict[str, object] = {"activation": "exp(0.24*z**2)", "target": "tanh", "spike": 0.1, "alignment": 0.5}
    return Model(**({"alpha": 2, "beta": 1, "ridge": 0.1, "bulk": 1} | given | changes))  # type: ignore[arg-type]


def test_a_finite_second_moment_close_to_its_end_is_solved() -> None:
    solution = giantsteps.solve(_model())
    assert solution.converged
    bound = giantsteps.bounds(_model())
    # An even activation learns nothing of an odd target but its variance: the error stays above what the span leaves.
    assert bound.lower <= solution.test_error
    batch = giantsteps.solve_batch(_model(), alpha=[2.0])
    assert abs(float(batch.test_error[0]) - solution.test_error) <= 2 * solution.error_estimate


@pytest.mark.parametrize("ridge", [1e9, 1e12])
def test_the_estimate_covers_what_a_target_of_that_growth_loses(ridge: float) -> None:
    # At infinite ridge the error is E[g^2] = 1/sqrt(1 - 4 q) = 5; here it differs by less than 1/ridge^2 times 10.
    solution = giantsteps.solve(_model(activation="tanh", target="exp(0.24*z**2)", alignment=1.0, ridge=ridge))
    assert abs(solution.test_error - 5.0) <= solution.error_estimate
