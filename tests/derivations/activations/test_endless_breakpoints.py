"""Functions with breakpoints without end, such as sign(sin(2 z)): located where a Gaussian can see them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.coefficients import conditional_balls, hermite_balls
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve


@pytest.mark.parametrize("rate", [1, 2, 6])
@pytest.mark.parametrize("shift", ["0", "1/3", "sqrt(2)"])
def test_the_zeros_of_a_sine_are_all_found(rate: int, shift: str) -> None:
    found = [b.value for b in activation(f"sign(sin({rate}*z + {shift}))").breakpoints]
    offset = {"0": 0.0, "1/3": 1 / 3, "sqrt(2)": math.sqrt(2)}[shift]
    zeros = [(k * math.pi - offset) / rate for k in range(-200, 201)]
    assert found == pytest.approx([x for x in zeros if abs(x) < 64.0], abs=1e-12)


def test_zeros_that_are_not_multiples_of_pi_are_found() -> None:
    # sin z = 1/2 at pi/6 + 2 pi k and 5 pi/6 + 2 pi k
    found = [b.value for b in activation("Max(sin(z), 1/2)").breakpoints]
    zeros = sorted(x + 2 * math.pi * k for x in (math.pi / 6, 5 * math.pi / 6) for k in range(-11, 12))
    assert found == pytest.approx([x for x in zeros if abs(x) < 64.0], abs=1e-12)


def test_the_certified_slope_of_a_square_wave() -> None:
    # h1 = E[sigma'] = 2 sum_k (-1)^k phi(k pi/2) for sign(sin 2z), by parts
    balls = hermite_balls(activation("sign(sin(2*z))"), bits=128)
    with mpmath.workdps(40), precision(160):
        expected = 2 * mpmath.nsum(lambda k: (-1) ** int(k) * mpmath.npdf(k * mpmath.pi / 2), [-mpmath.inf, mpmath.inf])
        assert abs(mpmath.mpf(str(balls.h1.required().mid().str(40, radius=False))) - expected) < mpmath.mpf(10) ** -30
    assert balls.h1_check.infinite
    assert "75 more places" in balls.h1_check.reason


def test_an_argument_that_reaches_the_tails_is_not_certified() -> None:
    # beyond |x| = 64 the breakpoints are unknown, and a standard deviation of 30 weighs them
    wide = conditional_balls(activation("sign(sin(2*z))"), spike=0, bulk=900, kappa=0, bits=64, operations=10**6)
    with pytest.raises(BallError):
        wide.mu2_squared.required()
    near = conditional_balls(activation("Abs(sin(z))"), spike=1, bulk=1, kappa=1, bits=64)
    with mpmath.workdps(30), precision(100):
        expected = mpmath.quad(
            lambda z: abs(mpmath.sin(1 + z)) * mpmath.npdf(z),
            [-12, *(k * mpmath.pi - 1 for k in range(-3, 5)), 14],
        )
        assert abs(mpmath.mpf(str(near.mu0.required().mid().str(25, radius=False))) - expected) < mpmath.mpf(10) ** -18


def test_a_square_wave_is_learned_as_its_own_fourier_series_is() -> None:
    # partial sums of the Fourier series have no breakpoints, and their error falls like 1/terms (here 40: 0.005 of 1)
    series = "4/pi*(" + " + ".join(f"sin({2 * k + 1}*z)/{2 * k + 1}" for k in range(40)) + ")"
    common = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
    wave, smooth = (
        solve(Model(activation("tanh"), activation(text), **common)).test_error for text in ("sign(sin(z))", series)
    )
    assert wave == pytest.approx(smooth, abs=0.01)
    assert abs(wave - smooth) > 1e-6


@pytest.mark.parametrize(
    "text",
    ["1/sin(z)", "sqrt(sin(z))", "1/sign(sin(z))", "log(sin(z))", "tan(sign(sin(z)))", "1/(z - 100*sign(sin(z)))"],
)
def test_what_may_be_infinite_on_the_tails_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        activation(text)


def test_the_tail_of_a_jumping_function_is_not_judged_by_its_slope() -> None:
    # z + 100 sign(sin z) rises between its jumps and is positive at 64; it has zeros up to 100 all the same
    function = activation("sign(z + 100*sign(sin(z)))")
    x = np.array([65.0, 67.0, 90.0])
    assert {float(np.sign(v + 100 * np.sign(np.sin(v)))) for v in x} == {1.0, -1.0}
    assert function.panels[0].endless
    assert function.panels[-1].endless
    assert function.parity == "odd"


def test_without_zeros_far_out_nothing_is_cut() -> None:
    for text, count in (("Abs(sin(z) + z/3)", 1), ("Max(sin(z), -2)", 0), ("sign(sin(z) + z)", 1)):
        function = activation(text)
        assert len(function.breakpoints) == count
        assert not any(panel.endless for panel in function.panels)
