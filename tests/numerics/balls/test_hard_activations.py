"""Activations that are hard to cut: what is zero on an interval, roots of squares, roots in roots, jumps far out.

The truth is by hand: moments of half lines and of powers, or a quadrature between places that are typed here.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.balls.coefficients import conditional_balls, hermite_balls
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.evaluate import compile_branches
from tests.numerics.balls.test_arithmetic import contains

HALF, INF = mpmath.mpf(1) / 2, mpmath.inf
with mpmath.workdps(60):
    PHI0 = 1 / mpmath.sqrt(2 * mpmath.pi)


def half(power: float) -> mpmath.mpf:
    """E[z^power] over z > 0."""
    a = mpmath.mpf(power)
    return 2 ** (a / 2 - 1) * mpmath.gamma((a + 1) / 2) / mpmath.sqrt(mpmath.pi)


def between(function: Callable[[mpmath.mpf], mpmath.mpf], *cuts: mpmath.mpf) -> mpmath.mpf:
    """E[function] by quadrature between cuts."""
    density = mpmath.npdf
    return mpmath.quad(lambda x: function(x) * density(x), [-mpmath.inf, -4, *cuts, 4, 8, mpmath.inf])


# E[sigma], h1, E[sigma^2] and E[(sigma' - h1)^2].
ROWS: dict[str, tuple[object, object, object, object]] = {
    "sign(relu(z))**2": (HALF, PHI0, HALF, INF),
    "Heaviside(relu(z))**2-Heaviside(relu(z))": (-HALF / 4, PHI0 / 4, HALF / 16, INF),
    "Piecewise((1,relu(z)>0),(0,True))-Piecewise((1,relu(z)>=0),(0,True))": (-HALF, PHI0, HALF, INF),
    "Piecewise((z,z<=z),(5,True))": (0, 1, 1, 0),
    "Piecewise((z,1>=1),(0,True))": (0, 1, 1, 0),
    "Piecewise((z,2>2),(5,True))": (5, 0, 25, 0),
    "Piecewise((z,(z+1)**2-z**2-2*z>=1),(5,True))": (0, 1, 1, 0),
    "Heaviside(2)-Piecewise((z**2,0<0),(0,True))": (1, 0, 1, 0),
    "sign(z)**2": (1, 0, 1, 0),
    "Heaviside(z)**2-Heaviside(z)": (0, 0, 0, 0),
    "Piecewise((z,z**4>0),(5,True))": (0, 1, 1, 0),
    "cos(sign(z))": (mpmath.cos(1), 0, mpmath.cos(1) ** 2, 0),
}
# Where the derivative rises like a power: E[|z|^q'^2] = q^2 E[|z|^(2q-2)].
POWERS: dict[str, tuple[object, object, object, object]] = {
    "sqrt(sqrt(relu(z)))": (half(0.25), half(1.25), half(0.5), INF),
    "sqrt(relu(z))": (half(0.5), half(1.5), half(1), INF),
    "(abs(z)**0.5)**0.8": (2 * half(0.4), 0, 2 * half(0.8), INF),
    "relu(z)**0.7": (half(0.7), half(1.7), half(1.4), half(-0.6) * mpmath.mpf("0.49") - half(1.7) ** 2),
    "relu(z)**1.5+1": (half(1.5) + 1, half(2.5), half(3) + 2 * half(1.5) + 1, half(1) * 9 / 4 - half(2.5) ** 2),
    "sqrt(z**2*relu(z))": (half(1.5), half(2.5), half(3), half(1) * 9 / 4 - half(2.5) ** 2),
    "30*z+sign(z)*sqrt(abs(z))": (0, 30 + 2 * half(1.5), 900 + 120 * half(1.5) + 2 * half(1), INF),
    "z+sqrt(abs(z))/10**6": (2 * half(0.5) / 10**6, 1, 1 + 2 * half(1) / 10**12, INF),
    "z+sqrt(abs(z))/10**13": (2 * half(0.5) / 10**13, 1, 1 + 2 * half(1) / 10**26, INF),
}

# Their derivatives could not be bounded, or how their squares grow beside the root.
UNDECIDED = ("relu(z)**0.7", "sqrt(z**2*relu(z))")


@pytest.mark.parametrize("text", [*ROWS, *POWERS])
def test_balls_hold_the_truth(text: str) -> None:
    truth = (ROWS | POWERS)[text]
    found = hermite_balls(activation(text))
    balls = (found.mean, found.h1, found.h2, found.h1_check)
    for ball, value in zip(balls, truth, strict=True):
        assert ball.infinite is (value == INF)
        undecided = text in UNDECIDED and ball is found.h1_check
        assert ball.finite is (value != INF and not undecided), ball
        with mpmath.workdps(40):
            assert not ball.finite or contains(ball.required(), mpmath.mpf(value), 14)


@pytest.mark.parametrize("text", [*ROWS, *POWERS])
def test_doubles_are_the_truth_within_their_errors(text: str) -> None:
    truth = [float(value) for value in (ROWS | POWERS)[text]]  # type: ignore[arg-type]
    found = hermite_constants(activation(text))
    for name, value in zip(("mean", "h1", "h2", "h1_check"), truth, strict=True):
        if value == float("inf"):
            assert getattr(found, name) == value
            continue
        error = 3.0 * getattr(found.errors, name) + 1e-14 * max(1.0, abs(value))
        assert error < 1e-5 * max(1.0, abs(value))
        assert abs(getattr(found, name) - value) <= error, name
    assert bool(found.h1_check_reason) is (truth[3] == float("inf"))


@pytest.mark.parametrize(
    ("text", "function", "slope", "cut"),
    [
        ("sqrt(z**6-4*z**3+4)", lambda x: abs(x**3 - 2), lambda x: 3 * x**2 * mpmath.sign(x**3 - 2), (2, 3)),
        ("sqrt(z**10-6*z**5+9)", lambda x: abs(x**5 - 3), lambda x: 5 * x**4 * mpmath.sign(x**5 - 3), (3, 5)),
        (
            "3*(z**6-4*z**3+4)**(3/2)",
            lambda x: 3 * abs(x**3 - 2) ** 3,
            lambda x: 27 * x**2 * (x**3 - 2) * abs(x**3 - 2),
            (2, 3),
        ),
    ],
)
def test_roots_of_squares_are_absolute_values(
    text: str,
    function: Callable[[mpmath.mpf], mpmath.mpf],
    slope: Callable[[mpmath.mpf], mpmath.mpf],
    cut: tuple[int, int],
) -> None:
    balls, doubles = hermite_balls(activation(text)), hermite_constants(activation(text))
    with mpmath.workdps(30):
        at = mpmath.root(*cut)
        h1 = between(lambda x: x * function(x), at)
        truth = (between(function, at), h1, between(lambda x: function(x) ** 2, at))
        truth += (between(lambda x: (slope(x) - h1) ** 2, at),)
        for name, value in zip(("mean", "h1", "h2", "h1_check"), truth, strict=True):
            assert contains(getattr(balls, name).required(), value, 18)
            assert getattr(doubles, name) == pytest.approx(float(value), rel=1e-12)


def test_a_root_of_a_square_of_a_polynomial_to_a_smaller_power_is_a_root() -> None:
    # |z^3 - 2|^(1/2): the slope is not square integrable, which doubles alone had not seen.
    assert hermite_balls(activation("(z**6-4*z**3+4)**(1/4)")).h1_check.infinite
    assert hermite_constants(activation("(z**6-4*z**3+4)**(1/4)")).h1_check == float("inf")


@pytest.mark.parametrize("text", ["sign(cos(z/1000))", "sqrt(abs(cos(z/1000)))"])
def test_breakpoints_beyond_those_located_leave_it_undecided(text: str) -> None:
    balls, doubles = hermite_balls(activation(text)), hermite_constants(activation(text))
    assert balls.mean.finite
    assert not balls.h1_check.finite
    assert not balls.h1_check.infinite
    assert "could jump, or rise like a root, beyond |z| = 64" in balls.h1_check.reason
    assert np.isnan(doubles.h1_check)
    assert "whether it is finite was not decided because sigma could jump" in doubles.obstacle


@pytest.mark.parametrize("after", ["sign(sin(z))", "abs(sin(z))", "2*z"])
def test_a_jump_where_the_endless_breakpoints_begin_is_one(after: str) -> None:
    function = activation(f"Piecewise((z,z<65),({after},True))")
    assert [point.value for point in function.jumps] == [65.0]
    assert hermite_balls(function).h1_check.infinite


def test_a_conditional_moment_of_what_is_zero_on_a_half_line() -> None:
    found = conditional_balls(activation("sign(relu(z))**2"), spike=1, bulk=1, kappa=1)
    with mpmath.workdps(40):
        mean, first = mpmath.ncdf(1), mpmath.npdf(1)
        truth = (mean, first, mean - mean**2 - first**2)
        for ball, value in zip((found.mu0, found.mu1, found.mu2_squared), truth, strict=True):
            assert contains(ball.required(), value, 20)


def test_a_second_moment_that_is_infinite_is_said_to_be() -> None:
    found = hermite_constants(activation("exp(z**2/4)"))
    assert found.h2 == float("inf")
    assert np.isnan(found.h1)
    assert found.obstacle == "it is infinite because E[sigma^2] is infinite"
    with pytest.raises(ExpressionError, match="could not be decided"):
        hermite_constants(activation("exp(z**2/4)/(1+z**2)"))
    assert hermite_constants(activation("1e200*z")).h2 == float("inf")  # no OverflowError


def test_at_the_end_of_a_panel_the_branch_before_it_holds() -> None:
    function = activation("Piecewise((sqrt(-z),z<0),(1+z,z<1),(7,True))")
    values = compile_branches(function.panels, lambda branch: branch)(np.array([-4.0, 0.0, 0.5, 1.0, 1.5]))
    assert values == pytest.approx([2.0, 0.0, 1.5, 2.0, 7.0], abs=1e-150)


def test_a_derivative_without_bound_whose_square_is_integrable_is_said_to_be_one() -> None:
    found = hermite_balls(activation("abs(z)**(3/4)")).h1_check
    assert not found.infinite
    assert found.reason == (
        "sigma' is unbounded at z = 0, where its square is integrable, and no average of it is certified"
    )
